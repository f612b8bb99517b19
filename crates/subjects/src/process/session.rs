//! Tests of the page of the protocol, docs/subjects.md.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;

use serde_json::Value;

use super::wire::{Answer, Command, schema};
use super::{Conversation, PATIENCE};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn page() -> String {
    fs::read_to_string(format!("{ROOT}/docs/subjects.md")).unwrap()
}

/// Returns the lines of the session on the page.
fn session(page: &str) -> Vec<&str> {
    let block = page.split("## A session").nth(1).and_then(|rest| rest.split("```text\n").nth(1));
    block.and_then(|rest| rest.split("```").next()).expect("the page has a session").lines().collect()
}

/// Removes the version of Python, which depends on the machine.
fn without_version(mut value: Value) -> Value {
    if let Some(version) = value.pointer_mut("/hello/version") {
        *version = Value::Null;
    }
    value
}

#[test]
fn the_example_adapter_reproduces_the_session_on_the_page() {
    if crate::testing::lacks("python3") {
        return;
    }
    let path = format!("{ROOT}/subjects/python/adapter.py");
    let mut adapter = Conversation::start(&["python3".into(), path, "poll".into()]).unwrap();
    let mut pipe: (Option<PipeReader>, Option<PipeWriter>) = (None, None);
    let (mut commands, mut answers) = (0, 0);
    for line in session(&page()) {
        match line.split_at(2) {
            ("> ", text) => {
                commands += 1;
                match serde_json::from_str(text) {
                    Ok(Command::Take { .. }) => {
                        let fd = pipe.0.as_ref().unwrap().as_raw_fd();
                        adapter.send_descriptor_with(fd, text).unwrap().unwrap();
                    }
                    _ => adapter.send_line(text).unwrap(),
                }
            }
            ("< ", text) => {
                answers += 1;
                let answer = serde_json::to_value(adapter.receive(PATIENCE).unwrap()).unwrap();
                // Fields that the line leaves out have their defaults.
                let written: Answer = serde_json::from_str(text).unwrap();
                let written = serde_json::to_value(written).unwrap();
                assert_eq!(without_version(answer), without_version(written), "{line}");
            }
            (
                "# ",
                "The other side makes a pipe. Its reading end has the number 7 there, and goes with the next line.",
            ) => {
                let (reader, writer) = io::pipe().unwrap();
                pipe = (Some(reader), Some(writer));
            }
            ("# ", "A byte is written into the pipe.") => pipe.1.as_ref().unwrap().write_all(b"x").unwrap(),
            ("# ", "The writing end is closed.") => pipe.1 = None,
            ("# ", "A wake-up comes while it waits.") => {}
            ("# ", "The reading end is closed.") => pipe.0 = None,
            ("# ", "Standard input ends, and the program exits with 0.") => {
                assert!(adapter.end(PATIENCE).is_some_and(|status| status.success()));
                assert!(commands > 10 && commands == answers, "{commands} commands, {answers} answers");
                return;
            }
            _ => panic!("{line}"),
        }
    }
    panic!("the session does not end");
}

#[test]
fn every_line_on_the_page_conforms_to_the_schema() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let page = page();
    let in_tables = page.split('`').filter(|text| text.starts_with("{\"") && !text.contains('…'));
    let in_session = session(&page).into_iter().filter(|line| !line.starts_with('#')).map(|line| &line[2..]);
    let mut lines = 0;
    for line in in_tables.chain(in_session) {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let is_known = value.get("sing").is_none();
        assert_eq!(validator.is_valid(&value), is_known, "{line}");
        lines += 1;
    }
    assert!(lines > 30, "{lines}");
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let path = format!("{ROOT}/docs/subject-protocol.schema.json");
    let committed = fs::read_to_string(path).unwrap_or_default();
    assert!(committed == schema(), "update it with `pollmatrix generate`");
}

#[test]
fn the_example_has_fewer_than_170_lines() {
    let text = fs::read_to_string(format!("{ROOT}/subjects/python/adapter.py")).unwrap();
    let lines = text.lines().count();
    assert!(lines < 170, "{lines}");
}
