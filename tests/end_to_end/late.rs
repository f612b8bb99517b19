//! `run --late-data`: what a scenario sends arrives late.

use crate::sandbox::{Sandbox, pollmatrix};

#[test]
fn a_cell_records_that_its_data_were_late_and_its_rerun_arguments() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let found =
        sandbox.run_built_in(&["run", "deletion/disown/tcp-level-1t1g@poll", "--late-data=5", "--seed", "7"]);
    found.expect(0, &["1 cells: 1 pass (seed 0x7, data up to 5 ms late)"]);
    let results = sandbox.results();
    assert_eq!(results["runs"][0]["late_data"], 5);
    let cell = &results["cells"][0];
    let again = cell["reproducer"].as_str().expect("the value is text");
    assert!(again.ends_with("--late-data=5 --seed 0x7"), "{again}");
    assert!(cell["counters"]["writes_delayed"].as_u64().is_some_and(|count| count > 0), "{cell}");
    for (file, said) in [("report.md", "up to 5 ms after"), ("report.html", "up to 5 ms after")] {
        let text = sandbox.text(&format!("pollmatrix-report/{file}"));
        assert!(text.contains(said), "{file}: {text}");
    }
}

#[test]
fn without_the_option_no_write_is_delayed() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox
        .run_built_in(&["run", "deletion/disown/tcp-level-1t1g@poll"])
        .expect(0, &["1 cells: 1 pass (seed "]);
    let results = sandbox.results();
    assert_eq!(results["runs"][0].get("late_data"), None);
    assert_eq!(results["cells"][0]["counters"].get("writes_delayed"), None);
}

#[test]
fn raw_pollers_get_no_late_data() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let raw = "readiness/peer-shut-write/tcp-level-1t1g@poll";
    sandbox.run_built_in(&["run", raw, "--late-data"]).expect(0, &["1 unsupported"]);
    let why = sandbox.results()["cells"][0]["reason"].clone();
    assert_eq!(why, "it tests the raw poller, and only the data of contract scenarios can be late");
    pollmatrix(&["worker", "cell", raw, "--seed", "1", "--late-data"]).expect(2, &["tests raw pollers only"]);
    sandbox.run_built_in(&["run", raw, "--late-data=0"]).expect(2, &["--late-data"]);
}
