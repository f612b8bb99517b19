//! No scenario writes to a descriptor and fences its threads without anything between the two that proves
//! that the bytes have arrived: where TCP over loopback is asynchronous, the bytes may come after the fence,
//! and the checks behind it prove nothing. And no scenario fences its threads before it has looked at the
//! polled masks: the fence wakes a thread that the core has forgotten, and the masks are right then.

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
    "wait_until_each_reports(",
    "reported_by_each(",
    ".reached()",
    "recv_timeout(",
    "child(harness, ",
    ".send(",
    ".send_while_read(",
    ".send_unseen(",
];

const FENCES: &[&str] = &[".fence(", ".fence_all(", ".check_converged("];

/// Writes whose fences prove something else, each with the reason.
const OTHERS: &[(&str, &str, &str)] =
    &[("migration/old_thread_forgets.rs", "far.write_all(&[written as u8])?", "it writes all the time")];

/// Calls that look without waking a thread.
const LOOKS: &[&str] = &["wait_until", "wait_with_core(", "wait_for(", ".wait(&", "is_polled("];

/// Looks at masks after a fence that must find nothing, each with the reason.
const NOTHING: &[(&str, &str, &str)] = &[(
    "migration/old_thread_forgets.rs",
    "polled_recv;",
    "the data that were sent before made the thread forget it",
)];

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

/// Returns the lines that look at a polled mask after a fence, without an earlier look in their function.
fn repaired(text: &str) -> Vec<usize> {
    let has = |line: &str, calls: &[&str]| calls.iter().any(|call| line.contains(call));
    let (mut found, mut fenced, mut looked) = (Vec::new(), false, false);
    for (index, line) in text.lines().map(|line| line.split("//").next().unwrap_or_default()).enumerate() {
        if line.starts_with('}') {
            (fenced, looked) = (false, false);
        }
        looked |= has(line, LOOKS);
        fenced |= has(line, FENCES);
        if fenced && !looked && has(line, &["polled_recv", "polled_send"]) {
            found.push(index + 1);
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

/// Returns the name and the text of every file of the crate.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    assert!(paths.len() > 100, "{} files", paths.len());
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn what_was_sent_has_arrived_before_a_fence() {
    let mut wrong = Vec::new();
    let mut excused = Vec::new();
    for (name, text) in files() {
        for Unproven { write, fence } in unproven(&text) {
            let line = text.lines().nth(write - 1).unwrap().trim();
            match OTHERS.iter().find(|(file, call, _)| *file == name && line.contains(call)) {
                Some(other) => excused.push(other),
                None => wrong.push(format!("{name}:{write}: {line}, and a fence in line {fence}")),
            }
        }
    }
    assert!(wrong.is_empty(), "send with Harness::send or Endpoint::send:\n{}", wrong.join("\n"));
    let unused: Vec<_> = OTHERS.iter().filter(|other| !excused.contains(other)).collect();
    assert!(unused.is_empty(), "no such write: {unused:?}");
}

#[test]
fn masks_are_looked_at_before_a_fence_repairs_them() {
    let mut wrong = Vec::new();
    let mut excused = Vec::new();
    for (name, text) in files() {
        for line in repaired(&text) {
            let look = text.lines().nth(line - 1).unwrap().trim();
            match NOTHING.iter().find(|(file, part, _)| *file == name && look.contains(part)) {
                Some(other) => excused.push(other),
                None => wrong.push(format!("{name}:{line}: {look}")),
            }
        }
    }
    assert!(wrong.is_empty(), "wait with Harness::wait_until_polled before the fence:\n{}", wrong.join("\n"));
    let unused: Vec<_> = NOTHING.iter().filter(|other| !excused.contains(other)).collect();
    assert!(unused.is_empty(), "no such look: {unused:?}");
}

#[test]
fn a_fence_before_the_first_look_is_found() {
    let text = "
fn one() {
    harness.fence_all()?;
    let entry = harness.entry(handle)?;
    test.check_eq(what, 1, entry.polled_recv.bits(), source);
}
fn two() {
    harness.wait_until_polled(handle, mask)?;
    harness.fence_all()?;
    test.check_eq(what, 1, entry.polled_recv.bits(), source);
}
";
    assert_eq!(repaired(text), [5]);
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
