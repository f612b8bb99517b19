/* cc libuv-error-is-ebadf.c -luv
   ./a.out prints "status EBADF, SO_ERROR ECONNREFUSED, active 0" and "read without an event: 1". */
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

static int fd, calls, status_of_error, was_active;

static void on_event(uv_poll_t *poll, int status, int events) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
  was_active = uv_is_active((uv_handle_t *)poll);
  if (status) status_of_error = status;
  printf("status %s, SO_ERROR %s, active %d\n", status ? uv_err_name(status) : "0",
         error ? uv_err_name(-error) : "0", was_active);
  calls += events != 0;
}

int main(void) {
  char byte;
  uv_poll_t poll;
  struct sockaddr_in peer_name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, name;
  socklen_t length = sizeof peer_name;
  int peer = socket(AF_INET, SOCK_DGRAM, 0);
  bind(peer, (struct sockaddr *)&peer_name, sizeof peer_name); /* chooses a port */
  getsockname(peer, (struct sockaddr *)&peer_name, &length);
  close(peer);
  fd = socket(AF_INET, SOCK_DGRAM, 0);
  connect(fd, (struct sockaddr *)&peer_name, sizeof peer_name);
  uv_poll_init_socket(uv_default_loop(), &poll, fd);
  uv_poll_start(&poll, UV_READABLE, on_event);
  send(fd, "x", 1, 0); /* refused */
  uv_run(uv_default_loop(), UV_RUN_ONCE);
  peer = socket(AF_INET, SOCK_DGRAM, 0);
  bind(peer, (struct sockaddr *)&peer_name, sizeof peer_name);
  getsockname(fd, (struct sockaddr *)&name, &length);
  sendto(peer, "y", 1, 0, (struct sockaddr *)&name, sizeof name);
  uv_run(uv_default_loop(), UV_RUN_ONCE);
  ssize_t count = calls ? 0 : read(fd, &byte, 1);
  if (!calls) printf("read without an event: %zd\n", count);
  if (status_of_error == UV_EBADF && !was_active && count == 1) return 0;
  return uv_version() == 0x012c02 ? 1 : 77; /* measured with 1.44.2 */
}
