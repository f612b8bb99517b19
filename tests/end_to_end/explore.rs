//! `pollmatrix explore`: finds the shortest script to which two pollers answer differently.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::sandbox::{Answer, BAD, Sandbox, empty_expectations, eventually, interrupted, python, signal};

fn explore(folder: &Sandbox, arguments: &[&str]) -> Answer {
    folder.run(&[&["explore"], arguments].concat())
}

/// Explores, and returns the outcome as JSON.
fn json(folder: &Sandbox, arguments: &[&str]) -> Value {
    explore(folder, &[arguments, &["--format", "json"]].concat()).json()
}

fn folder() -> Sandbox {
    Sandbox::new(&[], 20)
}

/// Few lines, over pipes, whose answers do not depend on timing.
const SMALL: [&str; 8] = ["--left", "poll", "--right", "select", "--transport", "pipe", "--seed", "7"];

#[test]
fn two_backends_differ_as_the_catalogue_says() {
    let folder = folder();
    let arguments = [&SMALL[..], &["--lines", "100"]].concat();
    let found = json(&folder, &arguments);
    assert_eq!((found["lines"].as_u64(), &found["left"]["name"]), (Some(100), &"poll".into()));
    let closed = found["disagreements"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["script"] == "own and peer are connected, add own?, own closes, wait");
    let closed = closed.unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!((&closed["left"], &closed["right"]), (&"NVAL".into(), &"EBADF".into()));
    assert!(closed["catalogue"].as_array().unwrap().contains(&"A05 registration/closed".into()), "{closed}");
    let again = json(&folder, &[&arguments[..], &["--corpus", "other"]].concat());
    assert_eq!(again["disagreements"], found["disagreements"], "the same seed finds the same");
    // The corpus is a file per transport and mode, with a script per line.
    let text = folder.text("pollmatrix-corpus/poll-select/pipe-level.txt");
    let scripts: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(scripts.len() as u64, found["corpus"].as_u64().unwrap());
    let replayed = json(&folder, &[&SMALL[..], &["--lines", "0"]].concat());
    assert!(replayed["replayed"].as_u64().unwrap() >= scripts.len() as u64, "{replayed:#}");
}

#[test]
fn every_line_of_a_mode_and_a_transport_is_performed() {
    let folder = folder();
    let all = ["--every", "2", "--mode", "level"];
    let found = json(&folder, &[&SMALL[..6], &all].concat());
    assert_eq!(found["every"], 2);
    let lines = found["lines"].as_u64().unwrap();
    assert!((20..2000).contains(&lines), "{found:#}");
    explore(&folder, &[&SMALL[..6], &all].concat())
        .expect(0, &["every line of at most 2 clauses was performed"]);
    let corpus = fs::read_dir(folder.path("pollmatrix-corpus/poll-select")).unwrap();
    let names: Vec<_> = corpus.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| name == "pipe-level.txt" || name == "state.json"), "{names:?}");
    explore(&folder, &["--right", "poll", "--every", "2", "--resume"])
        .expect(2, &["--resume", "cannot be used with"]);
}

#[test]
fn the_reproducer_shows_the_disagreement() {
    let folder = folder();
    let found = json(&folder, &[&SMALL[..], &["--lines", "0"]].concat());
    let one = &found["disagreements"][0];
    let shown = folder.reproduce(one);
    for side in ["left", "right"] {
        shown.expect(0, &[one[side].as_str().unwrap()]);
    }
}

