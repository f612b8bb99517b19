//! Runs `.ci/run` in a tree whose checks end immediately.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use adapters::testing::lacks;
use tempfile::TempDir;

use crate::sandbox::{Answer, answer};

const TOP: &str = env!("CARGO_MANIFEST_DIR");
/// A script in place of cargo and of each check. Exits with 77 and a reason if ABSENT contains its command
/// line, with 1 if BAD does. Reports two tests as not run if UNRUN does.
const CHECK: &str = r#"#!/bin/sh
words="$(basename "$0") $*"
case "$BAD" in *"[$words]"*) echo "error: $words is bad"; exit 1 ;; esac
case "$UNRUN" in *"[$words]"*) echo "not run: test a::b: sed is not installed"; echo "not run: test c: sed is not installed" ;; esac
case "$ABSENT" in *"[$words]"*) echo "$words is not here" >"$CI_REASON_FILE"; exit 77 ;; esac
"#;

/// A tree with `.ci/run` and checks that pass.
struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        let tree = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        let top = Path::new(TOP).join("../../..");
        for folder in [".ci", "ci", "bin"] {
            fs::create_dir(tree.path(folder)).expect("writable");
        }
        for file in [".ci/run", "ci/lib.sh", "ci/targets.tsv"] {
            fs::copy(top.join(file), tree.path(file)).expect("the tree has it");
        }
        for entry in fs::read_dir(top.join("ci")).expect("the tree has it") {
            let name = entry.expect("readable").file_name().into_string().expect("a plain name");
            if name.ends_with(".sh") && name != "lib.sh" {
                tree.check(&format!("ci/{name}"));
            }
        }
        tree.check("bin/cargo");
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn check(&self, name: &str) {
        fs::write(self.path(name), CHECK).expect("writable");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("ours");
    }

    fn run(&self, steps: &[&str], environment: &[(&str, &str)]) -> Answer {
        let path =
            format!("{}:{}", self.path("bin").display(), std::env::var("PATH").expect("there is a PATH"));
        let mut command = Command::new("bash");
        command.arg(self.path(".ci/run")).args(steps).env("PATH", path).stdin(Stdio::null());
        for name in ["CI", "CI_MAY_BE_ABSENT", "CI_WHOLE_LIMIT", "CARGO_TARGET_DIR"] {
            command.env_remove(name);
        }
        answer(command.envs(environment.iter().copied()))
    }
}

#[test]
fn ci_passes_only_if_every_step_passes() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    let passed = tree.run(&[], &[]);
    passed.expect(0, &["no step failed", "check:x86_64-unknown-illumos"]);
    let lines = passed.stdout.lines().filter(|line| line.ends_with(" s  passed")).count();
    assert!(lines > 35, "{lines} steps and parts in:\n{}", passed.stdout);
    tree.run(&[], &[("BAD", "[lint.sh docs]")])
        .expect(1, &["FAILED (exit 1)", "error: lint.sh docs is bad", "\nFAILED: docs\n"]);
}

#[test]
fn a_part_that_fails_or_does_not_run_is_named_and_stops_no_other_part() {
    if lacks("bash") {
        return;
    }
    let run = Tree::new().run(
        &["release"],
        &[("BAD", "[release.sh msrv-dependencies]"), ("ABSENT", "[release.sh deny] [release.sh semver]")],
    );
    run.expect(
        1,
        &[
            "not run: release.sh deny is not here",
            "not run: release.sh semver is not here",
            "---- publish: passed",
            "\nNOT RUN: deny (install what is missing, or name them in CI_MAY_BE_ABSENT)\nFAILED: msrv-dependencies\n",
        ],
    );
}

