//! No scenario writes to a descriptor and fences its threads without anything between the two that proves
//! that the bytes have arrived: where TCP over loopback is asynchronous, the bytes may come after the fence,
//! and the checks behind it prove nothing. And no scenario fences its threads before it has looked at the
//! polled masks: the fence wakes a thread that the core has forgotten, and the masks are right then.

use crate::tree::Tree;

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

/// Returns the lines that write before a fence, with no proof between the two.
fn unproven(text: &str) -> Vec<usize> {
    let lines: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let has = |line: &str, calls: &[&str]| calls.iter().any(|call| line.contains(call));
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| has(line, SENDS)) {
        if has(line, PROOFS) {
            continue;
        }
        // To the end of the function.
        let rest = lines[index + 1..].iter().take_while(|line| !line.starts_with('}'));
        let mut ends = rest.filter(|line| has(line, PROOFS) || has(line, FENCES));
        if ends.next().is_some_and(|line| !has(line, PROOFS)) {
            found.push(index + 1);
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

pub fn before_a_fence(tree: &Tree, problems: &mut Vec<String>) -> usize {
    look(tree, problems, OTHERS, unproven)
}

pub fn masks_before_a_fence(tree: &Tree, problems: &mut Vec<String>) -> usize {
    look(tree, problems, NOTHING, repaired)
}

/// Adds the lines of the scenarios that `find` finds, except those of `excused`. Returns the number of files.
fn look(
    tree: &Tree,
    problems: &mut Vec<String>,
    excused: &[(&str, &str, &str)],
    find: fn(&str) -> Vec<usize>,
) -> usize {
    let (mut files, mut used) = (0, Vec::new());
    for file in tree.of("rs") {
        let Some(name) = file.path.strip_prefix("crates/matrix/scenarios/src/") else { continue };
        files += 1;
        for number in find(&file.text) {
            let line = file.text.lines().nth(number - 1).unwrap_or_default().trim();
            match excused.iter().find(|(file, part, _)| *file == name && line.contains(part)) {
                Some(excuse) => used.push(excuse),
                None => problems.push(format!("{}:{number}: {line}", file.path)),
            }
        }
    }
    let unused = excused.iter().filter(|excuse| !used.contains(excuse));
    problems.extend(unused.map(|(file, line, _)| format!("{file} has no such line any more: {line}")));
    files
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
    assert_eq!(unproven(text), [3]);
}