#[test]
fn a_bad_adapter_is_found_and_proposed_as_a_row() {
    let Some(bad) = python(BAD) else { return };
    let folder = folder();
    let bad = format!("{bad} keeps-removed poll");
    let arguments = ["--left", "poll", "--right", &bad, "--lines", "0", "--transport", "pipe", "--seed", "1"];
    let found = explore(&folder, &[&arguments[..], &["--propose", "--confirm", "2/2"]].concat());
    let scripts = [
        "own and peer are connected, remove own?\n   poll         ENOENT\n   python-poll  0\n",
        "own and peer are connected, add own?, peer sends 1?, remove own?, wait\n",
    ];
    found.expect(1, &scripts);
    found.expect(
        1,
        &["^ here they differ", "shown 2 of 2 times", "  ID:\n    'pipe:differs':", ", 3 unexplained"],
    );
    // The behaviours that it proposes can be run, on the bad adapter as well.
    let proposed =
        explore(&folder, &[&arguments[..], &["--propose=behaviours.yml", "--confirm", "2/2"]].concat());
    proposed.expect(1, &["pollmatrix run --behaviours behaviours.yml"]);
    let behaviours = folder.text("behaviours.yml");
    assert!(found.stdout.contains(&behaviours), "the same behaviours are printed: {behaviours}");
    let run = ["run", "--behaviours", "behaviours.yml", "--backend", "poll", "--backend", "python-poll"];
    folder
        .run_built_in(&[&run[..], &["--adapter", &bad]].concat())
        .expect(0, &["6 cells: 5 new, 1 unsupported", "explored/poll-python-poll-1"]);
}

#[test]
fn recorded_answers_are_compared_elsewhere() {
    let folder = folder();
    let lines = ["--lines", "64", "--transport", "pipe", "--seed", "1"];
    let record = [&["--left", "poll", "--record", "poll.json"], &lines[..]].concat();
    explore(&folder, &record).expect(0, &["poll on ", " are in poll.json"]);
    explore(&folder, &["--left", "poll", "--against", "poll.json"])
        .expect(0, &["poll (left) and poll (right)", "0 disagreements"]);
    // Both answer as the catalogue says, but the recorded side cannot be asked.
    explore(&folder, &["--left", "select", "--against", "poll.json", "--seed", "1"])
        .expect(1, &["own closes, wait", " 0 in the catalogue, "]);
    folder.put("wrong.json", "{}");
    explore(&folder, &["--against", "wrong.json"]).expect(2, &["wrong.json is not a recording"]);
}

#[test]
fn an_interrupted_exploration_keeps_its_corpus_and_continues() {
    let folder = folder();
    let arguments = [&["explore"], &SMALL[..6], &["--duration", "1h", "--seed", "5"]].concat();
    let child = folder.start(&arguments);
    let corpus = folder.path("pollmatrix-corpus/poll-select");
    eventually("the first round", || corpus.join("state.json").exists());
    interrupted(child).expect(130, &[]);
    assert!(fs::read_to_string(corpus.join("pipe-level.txt")).unwrap().lines().count() > 20);
    let state = || folder.json("pollmatrix-corpus/poll-select/state.json");
    let before = state();
    let resumed = json(&folder, &[&SMALL[..6], &["--resume", "--lines", "10"]].concat());
    assert_eq!(resumed["seed"], "0x5");
    assert_eq!(state()["rounds"].as_u64(), before["rounds"].as_u64().map(|rounds| rounds + 1));
}

#[test]
fn a_poller_that_hangs_does_not_extend_the_duration() {
    let Some(bad) = python(BAD) else { return };
    let folder = folder();
    let bad = format!("{bad} wait-hangs poll");
    // Without the limit, each of hundreds of lines that hang would have 20 seconds.
    let arguments =
        ["--left", "poll", "--right", &bad, "--duration", "4s", "--transport", "pipe", "--seed", "1"];
    let why = "no verdict: the first round was not finished: give the exploration more time";
    explore(&folder, &arguments).expect(1, &["0 lines performed", why]);
}

/// Zero disagreements of zero comparisons are no agreement.
#[test]
fn sides_that_cannot_be_compared_get_no_verdict() {
    let Some(bad) = python(BAD) else { return };
    let folder = folder();
    let acting = format!("{bad} none acting-poll");
    let arguments = ["--left", "poll", "--right", &acting, "--lines", "0", "--transport", "fifo"];
    let why = "no verdict: no line could be compared: of ";
    explore(&folder, &arguments).expect(1, &["0 disagreements: ", why]);
    let found = json(&folder, &arguments);
    assert_eq!((&found["compared"], found["no_verdict"].is_string()), (&0.into(), true), "{found:#}");
}

