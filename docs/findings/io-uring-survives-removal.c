/* cc io-uring-survives-removal.c -luring
   ./a.out prints "remove: -114", "poll: 1, more", "another byte", "poll: 1, more": the removed poll goes on. */
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { POLL = 1, REMOVE };
static int removal, completions, goes_on;

static void show(struct io_uring *ring) {
  struct io_uring_cqe *cqe;
  io_uring_submit_and_get_events(ring);
  while (!io_uring_peek_cqe(ring, &cqe)) {
    int is_poll = cqe->user_data == POLL;
    goes_on = (cqe->flags & IORING_CQE_F_MORE) != 0;
    printf("%s: %d%s\n", is_poll ? "poll" : "remove", cqe->res, goes_on ? ", more" : "");
    if (is_poll) completions++;
    else removal = cqe->res;
    io_uring_cqe_seen(ring, cqe);
  }
}

int main(void) {
  int ends[2];
  struct io_uring ring;
  if (io_uring_queue_init(8, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN) < 0)
    return puts("there is no io_uring with DEFER_TASKRUN here"), 77;
  if (pipe(ends)) return 1;
  struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
  io_uring_prep_poll_multishot(sqe, ends[0], POLLIN);
  io_uring_sqe_set_data64(sqe, POLL);
  io_uring_submit(&ring);
  if (write(ends[1], "x", 1) != 1) return 1;
  sqe = io_uring_get_sqe(&ring);
  io_uring_prep_poll_remove(sqe, POLL);
  io_uring_sqe_set_data64(sqe, REMOVE);
  show(&ring);
  puts("another byte");
  if (write(ends[1], "y", 1) != 1) return 1;
  show(&ring);
  struct utsname system;
  uname(&system);
  if (removal == -EALREADY && completions == 2 && goes_on) return 0;
  return strncmp(system.release, "6.18.", 5) ? 77 : 1; /* measured on Linux 6.18 */
}