#[test]
fn a_part_that_did_not_run_fails_ci_unless_it_may_be_absent() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    let absent = ("ABSENT", "[release.sh deny] [release.sh msrv-toolchain] [runners.sh ssh] [models.sh ]");
    // This repository's CI has one compiler only, so msrv-toolchain may be absent by default.
    let run = tree.run(&[], &[absent]);
    run.expect(1, &["not run: release.sh deny is not here", "\nNOT RUN: models deny ssh ("]);
    assert!(!run.stdout.contains("no step failed"), "{}", run.stdout);
    tree.run(&["msrv-toolchain"], &[absent]).expect(0, &["no step failed"]);
    tree.run(&[], &[absent, ("CI_MAY_BE_ABSENT", "msrv-* deny ssh models")]).expect(0, &["no step failed"]);
    tree.run(&[], &[absent, ("CI_MAY_BE_ABSENT", "")])
        .expect(1, &["\nNOT RUN: models msrv-toolchain deny ssh ("]);
    // A part whose tests did not all run fails CI, too.
    let unrun = ("UNRUN", "[lint.sh docs]");
    tree.run(&[], &[unrun]).expect(1, &["passed without 2 tests: sed is not installed", "\nNOT RUN: docs ("]);
    tree.run(&[], &[unrun, ("CI_MAY_BE_ABSENT", "docs")]).expect(0, &["passed without 2 tests"]);
    // A part that may be absent may not fail.
    tree.run(&["deny"], &[("BAD", "[release.sh deny]"), ("CI_MAY_BE_ABSENT", "deny")])
        .expect(1, &["\nFAILED: deny\n"]);
}

#[test]
fn a_step_that_runs_aside_counts() {
    if lacks("bash") {
        return;
    }
    let bad = ("BAD", "[targets.sh check x86_64-unknown-netbsd]");
    Tree::new().run(&[], &[bad]).expect(
        1,
        &["beside the others", "\n  check:x86_64-unknown-netbsd ", "\nFAILED: check:x86_64-unknown-netbsd\n"],
    );
}

#[test]
fn unknown_words_are_refused_before_any_step_runs() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    for (words, may_be_absent, wrong) in [
        (&["docs", "tset"][..], "", "error: no gate is called, and no step or part begins with: tset\n"),
        (&["cor"], "", "error: no gate is called, and no step or part begins with: cor\n"),
        (&[], "deny mrsv-*", "error: CI_MAY_BE_ABSENT: no step or part is called mrsv-*\n"),
    ] {
        let run = tree.run(words, &[("CI_MAY_BE_ABSENT", may_be_absent)]);
        run.expect(
            2,
            &[wrong, "help: the gates are core, matrix and lab; the steps and their parts: setup targets "],
        );
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn ci_without_time_left_lists_the_parts_that_did_not_begin() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    let limit = ("CI_WHOLE_LIMIT", "0");
    tree.run(&["fmt", "docs"], &[("CI", "yes"), limit])
        .expect(1, &["FAILED (no time left: CI_WHOLE_LIMIT is 0 s)", "\nFAILED: fmt docs\n"]);
    tree.run(&["fmt", "docs"], &[limit]).expect(0, &["no step failed"]);
}

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(TOP).join("../../..").join(name)).expect("the tree has it")
}

/// Returns the rows of the table in `.ci/run`: the gates, the step, the command and the parts.
fn steps() -> Vec<[String; 4]> {
    let script = read(".ci/run");
    let table = script.split("<<STEPS\n").nth(1).and_then(|rest| rest.split("STEPS\n").next());
    let row = |line: &str| {
        let mut fields = line.split('|').map(|field| field.trim().to_owned());
        [(); 4].map(|()| fields.next().unwrap_or_default())
    };
    table.expect("the table is between two words STEPS").lines().map(row).collect()
}

/// Each gate is short, runs alone, and has one recipe and one job, which run it and nothing else.
#[test]
fn the_gates_are_the_same_lists_for_everybody() {
    let (steps, recipes, workflow) = (steps(), read("justfile"), read(".github/workflows/ci.yml"));
    let gates = ["core", "matrix", "lab"];
    let of = |gate: &str| {
        let own = steps.iter().filter(|[gates, ..]| gates.split(' ').any(|name| name == gate));
        own.map(|[_, step, ..]| step.as_str()).collect::<Vec<_>>()
    };
    for gate in gates {
        let own = of(gate);
        assert!(own.len() <= 8, "{gate} has more than eight steps: {own:?}");
        assert_eq!(own.iter().find(|name| **name != "targets"), Some(&"setup"), "{gate} installs nothing");
        assert!(own.contains(&"lint") && own.contains(&"test"), "{own:?}");
        assert!(recipes.contains(&format!("\n{gate}:\n    bash .ci/run {gate}\n\n")), "no recipe {gate}");
        let folder = Path::new(TOP).join("../../../crates").join(gate);
        assert!(folder.is_dir(), "there is no folder {}", folder.display());
    }
    assert!(recipes.contains("\nci:\n    bash .ci/run\n"));
    assert!(workflow.contains(&format!("        gate: [{}]\n", gates.join(", "))), "{workflow}");
    assert!(
        workflow
            .contains("      - run: .ci/run \"$GATE\"\n        env:\n          GATE: ${{ matrix.gate }}\n")
    );
    let runs: Vec<_> = workflow.lines().filter_map(|line| line.split_once("run: ")).collect();
    let other = |(_, command): &&(&str, &str)| {
        !["|", ".ci/run \"$GATE\"", "cargo test --workspace --locked"].contains(command)
            && !command.starts_with("cargo install ")
    };
    assert_eq!(runs.iter().find(other), None, "GitHub runs what no gate does");
}

