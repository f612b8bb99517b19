/* cc -O1 -pthread epoll-late-close.c
   ./a.out prints "late close in round 823". With EPOLL_CTL_DEL before each close, none of as many closes is late.
   Exit code: 0 shown, 1 the remedy does not help, 77 not seen here. It is a race: it needs two processors. */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("epoll is Linux's"), 77; }
#else
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 100000 };
static int ep;
static atomic_int handled;

static void *worker(void *unused) {
  for (;;) {
    struct epoll_event event;
    char byte;
    if (epoll_wait(ep, &event, 1, 60000) == 1 && read(event.data.fd, &byte, 1) == 1) handled++;
  }
  return unused;
}

/* Returns the first round, up to `rounds`, whose peer sees no end within 500 ms, or 0. */
static int late_round(int rounds, int is_removed) {
  for (int round = 1; round <= rounds; round++) {
    int pair[2], before = handled, late;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = pair[0]};
    epoll_ctl(ep, EPOLL_CTL_ADD, pair[0], &event);
    if (write(pair[1], "x", 1) != 1) return -1;
    while (handled == before) {}
    for (volatile int pause = rand() % 3000; pause > 0; pause--) {}
    if (is_removed) epoll_ctl(ep, EPOLL_CTL_DEL, pair[0], 0);
    close(pair[0]);
    struct pollfd peer = {.fd = pair[1], .events = POLLIN};
    late = poll(&peer, 1, 500) == 0;
    close(pair[1]);
    if (late) return round;
  }
  return 0;
}

int main(void) {
  pthread_t thread;
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return puts("this needs two processors"), 77;
  ep = epoll_create1(0);
  pthread_create(&thread, 0, worker, 0);
  int late = late_round(ROUNDS, 0);
  if (late <= 0) return printf("no late close in %d rounds\n", ROUNDS), 77;
  int rounds = late < 10000 ? 20000 : 2 * late, removed = late_round(rounds, 1);
  printf("late close in round %d; with EPOLL_CTL_DEL first: %d in %d rounds\n", late, removed > 0, rounds);
  return removed != 0;
}
#endif