#[test]
fn an_accepted_disagreement_is_no_failure_and_one_that_is_gone_is_named() {
    let Some(bad) = python(BAD) else { return };
    let folder = folder();
    let bad = format!("{bad} keeps-removed poll");
    let right = |right: &str, more: &[&str]| {
        let sides = ["--left", "poll", "--right", right, "--transport", "pipe"];
        explore(&folder, &[&sides[..], &["--lines", "0", "--confirm", "1/1"], more].concat())
    };
    right(&bad, &["--propose=known.txt"]).expect(1, &["explore --known known.txt` accepts them"]);
    let known = folder.text("known.txt");
    let removed = "pipe level: own and peer are connected, remove own? => left: ENOENT; right: done";
    let why = "# poll answers 'ENOENT', and python-poll '0'. Why is that accepted?";
    assert!(known.contains(&format!("\n{why}\n{removed}\n")), "{known}");
    let all = right(&bad, &["--known", "known.txt", "--propose=new.txt"]);
    all.expect(0, &["Accepted before:\n\n  known.txt:", ", 3 accepted, 0 unexplained"]);
    assert!(!folder.path("new.txt").exists(), "there is no new one");
    // A new one fails, and one of an adapter without the mistake is gone.
    folder.put("one.txt", format!("# One\n{removed}\n"));
    right(&bad, &["--known", "one.txt"]).expect(1, &["  one.txt:2\n", ", 1 accepted, 2 unexplained"]);
    let good = bad.replace("keeps-removed", "none");
    let wrapped = removed.replace("left: ENOENT", "left:\n    ENOENT");
    let gone = format!("Accepted before, and not seen:\n\n  one.txt:2: {wrapped}\n");
    right(&good, &["--known", "one.txt"]).expect(0, &[&gone, ", 0 accepted, 0 unexplained"]);
    let left_out = format!("Accepted before, and not performed:\n\n  one.txt:2: {wrapped}\n");
    explore(
        &folder,
        &["--left", "poll", "--right", &good, "--transport", "unix", "--lines", "0", "--known", "one.txt"],
    )
    .expect(0, &[&left_out]);
    // The new ones alone would replace the known ones.
    let over = right(&bad, &["--known", "one.txt", "--propose=./one.txt"]);
    over.expect(2, &["./one.txt cannot be used", "write to another file"]);
    folder.put("bad.txt", "# One\n\npipe level: own is fersh => only left: IN\n");
    right(&good, &["--known", "bad.txt"])
        .expect(2, &["bad.txt:3: column 8: ", "help: correct or remove the line: docs/explore.md"]);
    right(&good, &["--known", "none.txt"]).expect(2, &["cannot read none.txt", "--propose=FILE.txt"]);
}

/// The file that `--propose` writes, and the exit code of the same command with `--known`, in a folder with
/// the corpus of an earlier exploration and of the one that proposed.
#[test]
fn what_was_proposed_is_accepted_by_the_same_command_and_a_gross_regression_is_not() {
    let Some(bad) = python(BAD) else { return };
    let folder = folder();
    let right = |mistake: &str, more: &[&str]| {
        let bad = format!("{bad} {mistake} poll");
        let sides = ["--left", "poll", "--right", &bad, "--transport", "pipe", "--confirm", "1/1"];
        explore(&folder, &[&sides[..], &["--lines", "96"], more].concat())
    };
    right("loses-modified-hang-ups", &["--seed", "2"]).expect(1, &[" unexplained"]);
    let seed = ["--seed", "1"];
    right("loses-modified-hang-ups", &[&seed[..], &["--propose=known.txt"]].concat())
        .expect(1, &["explore --known known.txt` accepts them"]);
    let modified = "own and peer are connected, add own?, peer closes, modify own?, wait";
    let known = folder.text("known.txt");
    assert!(known.contains(&format!("\npipe level: {modified} => only left: HUP\n")), "{known}");
    let known = ["--known", "known.txt", "--propose=new.txt"];
    for more in [&[][..], &["--corpus", "empty"]] {
        right("loses-modified-hang-ups", &[&seed[..], &known, more].concat())
            .expect(0, &[modified, ", 0 unexplained"]);
        assert!(!folder.path("new.txt").exists(), "there is no new one");
    }
    // Each hang-up is lost. The accepted line still shows the same words.
    let gross = right("loses-hang-ups", &[&seed[..], &known].concat());
    let (new, before) = gross.stdout.split_once("Accepted before:").expect("other ones are accepted");
    assert!(new.contains("own and peer are connected, add own?, peer closes, wait\n"), "{new}");
    assert!(new.contains("   a longer line of it was accepted: known.txt:"), "{new}");
    assert!(!before.contains(modified), "{before}");
    gross.expect(1, &[]);
}

