//! The checks that an adapter keeps the protocol, independently of its poller.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use metadata::Mode;
use selector::Interest;

use super::Check;
use super::context::{NotPassed, Verdict, failed};
use crate::process::{AdapterError, Answer, Command, Conversation, PATIENCE, StartError};

struct ProtocolCheck {
    name: &'static str,
    claim: &'static str,
    run: fn(Conversation, &Parameters) -> Verdict,
}

struct Parameters {
    /// Whether the adapter accepts `reset`.
    resets: bool,
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
        claim: "the adapter refuses a descriptor that it has not received" },
    ProtocolCheck { name: "taken-twice", run: taken_twice,
        claim: "the adapter takes any number of descriptors, one after the other" },
    ProtocolCheck { name: "reset", run: reset,
        claim: "after reset, the adapter has no registration and no copy of a descriptor, and the poller works" },
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
                (check.run)(conversation, &Parameters { resets: hello.reset, mode, patience })
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
        Answer::Unknown(_) => {}
        other => return failed(format!("'{line}' is answered by {other}")),
    }
    let wait = Command::wait(1, Some(Duration::ZERO));
    match adapter.request(&wait, parameters.patience)? {
        Answer::Events(events) if events.is_empty() => Ok(()),
        other => failed(format!("after '{line}', {wait} is answered by {other}")),
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
    let pipes = [io::pipe()?, io::pipe()?];
    for (reader, writer) in &pipes {
        for fd in [reader.as_raw_fd(), writer.as_raw_fd()] {
            let sent = adapter.send_descriptor(fd)?;
            sent.map_err(|errno| NotPassed::Failed(format!("a pipe cannot be sent: {errno:?}")))?;
            match adapter.receive(parameters.patience)? {
                Answer::Ok {} => {}
                other => return failed(format!("take is answered by {other}")),
            }
        }
    }
    Ok(())
}

fn reset(mut adapter: Conversation, parameters: &Parameters) -> Verdict {
    if !parameters.resets {
        return Err(NotPassed::Unsupported("the adapter does not declare reset".into()));
    }
    let wait = Command::wait(1, Some(Duration::ZERO));
    for token in [1, 2] {
        let (reader, mut writer) = io::pipe()?;
        let fd = reader.as_raw_fd();
        let sent = adapter.send_descriptor(fd)?;
        sent.map_err(|errno| NotPassed::Failed(format!("a pipe cannot be sent: {errno:?}")))?;
        expect_ok(adapter.receive(parameters.patience)?, "take")?;
        let add = Command::add(fd, token, Interest::READ, parameters.mode);
        expect_ok(adapter.request(&add, parameters.patience)?, "add")?;
        writer.write_all(b"x")?;
        match adapter.request(&Command::wait(1, Some(parameters.patience)), parameters.patience * 2)? {
            Answer::Events(events) if events.len() == 1 && events[0].token == token.to_string() => {}
            other => return failed(format!("a pipe with a byte, and a wait is answered by {other}")),
        }
        expect_ok(adapter.request(&Command::Reset {}, parameters.patience)?, "reset")?;
        match adapter.request(&wait, parameters.patience)? {
            Answer::Events(events) if events.is_empty() => {}
            other => return failed(format!("after reset, {wait} is answered by {other}")),
        }
        drop(reader);
        match writer.write(b"x") {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            _ => return failed("after reset, a copy of a descriptor is open"),
        }
    }
    Ok(())
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
