//! Tests that recording changes only the new answers in a file.

use metadata::Interface;

use super::*;

const FILE: &str = "# The answers of the pollers of Linux.
os: linux
source: measured
sources:
  measured:
    evidence: M
    text: 'measured on Linux 6.18.44'
    version: '6.18.44'
  read: { evidence: K, text: 'tcp_poll' }
behaviours:
  '2.7':
    'pipe:state-4-idle':
      poll@level: '-'
  # About resets.
  V06:
    'tcp':
      # It is asked for nothing.
      poll-events0@level: { answers: ['-'], source: read }
      poll@level: 'IN'

    'unix:it''s-gone':
      poll@level: [{ answers: ['IN'], until: '4' }, { answers: ['HUP'], since: '6' }]
";

fn asked(behaviour: &str, variant: &str, api: &str) -> Asked {
    let (api, trigger) = match api.split_once('@') {
        Some((api, trigger)) => (api, Some(trigger.to_owned())),
        None => (api, None),
    };
    Asked { behaviour: behaviour.into(), variant: variant.into(), api: api.into(), trigger }
}

fn recording(version: &str, answers: &[(&str, &str, &str, &str)]) -> Recording {
    let answered = |(behaviour, variant, api, answer): &(&str, &str, &str, &str)| {
        (asked(behaviour, variant, api), vec![((*answer).to_owned(), 1)])
    };
    Recording {
        os: Os::Linux,
        version: version.parse().unwrap(),
        poller: None,
        column: None,
        source: format!("recorded-{version}"),
        text: format!("measured on {version}, it's said"),
        answers: answers.iter().map(answered).collect(),
        replaces: false,
    }
}

/// Returns the lines that only the new text has, those that only the old one has, in order, and the results.
fn changed(recording: &Recording) -> (Vec<String>, Vec<String>, Vec<Recorded>) {
    let (text, results) = record(FILE, "linux.yml", recording).unwrap();
    let only = |one: &str, other: &str| -> Vec<String> {
        one.lines().filter(|line| !other.lines().any(|known| known == *line)).map(str::to_owned).collect()
    };
    (only(&text, FILE), only(FILE, &text), results)
}

#[test]
fn new_answers_are_inserted_in_order_and_other_lines_do_not_change() {
    let recording = recording(
        "6.19",
        &[
            ("V06", "tcp", "poll@edge", "it's"),
            ("V06", "tcp", "epoll-add W on read end", "EPERM"),
            ("V06", "tcp:after", "poll@level", "HUP"),
            ("A01", "unix", "add", "EEXIST"),
            ("V34", "tcp", "select@level", "r--"),
        ],
    );
    let (added, removed, results) = changed(&recording);
    let expected = [
        "  recorded-6.19:",
        "    text: 'measured on 6.19, it''s said'",
        "    version: '6.19'",
        "  A01:",
        "    'unix':",
        "      add: { answers: ['EEXIST'], source: recorded-6.19 }",
        "      epoll-add W on read end: { answers: ['EPERM'], source: recorded-6.19 }",
        "      poll@edge: { answers: ['it''s'], source: recorded-6.19 }",
        "    'tcp:after':",
        "      poll@level: { answers: ['HUP'], source: recorded-6.19 }",
        "  V34:",
        "      select@level: { answers: ['r--'], source: recorded-6.19 }",
    ];
    assert_eq!(added, expected);
    assert_eq!((removed.len(), results), (0, vec![Recorded::Added; 5]));
    let (text, _) = record(FILE, "linux.yml", &recording).unwrap();
    let again = record(&text, "linux.yml", &recording).unwrap();
    assert_eq!(again, (text, vec![Recorded::Known; 5]), "recording a second time changes nothing");
}

#[test]
fn known_answers_change_nothing() {
    let known = [("V06", "tcp", "poll@level", "IN"), ("2.7", "pipe:state-4-idle", "poll@level", "-")];
    let (added, removed, results) = changed(&recording("6.18.44", &known));
    assert_eq!((added.len(), removed.len(), results), (0, 0, vec![Recorded::Known; 2]));
}

#[test]
fn a_measurement_on_this_version_is_never_overwritten() {
    let (added, _, results) = changed(&recording("6.18.44", &[("V06", "tcp", "poll@level", "OUT")]));
    assert_eq!((added.len(), results), (0, vec![Recorded::Contradicts("IN".into())]));
}

#[test]
fn a_contradicted_hypothesis_becomes_a_note() {
    let (added, removed, results) =
        changed(&recording("6.18.44", &[("V06", "tcp", "poll-events0@level", "HUP")]));
    assert_eq!(
        added.last().unwrap(),
        "      poll-events0@level: { answers: ['HUP'], source: recorded-6.18.44, note: 'expected before: -; tcp_poll' }"
    );
    assert_eq!(removed, ["      poll-events0@level: { answers: ['-'], source: read }"]);
    assert_eq!(results, [Recorded::Replaced("- (K)".into())]);
}

#[test]
fn a_different_answer_of_another_version_bounds_both() {
    for (version, line) in [
        (
            "6.19",
            "      poll@level: [{ answers: ['IN'], until: '6.18.44' }, { answers: ['OUT'], source: recorded-6.19, since: '6.19' }]",
        ),
        (
            "6.9",
            "      poll@level: [{ answers: ['OUT'], source: recorded-6.9, until: '6.9' }, { answers: ['IN'], since: '6.18.44' }]",
        ),
    ] {
        let (added, removed, results) = changed(&recording(version, &[("V06", "tcp", "poll@level", "OUT")]));
        assert_eq!(added.last().unwrap(), line);
        assert_eq!(removed, ["      poll@level: 'IN'"]);
        assert_eq!(results, [Recorded::Bounded("IN on 6.18.44".into())]);
    }
}