/// Such a file can be a device that never ends. A sparse one takes no room on the disk.
#[test]
fn a_file_that_is_too_long_is_not_read_to_its_end() {
    let folder = folder();
    fs::create_dir(folder.path("c")).expect("writable");
    for (name, option) in [("long.txt", ["--known", "long.txt"]), ("c/pipe-level.txt", ["--corpus", "c"])] {
        let file = fs::File::create(folder.path(name)).expect("writable");
        file.set_len((64 << 20) + 1).expect("a sparse file can be made");
        let refused = format!("cannot read {name}: it is longer than 64 MiB\nhelp: ");
        explore(&folder, &[&SMALL[..], &["--lines", "0"], &option].concat()).expect(2, &[&refused]);
    }
}

/// The folder has the answers of one side. Those of the other one are built in.
#[test]
fn recorded_answers_in_a_folder_explain_a_disagreement() {
    let Some(bad) = python(BAD) else { return };
    let folder = folder();
    let bad = format!("{bad} keeps-removed poll");
    empty_expectations(&folder.path("expected"));
    let run = |arguments: &[&str]| folder.run_built_in(arguments);
    let expected = ["--expectations", "expected"];
    let asked = ["registration/absent", "registration/two-pollers", "registration/removed-then-closed"];
    run(&[&["run"], &asked[..], &["--adapter", &bad], &expected].concat())
        .expect(1, &["wrong in every reading", "answers not known before"]);
    run(&[&["expectations", "record", "pollmatrix-report"][..], &expected].concat()).expect(0, &["written"]);
    let sides =
        ["--left", "poll", "--right", &bad, "--transport", "pipe", "--lines", "0", "--confirm", "1/1"];
    explore(&folder, &sides).expect(1, &[", 3 unexplained"]);
    explore(&folder, &[&sides[..], &expected].concat())
        .expect(0, &["A03 registration/absent", "A11 registration/two-pollers", ", 0 unexplained"]);
}

/// After the exploration, the error would replace the disagreements.
#[test]
fn expectations_that_cannot_be_read_are_refused_before_the_exploration() {
    let folder = folder();
    folder.put("expected/divergences.yml", "divergences: [\n");
    let arguments = [&SMALL[..], &["--lines", "0", "--expectations", "expected"]].concat();
    explore(&folder, &arguments).expect(2, &["divergences.yml"]);
    assert!(!folder.path("pollmatrix-corpus").exists(), "it has explored");
}

#[test]
fn a_corpus_that_cannot_be_written_loses_no_disagreement() {
    let folder = folder();
    // A folder in place of the file that is written last. Permissions do not stop the superuser.
    fs::create_dir_all(folder.path("c/state.json")).expect("writable");
    let arguments = [&SMALL[..], &["--lines", "64", "--corpus", "c"]].concat();
    let found = explore(&folder, &arguments);
    found.expect(2, &["A05 registration/closed", " in the catalogue, ", "error: cannot write c/state.json"]);
    found.expect(2, &["help: choose another folder with --corpus DIR"]);
}

