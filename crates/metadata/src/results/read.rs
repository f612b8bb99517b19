//! Reading `results.json`, of every version of the format so far, and saying what else a file seems to be.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;

use super::cell::CellResult;
use super::file::{Results, Run, SCHEMA_VERSION};

/// Why a text is not results that can be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ReadError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1; 0 at the very beginning of a line.
    pub column: usize,
    /// What is wrong, and what the text seems to be.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

const ANOTHER_FILE: &str = "give the results.json that a run or a merge wrote, or its folder";
const BESIDE: &str = "the results.json beside it is what can be read";

impl Results {
    /// Reads the text of a results.json of this version of the format or of an earlier one.
    ///
    /// # Errors
    /// It is no results, not all of them, of a later version, or contradicts itself.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        let fields: BTreeMap<String, IgnoredAny> =
            serde_json::from_slice(text).map_err(|error| not_an_object(text, &error))?;
        let version = version(text, &fields)?;
        let wrong = |error| malformed(version, &error);
        let results = match version {
            1 => serde_json::from_slice::<Version1>(text).map_err(wrong)?.into(),
            SCHEMA_VERSION => serde_json::from_slice(text).map_err(wrong)?,
            later => return Err(too_new(text, later)),
        };
        match contradiction(&results) {
            Some(message) => {
                let help =
                    "it was changed after it was written: take the one that a run or a merge wrote".into();
                Err(ReadError { line: 1, column: 1, message, help })
            }
            None => Ok(results),
        }
    }
}

/// Version 1: one run per file.
#[derive(Deserialize)]
struct Version1 {
    run: Run,
    cells: Vec<CellResult>,
}

impl From<Version1> for Results {
    fn from(old: Version1) -> Self {
        Self { runs: vec![old.run], cells: old.cells, ..Self::of_no_run(Vec::new()) }
    }
}

fn foreign(line: usize, column: usize, seems: &str) -> ReadError {
    let message = format!("these are no results of pollmatrix: it seems to be {seems}");
    let beside = ["a report.md", "a report.html", "a junit.xml", "the journal of a run"]
        .iter()
        .any(|name| seems.contains(name));
    ReadError { line, column, message, help: if beside { BESIDE } else { ANOTHER_FILE }.into() }
}

fn not_an_object(text: &[u8], error: &serde_json::Error) -> ReadError {
    let (line, column) = (error.line(), error.column());
    if text.trim_ascii().is_empty() {
        let help = "it was not written or not copied: make it again".into();
        return ReadError { line, column, message: "the file is empty".into(), help };
    }
    match error.classify() {
        Category::Eof => {
            let seems = if looks_like_results(text) {
                "these are results of pollmatrix that end too early"
            } else {
                "it seems to be JSON of another program that ends too early"
            };
            let help = "it was not written or not copied to its end: make or copy it again".into();
            ReadError { line, column, message: format!("{seems} ({})", plain(error)), help }
        }
        // Well-formed so far, and no object.
        Category::Data => foreign(line, column, "a JSON value that is no object"),
        _ if looks_like_results(text) => {
            let message = format!("these are results of pollmatrix that were damaged: {}", plain(error));
            ReadError { line, column, message, help: "make or copy them again".into() }
        }
        _ => foreign(line, column, seems(text)),
    }
}

/// Whether it begins as results do, or as they do after a tool has sorted their fields.
fn looks_like_results(text: &[u8]) -> bool {
    const BEGINNING: &str = "{\"schema\":";
    let beginning = String::from_utf8_lossy(&text[..text.len().min(4096)]);
    let squeezed: String = beginning.split_whitespace().collect();
    // A part of the very beginning is enough for a file that is cut off there.
    squeezed.starts_with(BEGINNING)
        || BEGINNING.starts_with(&squeezed)
        || squeezed.starts_with("{\"cells\":[{\"attempts\":")
}

/// What a text that is no JSON looks like.
fn seems(text: &[u8]) -> &'static str {
    const BEGINNINGS: [(&[u8], &str); 9] = [
        (b"\x1f\x8b", "a gzip archive: unpack it"),
        (b"PK\x03\x04", "a zip archive: unpack it"),
        (b"\x7fELF", "an executable"),
        (b"# pollmatrix", "a report.md"),
        (b"<!DOCTYPE html>\n<!-- pollmatrix report -->", "a report.html"),
        (b"<testsuites", "a junit.xml"),
        (b"<?xml", "a junit.xml, or other XML"),
        (b"<", "an HTML page"),
        (b"version:", "a matrix file"),
    ];
    let begins = text.trim_ascii_start();
    if let Some((_, seems)) = BEGINNINGS.iter().find(|(beginning, _)| begins.starts_with(beginning)) {
        return seems;
    }
    let line = begins.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<Value>(line) {
        Ok(line) if line["line"].is_string() => "the journal of a run",
        Ok(line) if line["cell"].is_string() => "attempts at cells, one a line",
        Ok(line) if line.is_object() => "several JSON objects, one a line",
        _ if std::str::from_utf8(text).is_ok() => "plain text",
        _ => "binary data",
    }
}

