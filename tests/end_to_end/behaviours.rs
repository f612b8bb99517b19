//! Behaviours: behaviours that a file adds to a run.

use std::fs;

use adapters::testing::lacks;
use serde_json::Value;

use crate::sandbox::{Sandbox, empty_expectations, eventually, interrupted};

const BEHAVIOURS: &str = "behaviours:
  - id: mine/half-close
    question: What does a poller report for a pipe whose writer closed?
    script: own and peer are connected, watch own, peer closes, look at own as writer-gone
    transports: [pipe, unix]
";
const CELL: &str = "mine/half-close/pipe-level-1t1g@poll";

fn sandbox(behaviours: &str) -> Sandbox {
    let sandbox = Sandbox::new(&["pass", "hang"], 300);
    sandbox.put("behaviours.yml", behaviours);
    sandbox
}

#[test]
fn a_behaviour_runs_on_every_backend_and_its_answers_are_new() {
    let sandbox = sandbox(BEHAVIOURS);
    sandbox
        .run(&["list", "--behaviours", "behaviours.yml"])
        .expect(0, &[CELL, "mine/half-close/unix-level-1t1g@poll"]);
    let run = sandbox.run(&["run", "--behaviours", "behaviours.yml"]);
    run.expect(0, &["characterisation: 2 cells: 2 new, "]);
    assert!(!run.stdout.contains("selftest"), "{}", run.stdout);
    let found = sandbox.cell_of(CELL);
    assert_eq!((&found["status"], &found["layer"]), (&"pass".into(), &"characterisation".into()));
    let checks = found["checks"].as_array().expect("checks is a list");
    let asked =
        |check: &&Value| check["asked"]["variant"] == "pipe:writer-gone" && check["asked"]["api"] == "poll";
    let check = checks.iter().find(asked).unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!(check["asked"]["behaviour"], "mine/half-close");
    assert!(check["observed"].as_str().is_some_and(|seen| seen.contains("HUP")), "{check}");
    // A prefix selects as usual, behaviours or others.
    sandbox.run(&["run", "--behaviours", "behaviours.yml", "selftest/pass"]).expect(0, &["1 cells: 1 pass"]);
    sandbox.run(&["run", "mine"]).expect(2, &["no cell's id begins with 'mine'"]);
}

#[test]
fn the_reproducer_of_a_behaviour_runs_it() {
    let sandbox = sandbox(BEHAVIOURS);
    sandbox.run(&["run", "--behaviours", "behaviours.yml"]).expect(0, &[]);
    let cell = sandbox.cell_of(CELL);
    let file = sandbox.path("behaviours.yml").display().to_string();
    assert!(cell["reproducer"].as_str().is_some_and(|command| command.contains(&file)), "{cell}");
    sandbox.reproduce(&cell).expect(0, &["characterisation: 1 cells: 1 new"]);
}

#[test]
fn results_with_behaviours_are_read_without_the_file() {
    let sandbox = sandbox(BEHAVIOURS);
    sandbox.run(&["run", "--behaviours", "behaviours.yml"]).expect(0, &[]);
    fs::remove_file(sandbox.path("behaviours.yml")).expect("it is there");
    let title = "What does a poller report for a pipe whose writer closed?";
    sandbox.run(&["show", CELL]).expect(0, &[title, "unknown  2"]);
    sandbox.run(&["merge", "pollmatrix-report", "--report-dir", "merged"]).expect(0, &["2 cells: 2 new"]);
    let merged = sandbox.text("merged/results.json");
    assert!(merged.contains("peer closes, look at own as writer-gone"), "the report has the script");
    sandbox.run(&["diff", "pollmatrix-report", "merged"]).expect(0, &[]);
    sandbox
        .run(&["expectations", "judge", "pollmatrix-report"])
        .expect(0, &["4 answers, 0 as expected, 4 not known"]);
    sandbox.run(&["site", "pollmatrix-report", "--out", "pages"]).expect(0, &[]);
    // Only the catalogue's behaviours have expectations.
    empty_expectations(&sandbox.path("expected"));
    sandbox
        .run(&["expectations", "record", "pollmatrix-report", "--expectations", "expected"])
        .expect(2, &["the answers of mine/half-close are not recorded"]);
}

#[test]
fn a_behaviour_that_names_a_behaviour_is_compared_with_its_recorded_answers() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let behaviour = BEHAVIOURS.replace("    transports", "    behaviour: V26\n    transports");
    let behaviour =
        behaviour.replace("as writer-gone", "as read-end-never-data").replace("[pipe, unix]", "[pipe]");
    let sandbox = sandbox(&behaviour);
    sandbox.run(&["run", "--behaviours", "behaviours.yml"]).expect(0, &["1 cells: 1 as expected"]);
    let wrong = behaviour.replace("peer closes", "peer sends 1");
    sandbox.put("behaviours.yml", wrong);
    sandbox.run(&["run", "--behaviours", "behaviours.yml"]).expect(1, &["1 cells: 1 fail", "expected "]);
}

