/* cc openbsd-pipe-lost-wakeup.c
   ./a.out prints on OpenBSD: "poll(OUT): 0 poll(IN|OUT): 1 select(w): 0, a second poll(OUT): 1".
   On Linux every wait returns 1.
   Exit code: 0 shown, 1 not shown on OpenBSD, 77 another system. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

static int by_poll(int fd, short events, int milliseconds) {
  struct pollfd entry = {fd, events, 0};
  return poll(&entry, 1, milliseconds);
}

static int by_select(int fd) {
  struct timeval seconds = {3, 0};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(fd, &set);
  return select(fd + 1, 0, &set, 0, &seconds);
}

/* Returns what a wait for a full pipe's writing end returns whose only reader exits half a second later. */
static int woken(short events, int *later) {
  int pipes[2], result;
  if (pipe(pipes)) return -1;
  fcntl(pipes[1], F_SETFL, O_NONBLOCK);
  while (write(pipes[1], "x", 1) == 1) {}
  pid_t reader = fork();
  if (reader == 0) {
    close(pipes[1]);
    poll(0, 0, 500);
    _exit(0);
  }
  close(pipes[0]);
  result = events ? by_poll(pipes[1], events, 3000) : by_select(pipes[1]);
  waitpid(reader, 0, 0);
  *later = by_poll(pipes[1], POLLOUT, 0);
  close(pipes[1]);
  return result;
}

int main(void) {
  int second, unused;
  int out = woken(POLLOUT, &second), both = woken(POLLIN | POLLOUT, &unused), selected = woken(0, &unused);
  printf("poll(OUT): %d poll(IN|OUT): %d select(w): %d, a second poll(OUT): %d\n", out, both, selected, second);
#ifdef __OpenBSD__
  return !(out == 0 && selected == 0 && second == 1);
#else
  return 77;
#endif
}
