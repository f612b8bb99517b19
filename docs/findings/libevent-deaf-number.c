/* cc libevent-deaf-number.c -levent_core
   ./a.out prints "number used again: 1, event_add: 0, callbacks: 0". */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int calls;

static void arrived(int number, short what, void *unused) { calls += number >= 0 && what && !unused; }

int main(void) {
  int first[2], second[2];
  struct event_base *base = event_base_new();
  if (strcmp(event_base_get_method(base), "epoll")) return puts("libevent is not over epoll"), 77;
  socketpair(AF_UNIX, SOCK_STREAM, 0, first);
  struct event *a = event_new(base, first[0], EV_READ | EV_PERSIST, arrived, 0);
  event_add(a, 0);
  event_base_loop(base, EVLOOP_NONBLOCK);
  int number = first[0];
  close(first[0]); /* without event_del */
  socketpair(AF_UNIX, SOCK_STREAM, 0, second);
  struct event *b = event_new(base, second[0], EV_READ | EV_PERSIST, arrived, 0);
  int is_same = second[0] == number, added = event_add(b, 0);
  if (write(second[1], "x", 1) != 1) return 1;
  event_base_loop(base, EVLOOP_NONBLOCK);
  printf("number used again: %d, event_add: %d, callbacks: %d\n", is_same, added, calls);
  if (is_same && added == 0 && calls == 0) return 0;
  return strncmp(event_get_version(), "2.1.12", 6) ? 77 : 1; /* measured with 2.1.12 */
}
