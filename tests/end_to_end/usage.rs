//! Help, usage errors, and the commands that run no cells.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, id, pollmatrix};

#[test]
fn every_command_has_help() {
    for (command, words) in [
        ("", "run, list, show, merge, diff, faults, soak, probe, expectations, explore"),
        ("", "cost, site, adapter, generate, Exit codes:"),
        ("run", "--resume, --repeat, --seed, --fault, --inject-errors, --late-data, --report-dir, --target"),
        ("run", "--runner, --prefix, --host, --vm, 130"),
        ("list", "--backend, --filter, --layer, --shard, --history, --targets, --executables, --format"),
        ("show", "--report-dir, --target"),
        ("merge", "--prefer, --allow-mixed, --not-run, --force, --report-dir, Exit codes:"),
        ("diff", "--fail-on, regression, --format, Exit codes:"),
        ("faults", "--list, --quick, --record, --fault, --jobs, --resume, Exit codes:"),
        ("soak", "--duration, --threads, --groups, --backend, --fault, Exit codes:"),
        ("expectations", "show, check, record, judge"),
        ("expectations show", "[PREFIX], --os, --dir"),
        ("expectations record", "--dry-run, --emulated, --expectations, Exit codes:"),
        ("adapter check", "--only, --patience, Exit codes:"),
        ("probe", "--transport, --mode, --backend, --trace, --format, 127, Exit codes:"),
        ("generate", "--check"),
        ("worker", "exec, cell, script, lines, operation, guest, guard, documents"),
        ("worker exec", "--all, --cells, --output, --keep, --prefix, 127"),
        ("worker cell", "127  unsupported, one JSON line"),
    ] {
        let command: Vec<_> = command.split_whitespace().chain(["--help"]).collect();
        pollmatrix(&command).expect(0, &words.split(", ").collect::<Vec<_>>());
    }
    assert!(
        !pollmatrix(&["--help"]).stdout.contains("worker"),
        "only this program and experts start workers"
    );
}

#[test]
fn a_malformed_matrix_is_reported_with_line_column_and_help() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.edit("matrix.yml", "triggers: [level] }\ntargets", "triggers: [levle] }\ntargets");
    for command in ["run", "list"] {
        let position = format!("{}:4:", sandbox.path("matrix.yml").display());
        sandbox
            .run(&[command])
            .expect(2, &["error: ", &position, "unknown trigger 'levle'", "did you mean 'level'?", "help: "]);
    }
    assert!(!sandbox.path("pollmatrix-report").exists(), "no file is written");
}

#[test]
fn a_missing_matrix_is_an_error() {
    pollmatrix(&["list", "--matrix", "/nowhere/matrix.yml"])
        .expect(2, &["cannot read the matrix file /nowhere/matrix.yml", "help: omit --matrix"]);
}

#[test]
fn a_matrix_without_this_target_is_an_error() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.edit("matrix.yml", "runners: [native]", "runners: []");
    sandbox.run(&["run"]).expect(2, &["has no native target for", "help: add it to `targets`"]);
}

#[test]
fn unknown_names_get_suggestions() {
    pollmatrix(&["list", "migraton"]).expect(2, &["did you mean 'migration'?"]);
    pollmatrix(&["list", "deletion/own-handlr"]).expect(2, &["did you mean 'deletion/own-handler'?"]);
    pollmatrix(&["list", "--backend", "epol"]).expect(2, &["did you mean 'epoll'?"]);
    pollmatrix(&["list", "--layer", "contrct"]).expect(2, &["did you mean 'contract'?"]);
    pollmatrix(&["run", "--fault", "double-clos"]).expect(2, &["did you mean 'double-close'?"]);
    pollmatrix(&["worker", "cell", "deletion/disown/tcp-level-1t1g@pol", "--seed", "1"])
        .expect(2, &["did you mean 'deletion/disown/tcp-level-1t1g@poll'?"]);
    pollmatrix(&["run", "--seed", "lucky"]).expect(2, &["'lucky' is not a seed"]);
}

#[test]
fn the_self_tests_are_not_in_the_built_in_matrix() {
    pollmatrix(&["worker", "cell", &id("pass"), "--seed", "1"]).expect(2, &["there is no cell"]);
}

