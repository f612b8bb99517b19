//! `show --timeline`: what each thread of a cell did.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, expect_published_form};

const SPINS: &str = "regression/busy-thread-keeps-others-awake/pipe-level-2t1g@poll";
const DRAWN: &str = "regression/last-user-does-not-know/pipe-level-2t1g@poll";

/// The events of a cell, each with the name of its lane.
fn events(cell: &Value) -> Vec<(String, Value)> {
    let timeline = &cell["timeline"];
    let lane = |event: &Value| {
        let index = usize::try_from(event["lane"].as_u64().expect("an index")).expect("a small number");
        timeline["lanes"][index]["name"].as_str().expect("a name").to_owned()
    };
    let events = timeline["events"].as_array().expect("the cell has a timeline");
    events.iter().map(|event| (lane(event), event.clone())).collect()
}

/// Returns the position of the first event of this lane after `from` with this act and detail.
fn position(events: &[(String, Value)], from: usize, lane: &str, act: &str, detail: Option<&str>) -> usize {
    let found = events[from..].iter().position(|(of, event)| {
        of == lane && event["act"] == act && detail.is_none_or(|detail| event["detail"] == detail)
    });
    from + found.unwrap_or_else(|| panic!("{lane} {act} {detail:?} is not after event {from} of {events:#?}"))
}

#[test]
fn the_timeline_of_a_failed_cell_shows_the_thread_that_spins_while_the_other_is_held() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let found = sandbox.run_built_in(&["run", SPINS, "--fault", "work-is-everybodys", "--seed", "7"]);
    found.expect(1, &["iterations without a sleep of thread 1/1"]);
    let results = sandbox.results();
    expect_published_form(&results);
    let cell = &results["cells"][0];
    let events = events(cell);
    assert!(events.len() <= 200, "{}", events.len());
    assert!(events.is_sorted_by_key(|(_, event)| event["ns"].as_u64()));

    // Its waits end at once, again and again, until the check fails. The busy thread does not wait.
    let wrong = position(&events, 0, "main", "wrong", Some("iterations without a sleep of thread 1/1"));
    let times = |event: &Value| event["times"].as_u64().unwrap_or(1);
    let spins = |(_, event): &&(String, Value)| event["act"] == "awake" && times(event) > 10;
    let of = |name: &'static str| events[..wrong].iter().filter(move |(lane, _)| lane == name);
    let spin = of("worker 1/1").find(spins).expect("the thread spins");
    assert!(!of("worker 1/0").any(|event| spins(&event)), "{events:#?}");
    let fenced = position(&events, 0, "main", "fence", Some("1/1"));
    let spun = events.iter().position(|event| event == spin).expect("it is one of them");
    assert!(fenced < spun && spun < wrong, "{fenced} {spun} {wrong}");

    let shown = sandbox.run_built_in(&["show", SPINS, "--timeline"]);
    shown.expect(0, &[SPINS, "| WRONG iterations", "with the fault work-is-everybodys", "| worker 1/1\n"]);
    assert!(shown.stdout.lines().skip(2).all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    let spin = format!("awake ×{}", times(&spin.1));
    let row = shown.stdout.lines().find(|line| line.ends_with(&spin)).expect("the thread spins");
    assert_eq!(row.split('|').position(|part| part.contains("awake")), Some(3), "in the last lane: {row}");

    // Merging and importing keep it.
    sandbox.put("kept.json", results.to_string());
    for command in [
        &["merge", "kept.json", "--report-dir", "other"][..],
        &["run", SPINS, "--import", "kept.json", "--report-dir", "other", "--fault", "work-is-everybodys"],
    ] {
        sandbox.run_built_in(command);
        assert_eq!(
            sandbox.json("other/results.json")["cells"][0]["timeline"],
            cell["timeline"],
            "{command:?}"
        );
    }
}

#[test]
fn a_cell_that_passes_has_a_timeline_only_if_it_is_asked_for() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run_built_in(&["run", DRAWN, "--seed", "7"]).expect(0, &[]);
    assert_eq!(sandbox.results()["cells"][0].get("timeline"), None);
    let help = format!("help: record it: `pollmatrix run '{DRAWN}' --seed 0x7 --timeline`");
    sandbox.run_built_in(&["show", DRAWN, "--timeline"]).expect(2, &["has no timeline of", &help]);

    sandbox.run_built_in(&["run", DRAWN, "--seed", "7", "--timeline"]).expect(0, &[]);
    let events = events(&sandbox.results()["cells"][0]);
    // As the drawing has it: the thread that was held before its exit closes, and not the one that deletes.
    let held = position(&events, 0, "worker 1/0", "held", Some("ExitBegun"));
    let reports = events[..held].iter().rposition(|(_, event)| event["act"] == "report").expect("a report");
    assert_eq!(events[reports].0, "worker 1/0");
    let begins = position(&events, held, "worker 1/1", "begin", Some("deletes"));
    let deletes = position(&events, begins, "worker 1/1", "delete", None);
    let leaves = position(&events, deletes, "worker 1/1", "leave-close", None);
    let done = position(&events, leaves, "worker 1/1", "done", Some("deletes = Ok(())"));
    let released = position(&events, done, "worker 1/0", "released", Some("ExitBegun"));
    let closes = position(&events, released, "worker 1/0", "close", None);
    for index in [reports, held, leaves, closes] {
        assert_eq!(events[index].1["fd"], events[deletes].1["fd"]);
    }
    assert!(events[..closes].iter().all(|(_, event)| event["act"] != "close"), "{events:#?}");
    let shown = sandbox.run_built_in(&["show", DRAWN, "--timeline"]);
    shown.expect(0, &["| begins deletes", "| leaves close "]);

    sandbox.run_built_in(&["site", "--out", "pages", "pollmatrix-report"]).expect(0, &[]);
    let page = sandbox.text("pages/scenarios/regression/last-user-does-not-know.html");
    assert!(
        page.contains("<h2 id=\"course\">Its timeline</h2>") && page.contains("held at ExitBegun"),
        "{page}"
    );
}

#[test]
fn a_timeline_is_written_as_trace_events() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run_built_in(&["run", DRAWN, "--timeline"]).expect(0, &[]);
    let wrote = sandbox.run_built_in(&["show", DRAWN, "--timeline=trace.json"]);
    wrote.expect(0, &["wrote trace.json: open it in https://ui.perfetto.dev"]);
    let trace = sandbox.json("trace.json");
    let lanes: Vec<_> = trace["traceEvents"].as_array().expect("a list").iter().collect();
    let named = |name: &str| lanes.iter().any(|event| event["args"]["name"] == name);
    assert!(named("worker 1/1") && named("main"), "{trace:#}");
    assert!(lanes.iter().any(|event| event["ph"] == "X" && event["cat"] == json!("held")), "{trace:#}");
    let into_nothing = sandbox.run_built_in(&["show", DRAWN, "--timeline=missing/trace.json"]);
    into_nothing.expect(2, &["missing/trace.json", "help: "]);
    sandbox
        .run_built_in(&["show", DRAWN, "--timeline", "--format", "json"])
        .expect(2, &["cannot be used with"]);
}