/// A name selects one thing, and CI_MAY_BE_ABSENT excuses one.
#[test]
fn steps_and_parts_have_names_of_their_own() {
    let mut names = vec!["core".to_owned(), "matrix".to_owned(), "lab".to_owned()];
    for [_, step, _, parts] in steps() {
        names.push(step);
        names.extend(parts.split_whitespace().map(str::to_owned));
    }
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
}

#[test]
fn a_gate_runs_its_steps_and_tests_the_crates_of_its_folder() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    for (name, package) in [("core/a", "a-package"), ("core/b", "b-package"), ("lab/c", "c-package")] {
        fs::create_dir_all(tree.path("crates").join(name)).expect("writable");
        let manifest = format!("[package]\nname = \"{package}\"\n[[test]]\nname = \"other\"\n");
        fs::write(tree.path("crates").join(name).join("Cargo.toml"), manifest).expect("writable");
    }
    let core = tree.run(&["core"], &[]);
    core.expect(0, &["==== test: cargo test -p a-package -p b-package\n", "---- models: passed"]);
    assert!(!core.stdout.contains("---- adapters:"), "{}", core.stdout);
    tree.run(&["lab"], &[]).expect(0, &["==== test: cargo test -p c-package\n", "---- adapters: passed"]);
    tree.run(&["test"], &[]).expect(0, &["==== test: cargo test --workspace\n", "---- test-tracing: passed"]);
    // The step's name goes before the parts of another step that begin with it.
    let lint = tree.run(&["lint"], &[]);
    lint.expect(0, &["---- fmt: passed"]);
    assert!(!lint.stdout.contains("lint:"), "{}", lint.stdout);
}

#[test]
fn every_recipe_passes_its_arguments_on_as_words() {
    let recipes = read("justfile");
    let pasted: Vec<_> =
        recipes.lines().filter(|line| line.starts_with(' ') && line.contains("{{")).collect();
    assert!(pasted.is_empty(), "interpolation loses quotes, pass \"$@\" instead: {pasted:?}");
    let takes = recipes.lines().filter(|line| line.contains(" *") && line.ends_with(':')).count();
    let passes = recipes.lines().filter(|line| line.ends_with(" \"$@\"")).count();
    assert_eq!(passes, takes, "each recipe that takes arguments passes them on");
    assert!(recipes.contains("\nset positional-arguments\n"), "without it there is no \"$@\"");
}

/// Each line runs as `just` runs it, in a shell of its own, with a cargo whose run had failures.
#[test]
fn a_first_run_names_the_file_to_send_back() {
    let recipes = read("justfile");
    let (_, recipe) = recipes.split_once("\nfirst-run SYSTEM:\n").expect("there is the recipe");
    let (recipe, _) = recipe.split_once("\n\n").expect("it has an end");
    let tree = Tree::new();
    let run = |line: &str, system: &str| {
        let stub = "cargo() { mkdir -p first-run; echo '{}' >first-run/results.json; return 1; }; \
                    uname() { echo Darwin; };";
        let line = format!("{stub} {}", line.trim().trim_start_matches('@'));
        answer(Command::new("sh").current_dir(tree.path("")).args(["-cu", &line, "first-run", system]))
    };
    let lines: Vec<_> = recipe.lines().map(|line| run(line, "macos")).collect();
    lines.iter().for_each(|line| line.expect(0, &[]));
    assert!(lines.last().is_some_and(|last| last.stdout.contains("first-run-macos.json.gz")));
    assert!(fs::metadata(tree.path("first-run-macos.json.gz")).is_ok_and(|file| file.len() > 0));
    let elsewhere = run(recipe.lines().next().expect("it has a line"), "linux");
    assert_eq!((elsewhere.code, elsewhere.stderr.contains("this is no linux")), (Some(2), true));
}

