//! Tests that the data are the measurements, and that errors in the files are refused.

use sha2::{Digest, Sha256};

use super::*;

fn built_in() -> &'static Expectations {
    Expectations::built_in().unwrap_or_else(|error| panic!("{error}\n{}", error.help()))
}

fn of(os: Os) -> &'static [Expectation] {
    built_in().systems().find(|(known, _)| *known == os).map(|(_, answers)| answers).unwrap()
}

/// Returns the recordings that the files were made from. Answers that scripts gave later, or that were split
/// off from a recording, have other sources.
fn recorded(os: Os) -> Vec<&'static Expectation> {
    let is_recording = |answer: &&Expectation| answer.source.text.ends_with(" 2 CPUs, loopback only");
    of(os).iter().filter(is_recording).collect()
}

/// Returns the recordings as the lines of a table: id, variant, api, trigger, observed.
fn lines(os: Os) -> Vec<String> {
    let line = |answer: &&Expectation| {
        let trigger = answer.trigger.as_deref().unwrap_or("-");
        format!(
            "{}\t{}\t{}\t{trigger}\t{}\n",
            answer.behaviour,
            answer.variant,
            answer.api,
            answer.recorded()
        )
    };
    let mut lines: Vec<_> = recorded(os).iter().map(line).collect();
    lines.sort();
    lines
}

