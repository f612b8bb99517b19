/* cc unix-first-inode.c
   ./a.out prints "inode 0, then 1" on OpenBSD and NetBSD, as the first user of UNIX sockets since the boot.
   On Linux it prints one number twice.
   Exit code: 0 shown, 77 not the first socket, or another system. */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

int main(void) {
  int own = socket(AF_UNIX, SOCK_STREAM, 0);
  struct stat first, second;
  if (own < 0 || fstat(own, &first) || fstat(own, &second)) return perror("a UNIX socket"), 77;
  printf("inode %llu, then %llu\n", (unsigned long long)first.st_ino, (unsigned long long)second.st_ino);
  return first.st_ino != second.st_ino ? 0 : 77;
}