/// The subjects of the tree's own history are checked by CI: here, that the check finds each mistake.
#[test]
fn a_commit_subject_that_is_long_or_no_imperative_is_found() {
    if lacks("bash") || lacks("git") {
        return;
    }
    let tree = Tree::new().with_scripts(&["lint.sh"]);
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(tree.path("")).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        answer(command.args(arguments)).expect(0, &[]);
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "Start: as it was before the check."]);
    git(&["tag", "start"]);
    let check = |since: &str| {
        let mut command = Command::new("bash");
        command
            .arg(tree.path("ci/lint.sh"))
            .arg("commits")
            .env("COMMITS_SINCE", since)
            .env_remove("CI_REASON_FILE");
        answer(&mut command)
    };
    for (subject, why) in [
        ("Add what everybody needs", ""),
        ("Embed the process", ""),
        (&*format!("Add {}", "x".repeat(68)), ""),
        (&*format!("Add {}", "x".repeat(69)), "it has 73 characters, not at most 72"),
        ("Added a check", "begin with an imperative"),
        ("Fixes the check", "begin with an imperative"),
        ("Fixing the check", "begin with an imperative"),
        ("fix the check", "begin with a capitalised verb"),
        ("Ci: fix the check", "begin with a capitalised verb"),
        ("Fix the check.", "begin with a capitalised verb"),
    ] {
        git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        let checked = check("HEAD~1");
        if why.is_empty() {
            checked.expect(0, &["1 commit subjects since"]);
        } else {
            checked.expect(1, &[]);
            assert!(checked.stderr.contains(why) && checked.stderr.contains(subject), "{}", checked.stderr);
        }
    }
    check("start").expect(1, &["10 commit subjects since start"]);
    check("0123456789ab").expect(77, &["not run: the history has no commit 0123456789ab"]);
}

impl Tree {
    /// Replaces the checks of these names by the real scripts.
    fn with_scripts(self, names: &[&str]) -> Self {
        for name in names {
            fs::copy(Path::new(TOP).join("../../../ci").join(name), self.path("ci").join(name))
                .expect("the tree has it");
        }
        self
    }

    fn program(&self, name: &str, text: &str) {
        self.check(name);
        fs::write(self.path(name), format!("#!/bin/sh\n{text}\n")).expect("writable");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }
}

#[test]
fn a_target_without_a_standard_library_is_reported_and_installs_nothing() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new().with_scripts(&["runners.sh", "executable.sh", "targets.sh", "setup.sh"]);
    // A toolchain with this machine's library only, and a package manager that records its arguments.
    let rustc = r#"case "$*" in
  -vV) echo 'host: here' ;;
  *sysroot*) echo "$TREE/sysroot" ;;
  *target-libdir*) echo "$TREE/lib/${4:-here}" ;;
esac"#;
    tree.program("bin/rustc", rustc);
    tree.program("bin/apt-get", "echo \"$@\" >>\"$TREE/installed\"");
    tree.program("bin/sudo", "shift; exec \"$@\"");
    fs::create_dir_all(tree.path("target/release")).expect("writable");
    tree.program("target/release/pollmatrix", "printf '%s\\n' \"$@\"");
    fs::create_dir_all(tree.path("lib/s390x-unknown-linux-gnu/std")).expect("writable");
    let path = format!("{}:{}", tree.path("bin").display(), std::env::var("PATH").expect("there is a PATH"));
    let mut command = Command::new("bash");
    command
        .arg(tree.path("ci/runners.sh"))
        .args(["all", "--filter", "a b"])
        .env("PATH", path)
        .stdin(Stdio::null());
    command
        .env("TREE", tree.path(""))
        .env("POLLMATRIX_CROSS_ENV", "/nowhere")
        .env("CONTAINER", "no-such-engine");
    let ran = answer(command.env_remove("CARGO_TARGET_DIR").env_remove("CI_REASON_FILE"));
    let why =
        "aarch64-linux-gnu=not built (no standard library for aarch64-unknown-linux-gnu (rustup target add";
    ran.expect(
        0,
        &["--not-run", why, "x86_64-linux-musl=not built (no standard library for", "--filter\na b\n"],
    );
    assert!(!ran.stdout.contains("s390x-linux-gnu=not built (no standard library"), "{}", ran.stdout);
    // A linker and an emulator are installed only for a target that can be built.
    let installed = tree.read("installed");
    assert!(!installed.contains("aarch64") && !installed.contains("arm"), "{installed}");
}
