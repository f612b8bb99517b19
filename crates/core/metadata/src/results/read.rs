//! Reads every version of `results.json`, and identifies other files in its errors.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::error::Category;

use super::cell::CellResult;
use super::file::{Results, Run, SCHEMA_VERSION};
use super::names::PathNames;
use crate::path_names::PATH_NAME_HELP;

/// The error for a text that is no usable results file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ReadError {
    /// Line number, from 1.
    pub line: usize,
    /// Column number, from 1; 0 before the first character of a line.
    pub column: usize,
    /// The error, and the kind of file that the text seems to be.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

const ANOTHER_FILE: &str = "pass the results.json that a run or a merge wrote, or its folder";
const BESIDE: &str = "pass the results.json beside it";

impl Results {
    /// Reads the text of a results.json in this or an earlier version of the format.
    ///
    /// # Errors
    /// The text is no results file, is truncated, has a later version, or contradicts itself.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        // First as a file of this version: a report can have a hundred megabytes. Every other text is read
        // again, for a good error.
        match serde_json::from_slice::<Self>(text) {
            Ok(results) if results.schema == SCHEMA_VERSION => results.checked(),
            _ => Self::read_any(text)?.checked(),
        }
    }

    fn read_any(text: &[u8]) -> Result<Self, ReadError> {
        let fields: BTreeMap<String, IgnoredAny> =
            serde_json::from_slice(text).map_err(|error| not_an_object(text, &error))?;
        let version = version(text, &fields)?;
        let wrong = |error| malformed(version, &error);
        match version {
            1 => Ok(serde_json::from_slice::<Version1>(text).map_err(wrong)?.into()),
            SCHEMA_VERSION => serde_json::from_slice(text).map_err(wrong),
            later => Err(too_new(text, later)),
        }
    }

    fn checked(self) -> Result<Self, ReadError> {
        if let Err(error) = self.check_path_names() {
            let help = PATH_NAME_HELP.into();
            return Err(ReadError { line: 1, column: 1, message: error.to_string(), help });
        }
        match contradiction(&self) {
            Some(message) => {
                let help = "the file was edited: use the one that a run or a merge wrote".into();
                Err(ReadError { line: 1, column: 1, message, help })
            }
            None => Ok(self),
        }
    }
}

/// Version 1 of the format: one run per file.
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
    let message = format!("not a results file of pollmatrix: it seems to be {seems}");
    let beside = ["a report.md", "a report.html", "a junit.xml", "the journal of a run"]
        .iter()
        .any(|name| seems.contains(name));
    ReadError { line, column, message, help: if beside { BESIDE } else { ANOTHER_FILE }.into() }
}

fn not_an_object(text: &[u8], error: &serde_json::Error) -> ReadError {
    let (line, column) = (error.line(), error.column());
    if text.trim_ascii().is_empty() {
        let help = "it was not written or copied completely: create it again".into();
        return ReadError { line, column, message: "the file is empty".into(), help };
    }
    match error.classify() {
        Category::Eof => {
            let seems = if looks_like_results(text) {
                "truncated results of pollmatrix"
            } else {
                "it seems to be truncated JSON of another program"
            };
            let help = "it was not written or copied completely: create or copy it again".into();
            ReadError { line, column, message: format!("{seems} ({})", plain(error)), help }
        }
        // Well-formed up to here, but no object.
        Category::Data => foreign(line, column, "a JSON value that is not an object"),
        _ if looks_like_results(text) => {
            let message = format!("damaged results of pollmatrix: {}", plain(error));
            ReadError { line, column, message, help: "create or copy them again".into() }
        }
        _ => foreign(line, column, seems(text)),
    }
}

/// Returns whether the text begins like a results file, also after a tool has sorted its fields.
fn looks_like_results(text: &[u8]) -> bool {
    const BEGINNING: &str = "{\"schema\":";
    let beginning = String::from_utf8_lossy(&text[..text.len().min(4096)]);
    let squeezed: String = beginning.split_whitespace().collect();
    // The second comparison recognises a file that is truncated within these first characters.
    squeezed.starts_with(BEGINNING)
        || BEGINNING.starts_with(&squeezed)
        || squeezed.starts_with("{\"cells\":[{\"attempts\":")
}

/// Returns the kind of file that a text without valid JSON seems to be.
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
        Ok(line) if line["cell"].is_string() => "attempts at cells, one per line",
        Ok(line) if line.is_object() => "several JSON objects, one per line",
        _ if std::str::from_utf8(text).is_ok() => "plain text",
        _ => "binary data",
    }
}

