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
    passed.expect(0, &["no step failed", "target-x86_64-unknown-illumos-check"]);
    let lines = passed.stdout.lines().filter(|line| line.ends_with(" s  passed")).count();
    assert!(lines > 30, "{lines} steps in:\n{}", passed.stdout);
    tree.run(&[], &[("BAD", "[lint.sh docs]")])
        .expect(1, &["FAILED (exit 1)", "error: lint.sh docs is bad", "\nFAILED: docs\n"]);
}

#[test]
fn a_step_that_did_not_run_fails_ci_unless_it_may_be_absent() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    let absent = ("ABSENT", "[release.sh deny] [release.sh msrv-toolchain] [ways.sh ssh]");
    // This repository's CI has one compiler only, so the step msrv-toolchain may be absent by default.
    let run = tree.run(&[], &[absent]);
    run.expect(
        1,
        &[
            "not run: release.sh deny is not here",
            "\nNOT RUN: deny way-ssh (install what is missing, or name them in CI_MAY_BE_ABSENT)\n",
        ],
    );
    assert!(!run.stdout.contains("no step failed"), "{}", run.stdout);
    tree.run(&["msrv-toolchain"], &[absent]).expect(0, &["no step failed"]);
    tree.run(&[], &[absent, ("CI_MAY_BE_ABSENT", "msrv-toolchain deny way-*")])
        .expect(0, &["no step failed"]);
    tree.run(&[], &[absent, ("CI_MAY_BE_ABSENT", "")])
        .expect(1, &["\nNOT RUN: msrv-toolchain deny way-ssh ("]);
    // A step whose tests did not all run fails CI, too.
    let unrun = ("UNRUN", "[lint.sh docs]");
    tree.run(&[], &[unrun]).expect(1, &["passed without 2 tests: sed is not installed", "\nNOT RUN: docs ("]);
    tree.run(&[], &[unrun, ("CI_MAY_BE_ABSENT", "docs")]).expect(0, &["passed without 2 tests"]);
    // A step that may be absent may not fail.
    tree.run(&["deny"], &[("BAD", "[release.sh deny]"), ("CI_MAY_BE_ABSENT", "deny")])
        .expect(1, &["\nFAILED: deny\n"]);
}

#[test]
fn unknown_steps_are_refused_before_any_step_runs() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    for (steps, may_be_absent, wrong) in [
        (&["docs", "tset"][..], "", "error: no step's name starts with: tset\n"),
        (&[], "deny mrsv-*", "error: CI_MAY_BE_ABSENT: no step is called mrsv-*\n"),
    ] {
        let run = tree.run(steps, &[("CI_MAY_BE_ABSENT", may_be_absent)]);
        run.expect(2, &[wrong, "help: the steps are setup test "]);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn ci_without_time_left_lists_the_steps_that_did_not_begin() {
    if lacks("bash") {
        return;
    }
    let tree = Tree::new();
    let limit = ("CI_WHOLE_LIMIT", "0");
    tree.run(&["fmt", "docs"], &[("CI", "yes"), limit])
        .expect(1, &["FAILED (no time left: CI_WHOLE_LIMIT is 0 s)", "\nFAILED: fmt docs\n"]);
    tree.run(&["fmt", "docs"], &[limit]).expect(0, &["no step failed"]);
}

#[test]
fn every_recipe_passes_its_arguments_on_as_words() {
    let recipes = fs::read_to_string(Path::new(TOP).join("../../../justfile")).expect("the tree has it");
    let pasted: Vec<_> =
        recipes.lines().filter(|line| line.starts_with(' ') && line.contains("{{")).collect();
    assert!(pasted.is_empty(), "interpolation loses quotes, pass \"$@\" instead: {pasted:?}");
    let takes = recipes.lines().filter(|line| line.contains(" *") && line.ends_with(':')).count();
    let passes = recipes.lines().filter(|line| line.ends_with(" \"$@\"")).count();
    assert_eq!(passes, takes, "each recipe that takes arguments passes them on");
    assert!(recipes.contains("\nset positional-arguments\n"), "without it there is no \"$@\"");
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
    let tree = Tree::new().with_scripts(&["ways.sh", "executable.sh", "targets.sh", "setup.sh"]);
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
        .arg(tree.path("ci/ways.sh"))
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