#[test]
fn run_cell_prints_one_json_line_and_exits_with_the_code_of_its_status() {
    let sandbox = Sandbox::new(&["pass", "fail", "unsupported", "broken"], 20);
    for (selftest, code) in [("pass", 0), ("fail", 1), ("unsupported", 127), ("broken", 3)] {
        let printed = sandbox.run(&["worker", "cell", &id(selftest), "--seed", "7"]);
        printed.expect(code, &[]);
        assert_eq!(printed.stdout.lines().count(), 1, "{}", printed.stdout);
        let line: serde_json::Value = printed.json();
        assert_eq!((&line["status"], &line["seed"]), (&selftest.into(), &"0x7".into()));
    }
}

#[test]
fn list_has_one_line_or_object_per_cell_and_marks_unsupported_ones() {
    let text = pollmatrix(&["list", "--filter", "idle-takeover"]);
    text.expect(0, &["migration/idle-takeover/tcp-level-2t1g@poll\n"]);
    let json = pollmatrix(&["list", "--filter", "idle-takeover", "--format", "json"]);
    let cells: Vec<serde_json::Value> = json.json();
    assert_eq!(cells.len(), text.stdout.lines().count());
    let foreign = if cfg!(target_os = "linux") { "kqueue" } else { "epoll" };
    let why = format!("@{foreign}  unsupported: {foreign} does not exist on {}", std::env::consts::OS);
    text.expect(0, &[&why]);
}

#[test]
fn a_selection_combines_prefixes_backends_and_filters() {
    let listed =
        pollmatrix(&["list", "migration/idle", "deletion/own", "--backend", "poll", "--filter", "*/tcp-*"]);
    listed.expect(
        0,
        &["migration/idle-takeover/tcp-level-2t1g@poll", "deletion/own-handler/tcp-level-1t1g@poll"],
    );
    assert!(
        listed.stdout.lines().all(|line| line.contains("/tcp-") && line.ends_with("@poll")),
        "{}",
        listed.stdout
    );
    pollmatrix(&["list", "migration", "--filter", "own-handler"])
        .expect(2, &["no cell matches migration --filter"]);
}

#[test]
fn faults_are_listed_with_their_origin() {
    pollmatrix(&["faults", "--list"]).expect(0, &["double-close", "HAProxy 64920538f", "closed twice"]);
    let json = pollmatrix(&["faults", "--list", "--format", "json"]);
    let faults: Vec<serde_json::Value> = json.json();
    assert!(faults.iter().all(|fault| fault["name"].is_string() && fault["origin"].is_string()));
}

#[test]
fn the_generated_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    pollmatrix(&["generate", "--check", "--root", &root.display().to_string()]).expect(0, &[]);
}

/// Creates a folder that `generate` accepts as the top of a source tree.
fn source_tree() -> Sandbox {
    let sandbox = Sandbox::new(&["pass"], 20);
    fs::create_dir_all(sandbox.path("crates/matrix/report")).expect("writable");
    sandbox.put("expectations/answers/linux.yml", ANSWERS);
    sandbox.put("expectations/divergences.yml", "divergences: []\n");
    sandbox.put("docs/peers.md", PEERS);
    sandbox
}

const PEERS: &str =
    "# Peers\n<!-- totals: `pollmatrix generate` writes them -->\n<!-- end of totals -->\nprose\n";

const ANSWERS: &str = "os: linux\nsource: s\nsources:\n  s: { evidence: K, text: t }\nbehaviours:\n  V26:\n    'pipe:x':\n      poll@level: 'HUP'\n";

#[test]
fn the_site_shows_the_expectations_that_are_given() {
    let sandbox = source_tree();
    sandbox.run(&["site"]).expect(0, &[]);
    let poller = sandbox.path("site/pollers/libuv.html");
    assert!(poller.exists(), "the built-in expectations have its answers");
    sandbox.run(&["site", "--expectations", "expectations"]).expect(0, &[]);
    assert!(!poller.exists());
    let answer = "hang-up <small><code>HUP</code></small> <sup><a href=\"#source-K1\">K1</a></sup>";
    assert!(sandbox.text("site/behaviours/V26.html").contains(answer));
}

