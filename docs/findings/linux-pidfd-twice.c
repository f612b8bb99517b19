/* cc linux-pidfd-twice.c
   ./a.out prints "ended: 1 edge, then reaped: 1 edge with EPOLLHUP (6.18.44)". Before, Linux has no second
   edge: "reaped: 0 edges".
   Exit code: 0 the second edge, 77 none, or no pidfd_open. */
#include <stdio.h>
#ifndef __linux__
int main(void) { return puts("pidfd_open is Linux's"), 77; }
#else
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int main(void) {
  struct utsname system;
  struct epoll_event event = {.events = EPOLLIN | EPOLLET};
  int ep = epoll_create1(0);
  pid_t child = fork();
  if (child < 0 || uname(&system)) return perror("fork"), 1;
  if (child == 0) return pause();
  int process = (int)syscall(SYS_pidfd_open, child, 0);
  if (process < 0) return perror("pidfd_open"), kill(child, SIGKILL), 77;
  if (epoll_ctl(ep, EPOLL_CTL_ADD, process, &event) || kill(child, SIGKILL)) return perror("epoll_ctl"), 1;
  siginfo_t ended;
  if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT)) return perror("waitid"), 1;
  int first = epoll_wait(ep, &event, 1, 0);
  if (first != 1 || epoll_wait(ep, &event, 1, 0) != 0) return puts("not one edge at the end"), 1;
  if (waitpid(child, NULL, 0) != child) return perror("waitpid"), 1;
  int second = epoll_wait(ep, &event, 1, 0);
  printf("ended: %d edge, then reaped: %d edge%s%s (%s)\n", first, second, second == 1 ? "" : "s",
         second == 1 && event.events & EPOLLHUP ? " with EPOLLHUP" : "", system.release);
  return second == 1 && event.events & EPOLLHUP ? 0 : 77;
}
#endif
