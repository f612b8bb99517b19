/* cc linux-error-queue.c
   ./a.out prints "ERR 1, SO_ERROR 0; after the read of the error queue ERR 0".
   Exit code: 0 shown, 1 not so, 77 not Linux, or without time stamps. */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("the error queue is Linux's"), 77; }
#else
#include <arpa/inet.h>
#include <linux/net_tstamp.h>
#include <poll.h>
#include <sys/socket.h>

static int has_error(int fd, int timeout) {
  struct pollfd asked = {.fd = fd};
  return poll(&asked, 1, timeout) == 1 && asked.revents & POLLERR;
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof address;
  int stamps = SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE, error = -1;
  int peer = socket(AF_INET, SOCK_DGRAM, 0), own = socket(AF_INET, SOCK_DGRAM, 0);
  char data[64], control[512];
  struct iovec part = {data, sizeof data};
  struct msghdr entry = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  bind(peer, (void *)&address, length);
  getsockname(peer, (void *)&address, &length);
  connect(own, (void *)&address, length);
  if (setsockopt(own, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps)) return puts("no time stamps"), 77;
  if (send(own, "x", 1, 0) != 1) return 1;
  int reported = has_error(own, 10000);
  length = sizeof error;
  getsockopt(own, SOL_SOCKET, SO_ERROR, &error, &length);
  int still = has_error(own, 0);
  if (recvmsg(own, &entry, MSG_ERRQUEUE) < 0) return 1;
  int after = has_error(own, 0);
  printf("ERR %d, SO_ERROR %d; after the read of the error queue ERR %d\n", reported, error, after);
  return !(reported && error == 0 && still && !after);
}
#endif
