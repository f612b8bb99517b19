//! What can be said, as a table: docs/verbs.md prints it, and a test holds both to the parser.

/// One form of a clause.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// How it is written. Capitals stand for what varies, brackets for what may be left out.
    pub form: &'static str,
    /// What it does, and which call that is.
    pub means: &'static str,
    /// A line that uses it.
    pub example: &'static str,
}

const fn form(form: &'static str, means: &'static str, example: &'static str) -> Form {
    Form { form, means, example }
}

/// Every form, in the order of the documentation.
pub const FORMS: &[Form] = &[
    form(
        "A and B are connected",
        "a pair of the line's transport; of a pipe or FIFO A is the reading end, of a pseudo-terminal the master",
        "own and peer are connected",
    ),
    form(
        "A is fresh",
        "socket(2) and no more; the master of a pseudo-terminal whose slave was never open",
        "own is fresh",
    ),
    form("A is a copy of B", "dup(2)", "own is fresh, copy is a copy of own"),
    form(
        "A is a file of N [at M]",
        "a regular file of N bytes, read next from byte M",
        "own is a file of 5 at 2",
    ),
    form("A is a directory", "an open directory", "own is a directory"),
    form("A is /dev/NAME", "an open device", "own is /dev/null"),
    form(
        "A is a queue",
        "epoll(7) or kqueue(2), as the system has it; registrations are made `in A`",
        "inner is a queue, add inner for reading",
    ),
    form("A is an eventfd", "eventfd(2), where there is one", "own is an eventfd"),
    form("A is shared memory", "shm_open(3), already unlinked", "own is shared memory"),
    form("A is no descriptor", "-1", "own is no descriptor, add own?"),
    form(
        "A opens for reading, writing or both",
        "open(2) of the line's FIFO, non-blocking",
        "own opens for reading",
    ),
    form("A binds", "bind(2) to an address of its own", "own is fresh, own binds"),
    form(
        "A listens [backlog N] [beside B]",
        "socket(2) and bind(2) if there is no A, and listen(2); beside: at the address of B, with SO_REUSEPORT",
        "own listens backlog 1",
    ),
    form(
        "A connects to B, or to nobody",
        "connect(2), non-blocking; nobody listens where nobody is",
        "own connects to nobody?",
    ),
    form(
        "A reaches B",
        "connect(2) until it is over: the connection stands or is refused",
        "own listens, client reaches own",
    ),
    form(
        "A accepts B",
        "accept(2); B is the new descriptor",
        "own listens, client reaches own, own accepts conn",
    ),
    form("A sends N", "one write(2) of N bytes", "own and peer are connected, peer sends 3"),
    form(
        "A sends nothing",
        "send(2) of no bytes: an empty datagram",
        "own and peer are connected, peer sends nothing",
    ),
    form(
        "A sends urgent",
        "send(2) of one byte with MSG_OOB",
        "own and peer are connected, peer sends urgent?",
    ),
    form("A fills [by N]", "write(2) until there is no room", "own and peer are connected, own fills"),
    form(
        "A reads [twice, thrice]",
        "read(2) with room for everything",
        "own and peer are connected, own reads twice?",
    ),
    form(
        "A reads N",
        "one read(2) with room for N bytes",
        "own and peer are connected, peer sends 3, own reads 1",
    ),
    form(
        "A reads up to N, or to PIPE_BUF[+N]",
        "read(2) until so many bytes have been read since the other end's `fills`",
        "own and peer are connected, own fills, peer reads up to PIPE_BUF+4096",
    ),
    form("A drains", "read(2) until there is nothing more", "own and peer are connected, own drains"),
    form(
        "A grows by N",
        "another descriptor of the same regular file appends N bytes",
        "own is a file of 8 at 8, own grows by 3",
    ),
    form(
        "A receives urgent",
        "recv(2) of one byte with MSG_OOB",
        "own and peer are connected, own receives urgent?",
    ),
    form("A shuts read, write or both", "shutdown(2)", "own and peer are connected, peer shuts write"),
    form(
        "A resets",
        "close(2) with SO_LINGER on and 0: a TCP peer gets a reset",
        "own and peer are connected, peer resets",
    ),
    form("A closes", "close(2)", "own and peer are connected, peer closes"),
    form(
        "A takes the number of B",
        "A moves to the number that B had, which must be closed",
        "own and peer are connected, own closes, other is /dev/null, other takes the number of own",
    ),
    form(
        "A sets OPTION [N]",
        "setsockopt(2): SO_OOBINLINE, SO_REUSEPORT, SO_RCVLOWAT N or SO_SNDLOWAT N",
        "own is fresh, own sets SO_RCVLOWAT 10",
    ),
    form("A asks SO_ERROR [twice, thrice]", "getsockopt(2)", "own is fresh, own asks SO_ERROR twice?"),
    form("A moves to N", "A moves to the number N", "own is /dev/null, own moves to 900"),
    form(
        "watch A [for INTEREST] [MODE] [in POLLER] [called NAME]",
        "registers A; what only news is told of is told at once and taken: what is seen later happened later",
        "own and peer are connected, watch own",
    ),
    form(
        "add A [for INTEREST] [MODE] [in POLLER] [called NAME]",
        "registers A, and nothing else",
        "own and peer are connected, add own for both one-shot?",
    ),
    form(
        "modify A [for INTEREST] [MODE] [in POLLER] [called NAME]",
        "changes the registration",
        "own and peer are connected, add own, modify own for reading called again",
    ),
    form(
        "remove A [in POLLER]",
        "takes the registration out",
        "own and peer are connected, add own, remove own?",
    ),
    form(
        "take [in POLLER]",
        "takes what the poller says now, and records nothing",
        "own and peer are connected, watch own, take",
    ),
    form(
        "look at A [for INTEREST]",
        "asks every view of the poller: registered before (by `watch`), and now; with an interest, now only",
        "own and peer are connected, watch own, look at own as idle",
    ),
    form(
        "wait [N times] [room N] [in POLLER]",
        "N waits that do not sleep, or one; silence is proven by a later event of another descriptor",
        "own and peer are connected, add own, wait 3 times room 1 as first-waits",
    ),
    form(
        "T waits [in POLLER]",
        "a thread T begins a wait without an end and falls asleep in it",
        "own and peer are connected, add own, t waits",
    ),
    form(
        "T waits at most N s, ms, us or ns [in POLLER]",
        "the same with a timeout; `timed out`, or `early` if it says nothing before its time",
        "t waits at most 200 us, t answers as 200us",
    ),
    form(
        "T waits with timeout N, timespec N N, timeval N N, room N or nfds N",
        "the same with that argument of the system call as it is; beside room and nfds the timeout is zero",
        "t waits with timeout -7, t answers as timeout-7",
    ),
    form(
        "T answers",
        "what its wait said; `woken` if nothing, `not woken` if it sleeps on, which a later event must end",
        "own and peer are connected, add own, t waits, peer sends 1, t answers as blocked",
    ),
    form(
        "T is signalled [restarting] [and wakes]",
        "a signal that has a handler, with SA_RESTART; the handler makes the wake-up of T's poller",
        "t waits, t is signalled restarting and wakes, t answers as signalled",
    ),
    form(
        "N threads wait [alone] [in POLLER]",
        "N threads fall asleep in one poller; alone: each in one of its own, with the same registrations",
        "own and peer are connected, add own for reading, 8 threads wait alone",
    ),
    form(
        "N threads accept from A [alone] [in POLLER]",
        "N threads wait and accept: one connection each time, or all where A is reported once",
        "own listens, add own for reading, 8 threads accept from own alone",
    ),
    form(
        "N clients reach A [one by one]",
        "N connections, one after the other; one by one: each when all threads sleep again",
        "own listens backlog 128, 100 clients reach own",
    ),
    form(
        "N threads look M times [in POLLER]",
        "N threads wait M times each without sleeping",
        "own and peer are connected, peer sends 1, add own for reading, 2 threads look 2000 times",
    ),
    form(
        "N threads collect [in POLLER]",
        "N threads wait again and again, and keep what is reported",
        "4 threads collect, 50 pairs are added and written, threads answer as collected",
    ),
    form(
        "N pairs are added and written",
        "the first end of each is added for reading, then a byte is sent to each",
        "50 pairs are added and written",
    ),
    form(
        "threads answer",
        "how many were woken: `wakes=1/8`; or what came of their work: `accepted=100/100 errors=0`",
        "own and peer are connected, add own for reading, 8 threads wait, peer sends 1, threads answer as herd",
    ),
    form(
        "threads share",
        "how many of them have accepted something: `served by 1 of 8`",
        "own listens, add own for reading, 8 threads accept from own, 20 clients reach own one by one, threads share",
    ),
    form(
        "wake [N times] [in POLLER]",
        "the poller's own wake-up",
        "t waits, wake 1000 times, t answers as woken",
    ),
    form(
        "close [in POLLER]",
        "closes the poller's own descriptor",
        "t waits, close, t answers as poller-closed",
    ),
    form("a poller is made", "and given up again", "a poller is made?"),
    form(
        "descriptors run out",
        "RLIMIT_NOFILE is lowered to what is in use",
        "descriptors run out, a poller is made?",
    ),
    form("descriptors end at N", "RLIMIT_NOFILE is N", "descriptors end at 256"),
    form("descriptors are back", "RLIMIT_NOFILE is what it was", "descriptors run out, descriptors are back"),
    form(
        "in a child CLAUSE",
        "fork(2): the child does it, answers, and ends",
        "own and peer are connected, add own for reading, in a child wait as child-wait",
    ),
    form(
        "a child is forked",
        "fork(2): the child does nothing, and has open what the line has",
        "own and peer are connected, a child is forked, own closes",
    ),
    form(
        "a child waits at most N s, ms, us or ns",
        "fork(2): the child falls asleep in a poller of its own",
        "a child waits at most 2 s",
    ),
    form(
        "the child is stopped and continued",
        "SIGSTOP, and SIGCONT once it has stopped",
        "a child waits at most 2 s, the child is stopped and continued",
    ),
    form(
        "the child answers",
        "what its wait said",
        "a child waits at most 10 ms, the child answers as in-child",
    ),
    form("the child ends", "and what it had open is closed", "a child is forked, the child ends"),
    form(
        "N times",
        "the rest of the line is done N times, everything made anew; how often which answer came",
        "20 times, own and peer are connected, add own, 4 threads wait, peer sends 1, threads answer as herd",
    ),
    form(
        "this is NAME",
        "what is observed from here on is called NAME, and not as the transport",
        "this is directory, own is a directory, look at own",
    ),
];
