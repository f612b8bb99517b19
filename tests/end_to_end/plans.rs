//! `pollmatrix plan` and `--shard`: cells split over several machines.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer, id};

const CELLS: [&str; 4] = ["pass", "fail", "unsupported", "broken"];

/// Runs the executable with the built-in matrix.
fn pollmatrix(arguments: &[&str]) -> Answer {
    answer(Command::new(POLLMATRIX).args(arguments))
}

fn plan(arguments: &[&str]) -> Vec<Value> {
    let printed = pollmatrix(&[&["plan"], arguments].concat());
    printed.expect(0, &[]);
    serde_json::from_str(&printed.stdout).expect("a list")
}

fn ids(sandbox: &Sandbox) -> BTreeSet<String> {
    let results = sandbox.results();
    let cells = results["cells"].as_array().expect("cells is a list");
    cells.iter().map(|cell| cell["id"].as_str().expect("an id is text").to_owned()).collect()
}

#[test]
fn shards_together_list_every_cell_once() {
    let all = pollmatrix(&["list", "--filter", "idle-takeover"]).stdout;
    let parts: Vec<_> = ["1/3", "2/3", "3/3"]
        .iter()
        .map(|shard| pollmatrix(&["list", "--filter", "idle-takeover", "--shard", shard]).stdout)
        .collect();
    let mut joined: Vec<_> = parts.iter().flat_map(|part| part.lines()).collect();
    let mut lines: Vec<_> = all.lines().collect();
    joined.sort_unstable();
    lines.sort_unstable();
    assert_eq!(joined, lines);
    assert!(parts.iter().all(|part| part.lines().count() * 2 < lines.len()), "{parts:?}");
}

#[test]
fn machines_that_run_their_shards_run_every_cell_once() {
    let sandbox = Sandbox::new(&CELLS, 20);
    let mut seen = BTreeSet::new();
    for shard in ["1/2", "2/2"] {
        sandbox.run(&["run", "--shard", shard]).expect(1, &[]);
        assert!(
            sandbox.results().to_string().contains(&format!("--shard {shard}")),
            "the report names the shard"
        );
        for id in ids(&sandbox) {
            assert!(seen.insert(id.clone()), "{id} is in both");
        }
    }
    assert_eq!(seen, CELLS.iter().map(|name| id(name)).collect());
}

#[test]
fn a_resumed_shard_is_the_same_shard() {
    let sandbox = Sandbox::new(&CELLS, 20);
    sandbox.run(&["run", "--shard", "1/2"]).expect(1, &[]);
    let first = ids(&sandbox);
    sandbox.run(&["run", "--resume"]).expect(1, &[]);
    assert_eq!(ids(&sandbox), first);
    sandbox.run(&["run", "--resume", "--shard", "2/2"]).expect(2, &["it has other cells: --shard 1/2"]);
}

#[test]
fn a_plan_lists_the_shards_with_their_cells_and_time() {
    let all = pollmatrix(&["list"]).stdout.lines().count() as u64;
    let shards = plan(&["--shards", "4"]);
    let of: Vec<_> = shards.iter().map(|shard| (shard["shard"].as_u64(), shard["of"].as_u64())).collect();
    assert_eq!(of, (1..=4).map(|number| (Some(number), Some(4))).collect::<Vec<_>>());
    assert_eq!(shards.iter().filter_map(|shard| shard["cells"].as_u64()).sum::<u64>(), all);
    let seconds: Vec<_> = shards.iter().filter_map(|shard| shard["seconds"].as_f64()).collect();
    let (least, most) =
        (seconds.iter().copied().fold(f64::MAX, f64::min), seconds.iter().copied().fold(0.0, f64::max));
    assert!(least > 0.0 && most < 1.25 * least, "{seconds:?}");
    let cells = pollmatrix(&["list", "--shard", "2/4"]).stdout.lines().count() as u64;
    assert_eq!(shards[1]["cells"].as_u64(), Some(cells), "list and plan split the cells equally");
}

#[test]
fn unsupported_cells_take_no_time_in_a_plan() {
    let seconds =
        |target| plan(&["--shards", "1", "--backend", "kqueue", "--target", target])[0]["seconds"].as_f64();
    assert_eq!(seconds("s390x-linux-gnu"), Some(0.0));
    assert!(seconds("x86_64-freebsd") > Some(1.0));
}

#[test]
fn the_plan_for_github_is_one_line_for_its_outputs() {
    let printed = pollmatrix(&["plan", "--shards", "3", "--format", "github"]);
    printed.expect(0, &[]);
    assert_eq!(printed.stdout.lines().count(), 1);
    let value = printed.stdout.strip_prefix("matrix=").expect("the output's name");
    let matrix: Value = serde_json::from_str(value).expect("JSON");
    assert_eq!(matrix["include"], Value::from(plan(&["--shards", "3"])));
}

#[test]
fn shards_without_cells_are_refused() {
    pollmatrix(&["plan", "--shards", "0"])
        .expect(2, &["'0' for '--shards <N>'", "at least 1 machine must run the cells"]);
    pollmatrix(&["plan"]).expect(2, &["--shards <N>"]);
    pollmatrix(&["plan", "--shards", "99999"]).expect(2, &["cannot be split over 99999 machines", "help: "]);
    pollmatrix(&["plan", "--shards", "2", "--target", "s390-linux-gnu"])
        .expect(2, &["there is no target", "did you mean 's390x-linux-gnu'?"]);
    pollmatrix(&["run", "--shard", "5/4"]).expect(2, &["there is no shard 5 of 4: they go from 1/4 to 4/4"]);
    pollmatrix(&["run", "--shard", "0/4"]).expect(2, &["there is no shard 0 of 4"]);
    pollmatrix(&["list", "--shard", "1/0"]).expect(2, &["1/0 is a shard of no machines"]);
    pollmatrix(&["list", "--shard", "half"]).expect(2, &["write K/N, such as 1/4"]);
    let sandbox = Sandbox::new(&CELLS, 20);
    sandbox
        .run(&["run", "--shard", "1/5"])
        .expect(2, &["4 cells cannot be split over 5 machines", "use at most 4"]);
}

#[test]
fn durations_are_recorded_from_passed_cells_only() {
    let sandbox = Sandbox::new(&["pass", "fail"], 20);
    let record = |file: &str| sandbox.run(&["plan", "--record", file]);
    record("nowhere.json").expect(2, &["cannot find the root of the source tree"]);
    for folder in ["crates/report", "crates/matrix"] {
        fs::create_dir_all(sandbox.path(folder)).expect("writable");
    }
    record("nowhere.json").expect(2, &["cannot read nowhere.json", "help: give "]);
    record("matrix.yml").expect(2, &["error: matrix.yml", "help: "]);
    sandbox.run(&["run"]).expect(1, &[]);
    record("pollmatrix-report/results.json")
        .expect(0, &["wrote: crates/matrix/durations.json, from 1 cells"]);
    let read = || -> Value {
        let text =
            fs::read_to_string(sandbox.path("crates/matrix/durations.json")).expect("the file was written");
        serde_json::from_str(&text).expect("JSON")
    };
    assert!(read()["selftest/pass"].is_u64(), "{}", read());
    assert!(read().get("selftest/fail").is_none(), "the time of a failed cell is not recorded: {}", read());
    sandbox.run(&["run", "selftest/fail"]).expect(1, &[]);
    record("pollmatrix-report/results.json").expect(2, &["no cell in pollmatrix-report/results.json passed"]);
}
