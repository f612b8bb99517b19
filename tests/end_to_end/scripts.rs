//! The scripts in `ci` that CI jobs run, with a pollmatrix that records its arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use adapters::testing::lacks;
use tempfile::TempDir;

use crate::sandbox::{Answer, answer};

struct Scripts {
    dir: TempDir,
}

impl Scripts {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("the path is in the folder")).expect("writable");
        fs::write(path, text).expect("writable");
    }

    /// Writes a program without its executable bit, because artifacts lose their mode.
    fn program(&self, name: &str, text: &str) {
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o644)).expect("ours");
    }

    fn run(&self, shell: &str, script: &str, arguments: &[&str]) -> Answer {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ci").join(script);
        let mut command = Command::new(shell);
        command.arg(script).args(arguments).current_dir(self.dir.path());
        command
            .env("GITHUB_STEP_SUMMARY", self.path("summary.md"))
            .env("POLLMATRIX", self.path("pollmatrix"));
        command
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("EXECUTABLES")
            .env_remove("DRIVER")
            .env_remove("REPORT_DIR");
        answer(&mut command)
    }

    fn summary(&self) -> String {
        fs::read_to_string(self.path("summary.md")).unwrap_or_default()
    }
}

#[test]
fn a_native_job_runs_the_targets_executable_and_any_other_job_the_drivers() {
    let scripts = Scripts::new();
    for target in ["x86_64-linux-gnu", "s390x-linux-gnu"] {
        scripts
            .program(&format!("executables/pollmatrix-{target}"), &format!("echo {target} \"$@\"; exit 1"));
    }
    scripts
        .run("sh", "conformance.sh", &["s390x-linux-gnu", "native"])
        .expect(1, &["s390x-linux-gnu run --shard 1/1 --report-dir pollmatrix-report\n"]);
    scripts.run("sh", "conformance.sh", &["s390x-linux-gnu", "prefix", "2/3"]).expect(
        1,
        &["x86_64-linux-gnu run --target s390x-linux-gnu --runner prefix --executables executables --shard 2/3 --report-dir"],
    );
    assert_ne!(scripts.run("sh", "conformance.sh", &["s390x-linux-gnu"]).code, Some(0));
}

/// Creates a pollmatrix whose commands end with these exit codes. `kernels` is that of `diff --by-kernel`.
fn judge(merge: i32, diff: i32, kernels: i32) -> Scripts {
    let scripts = Scripts::new();
    scripts.write("results/a/results.json", "{}");
    scripts.write("results/b/c/results.json", "{}");
    scripts.program(
        "pollmatrix",
        &format!(
            "echo \"$@\" >>arguments\n\
             case $1 in\n\
             merge) for last; do :; done; mkdir -p \"$last\"; echo the report >\"$last/report.md\"; echo {{}} >\"$last/results.json\"; exit {merge} ;;\n\
             diff) case $* in *--by-kernel*) echo the kernels; exit {kernels} ;; esac; echo the difference; exit {diff} ;;\n\
             esac"
        )
        .replace("arguments", &scripts.path("arguments").display().to_string()),
    );
    scripts
}

fn report(scripts: &Scripts) -> Answer {
    let [results, merged, base] =
        ["results", "merged", "base"].map(|name| scripts.path(name).display().to_string());
    scripts.run("bash", "report.sh", &["merge", &results, &merged, &base])
}

#[test]
fn without_a_base_failures_count() {
    if lacks("bash") {
        return;
    }
    for (merge, code) in [(0, 0), (1, 1), (2, 2)] {
        let scripts = judge(merge, 0, 0);
        report(&scripts).expect(code, &[]);
        let arguments = fs::read_to_string(scripts.path("arguments")).expect("pollmatrix was started");
        assert!(
            arguments.contains("results/a/results.json") && arguments.contains("results/b/c/results.json"),
            "{arguments}"
        );
        assert!(!arguments.contains("diff"), "{arguments}");
        // If the merge is refused, there is no report.
        assert_eq!(scripts.summary(), if merge < 2 { "the report\n" } else { "" });
    }
}

#[test]
fn with_a_base_regressions_count_as_well() {
    if lacks("bash") {
        return;
    }
    for (merge, diff, code) in [(0, 0, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1), (0, 2, 2), (1, 2, 2)] {
        let scripts = judge(merge, diff, 0);
        scripts.write("base/results.json", "{}");
        report(&scripts).expect(code, &[]);
        assert_eq!(scripts.summary(), "the kernels\nthe difference\nthe report\n");
    }
}

/// The answers of another kernel are shown and do not count. Those of several kernels of one target cannot be
/// compared.
#[test]
fn with_a_base_the_answers_of_another_kernel_are_shown() {
    if lacks("bash") {
        return;
    }
    for (kernels, shown) in [(0, "the kernels\n"), (1, "the kernels\n"), (2, "")] {
        let scripts = judge(0, 0, kernels);
        scripts.write("base/results.json", "{}");
        report(&scripts).expect(0, &[]);
        assert_eq!(scripts.summary(), format!("{shown}the difference\nthe report\n"));
    }
}

#[test]
fn a_merge_without_results_fails() {
    if lacks("bash") {
        return;
    }
    let scripts = judge(0, 0, 0);
    fs::remove_dir_all(scripts.path("results")).expect("ours");
    fs::create_dir(scripts.path("results")).expect("ours");
    report(&scripts).expect(2, &["there is no results.json below"]);
}

#[test]
fn an_unknown_target_is_refused_with_the_list_of_targets() {
    if lacks("bash") {
        return;
    }
    let scripts = Scripts::new();
    scripts
        .run("bash", "executable.sh", &["z80-linux-gnu"])
        .expect(2, &["no target 'z80-linux-gnu'", "s390x-linux-gnu"]);
}