/// A library's new version has its own answers on each kernel.
#[test]
fn the_answer_of_another_version_of_a_poller_is_replaced_on_each_kernel() {
    let file = FILE.replace("    version: '6.18.44'\n", "    version: '6.18.44'\n    poller: '1.44.2'\n");
    for (kernel, poller, expected) in [
        ("6.18.44", "1.45.0", Recorded::Replaced("IN of version 1.44.2".into())),
        ("6.19", "1.45.0", Recorded::Replaced("IN of version 1.44.2".into())),
        ("6.18.44", "1.44.2", Recorded::Contradicts("IN".into())),
        ("6.19", "1.44.2", Recorded::Bounded("IN on 6.18.44".into())),
    ] {
        let answers = recording(kernel, &[("V06", "tcp", "poll@level", "OUT")]);
        let recording = Recording { poller: Some(poller.into()), ..answers };
        let (text, results) = record(&file, "linux.yml", &recording).unwrap();
        assert_eq!(results, [expected], "{kernel} {poller}");
        let is_written = !matches!(results[..], [Recorded::Contradicts(_)]);
        let source = format!("    version: '{kernel}'\n    poller: '{poller}'\nbehaviours:");
        assert_eq!(text.contains(&source), is_written, "{text}");
    }
}

#[test]
fn entries_with_versions_are_edited_by_hand() {
    for (version, answer) in [("5.5", "IN"), ("6.2", "OUT")] {
        let (added, _, results) =
            changed(&recording(version, &[("V06", "unix:it's-gone", "poll@level", answer)]));
        assert_eq!(added.len(), 0, "{version}");
        assert!(matches!(results[..], [Recorded::ByHand(_)]), "{version}: {results:?}");
    }
}

#[test]
fn several_answers_are_counted() {
    let mut recording = recording("6.19", &[("V06", "tcp", "epoll@level", "IN")]);
    recording.answers[0].1 = vec![("OUT".into(), 2), ("IN".into(), 1)];
    let (added, ..) = changed(&recording);
    assert_eq!(
        added.last().unwrap(),
        "      epoll@level: { answers: ['IN', 'OUT'], seen: 'OUT x2; IN x1', source: recorded-6.19 }"
    );
}

#[test]
fn a_system_without_a_file_gets_one() {
    let recording = Recording { os: Os::Illumos, ..recording("5.11", &[("V06", "tcp", "poll@level", "IN")]) };
    let (text, _) = record("", "illumos.yml", &recording).unwrap();
    let expected = "# The answers of the pollers of illumos. docs/expectations.md explains how to read this file and how to add to it.
os: illumos
source: recorded-5.11
sources:
  recorded-5.11:
    evidence: M
    text: 'measured on 5.11, it''s said'
    version: '5.11'
behaviours:
  V06:
    'tcp':
      poll@level: 'IN'
";
    assert_eq!(text, expected);
}

#[test]
fn a_file_with_another_layout_is_refused_with_the_position() {
    let flow = FILE.replace("      poll@level: '-'\n", "      poll@level:\n        answers: ['-']\n");
    let recording = recording("6.19", &[("V06", "tcp", "poll@edge", "IN")]);
    let error = record(&flow, "linux.yml", &recording).unwrap_err();
    assert!(error.to_string().starts_with("linux.yml:14:1: "), "{error}");
    // Another source has this name: the new text would cite the wrong one.
    let taken = FILE
        .replace("  read: {", "  recorded-6.19: { evidence: M, text: other, version: '6.19' }\n  read: {");
    let error = record(&taken, "linux.yml", &recording).unwrap_err();
    assert!(error.to_string().contains("does not have the recorded answers"), "{error}");
}

#[test]
fn all_existing_files_can_be_edited() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../expectations/answers");
    for os in [Os::Linux, Os::FreeBsd, Os::MacOs, Os::NetBsd, Os::OpenBsd, Os::DragonFly] {
        let text = std::fs::read_to_string(dir.join(format!("{os}.yml"))).unwrap();
        assert_eq!(
            File::parse(&text, "file").map_err(|error| error.to_string()).unwrap().text(),
            text,
            "{os}"
        );
    }
}

#[test]
fn the_words_of_a_poller_are_in_the_head_and_follow_its_hello() {
    let of = |words: &[(&str, &str)]| Recording {
        column: Some(Column::new(Some(Interface::Epoll), words)),
        ..recording("6.18.44", &[("V06", "tcp", "mine@level", "READ")])
    };
    let (text, _) = record("", "linux.yml", &of(&[("READ", "readable")])).unwrap();
    assert!(text.contains("os: linux\nover: epoll\nwords: { 'READ': 'readable' }\nsource: "), "{text}");
    let changed = of(&[("READ", "readable end?"), ("it's", "flag")]);
    let (text, results) = record(&text, "linux.yml", &changed).unwrap();
    assert_eq!(results, [Recorded::Known]);
    assert!(
        text.contains("over: epoll\nwords: { 'READ': 'readable end?', 'it''s': 'flag' }\nsource: "),
        "{text}"
    );
    assert_eq!(text.matches("words: ").count(), 1, "{text}");
    let mut read = Expectations::default();
    read.read(&text, "linux.yml").unwrap();
    assert_eq!(Some(&*read.of(Os::Linux)[0].column), changed.column.as_ref());
}
