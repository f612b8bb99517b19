//! `pollmatrix probe`: runs a script on every backend and shows the answers side by side.

use serde_json::Value;

use crate::sandbox::{Answer, Sandbox, pollmatrix};

fn probe(arguments: &[&str]) -> Answer {
    pollmatrix(&[&["probe"], arguments].concat())
}

const SCRIPT: &str = "own and peer are connected, peer sends 3, look at own, own reads? as then";

/// 18,000 clauses took ten minutes.
#[test]
fn a_script_of_many_clauses_is_refused_with_its_place() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let script = |clauses: usize| "own is fresh".to_owned() + &", wait".repeat(clauses - 1);
    let typed = sandbox.run(&["probe", &script(10_000)]);
    let expected = ["column 6008: a script has at most 1000 clauses\n  …, wait, ", "ask in several scripts"];
    typed.expect(2, &expected);
    assert!(typed.stderr.len() < 500, "{}", typed.stderr);
    let many = script(200_000);
    let behaviour =
        format!("behaviours:\n  - id: mine/many\n    question: Is it long?\n    script: {many}\n");
    sandbox.put("behaviours.yml", behaviour);
    sandbox
        .run(&["probe", "--behaviours", "behaviours.yml"])
        .expect(2, &["behaviours.yml:4:6021: a script has at most 1000 clauses"]);
    sandbox.put("c/tcp-level.txt", format!("# Mine\n{many}\n"));
    let explored = sandbox.run(&["explore", "--left", "poll", "--right", "select", "--corpus", "c"]);
    explored.expect(2, &["tcp-level.txt:2: column 6008: a script has at most 1000 clauses"]);
}

#[test]
fn a_script_runs_on_every_backend_of_this_system() {
    let shown = probe(&[SCRIPT, "--transport", "unix"]);
    shown.expect(0, &[SCRIPT, "\nunix, level\n"]);
    let line = |begins: &str| {
        let found = shown.stdout.lines().find(|line| line.starts_with(begins));
        found
            .unwrap_or_else(|| panic!("no {begins}:\n{}", shown.stdout))
            .split_whitespace()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        line("        "),
        [if cfg!(target_os = "linux") { "epoll" } else { "kqueue" }, "poll", "select"]
    );
    let answers = line("unix  ");
    assert_eq!(answers[answers.len() - 2..], ["IN|OUT", "rw-"], "{}", shown.stdout);
    assert_eq!(line("unix:then  read")[2..], ["3", "3", "3"]);
}

#[test]
fn the_id_of_a_behaviour_or_scenario_runs_its_script() {
    for name in ["V06", "readiness/peer-shut-write"] {
        probe(&[name, "--backend", "poll"]).expect(
            0,
            &[
                "V06 readiness/peer-shut-write: What does a poller report",
                "peer shuts write, look at own",
                "\ntcp, level\n",
            ],
        );
    }
    probe(&["readiness/peer-shut-wirte"])
        .expect(2, &["there is no behaviour or scenario", "did you mean 'readiness/peer-shut-write'?"]);
}

#[test]
fn a_mistake_in_a_script_is_shown_with_its_position() {
    let shown = probe(&["own and peer are connected, wach own"]);
    shown.expect(2, &["error: column 29: ", "found 'wach'", "help: did you mean 'watch'?"]);
    let lines: Vec<_> = shown.stderr.lines().collect();
    assert_eq!(lines[1], "  own and peer are connected, wach own");
    assert_eq!(lines[2].find('^'), lines[1].find("wach"), "{}", shown.stderr);
    assert_eq!(shown.stdout, "");
    probe(&[SCRIPT, "--transport", "unx"]).expect(2, &["did you mean 'unix'?"]);
    probe(&[SCRIPT, "--mode", "egde"]).expect(2, &["did you mean 'edge'?"]);
    probe(&[SCRIPT, "--backend", "pol"])
        .expect(2, &["there is no backend 'pol' here", "did you mean 'poll'?"]);
}

#[test]
fn a_script_that_no_backend_can_run_is_unsupported() {
    let shown = probe(&[SCRIPT, "--mode", "edge", "--backend", "poll", "--backend", "select"]);
    shown.expect(127, &["\npoll: unsupported: ", "\nselect: unsupported: "]);
    probe(&[SCRIPT, "--mode", "edge"]).expect(0, &["\npoll: unsupported: "]);
}

#[test]
fn json_has_the_answers_and_the_trace_in_order() {
    let shown = probe(&[SCRIPT, "--transport", "pipe", "--backend", "poll", "--format", "json"]);
    shown.expect(0, &[]);
    let runs: Value = shown.json();
    assert_eq!((&runs[0]["line"], &runs[0]["transport"]), (&SCRIPT.into(), &"pipe".into()));
    let result = &runs[0]["backends"][0];
    assert_eq!((&result["backend"], &result["status"]), (&"poll".into(), &"performed".into()));
    let expected =
        serde_json::json!({ "variant": "pipe", "api": "poll", "trigger": "level", "answer": "IN" });
    assert_eq!(result["answers"][0], expected);
    let last = result["answers"].as_array().and_then(|answers| answers.last()).expect("there are answers");
    assert_eq!(*last, serde_json::json!({ "variant": "pipe:then", "api": "read", "answer": "3" }));
    let trace = result["trace"].as_array().expect("a list");
    assert_eq!(trace.len(), SCRIPT.split(',').count(), "{trace:?}");
    probe(&[SCRIPT, "--transport", "pipe", "--backend", "poll", "--trace"])
        .expect(0, &["\npoll\n  own and peer"]);
}
