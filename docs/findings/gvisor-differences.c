/* cc gvisor-differences.c
   ./a.out prints in gVisor 20221219: "peer closed: 0, peer shut: 0, empty datagram: 0", and in 20240729 1, 1
   and 0; on Linux each is 1.
   Exit code: 0 shown, 1 not shown in gVisor, 77 another system. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

static int reports(int fd, short events) {
  struct pollfd entry = {fd, events, 0};
  return poll(&entry, 1, 0);
}

int main(void) {
  int stream[2], half[2], datagram[2];
  struct utsname name;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, stream) || socketpair(AF_UNIX, SOCK_STREAM, 0, half) ||
      socketpair(AF_UNIX, SOCK_DGRAM, 0, datagram) || uname(&name))
    return perror("socketpair"), 77;
  close(stream[1]);
  shutdown(half[1], SHUT_WR);
  send(datagram[1], "", 0, 0);
  int closed = reports(stream[0], 0), shut = reports(half[0], POLLRDHUP), empty = reports(datagram[0], POLLIN);
  printf("peer closed: %d, peer shut: %d, empty datagram: %d\n", closed, shut, empty);
  /* gVisor calls itself Linux 4.4.0 of this date. */
  if (!strstr(name.version, "Sun Jan 10 15:06:54 PST 2016")) return 77;
  return closed || shut || empty;
}
