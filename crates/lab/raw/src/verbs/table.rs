//! The forms of clauses as a table. docs/verbs.md prints it; tests compare the table with that page and the
//! parser.

/// One form of a clause.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The syntax. Words in capitals are variables, words in brackets are optional.
    pub form: &'static str,
    /// The meaning, with the system call.
    pub means: &'static str,
    /// A script that uses it.
    pub example: &'static str,
}

const fn form(form: &'static str, means: &'static str, example: &'static str) -> Form {
    Form { form, means, example }
}

/// All forms, in the order of the documentation.
pub const FORMS: &[Form] = &[
    form(
        "A and B are connected",
        "makes a pair of the script's transport; A is a pipe's or FIFO's reading end, a pseudo-terminal's master",
        "own and peer are connected",
    ),
    form(
        "A is fresh",
        "socket(2) only; the master of a pseudo-terminal whose slave was never open",
        "own is fresh",
    ),
    form("A is a copy of B", "dup(2)", "own is fresh, copy is a copy of own"),
    form(
        "A is a file of N [at M]",
        "a regular file of N bytes; the file offset is M",
        "own is a file of 5 at 2",
    ),
    form("A is a directory", "an open directory", "own is a directory"),
    form("A is /dev/NAME", "an open device", "own is /dev/null"),
    form(
        "A is a queue",
        "the system's epoll(7) or kqueue(2); `in A` registers in it",
        "inner is a queue, add inner for reading",
    ),
    form("A is an eventfd", "eventfd(2), on systems that have it", "own is an eventfd"),
    form("A is shared memory", "shm_open(3), already unlinked", "own is shared memory"),
    form("A is no descriptor", "-1", "own is no descriptor, add own?"),
    form(
        "A opens for reading, writing or both",
        "open(2) of the script's FIFO, non-blocking",
        "own opens for reading",
    ),
    form("A binds", "bind(2) to a fresh address", "own is fresh, own binds"),
    form(
        "A listens [backlog N] [beside B]",
        "listen(2), with socket(2) and bind(2) if there is no A; beside: at B's address, with SO_REUSEPORT",
        "own listens backlog 1",
    ),
    form(
        "A connects to B, or to nobody",
        "connect(2), non-blocking; `nobody` is an address without a listener",
        "own connects to nobody?",
    ),
    form(
        "A reaches B",
        "connect(2) to its end: the connection is established or refused; then SO_ERROR, which forgets the error",
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
    form("A fills [by N]", "write(2) until the buffer is full", "own and peer are connected, own fills"),
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
        "read(2) until N bytes have been read since the other end's `fills`",
        "own and peer are connected, own fills, peer reads up to PIPE_BUF+4096",
    ),
    form("A drains", "read(2) until no data is left", "own and peer are connected, own drains"),
    form(
        "A grows by N",
        "appends N bytes through another descriptor of the same regular file",
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
        "A moves to the number that B had; B must be closed",
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
        "registers A; in edge mode the initial event is consumed: later answers show later events only",
        "own and peer are connected, watch own",
    ),
    form(
        "add A [for INTEREST] [MODE] [in POLLER] [called NAME]",
        "registers A",
        "own and peer are connected, add own for both one-shot?",
    ),
    form(
        "modify A [for INTEREST] [MODE] [in POLLER] [called NAME]",
        "changes the registration",
        "own and peer are connected, add own, modify own for reading called again",
    ),
    form(
        "remove A [in POLLER]",
        "removes the registration",
        "own and peer are connected, add own, remove own?",
    ),
    form(
        "take [in POLLER]",
        "consumes the poller's current events, and records nothing",
        "own and peer are connected, watch own, take",
    ),
    form(
        "look at A [for INTEREST]",
        "asks every view of the poller: registered earlier by `watch`, and now; with an interest: now only",
        "own and peer are connected, watch own, look at own as idle",
    ),
    form(
        "wait [N times] [room N] [in POLLER]",
        "one wait or N waits with a timeout of zero; a later event proves that no event is missing",
        "own and peer are connected, add own, wait 3 times room 1 as first-waits",
    ),
    form(
        "T waits [in POLLER]",
        "a thread T begins a wait without a timeout and falls asleep in it",
        "own and peer are connected, add own, t waits",
    ),
    form(
        "T waits at most N s, ms, us or ns [in POLLER]",
        "the same with a timeout; `timed out`, or `early` if the wait ends too soon without an event",
        "t waits at most 200 us, t answers as 200us",
    ),
    form(
        "T waits with timeout N, timespec N N, timeval N N, room N or nfds N",
        "the same with this raw argument of the system call; with room and nfds the timeout is zero",
        "t waits with timeout -7, t answers as timeout-7",
    ),
    form(
        "T answers",
        "the result of its wait; `woken` without an event; `not woken` if only a later event ends it",
        "own and peer are connected, add own, t waits, peer sends 1, t answers as blocked",
    ),
    form(
        "T is signalled [restarting] [and wakes]",
        "a signal that has a handler; restarting: with SA_RESTART; and wakes: the handler wakes T's poller",
        "t waits, t is signalled restarting and wakes, t answers as signalled",
    ),
    form(
        "N threads wait [alone] [in POLLER]",
        "N threads fall asleep in one poller; alone: each in its own poller with the same registrations",
        "own and peer are connected, add own for reading, 8 threads wait alone",
    ),
    form(
        "N threads accept from A [alone] [in POLLER]",
        "N threads wait and accept: one connection per event, or all pending ones if A is reported once",
        "own listens, add own for reading, 8 threads accept from own alone",
    ),
    form(
        "N clients reach A [one by one]",
        "N connections, one after the other; one by one: each is made when all threads sleep again",
        "own listens backlog 128, 100 clients reach own",
    ),
    form(
        "N threads look M times [in POLLER]",
        "N threads wait M times each with a timeout of zero",
        "own and peer are connected, peer sends 1, add own for reading, 2 threads look 2000 times",
    ),
    form(
        "N threads collect [in POLLER]",
        "N threads wait in a loop and keep the events",
        "4 threads collect, 50 pairs are added and written, threads answer as collected",
    ),
    form(
        "N pairs are added and written",
        "adds the first end of each pair for reading, then sends a byte to each",
        "50 pairs are added and written",
    ),
    form(
        "threads answer",
        "how many threads were woken: `wakes=1/8`; or the result of their work: `accepted=100/100 errors=0`",
        "own and peer are connected, add own for reading, 8 threads wait, peer sends 1, threads answer as herd",
    ),
    form(
        "threads share",
        "the number of threads that have accepted a connection: `served by 1 of 8`",
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
    form("a poller is made", "makes a poller and closes it", "a poller is made?"),
    form(
        "descriptors run out",
        "lowers RLIMIT_NOFILE to the lowest free number",
        "descriptors run out, a poller is made?",
    ),
    form("descriptors end at N", "sets RLIMIT_NOFILE to N", "descriptors end at 256"),
    form("descriptors are back", "restores RLIMIT_NOFILE", "descriptors run out, descriptors are back"),
    form(
        "in a child CLAUSE",
        "fork(2): the child runs the clause, reports the answer, and exits",
        "own and peer are connected, add own for reading, in a child wait as child-wait",
    ),
    form(
        "a child is forked",
        "fork(2): the child does nothing, and inherits every open descriptor of the script",
        "own and peer are connected, a child is forked, own closes",
    ),
    form(
        "a child waits at most N s, ms, us or ns",
        "fork(2): the child falls asleep in its own poller",
        "a child waits at most 2 s",
    ),
    form(
        "the child is stopped and continued",
        "SIGSTOP, and SIGCONT once the child has stopped",
        "a child waits at most 2 s, the child is stopped and continued",
    ),
    form(
        "the child answers",
        "the result of its wait",
        "a child waits at most 10 ms, the child answers as in-child",
    ),
    form(
        "the child ends",
        "the child exits, which closes its descriptors",
        "a child is forked, the child ends",
    ),
    form(
        "N times",
        "repeats the rest of the script N times, each time with everything made anew; counts each answer",
        "20 times, own and peer are connected, add own, 4 threads wait, peer sends 1, threads answer as herd",
    ),
    form(
        "this is NAME",
        "publishes later answers under NAME instead of the transport",
        "this is directory, own is a directory, look at own",
    ),
];
