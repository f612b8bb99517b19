//! The checks that an adapter keeps the protocol, independently of its poller.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use metadata::{Mode, Transport};
use nix::errno::Errno;
use nix::unistd::write;
use selector::{Interest, set_nonblocking};

use super::Check;
use super::acts::{self, Acting};
use super::context::{NotPassed, Verdict, failed};
use super::ends::last_answer;
use crate::process::{
    AdapterError, Answer, Command, Conversation, Hello, LOWEST_NUMBER, PATIENCE, StartError,
};

struct ProtocolCheck {
    name: &'static str,
    claim: &'static str,
    run: fn(Conversation, &Parameters) -> Verdict,
}

struct Parameters {
    /// What the adapter declares.
    hello: Hello,
    /// The kinds of descriptors that the adapter makes itself.
    acts: Vec<Transport>,
    /// A mode of the adapter.
    mode: Mode,
    patience: Duration,
}

const HELLO: &str = "hello";

#[rustfmt::skip]
const CHECKS: &[ProtocolCheck] = &[
    ProtocolCheck { name: HELLO, run: |_, _| Ok(()),
        claim: "the adapter starts, and answers hello with its name, the protocol's version and its modes" },
    ProtocolCheck { name: "unknown-command", run: unknown_command,
        claim: "the adapter answers an unknown command by unknown, and the next command as usual" },
    ProtocolCheck { name: "malformed-command", run: malformed_command,
        claim: "the adapter answers a malformed line by unknown, and the next command as usual" },
    ProtocolCheck { name: "unknown-descriptor", run: unknown_descriptor,
        claim: "the adapter answers errno, such as EBADF, for a descriptor that it has not received" },
    ProtocolCheck { name: "taken-twice", run: taken_twice,
        claim: "the adapter takes any number of descriptors, and closes them even if none was registered" },
    ProtocolCheck { name: "numbers", run: numbers,
        claim: "a copy has the number at which it was taken, which is free again after closed" },
    ProtocolCheck { name: "reset", run: reset,
        claim: "after reset, the adapter has no registration and no copy of a descriptor, and the poller works" },
    ProtocolCheck { name: "times", run: times,
        claim: "each answer has the time of the poller's calls: all of a wait's, and none of the way to the adapter" },
    ProtocolCheck { name: "accepts", run: |adapter, parameters| acting(adapter, parameters, acts::accepts),
        claim: "a listener of the adapter accepts connections, and bytes pass in both directions" },
    ProtocolCheck { name: "connects", run: |adapter, parameters| acting(adapter, parameters, acts::connects),
        claim: "a socket of the adapter connects to a listener" },
    ProtocolCheck { name: "shuts-and-closes",
        run: |adapter, parameters| acting(adapter, parameters, acts::shuts_and_closes),
        claim: "the other end sees that the adapter shuts or closes its end" },
    ProtocolCheck { name: "shuts-reading",
        run: |adapter, parameters| acting(adapter, parameters, acts::shuts_reading),
        claim: "after the adapter has shut its end for reading, a read is the end" },
    ProtocolCheck { name: "datagrams",
        run: |adapter, parameters| acting(adapter, parameters, acts::sends_datagrams),
        claim: "a UDP socket of the adapter sends and receives datagrams" },
    ProtocolCheck { name: "pipes", run: |adapter, parameters| acting(adapter, parameters, acts::pipes),
        claim: "bytes pass through a pipe of the adapter, and its reading end sees the end" },
    ProtocolCheck { name: "ends", run: ends,
        claim: "the adapter exits with code 0 when its standard input ends" },
];

/// Runs every wanted check, each with a process of its own. The check of `hello` always runs first. If it
/// does not pass, the others do not run.
pub fn all(command_line: &[String], patience: Duration, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    let mut checks = Vec::new();
    for check in CHECKS.iter().filter(|check| check.name == HELLO || wanted(check.name)) {
        let verdict = match Conversation::begin(command_line, PATIENCE.max(patience)) {
            Err(StartError::Unsupported(reason)) => Err(NotPassed::Unsupported(reason)),
            Err(StartError::Failed(error)) => failed(error.to_string()),
            Ok((conversation, hello)) => {
                let mode = hello.modes.first().copied().map_or(Mode::Level, Mode::from);
                let acts = hello.acts.iter().copied().map(Transport::from).collect();
                (check.run)(conversation, &Parameters { hello, acts, mode, patience })
            }
        };
        let no_hello = checks.is_empty() && verdict.is_err();
        checks.push(Check { name: check.name, claim: check.claim, outcome: verdict.into() });
        if no_hello {
            break;
        }
    }
    checks
}

