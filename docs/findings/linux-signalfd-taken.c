/* cc -pthread linux-signalfd-taken.c
   ./a.out prints "another thread: 0 events, then the thread that has the signal: 0 events, poll: 1".
   Exit code: 0 the event is taken, 1 it is not, 77 no signalfd. */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("signalfd is Linux's"), 77; }
#else
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

static int ep, others;

static void *other_thread(void *unused) {
  struct epoll_event event;
  others = epoll_wait(ep, &event, 1, 0);
  return unused;
}

int main(void) {
  sigset_t set;
  pthread_t thread;
  struct epoll_event event = {.events = EPOLLIN};
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  int fd = signalfd(-1, &set, 0);
  ep = epoll_create1(0);
  if (fd < 0 || ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event)) return perror("signalfd"), 77;
  pthread_kill(pthread_self(), SIGUSR2);
  if (pthread_create(&thread, NULL, other_thread, NULL) || pthread_join(thread, NULL)) return puts("no thread"), 77;
  int own = epoll_wait(ep, &event, 1, 0);
  struct pollfd entry = {.fd = fd, .events = POLLIN};
  int polled = poll(&entry, 1, 0);
  printf("another thread: %d events, then the thread that has the signal: %d events, poll: %d\n", others, own, polled);
  return own == 0 && polled == 1 ? 0 : 1;
}
#endif
