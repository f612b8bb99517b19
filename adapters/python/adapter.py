#!/usr/bin/env python3
"""Python's select module as an adapter of pollmatrix (docs/adapters.md): adapter.py epoll | poll | select | kqueue"""
import errno
import json
import os
import select
import socket
import sys
import time


def flag(name):
    return getattr(select, name, 0)


def timed(call, *arguments):  # adds the time of the poller's own call to timed.spent
    begun = time.monotonic_ns()
    try:
        return call(*arguments)
    finally:
        timed.spent += time.monotonic_ns() - begun


class Epoll:
    prefix = "EPOLL"
    words = {"IN": "readable", "PRI": "urgent readable?", "OUT": "writable", "ERR": "error", "HUP": "hang-up",
             "NVAL": "error", "RDHUP": "peer-shut"}
    interests = {"read": "IN", "write": "OUT", "urgent": "PRI", "peer_shut": "RDHUP"}
    modes = {"level": "", "edge": "EPOLLET", "one_shot": "EPOLLONESHOT", "exclusive": "EPOLLEXCLUSIVE"}

    def __init__(self, make):
        self.poller, self.asked = make(), {}

    def change(self, command, fd, interest, mode):
        bits = [flag(self.prefix + self.interests[name]) for name in interest]
        timed(getattr(self.poller, {"add": "register"}.get(command, command)), fd, sum(bits) | flag(self.modes[mode]))

    def remove(self, fd):
        timed(self.poller.unregister, fd)

    def wait(self, room, timeout):
        if self.prefix == "EPOLL" and not room:
            raise OSError(errno.EINVAL, "Python says it without the kernel: maxevents must be greater than 0")
        said = {word: flag(self.prefix + word) for word in self.words}
        limits = (timeout, room) if self.prefix == "EPOLL" else (None if timeout is None else timeout * 1000,)
        return [(fd, [word for word in said if bits & said[word]]) for fd, bits in timed(self.poller.poll, *limits)]


class Poll(Epoll):
    prefix, modes = "POLL", {"level": ""}


class Select:
    modes, interests = {"level": ""}, {"read": "r", "write": "w", "urgent": "x"}
    words = {"r": "readable", "w": "writable", "x": "urgent"}

    def __init__(self, make):
        self.poller, self.asked = make, {}

    def change(self, command, fd, interest, mode):
        try:
            self.poller([fd], [], [], 0)
        except ValueError as reason:  # its number does not fit into a set
            raise NotImplementedError(str(reason))
        except OSError:  # it is closed: the next wait says so
            pass
        self.asked[fd] = interest

    def remove(self, fd):
        del self.asked[fd]

    def wait(self, room, timeout):
        sets = [[fd for fd in self.asked if name in self.asked[fd]] for name in self.interests]
        left = timed(self.poller, *sets, timeout)
        words = {fd: [word for word, ready in zip("rwx", left) if fd in ready] for fd in self.asked}
        return [(fd, said) for fd, said in words.items() if said]


class Kqueue(Epoll):
    interests = {"read": "KQ_FILTER_READ", "write": "KQ_FILTER_WRITE"}
    words = {"R": "readable", "R+EOF": "readable end error?", "W": "writable", "W+EOF": "writable error?"}
    modes = {"level": "", "edge": "KQ_EV_CLEAR", "one_shot": "KQ_EV_ONESHOT", "dispatch": "KQ_EV_DISPATCH"}

    def filters(self, fd, interest, flags):
        timed(self.poller.control, [select.kevent(fd, flag(self.interests[name]), flags) for name in interest], 0, 0)

    def change(self, command, fd, interest, mode):
        self.filters(fd, [name for name in self.asked.get(fd, ()) if name not in interest], flag("KQ_EV_DELETE"))
        self.filters(fd, interest, flag("KQ_EV_ADD") | flag(self.modes[mode]))
        self.asked[fd] = interest

    def remove(self, fd):
        self.filters(fd, self.asked.pop(fd), flag("KQ_EV_DELETE"))

    def wait(self, room, timeout):
        words, end = {flag("KQ_FILTER_READ"): "R(data={})", flag("KQ_FILTER_WRITE"): "W"}, flag("KQ_EV_EOF")
        events = timed(self.poller.control, None, room, timeout)
        return [(e.ident, [words[e.filter].format(e.data) + "+EOF" * bool(e.flags & end)]) for e in events]