impl From<AdapterError> for NotPassed {
    fn from(error: AdapterError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Returns `Unsupported` unless the adapter declares a feature.
fn require(is_declared: bool, feature: &str) -> Verdict {
    let why = || NotPassed::Unsupported(format!("the adapter does not declare {feature}"));
    if is_declared { Ok(()) } else { Err(why()) }
}

/// Sends a copy of one end of a pipe, for the number `at` in the adapter. Returns the answer to `take`.
fn take(
    adapter: &mut Conversation,
    parameters: &Parameters,
    fd: RawFd,
    at: Option<RawFd>,
) -> Result<Answer, NotPassed> {
    let sent = adapter.send_descriptor(fd, at)?;
    sent.map_err(|errno| NotPassed::Failed(format!("a pipe cannot be sent: {errno:?}")))?;
    Ok(adapter.receive(parameters.patience)?)
}

/// Runs a check of an adapter's acts.
fn acting(
    mut adapter: Conversation,
    parameters: &Parameters,
    check: fn(&mut Acting<'_>) -> Verdict,
) -> Verdict {
    require(!parameters.acts.is_empty(), "acts")?;
    check(&mut Acting { adapter: &mut adapter, kinds: &parameters.acts, patience: parameters.patience })
}

fn unknown_command(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    expect_unknown(&mut adapter, r#"{"sing": {"song": "of the sirens"}}"#, parameters)
}

fn malformed_command(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    for line in ["this is no JSON", "[]", r#""wait""#, "{}", ""] {
        expect_unknown(&mut adapter, line, parameters)?;
    }
    Ok(())
}

fn expect_unknown(adapter: &mut Conversation, line: &str, parameters: &Parameters) -> Verdict {
    adapter.send_line(line)?;
    match adapter.receive(parameters.patience)? {
        Answer::Unknown(_) => expect_no_event(adapter, parameters, &format!("'{line}'")),
        other => failed(format!("'{line}' is answered by {other}")),
    }
}

/// Waits without a timeout, after something else.
fn expect_no_event(adapter: &mut Conversation, parameters: &Parameters, after: &str) -> Verdict {
    let wait = Command::wait(1, Some(Duration::ZERO));
    match adapter.request(&wait, parameters.patience)? {
        Answer::Events(events) if events.is_empty() => Ok(()),
        other => failed(format!("after {after}, {wait} is answered by {other}")),
    }
}

fn unknown_descriptor(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    // No program has a descriptor with this number by chance.
    let fd: RawFd = 999_999;
    let commands = [
        Command::add(fd, 1, Interest::READ, parameters.mode),
        Command::modify(fd, 1, Interest::READ, parameters.mode),
        Command::Remove { fd },
    ];
    for command in commands {
        match adapter.request(&command, parameters.patience)? {
            Answer::Errno(_) | Answer::Unsupported(_) => {}
            other => return failed(format!("{command} is answered by {other}")),
        }
    }
    Ok(())
}

fn taken_twice(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    if !parameters.acts.is_empty() {
        return Err(NotPassed::Unsupported("the adapter makes its descriptors itself".into()));
    }
    let pipes = [io::pipe()?, io::pipe()?];
    for (reader, writer) in &pipes {
        for fd in [reader.as_raw_fd(), writer.as_raw_fd()] {
            expect_ok(take(&mut adapter, parameters, fd, None)?, "take")?;
        }
    }
    for (reader, writer) in &pipes {
        for fd in [reader.as_raw_fd(), writer.as_raw_fd()] {
            let closed = Command::Closed { fd };
            expect_ok(adapter.request(&closed, parameters.patience)?, &closed.to_string())?;
        }
    }
    Ok(())
}

fn numbers(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    require(parameters.hello.numbers, "numbers")?;
    let at = LOWEST_NUMBER + 17;
    let pipes = [io::pipe()?, io::pipe()?];
    let [first, second] = [0, 1].map(|pipe| pipes[pipe].0.as_raw_fd());
    for _ in 0..2 {
        expect_ok(take(&mut adapter, parameters, first, Some(at))?, "take")?;
        match take(&mut adapter, parameters, second, Some(at))? {
            Answer::Errno(_) | Answer::Unsupported(_) => {}
            other => return failed(format!("the number {at} is in use, and take is answered by {other}")),
        }
        let closed = Command::Closed { fd: first };
        expect_ok(adapter.request(&closed, parameters.patience)?, "closed")?;
    }
    Ok(())
}

fn reset(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    require(parameters.hello.reset, "reset")?;
    for token in [1, 2] {
        // The name is free after a reset.
        let (fd, peer) = ready_descriptor(&mut adapter, parameters)?;
        let add = Command::add(fd, token, Interest::READ, parameters.mode);
        expect_ok(adapter.request(&add, parameters.patience)?, "add")?;
        match adapter.request(&Command::wait(1, Some(parameters.patience)), parameters.patience * 2)? {
            Answer::Events(events) if events.len() == 1 && events[0].token == token.to_string() => {}
            other => return failed(format!("a descriptor with a byte, and a wait is answered by {other}")),
        }
        expect_ok(adapter.request(&Command::Reset {}, parameters.patience)?, "reset")?;
        expect_no_event(&mut adapter, parameters, "reset")?;
        // The byte in it is unread, so a socket learns of the close by a write, too.
        if last_answer(parameters.patience, || write(&peer, b"x")) != Err(Errno::EPIPE) {
            return failed("after reset, a copy of a descriptor is open");
        }
    }
    Ok(())
}

/// The conversation compares each time with its own.
fn times(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    require(parameters.hello.times, "times")?;
    if !parameters.acts.is_empty() {
        return Err(NotPassed::Unsupported("the adapter takes no descriptor".into()));
    }
    let (reader, _writer) = io::pipe()?;
    let fd = reader.as_raw_fd();
    expect_ok(take(&mut adapter, parameters, fd, None)?, "take")?;
    for command in [
        Command::add(fd, 1, Interest::READ, parameters.mode),
        Command::modify(fd, 2, Interest::READ, parameters.mode),
    ] {
        expect_ok(adapter.request(&command, parameters.patience)?, &command.to_string())?;
    }
    let timeout = Duration::from_millis(20);
    let wait = Command::wait(1, Some(timeout));
    let answer = adapter.request(&wait, parameters.patience + timeout)?;
    let took = adapter.took().unwrap_or_default();
    match answer {
        // Some clocks of waits tick slower than the one that measures them.
        Answer::Events(events) if events.is_empty() && took >= timeout / 2 => {}
        Answer::Events(events) if events.is_empty() => {
            return failed(format!("nothing is ready, {wait} ends by its timeout, and it took {took:?}"));
        }
        other => return failed(format!("nothing is ready, and {wait} is answered by {other}")),
    }
    for command in [Command::Remove { fd }, Command::Closed { fd }] {
        expect_ok(adapter.request(&command, parameters.patience)?, &command.to_string())?;
    }
    Ok(())
}

/// Makes a descriptor of the adapter with a byte to read. Returns its name and the other end.
fn ready_descriptor(
    adapter: &mut Conversation,
    parameters: &Parameters,
) -> Result<(RawFd, OwnedFd), NotPassed> {
    let connection =
        [Transport::Unix, Transport::Tcp].into_iter().find(|kind| parameters.acts.contains(kind));
    let Some(kind) = connection else {
        if !parameters.acts.is_empty() {
            return Err(NotPassed::Unsupported("the adapter makes no connections".into()));
        }
        let (reader, mut writer) = io::pipe()?;
        let fd = reader.as_raw_fd();
        expect_ok(take(adapter, parameters, fd, None)?, "take")?;
        writer.write_all(b"x")?;
        // Writes until one fails must not wait for room.
        set_nonblocking(&writer).map_err(io::Error::from)?;
        return Ok((fd, writer.into()));
    };
    let fd = 7;
    let peer = acts::connected(adapter, kind, fd, parameters.patience)?;
    write(&peer, b"x").map_err(io::Error::from)?;
    Ok((fd, peer))
}

fn expect_ok(answer: Answer, to: &str) -> Verdict {
    match answer {
        Answer::Ok {} => Ok(()),
        other => failed(format!("{to} is answered by {other}")),
    }
}

fn ends(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    match adapter.end(parameters.patience) {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            failed(format!("it did not exit with code 0 when its standard input ended: {status}"))
        }
        None => failed(format!(
            "it still runs {} s after its standard input ended",
            parameters.patience.as_secs_f32()
        )),
    }
}