fn sha256(lines: &[String]) -> String {
    Sha256::digest(lines.concat().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Counts the recordings of each family: `2` stands for 2.7.
fn families(os: Os) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in recorded(os) {
        *counts.entry(&answer.behaviour[..1]).or_default() += 1;
    }
    counts.iter().map(|(family, count)| format!("{family}{count}")).collect::<Vec<_>>().join(" ")
}

// The numbers and checksums belong to the recordings that the files were made from. They change only if a
// system is measured again: of FreeBSD's 2569 answers, 13 were replaced, each with a note in the file.

#[test]
fn every_recording_of_freebsd_is_unchanged() {
    assert_eq!(families(Os::FreeBsd), "2130 A229 C55 E236 F76 T58 V1584 W55 X133");
    let lines = lines(Os::FreeBsd);
    assert_eq!(lines.len(), 2556);
    assert_eq!(sha256(&lines), "030bf13b2cef79ca23c968c938e584e4b5614110cf0e514613d24f04e9f3953e");
}

#[test]
fn every_recording_of_linux_is_unchanged() {
    assert_eq!(families(Os::Linux), "2130 A204 C70 E188 F66 T52 V1590 W29 X98");
    let lines = lines(Os::Linux);
    assert_eq!(lines.len(), 2427);
    assert_eq!(sha256(&lines), "cbca47e9d61a2e504d33486f0e095d46954c4c8e29d8193229f1500db03f57aa");
}

#[test]
fn known_answers_are_found() {
    for (os, behaviour, variant, asked, allowed) in [
        (Os::FreeBsd, "V26", "pipe:read-end-drained", "poll@level", "IN|HUP"),
        (Os::Linux, "V26", "pipe:read-end-drained", "poll@level", "HUP"),
        (Os::MacOs, "V26", "pipe:read-end-drained", "poll@level", "IN|PRI|HUP"),
        (Os::FreeBsd, "V26", "pipe:read-end-drained", "kqueue-add-before@level", "R(data=0)+EOF W+EOF"),
        (Os::FreeBsd, "V01", "tcp:fresh", "poll@level", "-"),
        (Os::Linux, "V01", "tcp:fresh", "poll-events0@level", "HUP"),
        (Os::FreeBsd, "V07", "unix", "kqueue-add-before@level", "W+EOF"),
        (Os::MacOs, "V07", "tcp", "poll@level", "HUP"),
        (
            Os::FreeBsd,
            "A22",
            "unix:blocked-then-peer-closes",
            "poll-events0@level",
            "ret=0 - NOT WOKEN(1.2s); a fresh poll says HUP",
        ),
        (Os::FreeBsd, "2.7", "fifo:state-6b-second-reader(its-view)", "poll-events0@level", "HUP"),
        (Os::FreeBsd, "A13", "fifo", "select@level", "after close: EBADF"),
        (Os::FreeBsd, "F02", "device:/dev/null", "kqueue-R@level", "silent [R add:ENODEV]"),
        (Os::FreeBsd, "F05", "pipe", "kqueue-add R on write end@level", "0"),
        (Os::OpenBsd, "F05", "pipe:R-on-write-end", "kqueue-add", "0"),
        (Os::Linux, "A04", "tcp", "epoll-DEL-closed", "EBADF"),
        (Os::Linux, "C10", "tcp", "epoll-MOD-of-exclusive", "EINVAL"),
        (Os::FreeBsd, "W08", "pipe:became-ready-2031-order", "kqueue@level", "2 0 3 1 "),
        (Os::NetBsd, "V27", "pipe:write-end-space", "poll@level", "IN|OUT|HUP"),
        (Os::DragonFly, "A14", "unix:poller-closed", "kqueue@level", "not woken"),
    ] {
        let (api, trigger) =
            asked.split_once('@').map_or((asked, None), |(api, trigger)| (api, Some(trigger)));
        let found = built_in().find(os, None, (behaviour, variant, api, trigger));
        let found = found.unwrap_or_else(|| panic!("{os} {behaviour} {variant} {asked}"));
        assert_eq!(found.allowed, [allowed], "{os} {behaviour} {variant} {asked}");
        assert_eq!(found.question(), asked);
    }
}

#[test]
fn systems_without_runs_have_no_measurements() {
    for (os, answers) in built_in().systems() {
        let hypotheses = answers.iter().filter(|answer| answer.source.evidence.is_hypothesis()).count();
        match os {
            Os::Linux | Os::Gvisor => assert_eq!(hypotheses, 0),
            Os::FreeBsd => assert_eq!(hypotheses, 1, "F07 could not be measured"),
            Os::NetBsd => assert_eq!(hypotheses, 3, "kqueue was not measured"),
            Os::OpenBsd => assert_eq!(hypotheses, 1, "no script asks W15"),
            _ => assert_eq!(hypotheses, answers.len(), "{os}"),
        }
    }
}

#[test]
fn several_measured_answers_have_counts() {
    let refused = built_in().find(Os::FreeBsd, None, ("V14", "tcp:W-only", "kqueue", Some("level"))).unwrap();
    assert_eq!(refused.allowed.len(), 2);
    assert!(
        refused.recorded().ends_with("x11; connect=ECONNREFUSED W+EOF SO_ERROR=0 x9"),
        "{}",
        refused.recorded()
    );
    assert_eq!(refused.compare("connect=ECONNREFUSED W+EOF SO_ERROR=0"), Compared::Same);
    assert_eq!(refused.compare("connect=ECONNREFUSED W SO_ERROR=0"), Compared::Different);
}

#[test]
fn other_numbers_of_an_unstable_answer_are_unclear() {
    let herd = built_in()
        .find(Os::Linux, None, ("C06", "tcp:one-poller-per-thread", "epoll", Some("level")))
        .unwrap();
    assert_eq!(herd.unstable, Some(Unstable::Scheduling));
    assert_eq!(herd.compare("wakes=8/8 x20"), Compared::Same);
    assert_eq!(herd.compare("wakes=7/8 x20"), Compared::Unclear);
}

#[test]
fn answers_that_count_buffers_or_threads_are_unstable() {
    let wanted = |text: &str| {
        ["writable after 1531904", "capacity=", "SO_SNDBUF=", "100 connects:", "wakes=8/8"]
            .iter()
            .any(|part| text.contains(part))
    };
    let counted: Vec<_> = [Os::FreeBsd, Os::Linux]
        .into_iter()
        .flat_map(of)
        .filter(|answer| wanted(answer.recorded()))
        .collect();
    assert!(counted.len() > 50, "{}", counted.len());
    let stable = counted.iter().filter(|answer| answer.unstable.is_none());
    let wrong: Vec<_> =
        stable.map(|answer| (&answer.behaviour, &answer.variant, answer.question())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_measurement_counts_for_its_own_release_only() {
    let answer = of(Os::FreeBsd).first().unwrap();
    let on = |release| {
        Version::of_release(Os::FreeBsd, release).is_some_and(|version| measured_on(answer, &version))
    };
    assert!(on("12.3-RELEASE-p5") && on("12.3-RELEASE-p6"));
    assert!(!on("12.4-RELEASE-p5") && !on("14.1-RELEASE"));
    assert!(of(Os::MacOs).iter().all(|answer| !measured_on(answer, &"24.1".parse().unwrap())));
}

fn measured_on(answer: &Expectation, version: &Version) -> bool {
    answer.is_measured_on(Versions::of_kernel(Some(version)))
}

const FILE: &str = "os: netbsd
source: usual
sources:
  usual: { evidence: M, text: measured, version: '10.1' }
  other: { evidence: T, text: a test suite, url: https://example.org/ }
behaviours:
  V01:
    'tcp:fresh':
      poll@level: '-'
      read: 'ENOTCONN'
  V02:
    'unix':
      poll@level:
        - { answers: ['HUP'], until: '9' }
        - { answers: ['OUT|HUP', 'OUT'], source: other, since: '10', note: changed }
";

fn parse(text: &str) -> Result<Expectations, ExpectationsError> {
    let mut answers = Expectations::default();
    answers.read(text, "x/netbsd.yml").map(|()| answers)
}

#[track_caller]
fn refused(replace: &str, by: &str, texts: &[&str]) {
    assert!(FILE.contains(replace), "{replace}");
    let error = parse(&FILE.replacen(replace, by, 1)).expect_err("the file is accepted");
    let message = format!("{error}\n{}", error.help());
    for text in texts {
        assert!(message.contains(text), "expected {text:?} in {message}");
    }
}

#[test]
fn each_version_has_its_own_answer() {
    let answers = parse(FILE).unwrap();
    let answer = |release: &str| {
        let version = Version::of_release(Os::NetBsd, release);
        answers
            .find(Os::NetBsd, version.as_ref(), ("V02", "unix", "poll", Some("level")))
            .map(|answer| &answer.allowed[0])
    };
    assert_eq!(answer("9.3").map(String::as_str), Some("HUP"));
    assert_eq!(answer("10.0_STABLE").map(String::as_str), Some("OUT|HUP"));
    assert_eq!(answer("unknown"), None);
    let read = answers.find(Os::NetBsd, None, ("V01", "tcp:fresh", "read", None)).unwrap();
    assert_eq!((read.question().as_str(), read.source.text.as_str()), ("read", "measured"));
    assert_eq!(answers.find(Os::NetBsd, None, ("V01", "tcp:fresh", "read", Some("level"))), None);
    assert_eq!(answers.find(Os::Linux, None, ("V01", "tcp:fresh", "read", None)), None);
}

#[test]
fn a_confirmed_version_counts_as_measured_within_the_range_of_an_answer() {
    let answers = parse(&FILE.replace("version: '10.1'", "version: '10.1', same_on: ['9.3']")).unwrap();
    let measured = |key, release: &str| {
        let version = Version::of_release(Os::NetBsd, release).unwrap();
        measured_on(answers.find(Os::NetBsd, Some(&version), key).unwrap(), &version)
    };
    let fresh = ("V01", "tcp:fresh", "read", None);
    assert!(measured(fresh, "9.3") && measured(fresh, "10.1"));
    assert!(!measured(fresh, "9.2"), "another version");
    let unix = ("V02", "unix", "poll", Some("level"));
    assert!(measured(unix, "9.3"));
    assert!(!measured(unix, "10.1"), "a hypothesis");
    let later = answers.find(Os::NetBsd, Some(&"10.1".parse().unwrap()), unix).unwrap();
    assert_eq!(later.confirmed_versions().count(), 0, "a hypothesis is not confirmed");
    let earlier = answers.find(Os::NetBsd, Some(&"9.3".parse().unwrap()), unix).unwrap();
    let versions: Vec<_> = earlier.confirmed_versions().map(ToString::to_string).collect();
    assert_eq!(versions, ["9.3"]);
    refused("a test suite,", "a test suite, same_on: ['9.3'],", &["5:3: the source 'other'", "`same_on`"]);
}

#[test]
fn a_misspelt_word_gets_a_position_and_a_suggestion() {
    refused("until:", "untill:", &["x/netbsd.yml:14:31: unknown field `untill`", "did you mean 'until'?"]);
    refused(
        "evidence: T",
        "evidence: Q",
        &["netbsd.yml:5:22: unknown evidence 'Q'", "T (another test suite)"],
    );
    refused(
        "os: netbsd",
        "os: netbsb",
        &["netbsd.yml:1:5:", "unknown operating system 'netbsb'", "'netbsd'?"],
    );
    refused("source: other", "source: othr", &["15:50: there is no source 'othr'", "did you mean 'other'?"]);
    refused("  V01:", "  V95:", &["7:3: there is no behaviour 'V95'", "did you mean 'V05'?"]);
    refused("poll@level: '-'", "poll@levl: '-'", &["9:7: unknown trigger 'levl'", "did you mean 'level'?"]);
    refused("since: '10'", "since: ten", &["'ten' is not a version"]);
    refused("poll@level: '-'", "poll@level: 3", &["9:7:", "an answer in quotes"]);
    refused("note: changed", "unstable: tming", &["unknown variant `tming`", "did you mean 'timing'?"]);
}

#[test]
fn duplicate_and_unsorted_keys_are_refused() {
    refused("      read:", "      poll@level:", &["10:7: duplicate mapping key: poll@level"]);
    refused("  V02:", "  V01:", &["11:3: duplicate mapping key: V01"]);
    refused("      read:", "      accept:", &["10:7: 'accept' comes after 'poll@level'", "LC_ALL=C sort"]);
    refused("  V02:", "  A01:", &["11:3: 'A01' comes after 'V01'"]);
    refused(
        "since: '10'",
        "since: '9.1'",
        &["15:11: two answers of 'poll@level' hold for the same versions"],
    );
}

#[test]
fn empty_and_contradictory_entries_are_refused() {
    refused("'-'", "{ answers: [] }", &["an empty answer, or one that allows everything"]);
    refused("'-'", "'*'", &["an empty answer, or one that allows everything"]);
    let started = "'''sh'' cannot be started: Too many open files (os error 24)'";
    refused("'-'", started, &["is a message of pollmatrix, and no answer of a poller"]);
    refused("'-'", "[]", &["9:7: 'poll@level' has no answer"]);
    refused("'-'", "{ answers: ['-', 'HUP'] }", &["several answers were measured", "add `seen`"]);
    refused("until: '9'", "since: '9', until: '8.2'", &["14:50: no version is in 9 to 8.2"]);
    refused("version: '10.1'", "url: https://example.org/", &["'usual' is measured without a version"]);
    refused("url: https://example.org/", "version: '10'", &["the source 'other' is measured without"]);
    refused("os: netbsd", "os: openbsd", &["the file netbsd.yml has `os: openbsd`"]);
}

#[test]
fn a_bound_of_a_measured_answer_stands_between_two_measurements() {
    let problems = |entries: &str| {
        let head =
            "os: netbsd\nsource: old\nsources:\n  old: { evidence: M, text: measured, version: '9.4' }\n";
        let new = "  new: { evidence: M, text: measured, version: '10.1' }\n";
        let page = "  page: { evidence: D, text: a page }\n";
        let behaviours = format!("behaviours:\n  V01:\n    'tcp:fresh':\n      poll@level: [{entries}]\n");
        parse(&format!("{head}{new}{page}{behaviours}")).unwrap().unmeasured_bounds()
    };
    const OLD: &str = "{ answers: ['IN'], until: '9.4' }";
    let both = problems(&format!("{OLD}, {{ answers: ['OUT'], source: new, since: '10.1' }}"));
    assert_eq!(both, Vec::<String>::new());
    // A bound between the two, which a history gives, is supported, too.
    let between = problems("{ answers: ['IN'], until: '9' }, { answers: ['OUT'], source: new, since: '10' }");
    assert_eq!(between, Vec::<String>::new());
    let place = "netbsd: V01 tcp:fresh poll@level: ";
    assert_eq!(problems(OLD), [format!("{place}no answer was measured after 9.4")]);
    assert_eq!(
        problems(&format!("{OLD}, {{ answers: ['OUT'], source: page, since: '10' }}")),
        [format!("{place}no answer was measured after 9.4")]
    );
    assert_eq!(
        problems("{ answers: ['OUT'], source: new, since: '10' }"),
        [format!("{place}no answer was measured before 10")]
    );
    assert_eq!(
        problems("{ answers: ['IN'], until: '8' }"),
        [format!("{place}the answer until 8 was measured on 9.4")]
    );
    // A page can say anything.
    assert_eq!(problems("{ answers: ['OUT'], source: page, since: '10' }"), Vec::<String>::new());
}

#[test]
fn a_scenario_asks_about_every_hypothesis() {
    assert_eq!(built_in().orphans(), Vec::<String>::new());
}

/// A measured answer is kept although no scenario asks for it any more, and F07 is omitted as a whole.
#[test]
fn a_hypothesis_that_no_scenario_asks_about_is_an_orphan() {
    let orphans = |evidence: &str| {
        let head = "os: netbsd\nsource: one\nsources:\n";
        let text = format!(
            "{head}  one: {{ evidence: {evidence}, text: 'a text' }}\nbehaviours:\n  F07:\n    'tun':\n      \
             poll@level: 'OUT'\n  T05:\n    '-':\n      select: 'a'\n    'pipe:time-left':\n      select@level: 'b'\n"
        );
        parse(&text).unwrap().orphans()
    };
    assert_eq!(orphans("K"), ["netbsd: T05 - select"]);
    assert_eq!(orphans("M, version: '10.1'"), Vec::<String>::new());
}
