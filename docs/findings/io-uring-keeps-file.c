/* cc io-uring-keeps-file.c -luring
   ./a.out prints "close: 0", "the peer reads: -1", "the peer writes: 1", "completion: 0x1". */
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(void) {
  int pair[2];
  char byte;
  struct io_uring ring;
  struct io_uring_cqe *cqe;
  if (io_uring_queue_init(8, &ring, 0) < 0) return puts("there is no io_uring here"), 77;
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  io_uring_prep_poll_add(io_uring_get_sqe(&ring), pair[0], POLLIN);
  io_uring_submit(&ring);
  int closed = close(pair[0]);
  ssize_t seen = recv(pair[1], &byte, 1, MSG_DONTWAIT), written = write(pair[1], "x", 1);
  io_uring_wait_cqe(&ring, &cqe);
  printf("close: %d\nthe peer reads: %zd\nthe peer writes: %zd\ncompletion: 0x%x\n", closed, seen, written, cqe->res);
  struct utsname system;
  uname(&system);
  if (closed == 0 && seen == -1 && written == 1 && cqe->res == POLLIN) return 0;
  return strncmp(system.release, "6.18.", 5) ? 77 : 1; /* measured on Linux 6.18 */
}
