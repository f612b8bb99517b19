/* cc libuv-close-first.c -luv
   ./a.out prints "closed before the first iteration: ended by signal 6" and "closed with a copy: 0 callbacks, 600 of 1000 ms
   of a processor". */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

static int calls;

static void on_event(uv_poll_t *poll, int status, int events) { calls += poll && (status || events); }
static void on_timer(uv_timer_t *timer) { uv_stop(timer->loop); }

static void start(uv_poll_t *poll, int pair[2]) {
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  uv_poll_init_socket(uv_default_loop(), poll, pair[0]);
  uv_poll_start(poll, UV_READABLE, on_event);
}

int main(void) {
  int pair[2], status = 0;
  uv_poll_t poll;
  uv_timer_t timer;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    start(&poll, pair);
    close(pair[0]);
    uv_run(uv_default_loop(), UV_RUN_NOWAIT);
    _exit(0);
  }
  waitpid(child, &status, 0);
  printf("closed before the first iteration: ended by signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);

  start(&poll, pair);
  uv_run(uv_default_loop(), UV_RUN_NOWAIT);
  if (dup(pair[0]) < 0) return 1;
  close(pair[0]);
  int stopped = uv_poll_stop(&poll);
  if (write(pair[1], "x", 1) != 1) return 1;
  uv_timer_init(uv_default_loop(), &timer);
  uv_timer_start(&timer, on_timer, 1000, 0);
  clock_t before = clock();
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  int used = (int)((clock() - before) * 1000 / CLOCKS_PER_SEC);
  printf("closed with a copy: uv_poll_stop %d, %d callbacks, %d of 1000 ms of a processor\n", stopped, calls, used);
  /* An idle loop uses about 1 ms; this one uses what the machine gives it. */
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && stopped == 0 && calls == 0 && used > 20) return 0;
  return uv_version() == 0x012c02 ? 1 : 77; /* measured with 1.44.2 */
}
