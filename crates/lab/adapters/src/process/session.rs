//! Tests of the page of the protocol, docs/adapters.md, and of the sessions in adapters/python.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

use serde_json::Value;

use super::wire::{Answer, Command, Line};
use super::{Conversation, PATIENCE};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

fn page() -> String {
    fs::read_to_string(format!("{ROOT}/docs/adapters.md")).unwrap()
}

/// The sessions that the page links to, and their adapters.
const SESSIONS: [(&str, &str); 2] = [
    (include_str!("../../../../../adapters/python/session.txt"), "adapter.py"),
    (include_str!("../../../../../adapters/python/acting-session.txt"), "acting.py"),
];

/// Removes the version of Python, which depends on the machine.
fn without_version(mut value: Value) -> Value {
    if let Some(version) = value.pointer_mut("/hello/version") {
        *version = Value::Null;
    }
    value
}

/// Replaces the port of an address, which the system chooses.
fn without_port(mut value: Value) -> Value {
    if let Some(address) = value.get_mut("address") {
        let host = address.as_str().unwrap().split(':').next().unwrap().to_owned();
        *address = host.into();
    }
    value
}

/// The other side of a session.
#[derive(Default)]
struct OtherSide {
    pipe: (Option<PipeReader>, Option<PipeWriter>),
    /// The address in the last answer that has one.
    address: String,
    connection: Option<TcpStream>,
}

impl OtherSide {
    /// Does what a comment of the session says.
    fn act(&mut self, comment: &str) {
        match comment {
            "The other side makes a pipe. Its reading end has the number 7 there, and goes with the next line." =>
            {
                let (reader, writer) = io::pipe().unwrap();
                self.pipe = (Some(reader), Some(writer));
            }
            "A byte is written into the pipe." => self.pipe.1.as_ref().unwrap().write_all(b"x").unwrap(),
            "The writing end is closed." => self.pipe.1 = None,
            "A wake-up comes while it waits." => {}
            "The reading end is closed." => self.pipe.0 = None,
            "The other side connects to this address, whose port is another one each time." => {
                self.connection = Some(TcpStream::connect(&self.address).unwrap());
            }
            "The other side sends three bytes." => {
                self.connection.as_ref().unwrap().write_all(b"abc").unwrap();
            }
            "The other side reads two bytes and the end, and closes." => {
                let mut read = Vec::new();
                self.connection.take().unwrap().read_to_end(&mut read).unwrap();
                assert_eq!(read.len(), 2);
            }
            _ => panic!("{comment}"),
        }
    }
}

#[test]
fn the_example_adapters_reproduce_the_sessions() {
    if crate::testing::lacks("python3") {
        return;
    }
    for (session, program) in SESSIONS {
        let path = format!("{ROOT}/adapters/python/{program}");
        let mut adapter = Conversation::start(&["python3".into(), path, "poll".into()]).unwrap();
        let mut other = OtherSide::default();
        let (mut commands, mut answers) = (0, 0);
        for line in session.lines() {
            match line.split_at(2) {
                ("> ", text) => {
                    commands += 1;
                    match (serde_json::from_str(text), &other.pipe.0) {
                        (Ok(Command::Take { .. }), Some(reader)) => {
                            adapter.send_descriptor_with(reader.as_raw_fd(), text).unwrap().unwrap();
                        }
                        _ => adapter.send_line(text).unwrap(),
                    }
                }
                ("< ", text) => {
                    answers += 1;
                    let answer = adapter.receive(PATIENCE).unwrap();
                    if let Answer::Address(address) = &answer {
                        other.address.clone_from(address);
                    }
                    // Fields that the line leaves out have their defaults.
                    let written: Answer = serde_json::from_str(text).unwrap();
                    let [answer, written] = [answer, written]
                        .map(|answer| without_port(without_version(serde_json::to_value(answer).unwrap())));
                    assert_eq!(answer, written, "{line}");
                }
                ("# ", "Standard input ends, and the program exits with 0.") => {
                    assert!(adapter.end(PATIENCE).is_some_and(|status| status.success()));
                }
                ("# ", comment) => other.act(comment),
                _ => panic!("{line}"),
            }
        }
        assert!(commands > 10 && commands == answers, "{commands} commands, {answers} answers");
        assert!(session.lines().last().unwrap().starts_with("# Standard input ends"), "it does not end");
    }
}

#[test]
fn every_line_of_the_page_and_the_sessions_conforms_to_the_schema() {
    let schema: Value = serde_json::from_str(&metadata::schema::text::<Line>()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let page = page();
    let in_tables = page.split('`').filter(|text| text.starts_with("{\"") && !text.contains('…'));
    let in_sessions = SESSIONS.iter().flat_map(|(session, _)| session.lines());
    let in_session = in_sessions.filter(|line| !line.starts_with('#')).map(|line| &line[2..]);
    let mut lines = 0;
    for line in in_tables.chain(in_session) {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let is_known = value.get("sing").is_none();
        assert_eq!(validator.is_valid(&value), is_known, "{line}");
        lines += 1;
    }
    assert!(lines > 70, "{lines}");
}

#[test]
fn the_committed_schema_is_up_to_date() {
    metadata::schema::assert_current::<Line>(format!("{ROOT}/docs/adapter-protocol.schema.json"));
}

#[test]
fn the_example_has_fewer_than_200_lines() {
    let text = fs::read_to_string(format!("{ROOT}/adapters/python/adapter.py")).unwrap();
    let lines = text.lines().count();
    assert!(lines < 200, "{lines}");
}