/// The version that a JSON object says it has, if it is results.
fn version(text: &[u8], fields: &BTreeMap<String, IgnoredAny>) -> Result<u32, ReadError> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: u32,
    }
    let has = |name: &str| fields.contains_key(name);
    if has("schema") && (has("run") || has("runs") || has("cells")) {
        let versioned: Versioned = serde_json::from_slice(text)
            .map_err(|error| foreign(error.line(), error.column(), "JSON whose 'schema' is no version"))?;
        if versioned.schema > 0 {
            return Ok(versioned.schema);
        }
    }
    let seems = if has("$schema") {
        "a JSON schema, not what fits it".to_owned()
    } else if has("added") && has("deleted") {
        "what `pollmatrix diff` printed".to_owned()
    } else if has("id") && has("checks") {
        "one row of results, as `pollmatrix show` prints it".to_owned()
    } else {
        let names: Vec<_> = fields.keys().take(5).map(|name| format!("'{name}'")).collect();
        match names.len() {
            0 => "an empty JSON object".to_owned(),
            _ => format!("a JSON object with {}", names.join(", ")),
        }
    };
    Err(foreign(1, 1, &seems))
}

fn too_new(text: &[u8], version: u32) -> ReadError {
    // Where a later version has it, nobody knows; best where this one does.
    let text: Value = serde_json::from_slice(text).unwrap_or_default();
    let writer = [&text["runs"][0]["pollmatrix"], &text["run"]["pollmatrix"], &text["pollmatrix"]];
    let help = match writer.into_iter().find_map(Value::as_str) {
        Some(writer) => format!("pollmatrix {writer} wrote it: use that version or a later one"),
        None => "use the pollmatrix that wrote it, or a later one".to_owned(),
    };
    let message = format!(
        "results in version {version} of the format: this pollmatrix reads versions 1 to {SCHEMA_VERSION}"
    );
    ReadError { line: 1, column: 1, message, help }
}

fn malformed(version: u32, error: &serde_json::Error) -> ReadError {
    ReadError {
        line: error.line(),
        column: error.column(),
        message: format!("not results in version {version} of the format, as it says: {}", plain(error)),
        help: "take the file that a run or a merge wrote; its schema is crates/metadata/schema/results.schema.json"
            .into(),
    }
}

/// The message without the position, which [`ReadError`] has in its own fields.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

