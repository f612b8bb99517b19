/* cc libevent-stale-callback.c -levent_core
   ./a.out prints "a: 0x2", "read: 1 1", "b: 0x2", "read: -1 -1": the second callback comes after its data was read. */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct event_base *base;
static int calls;

static void readable(int number, short what, void *name) {
  (void)number;
  printf("%s: 0x%x\n", (char *)name, what);
  calls++;
  event_base_loopbreak(base);
}

int main(void) {
  int a[2], b[2];
  char byte;
  base = event_base_new();
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, a);
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, b);
  event_add(event_new(base, a[0], EV_READ | EV_PERSIST, readable, "a"), 0);
  event_add(event_new(base, b[0], EV_READ | EV_PERSIST, readable, "b"), 0);
  if (write(a[1], "x", 1) != 1 || write(b[1], "x", 1) != 1) return 1;
  event_base_loop(base, EVLOOP_NONBLOCK);
  printf("read: %zd %zd\n", read(a[0], &byte, 1), read(b[0], &byte, 1));
  event_base_loop(base, EVLOOP_NONBLOCK);
  printf("read: %zd %zd\n", read(a[0], &byte, 1), read(b[0], &byte, 1));
  if (calls == 2) return 0;
  return strncmp(event_get_version(), "2.1.12", 6) ? 77 : 1; /* measured with 2.1.12 */
}
