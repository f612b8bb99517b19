//! No scenario writes to a descriptor and fences its threads without anything between the two that proves
//! that the bytes have arrived: where TCP over loopback is asynchronous, the bytes may come after the fence,
//! and the checks behind it prove nothing.

use std::path::{Path, PathBuf};

/// Calls that send, or that connect, and return before the other end has it.
const SENDS: &[&str] = &[
    "far.write_all(",
    "far.write(",
    "endpoint.write(",
    "write_all(&mut",
    "address.connect()",
    "stop_sending()",
];

/// Calls that return after the thread has handled what was sent, or after it has arrived.
const PROOFS: &[&str] = &[
    "wait_until(",
    "wait_until_dropped(",
    "wait_for_bytes(",
    "wait_for_reports(",
    "wait_for(",
    "wait_with_core(",
    ".reached()",
    "recv_timeout(",
    "child(harness, ",
    ".send(",
    ".send_while_read(",
    ".send_unseen(",
];

const FENCES: &[&str] = &[".fence(", ".fence_all(", ".check_converged("];

/// Writes whose fences prove something else, each with the reason.
const OTHERS: &[(&str, &str, &str)] = &[
    ("migration/old_thread_forgets.rs", "far.write_all(&[written as u8])?", "it writes all the time"),
    ("polling/failed_wait.rs", "far.write_all(format!(", "the errors of waits are counted, not reports"),
    (
        "shared_listener/pause_resume_flap.rs",
        "drop(fixture.address.connect()",
        "nothing is said of this client",
    ),
];

/// A write in a file, and the fence behind it.
#[derive(PartialEq, Debug)]
struct Unproven {
    write: usize,
    fence: usize,
}

fn unproven(text: &str) -> Vec<Unproven> {
    let lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let has = |line: &str, calls: &[&str]| calls.iter().any(|call| line.contains(call));
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| has(line, SENDS)) {
        if has(line, PROOFS) {
            continue;
        }
        // To the end of the function.
        let rest = lines[index + 1..].iter().take_while(|line| !line.starts_with('}'));
        let end = rest.enumerate().find(|(_, line)| has(line, PROOFS) || has(line, FENCES));
        if let Some((after, _)) = end.filter(|(_, line)| !has(line, PROOFS)) {
            found.push(Unproven { write: index + 1, fence: index + after + 2 });
        }
    }
    found
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn what_was_sent_has_arrived_before_a_fence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    let mut excused = Vec::new();
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        for Unproven { write, fence } in unproven(&text) {
            let line = text.lines().nth(write - 1).unwrap().trim();
            match OTHERS.iter().find(|(file, call, _)| *file == name && line.contains(call)) {
                Some(other) => excused.push(other),
                None => wrong.push(format!("{name}:{write}: {line}, and a fence in line {fence}")),
            }
        }
    }
    assert!(files.len() > 100, "{} files", files.len());
    assert!(wrong.is_empty(), "send with Harness::send or Endpoint::send:\n{}", wrong.join("\n"));
    let unused: Vec<_> = OTHERS.iter().filter(|other| !excused.contains(other)).collect();
    assert!(unused.is_empty(), "no such write: {unused:?}");
}

#[test]
fn a_raw_write_before_a_fence_is_found() {
    let text = "
fn one() {
    endpoint.write(b\"x\")?;
    // endpoint.wait_for_bytes(harness, b\"x\")?;
    harness.fence(old)?;
}
fn two() {
    ends.far.write_all(b\"x\")?;
    harness.wait_until(\"the data\", || true)?;
    harness.fence_all()?;
    endpoint.send(harness, b\"x\")?;
    harness.fence_all()?;
    far.write_all(b\"y\")?;
}
fn three() {
    harness.fence_all()?;
}
";
    assert_eq!(unproven(text), [Unproven { write: 3, fence: 5 }]);
}
