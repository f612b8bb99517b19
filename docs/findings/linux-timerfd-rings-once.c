/* cc linux-timerfd-rings-once.c
   ./a.out prints "1 event, 0 while 5 expirations are unread, 1 after the read".
   Exit code: 0 shown, 1 an unread timer is reported again, 77 not Linux. */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("timerfd is Linux's"), 77; }
#else
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  struct timespec period = {.tv_nsec = 10000000}, six = {.tv_nsec = 60000000};
  struct itimerspec set = {.it_value = period, .it_interval = period};
  uint64_t unread = 0;
  int ep = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  epoll_ctl(ep, EPOLL_CTL_ADD, timer, &event);
  timerfd_settime(timer, 0, &set, 0);
  int first = epoll_wait(ep, &event, 1, -1);
  nanosleep(&six, 0);
  int later = epoll_wait(ep, &event, 1, 0);
  if (read(timer, &unread, sizeof unread) != sizeof unread) return 1;
  int after = epoll_wait(ep, &event, 1, -1);
  printf("%d event, %d while %d expirations are unread, %d after the read\n", first, later, (int)unread, after);
  return !(first == 1 && later == 0 && unread >= 5 && after == 1);
}
#endif
