/* cc openbsd-select-hides-hang-up.c
   ./a.out prints what poll answers to no events and to PRI after a reset. On OpenBSD: "without select:
   HUP HUP, after select: 0 0". On Linux: four times "ERR|HUP".
   Exit code: 0 shown, 1 not shown on OpenBSD, 77 another system. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static short polled(int fd, short events, int milliseconds) {
  struct pollfd entry = {fd, events, 0};
  poll(&entry, 1, milliseconds);
  return entry.revents;
}

static const char *words(short bits) {
  bits &= POLLERR | POLLHUP;
  return bits == (POLLERR | POLLHUP) ? "ERR|HUP" : bits == POLLHUP ? "HUP" : bits ? "ERR" : "0";
}

/* Asks poll about a reset connection, with no events and with PRI. Between them it waits for the reset. */
static int ask(int select_first, short answers[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct linger reset = {1, 0};
  struct timeval none = {0, 0};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), own;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) return -1;
  if (getsockname(listener, (struct sockaddr *)&address, &size)) return -1;
  if (connect(client, (struct sockaddr *)&address, sizeof address)) return -1;
  if ((own = accept(listener, 0, 0)) < 0) return -1;
  if (select_first) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(own, &set);
    select(own + 1, 0, 0, &set, &none);
  }
  setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close(client);
  answers[0] = polled(own, 0, 1000);
  polled(own, POLLIN, -1);
  answers[1] = polled(own, POLLPRI, 0);
  close(own);
  close(listener);
  return 0;
}

int main(void) {
  short without[2], after[2];
  if (ask(0, without) || ask(1, after)) return perror("TCP over loopback"), 77;
  printf("without select: %s %s, ", words(without[0]), words(without[1]));
  printf("after select: %s %s\n", words(after[0]), words(after[1]));
#ifdef __OpenBSD__
  return !((without[1] & POLLHUP) && after[0] == 0 && after[1] == 0);
#else
  return 77;
#endif
}