#[test]
fn a_probe_asks_behaviours_without_a_run() {
    let sandbox = sandbox(BEHAVIOURS);
    sandbox
        .run(&["probe", "--behaviours", "behaviours.yml"])
        .expect(0, &["mine/half-close: What does a poller report", "pipe, level", "pipe:writer-gone"]);
    sandbox
        .run(&["probe", "mine/half-close", "--behaviours", "behaviours.yml"])
        .expect(0, &["pipe:writer-gone"]);
    sandbox
        .run(&["probe", "mine/half-closed", "--behaviours", "behaviours.yml"])
        .expect(2, &["'mine/half-close'?"]);
    sandbox.run(&["probe"]).expect(2, &["SCRIPT"]);
}

#[test]
fn a_run_with_behaviours_is_resumed_with_the_same_behaviours_only() {
    let sandbox = sandbox(BEHAVIOURS);
    if lacks("ps") {
        return;
    }
    let child =
        sandbox.start(&["run", "--behaviours", "behaviours.yml", "mine", "selftest/hang", "--jobs", "1"]);
    eventually("the first cell runs", || sandbox.cells_alive() == 1);
    let ended = interrupted(child);
    ended.expect(130, &[]);
    let continued = ended.line("Interrupted: ");
    assert!(
        continued.contains(&format!(" --behaviours '{}'", sandbox.path("behaviours.yml").display())),
        "{continued}"
    );

    sandbox
        .run(&["run", "--resume"])
        .expect(2, &["it has behaviours of a file", "give the same file with --behaviours"]);
    sandbox.put("other.yml", BEHAVIOURS.replace("peer closes", "peer sends 1"));
    sandbox
        .run(&["run", "--resume", "--behaviours", "other.yml"])
        .expect(2, &["it has other behaviours", "restore the file of behaviours"]);
    // Without a selection, the run keeps its own: three cells, and not those of the behaviours only.
    let child = sandbox.start(&["run", "--resume", "--behaviours", "behaviours.yml", "--jobs", "2"]);
    eventually("two results after the resumption", || sandbox.journal().len() == 4);
    interrupted(child).expect(130, &["0 of 3 cells already have a result"]);
    assert_eq!(sandbox.cell_of(CELL)["status"], "pass");

    let plain = self::sandbox(BEHAVIOURS);
    let child = plain.start(&["run", "--jobs", "1"]);
    eventually("a result", || plain.journal().len() == 2);
    interrupted(child);
    plain
        .run(&["run", "--resume", "--behaviours", "behaviours.yml"])
        .expect(2, &["it has no behaviours of a file"]);
}

#[test]
fn rows_run_behind_a_prefix_and_are_refused_where_the_file_is_not() {
    let sandbox = sandbox(BEHAVIOURS);
    sandbox
        .run(&["run", "--behaviours", "behaviours.yml", "--prefix", "env A=1", "mine", "selftest/pass"])
        .expect(0, &["1 cells: 1 pass", "characterisation: 2 cells: 2 new"]);
    sandbox
        .run(&["run", "--behaviours", "behaviours.yml", "--host", "nowhere"])
        .expect(2, &["the runner 'ssh' does not take the file to the other side"]);
    sandbox
        .run(&["worker", "exec", "--all", "--behaviours", "behaviours.yml", "--filter", "x"])
        .expect(2, &["--filter"]);
    sandbox.run(&["worker", "exec", "mine", "--behaviours", "behaviours.yml"]).expect(0, &[CELL]);
}

#[test]
fn a_wrong_file_of_behaviours_is_an_error_with_its_place() {
    let sandbox = sandbox(&BEHAVIOURS.replace("look at own", "look at onw"));
    sandbox
        .run(&["run", "--behaviours", "behaviours.yml"])
        .expect(2, &["behaviours.yml:4:", "found 'onw'", "help: did you mean 'own'?"]);
    sandbox.run(&["run", "--behaviours", "none.yml"]).expect(2, &["cannot read the behaviours in none.yml"]);
}

#[test]
fn the_behaviours_of_the_documentation_can_be_run() {
    let text = include_str!("../../docs/verbs.md");
    let (_, behaviours) = text.split_once("```yaml\n").expect("it has a file of behaviours");
    let (behaviours, _) = behaviours.split_once("```").expect("the block ends");
    let sandbox = sandbox(behaviours);
    sandbox.run(&["run", "--behaviours", "behaviours.yml"]).expect(0, &["2 cells: 2 new"]);
}

#[test]
fn a_file_of_behaviours_that_changes_during_a_run_ends_it_without_a_report() {
    if lacks("ps") {
        return;
    }
    let sandbox = sandbox(BEHAVIOURS);
    let child =
        sandbox.start(&["run", "--behaviours", "behaviours.yml", "mine", "selftest/hang", "--jobs", "1"]);
    eventually("the first cell runs", || sandbox.cells_alive() == 1);
    sandbox.put("behaviours.yml", BEHAVIOURS.replace("peer closes", "peer sends 1"));
    interrupted(child).expect(2, &["behaviours.yml was changed while cells were started with it"]);
    assert!(!sandbox.path("pollmatrix-report/results.json").exists());
}
