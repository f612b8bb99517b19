#!/usr/bin/env python3
"""The example adapter with a mistake of tests/adapter_check.rs: bad_adapter.py MISTAKE [acting-]epoll | poll | select"""
import os
import pathlib
import socket
import stat
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "adapters/python"))
import acting  # noqa: E402
import adapter  # noqa: E402

MISTAKE = sys.argv.pop(1)
MODIFIED = set()  # the tokens of registrations that were modified
ACTS = sys.argv[1].startswith("acting-")
sys.argv[1] = sys.argv[1].removeprefix("acting-")


def at_peer_shut(number):
    """Returns whether the descriptor is a socket at its end of input."""
    try:
        with socket.socket(fileno=os.dup(number)) as peeked:
            return peeked.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except OSError:
        return False


class Bad(acting.Acting if ACTS else adapter.Adapter):
    def command(self, command, given):
        """Applies the mistake to the command. A result that is not empty is the answer."""
        wait, change = command == "wait", command in ("add", "modify")
        match MISTAKE:
            case "hello-hangs" if command == "hello":
                time.sleep(3600)
            case "hello-exits" if command == "hello":
                sys.exit(3)
            case "unsupported-here" if command == "hello":
                raise NotImplementedError("the moon is full")
            case "wait-hangs" if wait:
                time.sleep(3600)
            case "crashes" if wait:
                os.abort()
            case "prints" if wait:
                print("DEBUG: waiting", flush=True)
            case "answers-twice" if command == "add":
                print('{"ok": {}, "took": {"ns": 0}}')  # not flushed: both come at once
            case "dies-of-unknown" if command == "sing":
                sys.exit(1)
            case "unknown-is-fine" if command == "sing":
                return {"ok": {}}
            case "foreign-is-fine" if change and given["fd"] not in self.numbers:
                return {"ok": {}}
            case "takes-one" if command == "take" and self.numbers:
                return {"errno": "EMFILE"}
            case "takes-three" if command == "take" and len(self.numbers) == 3:
                return {"errno": "EMFILE"}
            case "closes-registered" if command == "closed" and self.numbers[given["fd"]] not in self.tokens:
                return {"errno": "EBADF"}
            case "nameless-errno" if change:
                raise OSError(4095, "an error without a name")
            case "errnoless" if change:
                raise OSError("an error without a number")
            case "no-errno" if change:
                return {"errno": "EWHATEVER"}
            case "early" if wait and given["timeout_ms"]:
                given["timeout_ms"] /= 2
            case "impatient" if wait:
                given["timeout_ms"] = 0
            case "greedy" | "roomless" if wait:
                given["room"] = 100
            case "ignores-numbers" if command == "take":
                given.pop("at", None)
            case "never-reset" if command == "reset":
                return {"ok": {}}
            case "reset-keeps-copies" if command == "reset":
                self.copies.clear()
            case "keeps-removed" if command == "remove":
                return {"ok": {}}
            case "forgets-token" if command == "remove":
                self.tokens[self.numbers[given["fd"]]] = "4294967295"  # minus one
                return {"ok": {}}
            case "keeps-copies" | "keeps-numbers" if command == "closed":
                return {"ok": {}}
            case "keeps-numbers" if command == "take" and given["fd"] in self.numbers:
                self.arrived.clear()
                return {"ok": {}}
            case "never-again" if command == "add" and self.numbers[given["fd"]] in self.tokens:
                return {"errno": "EEXIST"}
            case "never-modified" if command == "modify":
                return {"ok": {}}
            case "loses-modified-hang-ups" if command == "reset":
                MODIFIED.clear()
            case "loses-modified-hang-ups" if command == "modify":
                MODIFIED.add(given["token"])
            case "never-closed" if command == "close":
                return {"ok": {}}
            case "old-token" if command == "modify":
                given["token"] = self.tokens[self.numbers[given["fd"]]]
            case "any-mode" if change and given["mode"] not in self.poller.modes:
                given["mode"] = "level"
            case "always-level" if change:
                given["mode"] = "level"
            case "always-edge" if change:
                given["mode"] = "edge"
            case "always-writes" if change:
                given["interest"] = ["read", "write"]
            case "only-reads" if change:
                given["interest"] = ["read"]
            case "deaf-for-sockets" if change and stat.S_ISSOCK(os.fstat(self.numbers[given["fd"]]).st_mode):
                given["interest"] = []
            case "wake-unanswered" if command == "wake":
                return None
            case "accepts-nobody" if command == "accept":
                try:
                    return super().obey(command, **given)
                except BlockingIOError:
                    return {"ok": {}}
            case "refuses" if command == "connect":
                return {"errno": "ECONNREFUSED"}
            case "never-shuts" if command == "shut":
                return {"ok": {}}
            case "cannot-shut" if command == "shut":
                return {"unsupported": "there is no shutdown"}
            case "drops" if command == "write":
                return {"count": given["bytes"]}
            case "never-closes" if command == "close" and "fd" in given:
                return {"ok": {}}
        return {}

    def obey(self, command, **given):
        answer = self.command(command, given)
        answer = answer or super().obey(command, **given)
        for event in answer.get("events", ()):
            match MISTAKE:
                case "wrong-token":
                    event["token"] = "1" + event["token"]
                case "int-token":
                    event["token"] = str(int(event["token"]) & 0xFFFFFFFF)
                case "stale-token" if event["token"] != "2119695916":  # the fence's
                    event["token"] = "77"
                case "word-token":
                    event["token"] = "seven"
                case "sentences":
                    event["says"] = ["IN and HUP"]
                case "undeclared":
                    event["says"].append("RDNORM")
        events = answer.get("events", [])
        numbers = {token: number for number, token in self.tokens.items()}
        match MISTAKE:
            case "loses-all" if command == "wait":
                answer["events"] = []
            case "loses-hang-ups" if command == "wait":
                answer["events"] = [event for event in events if "HUP" not in event["says"]]
            case "loses-modified-hang-ups" if command == "wait":
                lost = [event for event in events if "HUP" in event["says"] and event["token"] in MODIFIED]
                answer["events"] = [event for event in events if event not in lost]
            case "loses-ends" if command == "wait":
                answer["events"] = [event for event in events if not at_peer_shut(numbers[event["token"]])]
            case "invents" if command == "wait":
                answer["events"] = [{"token": token, "says": ["IN"]} for token in self.tokens.values()]
            case "nameless" if command == "hello":
                del answer["hello"]["name"]
            case "loud" if command == "hello":
                answer["hello"]["name"] = "Python, the one and only"
            case "of-the-future" if command == "hello":
                answer["hello"]["protocol"] = 2
            case "featureless" if command == "hello":
                for feature in ("reset", "times", "numbers"):
                    del answer["hello"][feature]
                self.times = set()
            case "wordless" if command == "hello":
                del answer["hello"]["words"]
            case "means-nothing" if command == "hello":
                answer["hello"]["words"] = {"IN": "raedable"}
            case "acts-and-takes" if command == "hello":
                answer["hello"]["numbers"] = True
            case "roomless" if command == "hello":
                answer["hello"]["room"] = False
            case "modeless" if command == "hello":
                answer["hello"]["modes"] = []
        return answer

    def answer(self, line):
        if MISTAKE == "dies-of-nonsense" and not line.startswith(b"{"):
            sys.exit(1)
        if MISTAKE == "wake-unanswered" and b'"wake"' in line:
            return None
        answer = super().answer(line)
        if "took" in answer:
            match MISTAKE:
                case "untimed":
                    del answer["took"]
                case "times-nothing":
                    answer["took"]["ns"] = 0
                case "times-alike":
                    answer["took"]["ns"] = 1000
                case "times-backwards":
                    answer["took"]["ns"] = -5
                case "times-the-way":
                    answer["took"]["ns"] = 10**15
        return answer

    def line(self):
        try:
            return super().line()
        except SystemExit:
            match MISTAKE:
                case "never-ends":
                    time.sleep(3600)
                case "ends-badly":
                    sys.exit(1)
            raise


if MISTAKE == "deaf":
    adapter.Epoll.wait = lambda self, room, timeout, wait=adapter.Epoll.wait: (
        self.poller.unregister(0), wait(self, room, timeout), self.poller.register(0, 1))[1]
if MISTAKE == "exits-127":
    sys.exit(127)
adapter.main(Bad)
