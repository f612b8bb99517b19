/* cc -pthread poll-keeps-file.c
   ./a.out prints, for poll and for select: "the peer reads EAGAIN during the wait, end of file after it". */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("measured on Linux only"), 77; }
#else
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int own, stop[2];
static atomic_int tid;

static void *in_poll(void *unused) {
  struct pollfd fds[2] = {{own, POLLIN, 0}, {stop[0], POLLIN, 0}};
  tid = (int)syscall(SYS_gettid);
  poll(fds, 2, -1);
  return unused;
}

static void *in_select(void *unused) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(own, &set);
  FD_SET(stop[0], &set);
  tid = (int)syscall(SYS_gettid);
  select((own > stop[0] ? own : stop[0]) + 1, &set, 0, 0, 0);
  return unused;
}

/* Waits until the other thread sleeps. It does so in its poll or select only. */
static void wait_until_asleep(void) {
  char path[64], state = 0;
  while (!tid) {}
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  while (state != 'S') {
    FILE *stat = fopen(path, "r");
    if (!stat || fscanf(stat, "%*d %*s %c", &state) != 1) state = 0;
    if (stat) fclose(stat);
  }
}

static const char *peer_reads(int peer) {
  char byte;
  ssize_t count = recv(peer, &byte, 1, MSG_DONTWAIT);
  return count == 0 ? "end of file" : count < 0 && errno == EAGAIN ? "EAGAIN" : "something else";
}

static int is_kept(const char *name, void *(*wait)(void *)) {
  int pair[2];
  pthread_t thread;
  tid = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(stop)) return 0;
  own = pair[0];
  pthread_create(&thread, 0, wait, 0);
  wait_until_asleep();
  close(own);
  const char *during = peer_reads(pair[1]);
  if (write(stop[1], "x", 1) != 1) return 0;
  pthread_join(thread, 0);
  const char *after = peer_reads(pair[1]);
  printf("%s: the peer reads %s during the wait, %s after it\n", name, during, after);
  return during[0] == 'E' && after[0] == 'e';
}

int main(void) {
  int poll_keeps = is_kept("poll", in_poll), select_keeps = is_kept("select", in_select);
  return !(poll_keeps && select_keeps);
}
#endif
