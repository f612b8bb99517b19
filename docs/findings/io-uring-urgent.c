/* cc io-uring-urgent.c -luring
   ./a.out prints "completion: 0x1", "read: -1", "poll: 0". */
#include <arpa/inet.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0), peer = socket(AF_INET, SOCK_STREAM, 0);
  bind(listener, (struct sockaddr *)&address, length);
  getsockname(listener, (struct sockaddr *)&address, &length);
  listen(listener, 1);
  connect(peer, (struct sockaddr *)&address, length);
  int own = accept(listener, NULL, NULL);
  struct io_uring ring;
  struct io_uring_cqe *cqe;
  if (io_uring_queue_init(8, &ring, 0) < 0) return puts("there is no io_uring here"), 77;
  io_uring_prep_poll_add(io_uring_get_sqe(&ring), own, POLLIN);
  io_uring_submit(&ring);
  send(peer, "!", 1, MSG_OOB);
  io_uring_wait_cqe(&ring, &cqe);
  char byte;
  ssize_t count = recv(own, &byte, 1, MSG_DONTWAIT);
  struct pollfd fd = {own, POLLIN, 0};
  int polled = poll(&fd, 1, 100);
  printf("completion: 0x%x\nread: %zd\npoll: %d\n", cqe->res, count, polled);
  struct utsname system;
  uname(&system);
  if (cqe->res == POLLIN && count == -1 && polled == 0) return 0;
  return strncmp(system.release, "6.18.", 5) ? 77 : 1; /* measured on Linux 6.18 */
}
