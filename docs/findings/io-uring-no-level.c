/* cc io-uring-no-level.c -luring
   ./a.out prints "MULTI: 1 completion in 3 waits" and "MULTI|LEVEL: -22". The pipe is readable all the time. */
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Returns the number of completions in three waits, or the error of the first one. */
static int completions(unsigned flags) {
  int ends[2], count = 0;
  struct io_uring ring;
  struct io_uring_cqe *cqe;
  struct __kernel_timespec second = {.tv_sec = 1};
  if (io_uring_queue_init(8, &ring, 0) < 0 || pipe(ends) || write(ends[1], "x", 1) != 1) return -ENOSYS;
  struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
  io_uring_prep_poll_add(sqe, ends[0], POLLIN);
  sqe->len = flags;
  io_uring_submit(&ring);
  for (int i = 0; i < 3 && io_uring_wait_cqe_timeout(&ring, &cqe, &second) == 0; i++) {
    if (cqe->res < 0) return cqe->res;
    count++;
    io_uring_cqe_seen(&ring, cqe);
  }
  return count;
}

int main(void) {
  int multi = completions(IORING_POLL_ADD_MULTI);
  if (multi == -ENOSYS) return puts("there is no io_uring here"), 77;
  int level = completions(IORING_POLL_ADD_MULTI | IORING_POLL_ADD_LEVEL);
  printf("MULTI: %d completion in 3 waits\nMULTI|LEVEL: %d\n", multi, level);
  struct utsname system;
  uname(&system);
  if (multi == 1 && level == -EINVAL) return 0;
  return strncmp(system.release, "6.18.", 5) ? 77 : 1; /* measured on Linux 6.18 */
}