/// What the types cannot say.
fn contradiction(results: &Results) -> Option<String> {
    if results.runs.is_empty() && results.not_run.is_empty() {
        return Some("results of no run, and of no target that was not run".into());
    }
    let targets = results.targets();
    if let Some(not_run) = results.not_run.iter().find(|not_run| targets.contains(not_run.target.as_str())) {
        return Some(format!("{} is said to have a run and not to have one", not_run.target));
    }
    let faults: BTreeSet<_> = results.runs.iter().map(Run::disturbance).collect();
    if faults.len() > 1 {
        return Some(
            "runs with different faults or injected errors, or with and without, are in one report".into(),
        );
    }
    let mut seen = HashSet::new();
    for cell in &results.cells {
        if !targets.contains(cell.target.as_str()) {
            return Some(format!(
                "there is a row for {} on {}, and no run of that target",
                cell.id, cell.target
            ));
        }
        if cell.variant().is_none() {
            return Some(format!("{} is said to be of {} on {}", cell.id, cell.scenario, cell.backend));
        }
        if !seen.insert((cell.target.as_str(), cell.id.as_str())) {
            return Some(format!("there are two rows for {} on {}", cell.id, cell.target));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Status;
    use crate::samples;

    fn results() -> Results {
        samples::results("here", &[("a", "epoll", Status::Pass), ("b", "epoll", Status::Fail)])
    }

    fn edited(edit: impl FnOnce(&mut Value)) -> Result<Results, ReadError> {
        let mut value = serde_json::to_value(results()).unwrap();
        edit(&mut value);
        Results::read(value.to_string().as_bytes())
    }

    /// The error for `text`, which names `what`.
    #[track_caller]
    fn refused(text: &[u8], what: &str) -> ReadError {
        let error = Results::read(text).expect_err("it is refused");
        let all = format!("{error}\n{}", error.help);
        assert!(all.contains(what), "expected {what:?} in:\n{all}");
        error
    }

    #[test]
    fn version_1_is_read_as_a_native_run() {
        let read = edited(|value| {
            let mut run = value["runs"][0].take();
            run.as_object_mut().unwrap().remove("via");
            let fields = value.as_object_mut().unwrap();
            fields.insert("run".into(), run);
            fields.insert("schema".into(), 1.into());
            fields.remove("runs");
            fields.remove("not_run");
        });
        assert_eq!(read, Ok(results()));
    }

    #[test]
    fn a_later_version_says_which_pollmatrix_is_needed() {
        let error = edited(|value| value["schema"] = 3.into()).unwrap_err();
        assert!(error.message.contains("version 3 of the format: this pollmatrix reads versions 1 to 2"));
        assert!(error.help.contains("pollmatrix 1.2.3 wrote it"), "{}", error.help);
        refused(br#"{"schema": 3, "cells": {}}"#, "use the pollmatrix that wrote it");
    }

    #[test]
    fn wherever_results_are_cut_off_they_are_said_to_be() {
        let text = results().to_json();
        // The last character is the end of the line.
        for end in 1..text.len() - 1 {
            let error = refused(&text.as_bytes()[..end], "results of pollmatrix that end too early");
            assert_eq!(error.line, text[..end].lines().count() + usize::from(text[..end].ends_with('\n')));
        }
        let sorted = br#"{ "cells": [ { "attempts": { "passed": 1"#;
        refused(sorted, "results of pollmatrix that end too early");
        refused(b"", "the file is empty");
        refused(b"\n", "the file is empty");
        refused(br#"{"other": [1, 2"#, "JSON of another program that ends too early");
    }

    #[test]
    fn what_is_wrong_inside_has_a_position() {
        let text = results().to_json().replace("\"status\": \"fail\"", "\"status\": \"fine\"");
        let line = text.lines().position(|line| line.contains("\"fine\"")).unwrap() + 1;
        assert_eq!(refused(text.as_bytes(), "unknown variant `fine`").line, line);
        let text = results().to_json().replace("\"cells\": [", "\"cells\": [[");
        assert_eq!(refused(text.as_bytes(), "damaged").line, text.lines().count());
    }

    #[test]
    fn other_files_are_recognised() {
        for (text, what) in [
            (b"# pollmatrix\n\n1938 cells" as &[u8], "a report.md"),
            (b"<?xml version=\"1.0\"?>", "a junit.xml"),
            (b"\n<!DOCTYPE html>", "an HTML page"),
            (b"<!DOCTYPE html>\n<!-- pollmatrix report -->\n<html>", "a report.html"),
            (b"{\"line\":\"run\"}\n{\"line\":\"cell\"}\n", "the journal of a run"),
            (b"{\"cell\":\"a\"}\n{\"cell\":\"b\"}\n", "attempts at cells, one a line"),
            (b"{\"a\":1}\n{\"b\":2}\n", "several JSON objects, one a line"),
            (b"PK\x03\x04....", "a zip archive: unpack it"),
            (b"\x1f\x8b....", "a gzip archive: unpack it"),
            (b"hello", "plain text"),
            (b"\xff\xfe", "binary data"),
            (b"[1, 2]", "a JSON value that is no object"),
            (b"{}", "an empty JSON object"),
            (b"{\"name\": 1, \"schema\": 2}", "a JSON object with 'name', 'schema'"),
            (b"{\"schema\": \"x\", \"cells\": 1}", "JSON whose 'schema' is no version"),
            (crate::schema().as_bytes(), "a JSON schema"),
        ] {
            refused(text, what);
        }
        let row = serde_json::to_string(&results().cells[0]).unwrap();
        refused(row.as_bytes(), "one row of results");
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |edit: fn(&mut Value), what: &str| {
            let error = edited(edit).expect_err("it is refused");
            assert!(error.message.contains(what), "{}", error.message);
        };
        refused(|value| value["runs"] = json!([]), "results of no run");
        refused(|value| value["cells"][0]["target"] = "there".into(), "no run of that target");
        refused(|value| value["cells"][0] = value["cells"][1].clone(), "two rows for group/name/b@epoll");
        refused(|value| value["cells"][0]["backend"] = "poll".into(), "is said to be of group/name on poll");
        refused(
            |value| value["not_run"] = json!([{ "target": "here", "os": "linux", "reason": "why" }]),
            "said to have a run and not to have one",
        );
        refused(
            |value| {
                let mut run = value["runs"][0].clone();
                run["fault"] = "double-close".into();
                value["runs"].as_array_mut().unwrap().push(run);
            },
            "different faults",
        );
    }

    #[test]
    fn a_report_of_nothing_but_targets_that_were_not_run_is_one() {
        let text = r#"{"schema": 2, "runs": [], "not_run": [{"target": "t", "os": "o", "reason": "r"}], "cells": []}"#;
        assert_eq!(Results::read(text.as_bytes()).map(|results| results.not_run.len()), Ok(1));
    }
}
