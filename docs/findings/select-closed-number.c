/* cc -pthread select-closed-number.c
   ./a.out prints "first select: 1, readable: 1" and "next select: -1, EBADF: 1". */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("measured on Linux only"), 77; }
#else
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int own, first, is_readable, next, is_bad;
static atomic_int tid;

static void *waits(void *unused) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(own, &set);
  tid = (int)syscall(SYS_gettid);
  first = select(own + 1, &set, 0, 0, 0);
  is_readable = FD_ISSET(own, &set) != 0;
  FD_SET(own, &set);
  next = select(own + 1, &set, 0, 0, 0);
  is_bad = errno == EBADF;
  return unused;
}

int main(void) {
  int pair[2];
  char path[64], state = 0;
  pthread_t thread;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
  own = pair[0];
  pthread_create(&thread, 0, waits, 0);
  while (!tid) {}
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  while (state != 'S') { /* it sleeps in its select */
    FILE *stat = fopen(path, "r");
    if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1) state = 0;
    if (stat) fclose(stat);
  }
  close(own);
  close(pair[1]); /* this end wakes the thread */
  pthread_join(thread, 0);
  printf("first select: %d, readable: %d\nnext select: %d, EBADF: %d\n", first, is_readable, next, is_bad);
  return !(first == 1 && is_readable && next == -1 && is_bad);
}
#endif