#[test]
fn generate_writes_every_file_that_check_reports() {
    let sandbox = source_tree();
    let generate = |arguments: &[&str]| sandbox.run(&[&["generate"], arguments].concat());
    generate(&["--check"]).expect(1, &["stale: Cross.toml", "`pollmatrix generate` writes them"]);
    assert!(!sandbox.path("ci").exists(), "--check writes nothing");
    generate(&[]).expect(0, &["wrote: Cross.toml"]);
    generate(&["--check"]).expect(0, &[]);
    for name in [".github/workflows/conformance.yml", "Cross.toml", "ci/targets.tsv"] {
        let written = sandbox.text(name);
        sandbox.put(name, format!("{written}# edited\n"));
        let checked = generate(&["--check"]);
        checked.expect(1, &["`pollmatrix generate` writes them"]);
        assert_eq!(checked.stdout, format!("stale: {name}\n"));
        sandbox.put(name, written);
    }
    fs::remove_file(sandbox.path("Cross.toml")).expect("the file was written");
    generate(&["--check"]).expect(1, &["stale: Cross.toml"]);
}

#[test]
fn generate_writes_the_table_of_a_page_and_keeps_its_prose() {
    let sandbox = source_tree();
    let generate = |arguments: &[&str]| sandbox.run(&[&["generate"], arguments].concat());
    generate(&[]).expect(0, &["wrote: docs/peers.md"]);
    let page = sandbox.text("docs/peers.md");
    assert!(page.starts_with("# Peers\n") && page.ends_with("<!-- end of totals -->\nprose\n"), "{page}");
    assert!(page.contains("\n| LTP | 91 | ") && page.contains("\n| **all** | "), "{page}");
    sandbox.put("docs/peers.md", page.replace("| LTP | 91 |", "| LTP | 92 |"));
    generate(&["--check"]).expect(1, &["stale: docs/peers.md"]);
    sandbox.put("docs/peers.md", page.replace("prose", "other prose"));
    generate(&["--check"]).expect(0, &[]);
    sandbox.put("docs/peers.md", page.replace("end of totals", "end"));
    generate(&[]).expect(2, &["docs/peers.md cannot be used: it lacks the comments", "restore the comments"]);
}

#[test]
fn an_edit_of_the_matrix_makes_the_generated_files_stale() {
    let sandbox = source_tree();
    let generate = |arguments: &[&str]| sandbox.run(&[&["generate"], arguments].concat());
    generate(&[]).expect(0, &["wrote: .github/workflows/conformance.yml"]);
    sandbox.edit("matrix.yml", "runners: [native]", "runners: [native], ci: { runs-on: macos-15 }");
    let checked = generate(&["--check"]);
    checked.expect(1, &[]);
    assert_eq!(checked.stdout, "stale: .github/workflows/conformance.yml\nstale: .github/actionlint.yaml\n");
    generate(&[]).expect(0, &[]);
    let workflow = sandbox.text(".github/workflows/conformance.yml");
    assert!(workflow.contains("\"label\": \"macos-15\""), "{workflow}");
}

#[test]
fn generate_outside_a_source_tree_is_an_error() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.run(&["generate"]).expect(2, &["cannot find the root of the source tree", "--root DIR"]);
}

#[test]
fn the_history_is_listed_with_the_scenarios_or_the_reason_for_none() {
    pollmatrix(&["list", "--history"]).expect(
        0,
        &[
            "bug 66",
            "-> migration/late-report-of-old-owner",
            "suspect 20",
            "no scenario: there are no port ranges",
        ],
    );
    let json = pollmatrix(&["list", "--history", "--format", "json"]);
    let entries: serde_json::Value = json.json();
    assert_eq!(
        entries.as_array().map(Vec::len),
        Some(92 + 20 + 26),
        "bugs, suspects, and those of this core"
    );
    assert!(entries[65]["names"].as_array().is_some_and(|names| !names.is_empty()), "{}", entries[65]);
    pollmatrix(&["list", "--history", "migration"]).expect(2, &["--history"]);
}
