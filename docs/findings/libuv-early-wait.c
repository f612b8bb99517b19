/* cc libuv-early-wait.c -luv
   ./a.out prints "returned after 139 ms, fired: 0": a signal every 10 ms shortens a wait of 1000 ms. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <uv.h>

static int fired;

static void on_timer(uv_timer_t *timer) { fired = timer != 0; }
static void on_signal(int signal) { (void)signal; }

int main(void) {
  uv_timer_t timer;
  struct sigaction action = {.sa_handler = on_signal};
  struct itimerval every = {{0, 10000}, {0, 10000}};
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &every, 0);
  uv_timer_init(uv_default_loop(), &timer);
  uint64_t start = uv_hrtime();
  uv_timer_start(&timer, on_timer, 1000, 0);
  uv_run(uv_default_loop(), UV_RUN_ONCE);
  int elapsed = (int)((uv_hrtime() - start) / 1000000);
  printf("libuv %s: returned after %d ms, fired: %d\n", uv_version_string(), elapsed, fired);
  if (elapsed < 1000 && !fired) return 0;
  return uv_version() == 0x012c02 ? 1 : 77; /* measured with 1.44.2 */
}