#[test]
fn two_explorations_do_not_use_one_corpus_at_a_time() {
    let folder = folder();
    let long = [&["explore"], &SMALL[..6], &["--duration", "1h"]].concat();
    let child = folder.start(&long);
    let corpus = folder.path("pollmatrix-corpus/poll-select");
    eventually("the first round", || corpus.join("state.json").exists());
    let second = [&SMALL[..6], &["--lines", "0"]].concat();
    let refused = "poll-select cannot be used: another exploration uses it\nhelp: wait until that one ends";
    explore(&folder, &second).expect(2, &[refused]);
    explore(&folder, &[&second[..], &["--corpus", "other"]].concat())
        .expect(0, &["begins with the lines in other"]);
    signal(&child, Signal::SIGKILL);
    child.wait_with_output().expect("it ends");
    // Its disagreements are those of the corpus.
    let free = explore(&folder, &second);
    assert!(matches!(free.code, Some(0 | 1)), "{}", free.stderr);
}

/// They agreed with everything.
#[test]
fn missing_answers_of_a_recording_are_counted() {
    let folder = folder();
    let record = ["--left", "poll", "--record", "poll.json", "--lines", "64", "--transport", "pipe"];
    explore(&folder, &record).expect(0, &[]);
    let mut recording = folder.json("poll.json");
    let lines = recording["lines"].as_array_mut().expect("a list");
    let all = lines.len();
    lines[0]["runs"] = Value::Array(Vec::new());
    lines[1]["runs"][0]["answers"] = Value::Array(Vec::new());
    let mut against = |lines: Option<usize>, expected: &str| {
        if let Some(lines) = lines {
            let all = recording["lines"].as_array_mut().unwrap().iter_mut().take(lines);
            all.for_each(|line| line["runs"] = Value::Array(Vec::new()));
        }
        folder.put("poll.json", recording.to_string());
        explore(&folder, &["--left", "poll", "--against", "poll.json"])
            .expect(1, &["0 disagreements", expected]);
    };
    against(None, &format!("no agreement: the recording lacks answers to 2 of {all} lines"));
    against(Some(all), "no verdict: no line could be compared");
}

#[test]
fn a_wrong_argument_has_a_suggestion() {
    let folder = folder();
    explore(&folder, &["--left", "pol", "--right", "select"]).expect(2, &["did you mean 'poll'?"]);
    explore(&folder, &["--left", "poll"]).expect(2, &["--right"]);
    explore(&folder, &["--right", "select", "--confirm", "5/4"]).expect(2, &["write K/N"]);
    explore(&folder, &["--left", "poll", "--right", "select", "--resume"])
        .expect(2, &["has no exploration of poll and select"]);
    folder.put("c/pipe-level.txt", "own is fersh\n");
    explore(&folder, &["--left", "poll", "--right", "select", "--corpus", "c"])
        .expect(2, &["pipe-level.txt:1: column"]);
    explore(&folder, &["--left", "poll", "--right", "mio", "--lines", "1"])
        .expect(127, &["no mode in common"]);
}

/// The reader's terminal: only a command that cannot be broken, a script or an adapter, is wider.
#[test]
fn no_line_is_wider_than_80_columns() {
    let Some(bad) = python(BAD) else { return };
    let folder = folder();
    let right = format!("{bad} keeps-removed poll");
    let arguments = ["--left", "select", "--right", &right, "--seed", "1", "--lines", "0"];
    let found = explore(&folder, &arguments);
    let is_command = |line: &str| {
        let line = line.trim_start();
        line.starts_with("pollmatrix probe ") || line.starts_with("--adapter ")
    };
    let wide: Vec<_> = found.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.iter().all(|line| is_command(line)), "{wide:#?}");
    found.expect(
        1,
        &["python-poll is built over poll: `--left poll` shows what python-poll itself", " \\\n     "],
    );
    // The command is the same in a shell, in one line or in several.
    let json = json(&folder, &[&arguments[..], &["--corpus", "other"]].concat());
    let of_text = found.stdout.replace(" \\\n    ", "");
    let mut all = json["disagreements"].as_array().unwrap().iter().filter(|one| !one["group"].is_null());
    let is_printed = |one: &Value| of_text.contains(one["reproducer"].as_str().unwrap());
    assert!(all.any(is_printed), "{json:#}\n{of_text}");
    let beside_its_own =
        explore(&folder, &["--left", "poll", "--right", &right, "--lines", "0", "--seed", "1"]);
    assert!(!beside_its_own.stdout.contains("is built over"), "{}", beside_its_own.stdout);
}
