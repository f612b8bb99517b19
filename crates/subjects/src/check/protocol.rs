//! Does a program speak the protocol, apart from what its poller does?

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use metadata::Mode;
use selector::Interest;

use super::Check;
use super::trial::{Flaw, Verdict, failed};
use crate::process::{Answer, Command, Conversation, Fault, PATIENCE, Start};

struct Clause {
    name: &'static str,
    claim: &'static str,
    ask: fn(Conversation, &Asked) -> Verdict,
}

struct Asked {
    /// One that the subject has.
    mode: Mode,
    patience: Duration,
}

const HELLO: &str = "hello";

#[rustfmt::skip]
const CLAUSES: &[Clause] = &[
    Clause { name: HELLO, ask: |_, _| Ok(()),
        claim: "it starts, and greets with its name, the protocol's version and its modes" },
    Clause { name: "unknown-command", ask: unknown_command,
        claim: "a command that it does not know is answered by unknown, and the next one as ever" },
    Clause { name: "malformed-command", ask: malformed_command,
        claim: "a line that is no command is answered by unknown, and the next one as ever" },
    Clause { name: "unknown-descriptor", ask: unknown_descriptor,
        claim: "a descriptor that it has not been given is refused" },
    Clause { name: "taken-twice", ask: taken_twice,
        claim: "it is given any number of descriptors, one after the other" },
    Clause { name: "ends", ask: ends,
        claim: "it ends when its standard input ends, with exit code 0" },
];

/// Every clause that is wanted, each with a subject of its own. The greeting comes first; alone if there is no subject.
pub fn all(command_line: &[String], patience: Duration, wanted: &dyn Fn(&str) -> bool) -> Vec<Check> {
    let mut checks = Vec::new();
    for clause in CLAUSES.iter().filter(|clause| clause.name == HELLO || wanted(clause.name)) {
        let verdict = match Conversation::begin(command_line, PATIENCE.max(patience)) {
            Err(Start::Unsupported(reason)) => Err(Flaw::Unsupported(reason)),
            Err(Start::Broken(fault)) => failed(fault.to_string()),
            Ok((conversation, hello)) => {
                let mode = hello.modes.first().copied().map_or(Mode::Level, Mode::from);
                (clause.ask)(conversation, &Asked { mode, patience })
            }
        };
        let is_over = checks.is_empty() && verdict.is_err();
        checks.push(Check { name: clause.name, claim: clause.claim, outcome: verdict.into() });
        if is_over {
            break;
        }
    }
    checks
}

impl From<Fault> for Flaw {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.to_string())
    }
}

fn unknown_command(mut subject: Conversation, asked: &Asked) -> Verdict {
    expect_unknown(&mut subject, r#"{"sing": {"song": "of the sirens"}}"#, asked)
}

fn malformed_command(mut subject: Conversation, asked: &Asked) -> Verdict {
    for line in ["this is no JSON", "[]", r#""wait""#, "{}", ""] {
        expect_unknown(&mut subject, line, asked)?;
    }
    Ok(())
}

fn expect_unknown(subject: &mut Conversation, line: &str, asked: &Asked) -> Verdict {
    subject.tell_raw(line)?;
    match subject.answer(asked.patience)? {
        Answer::Unknown(_) => {}
        other => return failed(format!("'{line}' is answered by {other}")),
    }
    let wait = Command::wait(1, Some(Duration::ZERO));
    match subject.ask(&wait, asked.patience)? {
        Answer::Events(events) if events.is_empty() => Ok(()),
        other => failed(format!("after '{line}', {wait} is answered by {other}")),
    }
}

fn unknown_descriptor(mut subject: Conversation, asked: &Asked) -> Verdict {
    // Nobody has a descriptor of this number by accident.
    let fd: RawFd = 999_999;
    let commands = [
        Command::add(fd, 1, Interest::READ, asked.mode),
        Command::modify(fd, 1, Interest::READ, asked.mode),
        Command::Remove { fd },
    ];
    for command in commands {
        match subject.ask(&command, asked.patience)? {
            Answer::Errno(_) | Answer::Unsupported(_) => {}
            other => return failed(format!("{command} is answered by {other}")),
        }
    }
    Ok(())
}

fn taken_twice(mut subject: Conversation, asked: &Asked) -> Verdict {
    let pipes = [io::pipe()?, io::pipe()?];
    for (reader, writer) in &pipes {
        for fd in [reader.as_raw_fd(), writer.as_raw_fd()] {
            subject.give(fd)?.map_err(|errno| Flaw::Failed(format!("a pipe cannot be given: {errno:?}")))?;
            match subject.answer(asked.patience)? {
                Answer::Ok {} => {}
                other => return failed(format!("take is answered by {other}")),
            }
        }
    }
    Ok(())
}

fn ends(mut subject: Conversation, asked: &Asked) -> Verdict {
    match subject.end(asked.patience) {
        Some(status) if status.success() => Ok(()),
        Some(status) => failed(format!("its standard input has ended, and it ended too: {status}")),
        None => failed(format!(
            "its standard input has ended, and it runs on after {} s",
            asked.patience.as_secs_f32()
        )),
    }
}
