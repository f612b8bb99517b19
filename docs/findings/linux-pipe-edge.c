/* cc linux-pipe-edge.c
   ./a.out prints "new data in a pipe that has unread data: no edge (5.10.46)". Linux before 5.5 and since
   5.14 prints "an edge".
   Exit code: 0 no edge, 77 an edge. */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("epoll is Linux's"), 77; }
#else
#include <sys/epoll.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(void) {
  int ends[2], ep = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  struct utsname system;
  if (pipe(ends) || epoll_ctl(ep, EPOLL_CTL_ADD, ends[0], &event) || uname(&system)) return perror("epoll"), 1;
  if (write(ends[1], "x", 1) != 1 || epoll_wait(ep, &event, 1, 0) != 1) return puts("no first edge"), 1;
  if (write(ends[1], "x", 1) != 1) return 1;
  int edges = epoll_wait(ep, &event, 1, 0);
  printf("new data in a pipe that has unread data: %s (%s)\n", edges ? "an edge" : "no edge", system.release);
  return edges ? 77 : 0;
}
#endif
