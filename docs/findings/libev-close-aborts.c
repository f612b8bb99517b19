/* cc libev-close-aborts.c -lev
   ./a.out prints what a close before ev_io_stop does: "select: called with EV_ERROR", "poll: ended by signal 6",
   "epoll: ended by signal 6". */
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int reported;

static void arrived(struct ev_loop *loop, ev_io *io, int events) {
  (void)loop;
  if (events & EV_ERROR && !ev_is_active(io)) reported = 1;
}

/* Returns the signal that ends a program over this backend, or -1 if the watcher is called with EV_ERROR. */
static int end_over(unsigned backend) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    int pair[2];
    ev_io io;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    struct ev_loop *loop = ev_loop_new(backend);
    if (!loop) _exit(77);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    ev_io_init(&io, arrived, pair[0], EV_READ);
    ev_io_start(loop, &io);
    close(pair[0]); /* without ev_io_stop */
    ev_run(loop, EVRUN_NOWAIT);
    _exit(reported ? 1 : 0);
  }
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) == 1 ? -1 : 0;
}

int main(void) {
  if (!(ev_supported_backends() & EVBACKEND_EPOLL)) return puts("libev has no epoll here"), 77;
  int in_select = end_over(EVBACKEND_SELECT), in_poll = end_over(EVBACKEND_POLL), in_epoll = end_over(EVBACKEND_EPOLL);
  printf("select: %s\npoll: ended by signal %d\nepoll: ended by signal %d\n",
         in_select == -1 ? "called with EV_ERROR" : "not called", in_poll, in_epoll);
  if (in_poll != SIGABRT && in_select == -1) return puts("libev is built without its assertions"), 77;
  if (in_select == -1 && in_poll == SIGABRT && in_epoll == SIGABRT) return 0;
  return ev_version_major() == 4 && ev_version_minor() == 33 ? 1 : 77; /* measured with 4.33 */
}