/// Returns the format version of a JSON object that is a results file, an error for any other object.
fn version(text: &[u8], fields: &BTreeMap<String, IgnoredAny>) -> Result<u32, ReadError> {
    #[derive(Deserialize)]
    struct Versioned {
        schema: u32,
    }
    let has = |name: &str| fields.contains_key(name);
    if has("schema") && (has("run") || has("runs") || has("cells")) {
        let versioned: Versioned = serde_json::from_slice(text)
            .map_err(|error| foreign(error.line(), error.column(), "JSON whose 'schema' is not a version"))?;
        if versioned.schema > 0 {
            return Ok(versioned.schema);
        }
    }
    let seems = if has("$schema") {
        "a JSON schema, not a file that follows it".to_owned()
    } else if has("added") && has("deleted") {
        "the output of `pollmatrix diff`".to_owned()
    } else if has("id") && has("checks") {
        "the result of one cell, as `pollmatrix show` prints it".to_owned()
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
    // The place of the writer's version in a later format is unknown. These are its places in the known
    // formats.
    let text: Value = serde_json::from_slice(text).unwrap_or_default();
    let writer = [&text["runs"][0]["pollmatrix"], &text["run"]["pollmatrix"], &text["pollmatrix"]];
    let help = match writer.into_iter().find_map(Value::as_str) {
        Some(writer) => format!("pollmatrix {writer} wrote it: use that version or a later one"),
        None => "use the version of pollmatrix that wrote it, or a later one".to_owned(),
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
        message: format!("does not follow version {version} of the results format: {}", plain(error)),
        help: "use the file that a run or a merge wrote; the schema is crates/core/metadata/schema/results.schema.json"
            .into(),
    }
}

/// Returns the message without the position, which [`ReadError`] has in its own fields.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

/// Returns the first contradiction in the results, if any. The types cannot exclude these.
fn contradiction(results: &Results) -> Option<String> {
    if results.runs.is_empty() && results.not_run.is_empty() {
        return Some("the results have no run and no target that was not run".into());
    }
    let targets = results.targets();
    if let Some(not_run) = results.not_run.iter().find(|not_run| targets.contains(not_run.target.as_str())) {
        return Some(format!("{} is listed both as run and as not run", not_run.target));
    }
    let faults: BTreeSet<_> = results.runs.iter().map(Run::disturbance).collect();
    if faults.len() > 1 {
        return Some(
            "the report mixes runs with different faults or injected errors, or with and without them".into(),
        );
    }
    let mut seen = HashSet::new();
    for cell in &results.cells {
        if !targets.contains(cell.target.as_str()) {
            return Some(format!(
                "there is a result for {} on {}, but no run of that target",
                cell.id, cell.target
            ));
        }
        if cell.variant().is_none() {
            return Some(format!(
                "the id {} does not match the scenario {} and the backend {}",
                cell.id, cell.scenario, cell.backend
            ));
        }
        if !seen.insert((cell.target.as_str(), cell.id.as_str())) {
            return Some(format!("there are two results for {} on {}", cell.id, cell.target));
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

    /// Returns the error for `text`, and asserts that it contains `expected`.
    #[track_caller]
    fn refused(text: &[u8], expected: &str) -> ReadError {
        let error = Results::read(text).expect_err("the text is refused");
        let all = format!("{error}\n{}", error.help);
        assert!(all.contains(expected), "expected {expected:?} in:\n{all}");
        error
    }

    #[test]
    fn version_1_is_read_as_a_native_run() {
        let read = edited(|value| {
            let mut run = value["runs"][0].take();
            run.as_object_mut().unwrap().remove("runner");
            let fields = value.as_object_mut().unwrap();
            fields.insert("run".into(), run);
            fields.insert("schema".into(), 1.into());
            fields.remove("runs");
            fields.remove("not_run");
        });
        assert_eq!(read, Ok(results()));
    }

    #[test]
    fn the_error_for_a_later_version_names_the_needed_pollmatrix() {
        let error = edited(|value| value["schema"] = 3.into()).unwrap_err();
        assert!(error.message.contains("version 3 of the format: this pollmatrix reads versions 1 to 2"));
        assert!(error.help.contains("pollmatrix 1.2.3 wrote it"), "{}", error.help);
        refused(br#"{"schema": 3, "cells": {}}"#, "use the version of pollmatrix that wrote it");
    }

    #[test]
    fn results_truncated_anywhere_are_reported_as_truncated() {
        let text = results().to_json();
        // Without the last character, a line break, the text is complete.
        for end in 1..text.len() - 1 {
            let error = refused(&text.as_bytes()[..end], "truncated results of pollmatrix");
            assert_eq!(error.line, text[..end].lines().count() + usize::from(text[..end].ends_with('\n')));
        }
        let sorted = br#"{ "cells": [ { "attempts": { "passed": 1"#;
        refused(sorted, "truncated results of pollmatrix");
        refused(b"", "the file is empty");
        refused(b"\n", "the file is empty");
        refused(br#"{"other": [1, 2"#, "truncated JSON of another program");
    }

    #[test]
    fn an_error_inside_the_results_has_a_position() {
        let text = results().to_json().replace("\"status\":\"fail\"", "\"status\":\"fine\"");
        let line = text.lines().position(|line| line.contains("\"fine\"")).unwrap() + 1;
        assert_eq!(refused(text.as_bytes(), "unknown variant `fine`").line, line);
        let text = results().to_json().replace("\"cells\": [", "\"cells\": [[");
        assert_eq!(refused(text.as_bytes(), "damaged").line, text.lines().count());
    }

    #[test]
    fn other_files_are_recognised() {
        for (text, expected) in [
            (b"# pollmatrix\n\n1938 cells" as &[u8], "a report.md"),
            (b"<?xml version=\"1.0\"?>", "a junit.xml"),
            (b"\n<!DOCTYPE html>", "an HTML page"),
            (b"<!DOCTYPE html>\n<!-- pollmatrix report -->\n<html>", "a report.html"),
            (b"{\"line\":\"run\"}\n{\"line\":\"cell\"}\n", "the journal of a run"),
            (b"{\"cell\":\"a\"}\n{\"cell\":\"b\"}\n", "attempts at cells, one per line"),
            (b"{\"a\":1}\n{\"b\":2}\n", "several JSON objects, one per line"),
            (b"PK\x03\x04....", "a zip archive: unpack it"),
            (b"\x1f\x8b....", "a gzip archive: unpack it"),
            (b"hello", "plain text"),
            (b"\xff\xfe", "binary data"),
            (b"[1, 2]", "a JSON value that is not an object"),
            (b"{}", "an empty JSON object"),
            (b"{\"name\": 1, \"schema\": 2}", "a JSON object with 'name', 'schema'"),
            (b"{\"schema\": \"x\", \"cells\": 1}", "JSON whose 'schema' is not a version"),
            (crate::schema::text::<Results>().as_bytes(), "a JSON schema"),
        ] {
            refused(text, expected);
        }
        let cell = serde_json::to_string(&results().cells[0]).unwrap();
        refused(cell.as_bytes(), "the result of one cell");
    }

    #[test]
    fn contradictions_are_refused() {
        let refused = |edit: fn(&mut Value), expected: &str| {
            let error = edited(edit).expect_err("the text is refused");
            assert!(error.message.contains(expected), "{}", error.message);
        };
        refused(|value| value["runs"] = json!([]), "have no run and no target");
        refused(|value| value["cells"][0]["target"] = "there".into(), "no run of that target");
        refused(|value| value["cells"][0] = value["cells"][1].clone(), "two results for group/name/b@epoll");
        refused(
            |value| value["cells"][0]["backend"] = "poll".into(),
            "does not match the scenario group/name and the backend poll",
        );
        refused(
            |value| value["not_run"] = json!([{ "target": "here", "os": "linux", "reason": "why" }]),
            "listed both as run and as not run",
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
    fn a_name_that_leads_out_of_a_folder_is_refused_with_its_field() {
        type Edit = fn(&mut Value, &str);
        let edits: [(&str, Edit); 11] = [
            ("runs[0].target", |value, name| value["runs"][0]["target"] = name.into()),
            ("runs[0].runner", |value, name| value["runs"][0]["runner"] = name.into()),
            ("runs[0].os", |value, name| value["runs"][0]["os"] = name.into()),
            ("runs[0].arch", |value, name| value["runs"][0]["arch"] = name.into()),
            ("runs[0].kqueue", |value, name| value["runs"][0]["kqueue"] = name.into()),
            ("runs[0].adapters", |value, name| value["runs"][0]["adapters"] = json!({ name: "1" })),
            ("not_run[0].target", |value, name| {
                value["not_run"] = json!([{ "target": name, "os": "linux", "reason": "why" }]);
            }),
            ("scenarios", |value, name| {
                let scenario = serde_json::to_value(samples::scenario()).unwrap();
                value["scenarios"] = json!({ format!("group/{name}"): scenario });
            }),
            ("cells[1].target", |value, name| value["cells"][1]["target"] = name.into()),
            ("cells[1].backend", |value, name| value["cells"][1]["backend"] = name.into()),
            ("cells[1].id", |value, name| {
                value["cells"][1]["id"] = format!("group/name/{name}@epoll").into()
            }),
        ];
        for (field, edit) in edits {
            for name in ["../..", "README", "", "a/b/c"] {
                let error = edited(|value| edit(value, name)).expect_err(field);
                let expected = format!("the field `{field}` is '");
                assert!(error.message.starts_with(&expected), "{field}: {}", error.message);
                assert!(error.message.contains(name), "{}", error.message);
                assert!(error.help.contains("lower-case letters"), "{}", error.help);
            }
        }
    }

    #[test]
    fn a_report_with_only_targets_that_were_not_run_is_valid() {
        let text = r#"{"schema": 2, "runs": [], "not_run": [{"target": "t", "os": "o", "reason": "r"}], "cells": []}"#;
        assert_eq!(Results::read(text.as_bytes()).map(|results| results.not_run.len()), Ok(1));
    }
}
