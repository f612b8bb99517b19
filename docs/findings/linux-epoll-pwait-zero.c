/* cc linux-epoll-pwait-zero.c
   ./a.out prints "epoll_pwait: 0 after 1000 calls, the handler has not run; ppoll: EINTR, it has run".
   Exit code: 0 no signal in epoll_pwait and one in ppoll, 1 otherwise, 77 no epoll. */
#define _GNU_SOURCE
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("epoll_pwait is Linux's"), 77; }
#else
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>

static volatile sig_atomic_t runs;

static void handler(int signal) {
  (void)signal;
  runs++;
}

int main(void) {
  sigset_t blocked, empty;
  struct epoll_event event;
  struct timespec zero = {0, 0};
  int ep = epoll_create1(0), result = 0, calls = 0;
  if (ep < 0) return perror("epoll_create1"), 77;
  sigemptyset(&empty);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  signal(SIGTERM, handler);
  raise(SIGTERM);
  while (calls < 1000 && result == 0) result = epoll_pwait(ep, &event, 1, 0, &empty), calls++;
  int in_epoll = runs;
  int polled = ppoll(NULL, 0, &zero, &empty);
  int in_poll = runs - in_epoll;
  printf("epoll_pwait: %d after %d calls, the handler has%s run; ppoll: %s, it has%s run\n", result, calls,
         in_epoll ? "" : " not", polled < 0 && errno == EINTR ? "EINTR" : "no EINTR", in_poll ? "" : " not");
  return in_epoll == 0 && in_poll == 1 ? 0 : 1;
}
#endif
