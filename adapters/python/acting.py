#!/usr/bin/env python3
"""Python's select module as an adapter that makes its descriptors itself (docs/adapters.md): acting.py epoll | poll | select | kqueue"""
import errno
import os
import socket
import sys

import adapter

FAMILIES = {"tcp": socket.AF_INET, "udp": socket.AF_INET, "unix": socket.AF_UNIX}
DIRECTIONS = {"read": socket.SHUT_RD, "write": socket.SHUT_WR, "both": socket.SHUT_RDWR}


def endpoint(address):
    """Converts an address of the protocol into one of the socket module."""
    host, colon, port = address.rpartition(":")
    return (host, int(port)) if colon and "/" not in address else address


def text(address):
    return address if isinstance(address, str) else f"{address[0]}:{address[1]}"


class Acting(adapter.Adapter):
    times = set()

    """What was opened is known by its name, as if it had been taken: the poller's commands find it so."""

    def begin(self):
        super().begin()
        self.sockets = {}  # by their names; the ends of a pipe are numbers only

    def reset(self):
        for end in self.sockets.values():
            end.detach()  # its number is closed below
        super().reset()

    def keep(self, fd, number):
        os.set_blocking(number, False)
        self.numbers[fd] = number
        self.copies.add(number)

    def keep_socket(self, fd, end):
        self.sockets[fd] = end
        self.keep(fd, end.fileno())

    def make(self, fd, kind):
        self.keep_socket(fd, socket.socket(FAMILIES[kind], socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM))

    def obey(self, command, fd=None, kind=None, peer=None, address="", backlog=0, how=None, room=0, bytes=0, **rest):
        if command == "hello":
            about = super().obey(command, **rest)
            del about["hello"]["numbers"], about["hello"]["times"]  # which are about descriptors that were taken
            about["hello"]["acts"] = ["pipe", "tcp", "udp", "unix"]
            return about
        if command == "open" and kind == "pipe":
            for name, number in zip((fd, peer), os.pipe()):
                self.keep(name, number)
        elif command == "open":
            self.make(fd, kind)
        elif command in ("bind", "listen"):
            if command == "listen":
                self.make(fd, kind)
            self.sockets[fd].bind(endpoint(address))
            if command == "listen":
                self.sockets[fd].listen(backlog)
            return {"address": text(self.sockets[fd].getsockname())}
        elif command == "connect":
            self.sockets[fd].connect(endpoint(address))
        elif command == "accept":
            accepted, _ = self.sockets[rest["from"]].accept()
            accepted.family == socket.AF_INET and accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.keep_socket(fd, accepted)
        elif command == "read":
            return {"count": len(os.read(self.numbers[fd], room))}
        elif command == "write":
            data = b"." * bytes
            return {"count": self.sockets[fd].send(data) if fd in self.sockets else os.write(self.numbers[fd], data)}
        elif command == "shut":
            self.sockets[fd].shutdown(DIRECTIONS[how])
        elif command == "close" and fd is not None:
            if fd in self.sockets:
                self.sockets.pop(fd).detach()
            super().obey("closed", fd=fd)
        elif command in ("take", "closed"):
            return {"unknown": command}
        else:
            return super().obey(command, fd=fd, room=room, **rest)
        return {"ok": {}}


if __name__ == "__main__":
    adapter.main(Acting)