class Adapter:
    times = {"ok", "events"}  # the answers that have one

    def __init__(self, name):
        self.name, self.input, self.unread, self.arrived = name, socket.socket(fileno=0), b"", []
        timed.spent = 0
        self.begin()

    def begin(self):
        self.poller = POLLERS[self.name](getattr(select, self.name))
        self.poller.change("add", 0, ["read"], "level")  # what arrives during a wait ends it: wake, or the end of input
        self.numbers, self.tokens, self.copies = {}, {}, set()  # ours by the other side's; tokens by ours; our open ones

    def reset(self):
        for number in self.copies:
            os.close(number)
        getattr(self.poller.poller, "close", lambda: None)()
        self.begin()

    def moved(self, number, at):
        try:
            os.fstat(at)
        except OSError:  # the number is free
            return os.dup2(number, at)
        finally:
            os.close(number)
        raise OSError(errno.EBUSY, f"the number {at} is in use")

    def line(self):
        while b"\n" not in self.unread:
            data, descriptors, _, _ = socket.recv_fds(self.input, 65536, 8)
            self.unread, self.arrived = self.unread + data, self.arrived + descriptors
            if not data:
                sys.exit(0)
        line, _, self.unread = self.unread.partition(b"\n")
        return line

    def obey(self, command, fd=None, token=None, interest=(), mode=None, room=0, timeout_ms=None, at=None, **_):
        if command == "hello":
            about = {"protocol": 1, "name": "python-" + self.name, "version": sys.version.split()[0], "over": self.name}
            features = {"wake": True, "reset": True, "times": True, "numbers": True}
            return {"hello": {**about, "words": self.poller.words, "modes": list(self.poller.modes), **features}}
        if command == "wait":  # if a wake-up has been read already, it is one that does not sleep
            timeout = 0 if self.unread else None if timeout_ms is None else timeout_ms / 1000
            events = [(fd, says) for fd, says in self.poller.wait(room, timeout) if fd != 0]
            return {"events": [{"token": self.tokens[fd], "says": says} for fd, says in events[:room]]}
        if command == "take":
            taken = self.arrived.pop(0)
            self.numbers[fd] = taken if at is None else self.moved(taken, at)
            self.copies.add(self.numbers[fd])
        elif command in ("add", "modify"):
            known = [name for name in interest if name in self.poller.interests]
            if mode not in self.poller.modes or (interest and not known):
                raise NotImplementedError(f"select.{self.name} has no {mode} for {interest}")
            self.poller.change(command, self.numbers[fd], known, mode)
            self.tokens[self.numbers[fd]] = token
        elif command == "remove":
            self.poller.remove(self.numbers[fd])
        elif command == "closed":
            timed(os.close, self.numbers[fd])
            self.copies.remove(self.numbers[fd])
        elif command == "reset":
            self.reset()
        elif command == "close":
            self.poller.poller.close()
        elif command != "wake":  # which has ended the wait by being there
            return {"unknown": command}
        return {"ok": {}}

    def answer(self, line):
        try:
            ((command, arguments),) = dict(json.loads(line)).items()
            timed.spent = 0
            answer = self.obey(command, **arguments)
            return {**answer, "took": {"ns": timed.spent}} if self.times & set(answer) else answer
        except (NotImplementedError, AttributeError) as reason:  # there is no select.poll.close
            return {"unsupported": str(reason)}
        except (OSError, KeyError) as error:  # KeyError: it is known to nobody here
            number = getattr(error, "errno", errno.ENOENT)
            return {"errno": errno.errorcode.get(number, str(number))} if number else {"unsupported": str(error)}
        except (TypeError, ValueError) as error:
            return {"errno": "EBADF"} if getattr(self.poller.poller, "closed", False) else {"unknown": str(error)}


POLLERS = {"epoll": Epoll, "poll": Poll, "select": Select, "kqueue": Kqueue}


def main(adapter=Adapter):
    if len(sys.argv) != 2 or sys.argv[1] not in POLLERS:
        sys.exit(__doc__)
    hasattr(select, sys.argv[1]) or sys.exit(127)
    adapter = adapter(sys.argv[1])
    while True:
        print(json.dumps(adapter.answer(adapter.line())), flush=True)


if __name__ == "__main__":
    main()
