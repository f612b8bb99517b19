//! The entry points of the fuzz targets. tests/fuzzed.rs calls them, too, without a fuzzer.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use explore::{Accepted, Corpus, MakeSide, Recorded, Recording, parse, parse_accepted};
use matrix::{Matrix, MatrixError};
use metadata::{CellId, Description, Os, Results, Run};
use raw::expectations::answers_file;
use report::html::catalogue::Catalogue;
use report::html::site::{self, Poller, Site};
use report::{html, junit, markdown, terminal};
use serde_json::{Value, json};

/// Parses any text as a matrix file with this catalogue. Checks that an error has a place and a help, or that
/// the ids of the cells read back.
pub fn matrix_yml(text: &[u8], catalogue: &[Description]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Matrix::parse(text, "fuzzed", catalogue) {
        Err(error) => {
            assert!(!error.help().is_empty(), "{error}");
            if let MatrixError::Malformed { line, column, message, .. } = error {
                assert!(line >= 1 && column >= 1 && !message.is_empty(), "{line}:{column}: {message}");
                // The place is one of the text, or the end of it.
                assert!(line <= text.lines().count() as u64 + 1, "{line}:{column}: {message}\n{text}");
            }
        }
        Ok(matrix) => {
            let cells = matrix.cells();
            let mut ids: Vec<_> = cells.iter().map(|cell| cell.id.to_string()).collect();
            for (cell, id) in cells.iter().zip(&ids) {
                assert_eq!(id.parse::<CellId>().ok().as_ref(), Some(&cell.id));
            }
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), cells.len(), "two cells have one id");
        }
    }
}

/// Reads any bytes as results. Checks that an error has a place and a help, or that the results render in
/// every format and do not change when they are written and read again.
pub fn results_json(text: &[u8]) {
    match Results::read(text) {
        Err(error) => assert!(error.line >= 1 && !error.message.is_empty() && !error.help.is_empty()),
        Ok(results) => {
            let written = results.to_json();
            match Results::read(written.as_bytes()) {
                Ok(again) => assert_eq!(again.to_json(), written),
                Err(error) => panic!("{}:{}: {}\n{written}", error.line, error.column, error.message),
            }
            let _ = terminal::matrix(&results, true);
            let _ = markdown::report(&results);
            let _ = junit::report(&results);
            // The page has two scripts and the data. No text of a result may close or open a script element.
            assert_eq!(html::report(&results).matches("</script").count(), 3);
        }
    }
}

/// The addresses of the strings in a JSON value, and of the objects whose keys are names.
fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(elements) => {
            elements
                .iter()
                .enumerate()
                .for_each(|(index, element)| strings(element, &format!("{at}/{index}"), found));
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                strings(field, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

/// Results with every optional field.
fn sample() -> Value {
    let asked = json!({ "behaviour": "V26", "variant": "pipe:read-end", "api": "poll", "trigger": "level" });
    let check = json!({ "what": "w", "expected": ["-"], "observed": "IN", "source": "s", "holds": true,
        "asked": asked, "varies": "size", "evidence": "M", "since": "1", "until": "2", "url": "https://u" });
    json!({
        "schema": 2,
        "runs": [{ "pollmatrix": "1.2.3", "commit": "c", "executable": "e", "matrix": "m", "selection": "s",
            "target": "here", "runner": "prefix", "emulator": "e", "triple": "t", "os": "linux", "kernel": "6.1",
            "machine": "m", "arch": "x86_64", "cpus": 1, "libc": "l", "kqueue": "libkqueue 2.7.0",
            "adapters": { "mio": "1" }, "seed": "0x1", "repeat": 1, "started": "s", "finished": "f", "resumed": 0,
            "interrupted": false }],
        "not_run": [{ "target": "there", "os": "linux", "reason": "r" }],
        "scenarios": { "files/one": { "title": "t", "layer": "characterisation", "clauses": ["V26"],
            "question": "q?", "verbs": "look at own", "links": [{ "text": "t", "url": "https://u" }],
            "pollmatrix": "1.2.3" } },
        "cells": [{ "id": "files/one/pipe-level-1t1g@kqueue", "scenario": "files/one", "backend": "kqueue",
            "target": "here", "layer": "characterisation", "status": "pass", "reason": "r",
            "params": { "transport": "pipe", "trigger": "level", "threads": 1, "groups": 1 },
            "attempts": { "passed": 1, "total": 1 }, "seed": "0x1", "duration_ms": 1, "reproducer": "r",
            "checks": [check], "counters": { "c": 1 }, "notes": ["n"], "stderr": "s" }],
        "costs": [{ "target": "here", "poller": "poll", "operation": "wake", "mode": "level", "threads": 1,
            "descriptors": 1, "outcome": "not-measured", "reason": "r", "unbound": "u" }],
    })
}

/// Asserts that a path stays in the folder that it is joined to, on every system.
fn assert_inside(path: &str) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => name.to_str().is_some_and(|name| name.bytes().all(is_plain)),
        _ => false,
    };
    assert!(Path::new(path).components().all(plain) && !path.ends_with('/') && path.len() < 4096, "{path:?}");
}

