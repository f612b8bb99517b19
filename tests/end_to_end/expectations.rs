//! `pollmatrix expectations`, and the effect of documented divergences on a run.

use std::path::Path;

use serde_json::Value;

use crate::sandbox::{Answer, Sandbox, empty_expectations, pollmatrix};

/// A divergence of the self-test that answers 41 where 42 or forty-two is expected.
const DIVERGENCE: &str = "divergences:
  - cells: selftest/fail/*@poll
    os: OS
    check: the answer
    observed: ['4*']
    kind: permitted
    expect: always
    source: a book
    evidence: D
";

/// Creates a sandbox with this text as divergences.yml, for this system.
fn sandbox(selftests: &[&str], divergences: &str) -> Sandbox {
    let sandbox = Sandbox::new(selftests, 20);
    empty_expectations(&sandbox.path("expected"));
    let text = divergences.replace("OS", std::env::consts::OS);
    sandbox.put("expected/divergences.yml", text);
    sandbox
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Answer {
    let expected = sandbox.path("expected").display().to_string();
    sandbox.run(&[&["run", "--expectations", &expected], arguments].concat())
}

#[test]
fn a_documented_difference_is_permitted_in_every_form_of_the_results() {
    let sandbox = sandbox(&["pass", "fail"], DIVERGENCE);
    run(&sandbox, &[]).expect(0, &["1 pass", "1 permitted", "D permitted"]);
    let cell = sandbox.cell("fail");
    assert_eq!(cell["status"], "permitted");
    let place = sandbox.path("expected/divergences.yml").display().to_string();
    let reason = cell["reason"].as_str().expect("a reason is text");
    assert_eq!(reason, format!("the answer; documented in {place}:2 (manual page or standard: a book)"));
    let again = format!("--expectations '{}'", sandbox.path("expected").display());
    assert!(cell["reproducer"].as_str().is_some_and(|text| text.contains(&again)), "{cell}");
    assert_eq!((&cell["checks"][0]["observed"], &cell["checks"][0]["holds"]), (&"41".into(), &false.into()));
    let report = sandbox.text("pollmatrix-report/report.md");
    assert!(report.contains("a book") && report.contains("observed: 41"), "{report}");
    let junit = sandbox.text("pollmatrix-report/junit.xml");
    assert!(junit.contains("failures=\"0\"") && junit.contains("a book"), "{junit}");
}

#[test]
fn a_difference_without_a_matching_divergence_is_a_failure() {
    sandbox(&["fail"], DIVERGENCE).run(&["run"]).expect(1, &["1 fail"]);
    let elsewhere = DIVERGENCE.replace("observed: ['4*']", "observed: ['40']");
    run(&sandbox(&["fail"], &elsewhere), &[]).expect(1, &["1 fail"]);
    let earlier = DIVERGENCE.replace("    check:", "    until: '0.1'\n    check:");
    run(&sandbox(&["fail"], &earlier), &[]).expect(1, &["1 fail"]);
}

#[test]
fn a_known_bug_is_a_known_failure() {
    let bug = DIVERGENCE.replace("permitted", "known-fail\n    url: https://example.org/bug");
    let sandbox = sandbox(&["fail"], &bug);
    run(&sandbox, &[]).expect(0, &["1 known-fail"]);
    assert!(
        sandbox.cell("fail")["reason"].as_str().is_some_and(|text| text.contains("https://example.org/bug"))
    );
}

#[test]
fn a_pass_despite_a_known_failure_fails_the_run() {
    let difference = DIVERGENCE.replace("selftest/fail", "selftest/pass");
    let bug = difference.replace("permitted", "known-fail\n    url: https://example.org/bug");
    for always in [difference, bug] {
        let sandbox = sandbox(&["pass"], &always);
        run(&sandbox, &[]).expect(1, &["1 unexpected-pass", "'the answer' held, but according to"]);
        let sometimes = always.replace("always", "sometimes");
        sandbox.put("expected/divergences.yml", sometimes.replace("OS", std::env::consts::OS));
        run(&sandbox, &[]).expect(0, &["1 pass"]);
    }
}

#[test]
fn passes_among_permitted_attempts_are_not_flaky() {
    let sometimes = DIVERGENCE.replace("always", "sometimes").replace("selftest/fail", "selftest/flaky");
    let sandbox = sandbox(&["flaky"], &sometimes);
    run(&sandbox, &["--repeat", "4", "--seed", "2"]).expect(0, &["1 permitted"]);
    let cell = sandbox.cell("flaky");
    assert_eq!((&cell["attempts"]["passed"], &cell["seed"]), (&2.into(), &"0x3".into()));
}

#[test]
fn malformed_divergences_are_refused_before_any_cell_runs() {
    let sandbox = sandbox(&["fail"], &DIVERGENCE.replace("expect:", "expct:"));
    let place = format!("{}:7:5:", sandbox.path("expected/divergences.yml").display());
    run(&sandbox, &[]).expect(2, &[&place, "unknown field `expct`", "help: did you mean 'expect'?"]);
    assert!(!sandbox.path("pollmatrix-report").exists(), "nothing is written");
    pollmatrix(&["expectations", "check", "--dir", "/nowhere"])
        .expect(2, &["cannot read the expectations in /nowhere: ", "help: give a folder"]);
}

#[test]
fn the_built_in_expectations_pass_the_check() {
    let built_in = pollmatrix(&["expectations", "check"]);
    built_in.expect(0, &[" measured, 0 hypotheses", "freebsd: ", " measured, 1 hypotheses", "divergences: "]);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../expectations").display().to_string();
    let loaded = pollmatrix(&["expectations", "check", "--dir", &dir]);
    assert_eq!((loaded.code, loaded.stdout), (Some(0), built_in.stdout));
}

#[test]
fn check_compares_divergences_with_the_matrix_and_answers_with_the_catalogue() {
    let check = |sandbox: &Sandbox| {
        let expected = sandbox.path("expected").display().to_string();
        sandbox.run(&["expectations", "check", "--dir", &expected])
    };
    check(&sandbox(&["fail"], DIVERGENCE)).expect(0, &["divergences: 1"]);
    check(&sandbox(&["pass"], DIVERGENCE))
        .expect(2, &["divergences.yml:2:", "no cell matches 'selftest/fail/*@poll'"]);
    let sandbox = sandbox(&["fail"], DIVERGENCE);
    let text = "os: linux\nsource: s\nsources:\n  s: { evidence: K, text: t }\nbehaviours:\n  V99:\n    'x':\n      poll: '-'\n";
    sandbox.put("expected/answers/linux.yml", text);
    check(&sandbox).expect(2, &["answers/linux.yml:6:3: there is no behaviour 'V99' in the catalogue"]);
    let hypothesis = |key: &str| {
        let head = "os: macos\nsource: s\nsources:\n  s: { evidence: K, text: t }\nbehaviours:\n  V05:\n";
        format!("{head}    'tcp':\n      {key}: {{ answers: ['OUT'], since: '24.4' }}\n")
    };
    sandbox.put(
        "expected/answers/linux.yml",
        text.replace("V99:\n    'x':\n      poll", "V05:\n    'tcp':\n      poll@level"),
    );
    sandbox.put("expected/answers/macos.yml", hypothesis("poll-all"));
    check(&sandbox)
        .expect(2, &["no scenario asks about 1 hypotheses", "macos: V05 tcp poll-all", "help: use a key"]);
    sandbox.put("expected/answers/macos.yml", hypothesis("poll@level"));
    check(&sandbox).expect(0, &["macos: 0 measured, 1 hypotheses"]);
    let expected = sandbox.path("expected").display().to_string();
    sandbox
        .run(&["expectations", "show", "--dir", &expected])
        .expect(0, &["OUT (K, since 24.4, macOS 15.4)"]);
}

#[test]
fn answers_of_systems_are_side_by_side_and_differences_are_marked() {
    let shown = pollmatrix(&["expectations", "show", "V26/pipe:read-end-drained"]);
    shown.expect(
        0,
        &[
            "V26: a pipe's read end without data, the writer gone",
            "R(data=0)+EOF (M)",
            "W+EOF [X add:EINVAL] (K, since 19)",
            "K kernel source",
        ],
    );
    let words: Vec<_> = shown.line("poll@level").split_whitespace().collect();
    let (first, others) = words.split_at(5);
    assert_eq!(first, ["poll@level", "HUP", "(M)", "IN|HUP", "(M)"]);
    assert_eq!(others, ["IN|PRI|HUP", "(K)", "IN|OUT|HUP", "(M)", "IN|HUP", "(M)", "HUP", "(M)", "differs"]);
    assert!(!shown.line("queue-add-after@level").ends_with("differs"), "{}", shown.stdout);

    let one = pollmatrix(&["expectations", "show", "V26", "--os", "freebsd"]);
    one.expect(0, &["fifo:read-end", ", 0 with different answers"]);
    assert!(!one.stdout.contains("linux"), "{}", one.stdout);
    pollmatrix(&["expectations", "show", "V21/unix-dgram:full"])
        .expect(0, &["since 22, macOS 13", "https://github.com/apple-oss-distributions/xnu"]);
    pollmatrix(&["expectations", "show", "V14/tcp:W-only"]).expect(0, &["SO_ERROR=0 x9"]);
    let sizes = pollmatrix(&["expectations", "show", "V29/tcp:full", "V21/unix-dgram"]);
    assert!(sizes.line("capacity").ends_with("(M, varies: size)"), "{}", sizes.stdout);
    assert!(
        sizes.line("write").contains("after * x 100 B: ENOBUFS (M)")
            && sizes.line("write").ends_with("differs"),
        "{}",
        sizes.stdout
    );
}

#[test]
fn answers_as_json_have_their_sources() {
    let json = pollmatrix(&["expectations", "show", "V07/tcp", "--format", "json"]);
    json.expect(0, &[]);
    let questions: Vec<Value> = json.json();
    let poll = questions.iter().find(|question| question["asked"] == "poll@level").expect("poll is asked");
    assert_eq!((&poll["behaviour"], &poll["differs"]), (&"V07".into(), &true.into()));
    let freebsd = &poll["answers"]["freebsd"][0];
    assert_eq!((&freebsd["answers"][0], &freebsd["evidence"]), (&"OUT".into(), &"M".into()));
    assert_eq!((&freebsd["measured_on"], &freebsd["hypothesis"]), (&"12.3.5".into(), &false.into()));
    let macos = &poll["answers"]["macos"][0];
    assert_eq!((&macos["answers"][0], &macos["hypothesis"]), (&"HUP".into(), &true.into()));
}

#[test]
fn unknown_behaviours_and_systems_get_suggestions() {
    pollmatrix(&["expectations", "show", "V26/pipe:read-edn"])
        .expect(2, &["did you mean 'V26/pipe:read-end'?"]);
    pollmatrix(&["expectations", "show", "v26"])
        .expect(2, &["there is no expectation for 'v26'", "did you mean 'V26'?"]);
    pollmatrix(&["expectations", "show", "W13"]).expect(2, &["no answer is recorded"]);
    pollmatrix(&["expectations", "show", "--os", "frebsd"]).expect(2, &["did you mean 'freebsd'?"]);
    pollmatrix(&["expectations", "show", "--os", "illumos"])
        .expect(2, &["no such expectations of illumos", "omit --os"]);
    pollmatrix(&["expectations", "check", "V26"]).expect(2, &["unexpected argument"]);
}