/// Puts any text in place of each string of results. Checks that the results are refused with a reason, or
/// that every path of which a field is a part stays in its folder.
pub fn path_names(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    if text.len() > 200 {
        return;
    }
    let mut changed = sample();
    let mut places = Vec::new();
    strings(&changed, "", &mut places);
    let mut change = |edit: &dyn Fn(&mut Value)| {
        let mut trial = changed.clone();
        edit(&mut trial);
        match Results::read(trial.to_string().as_bytes()) {
            Err(error) => assert!(!error.message.is_empty() && !error.help.is_empty()),
            // The other texts stay: one site, which takes a while to build, has them all.
            Ok(_) => changed = trial,
        }
    };
    for place in &places {
        change(&|value| *value.pointer_mut(place).expect("it was just found") = text.into());
    }
    // Names that have to agree with another one, and names that are keys.
    change(&|value| {
        for place in ["/runs/0/target", "/cells/0/target", "/costs/0/target"] {
            *value.pointer_mut(place).expect("the sample has it") = text.into();
        }
    });
    change(&|value| {
        value["cells"][0]["backend"] = text.into();
        value["cells"][0]["id"] = format!("files/one/pipe-level-1t1g@{text}").into();
        value["cells"][0]["checks"][0]["asked"]["api"] = text.into();
    });
    change(&|value| {
        let backend = value["cells"][0]["backend"].as_str().expect("it is text").to_owned();
        value["cells"][0]["scenario"] = format!("files/{text}").into();
        value["cells"][0]["id"] = format!("files/{text}/{text}@{backend}").into();
    });
    change(&|value| value["runs"][0]["adapters"] = json!({ text: "1" }));
    change(&|value| value["scenarios"] = json!({ format!("files/{text}"): value["scenarios"]["files/one"] }));
    assert_paths(&Results::read(changed.to_string().as_bytes()).expect("it was read before"));
}

/// Asserts that every path that a command makes of these results stays in its folder.
fn assert_paths(results: &Results) {
    let pollers = results.cells.iter().map(|cell| cell.backend.as_str());
    let pollers: BTreeSet<_> = pollers.chain(results.runs.iter().filter_map(Run::kqueue_library)).collect();
    for poller in &pollers {
        assert_inside(&answers_file(Os::Linux, Some(poller)).display().to_string());
    }
    let pollers: Vec<_> =
        pollers.iter().map(|name| Poller { name: (*name).to_owned(), systems: Vec::new() }).collect();
    let catalogue = Catalogue::default();
    let (url, findings, peers) = (None, None, None);
    let site =
        Site { url, catalogue: &catalogue, contract: &[], results, pollers: &pollers, findings, peers };
    site::build(&site).files.iter().for_each(|page| assert_inside(&page.path));
    let targets =
        results.runs.iter().map(|run| &run.target).chain(results.not_run.iter().map(|of| &of.target));
    targets.for_each(|target| assert_inside(target));
    for run in &results.runs {
        // As `--by-kernel` names targets.
        assert_inside(&format!("{}-1-{}", run.os, run.arch));
    }
}

/// Reads any text as a recording of `pollmatrix explore`. Checks that a valid one does not change when it is
/// written and read again, and that a side answers each of its lines from it.
pub fn recorded_answers_json(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match Recording::read(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(recording) => {
            let written = serde_json::to_string(&recording).expect("the types have no fallible parts");
            assert_eq!(Recording::read(&written).ok().as_ref(), Some(&recording));
            let recorded = Recorded::of(&recording).expect("a recording that was read has valid lines");
            let mut side = recorded.make();
            for line in recording.parsed().expect("a recording that was read has valid lines") {
                let answered = side.perform(&line);
                // A file can have a line twice: one of both answers.
                let own = |other: &&explore::RecordedLine| {
                    other.line.parse().is_ok_and(|other: explore::Line| other.to_string() == line.to_string())
                };
                let runs: Vec<_> = recording.lines.iter().filter(own).flat_map(|line| &line.runs).collect();
                assert!(runs.is_empty() || runs.contains(&&answered) || runs.len() > 1, "{line}");
            }
        }
    }
}

/// Parses any text as a file of a corpus, and as one of accepted disagreements. Checks that an error has a
/// place, or that the same lines are written.
pub fn corpus(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    let name = "unix-level.txt";
    match parse(name, text) {
        Err(error) => assert!(error.line >= 1 && !error.message.is_empty() && error.file == name),
        Ok(lines) => {
            let mut corpus = Corpus::default();
            lines.iter().for_each(|line| corpus.pin(line));
            let files = corpus.files();
            let written = files.get(name).map(String::as_str).unwrap_or_default();
            let texts =
                |lines: &[explore::Line]| lines.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
            let again = parse(name, written).expect("a written corpus is read");
            assert_eq!(texts(&again), texts(&lines));
            assert!(files.len() <= 1, "the lines of one file stay in it");
        }
    }
    match parse_accepted(name, text) {
        Err(error) => assert!(error.line >= 1 && !error.message.is_empty() && error.file == name),
        Ok(accepted) => {
            let texts = |accepted: &[Accepted]| accepted.iter().map(ToString::to_string).collect::<Vec<_>>();
            let again = parse_accepted(name, &texts(&accepted).join("\n")).expect("a written file is read");
            assert_eq!(texts(&again), texts(&accepted));
        }
    }
}
