//! `ci/release.sh` in a tree whose builds end immediately: the files of a release have the names under which
//! cargo-binstall and the action fetch them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use adapters::testing::lacks;
use serde_json::Value;
use tempfile::TempDir;

use crate::sandbox::{Answer, answer};

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// In place of the executable. Writes a file for each thing that it is asked to write, and its first word.
const EXECUTABLE: &str = r#"#!/bin/sh
case $1 in
  worker) mkdir -p "$3/completions" "$3/man/man1"; echo >"$3/completions/pollmatrix.bash"; echo >"$3/man/man1/pollmatrix.1" ;;
  site) mkdir "$3"; echo >"$3/index.html" ;;
  expectations) mkdir "$4"; echo >"$4/linux-6.18.json" ;;
  *) echo "$0 $*" ;;
esac
"#;
/// In place of `ci/targets.sh`. One target cannot be built.
const BUILD: &str = r#"#!/bin/sh
case $2 in
  s390x-*) echo "no linker for it" >"$CI_REASON_FILE"; exit 77 ;;
esac
mkdir -p "target/cross/$2/release"
cp executable "target/cross/$2/release/pollmatrix"
"#;
const CARGO: &str = "#!/bin/sh\nmkdir -p target/debug\ncp executable target/debug/pollmatrix\n";
/// In place of the Python that runs `ci/sbom.py write TARGET EXECUTABLE EPOCH SBOM LICENCES`.
const PYTHON: &str = "#!/bin/sh\n[ \"$2\" != write ] || { echo \"$3\" >\"$6\"; echo >\"$7\"; }\n";
/// In place of curl: takes the last word's file out of the folder `release`, and notes the address.
const CURL: &str = "#!/bin/sh\nfor word; do [ \"$before\" != --output ] || to=$word; before=$word; done\n\
    echo \"$word\" >>\"$ASKED\"\ncp \"$RELEASE/${word##*/}\" \"$to\"\n";

/// A tree with the script of the releases.
struct Tree(TempDir);

impl Tree {
    /// Creates it. `None` without what the script needs.
    fn new() -> Option<Self> {
        if lacks("bash") || lacks("python3") {
            return None;
        }
        let tree = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        let files =
            ["ci/release.sh", "ci/lib.sh", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];
        for folder in ["ci", "bin", "target/ci-tools/venv/bin"] {
            fs::create_dir_all(tree.path(folder)).expect("writable");
        }
        for file in files {
            fs::copy(Path::new(TOP).join(file), tree.path(file)).expect("the tree has it");
        }
        tree.changelog("## [Unreleased]\n\n- Nothing.\n");
        tree.script("executable", EXECUTABLE);
        tree.script("ci/targets.sh", BUILD);
        tree.script("bin/cargo", CARGO);
        tree.script("target/ci-tools/venv/bin/python", PYTHON);
        tree.script("bin/git", "#!/bin/sh\necho 1700000000\n");
        tree.script("bin/readelf", "#!/bin/sh\n");
        Some(tree)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("writable");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("ours");
    }

    fn changelog(&self, text: &str) {
        fs::write(self.path("CHANGELOG.md"), text).expect("writable");
    }

    fn command(&self, program: &str) -> Command {
        let path = std::env::var("PATH").expect("there is a PATH");
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).env("PATH", format!("{}:{path}", self.path("bin").display()));
        // Those of the step that runs this test.
        for name in ["CARGO_TARGET_DIR", "POLLMATRIX_PROFILE", "CI_REASON_FILE"] {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C.UTF-8");
        command
    }

    fn release(&self, words: &[&str]) -> Answer {
        answer(self.command("bash").arg("ci/release.sh").args(words))
    }

    /// Returns the names in the list of sums of a folder.
    fn names(&self, folder: &str) -> Vec<String> {
        let sums = fs::read_to_string(self.path(folder).join("SHA256SUMS")).expect("it was written");
        sums.lines().map(|line| line.split_once("  ").expect("a sum and a name").1.to_owned()).collect()
    }
}

/// Returns a value of `[package.metadata.binstall]`, with its variables replaced for a target.
fn binstall(key: &str, target: &str) -> String {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("readable");
    let table = manifest.split("[package.metadata.binstall]\n").nth(1).expect("the manifest has the table");
    let line = table.lines().find_map(|line| line.strip_prefix(&format!("{key} = \""))).expect("the key");
    let variables = [
        ("repo", env!("CARGO_PKG_REPOSITORY")),
        ("name", "pollmatrix"),
        ("bin", "pollmatrix"),
        ("version", VERSION),
        ("target", target),
        ("binary-ext", ""),
    ];
    let filled = variables.iter().fold(line.trim_end_matches('"').to_owned(), |text, (name, value)| {
        text.replace(&format!("{{ {name} }}"), value)
    });
    assert!(!filled.contains('{'), "{filled}");
    filled
}

/// The targets of a release are targets of the matrix: without that, the executable refuses to run.
#[test]
fn a_release_has_an_archive_for_each_target_where_binstall_looks_for_it() {
    let Some(tree) = Tree::new() else { return };
    let made = tree.release(&["artefacts", "out"]);
    made.expect(77, &["not run: not built: s390x-unknown-linux-musl: no linker for it\n"]);
    let names = tree.names("out");
    let targets: Vec<_> = names.iter().filter_map(|name| name.strip_suffix(".cdx.json")).collect();
    assert_eq!(targets.len(), 6, "{names:?}");
    assert_eq!(
        names.len(),
        6 + 6 + 2,
        "archives, their bills of materials, the oracles and the site: {names:?}"
    );
    let matrix = fs::read_to_string(Path::new(TOP).join("ci/targets.tsv")).expect("readable");
    for target in targets {
        let target =
            target.strip_prefix(&format!("pollmatrix-{VERSION}-")).expect("the version is in the name");
        assert!(matrix.contains(&format!("\t{target}\tzig\t")), "{target} is no target of matrix.yml");
        let url = binstall("pkg-url", target);
        let (folder, archive) = url.rsplit_once('/').expect("an address");
        assert_eq!(folder, format!("https://github.com/pollmatrix/pollmatrix/releases/download/v{VERSION}"));
        assert!(names.contains(&archive.to_owned()), "{archive}: {names:?}");
        let list = answer(tree.command("tar").arg("-tf").arg(tree.path("out").join(archive)));
        let bin = binstall("bin-dir", target);
        assert!(list.stdout.lines().any(|file| file == bin), "{bin}: {}", list.stdout);
        let top = bin.split_once('/').expect("a folder").0;
        for file in [
            "completions/pollmatrix.bash",
            "man/man1/pollmatrix.1",
            "LICENSE-MIT",
            "LICENSE-APACHE",
            "THIRD-PARTY.txt",
        ] {
            assert!(list.stdout.contains(&format!("{top}/{file}\n")), "{file}: {}", list.stdout);
        }
    }
    let check = answer(tree.command("sha256sum").current_dir(tree.path("out")).args(["-c", "SHA256SUMS"]));
    check.expect(0, &[]);
}

#[test]
fn two_runs_give_the_same_bytes_and_refuse_what_lies_there() {
    let Some(tree) = Tree::new() else { return };
    let target = "x86_64-unknown-linux-musl";
    tree.release(&["artefacts", "first", target]).expect(0, &[]);
    // Another time, another mask of permissions.
    fs::remove_dir_all(tree.path("target/debug")).expect("ours");
    let script = format!("sleep 1.1; umask 077; bash ci/release.sh artefacts second {target}");
    answer(tree.command("bash").args(["-c", &script])).expect(0, &[]);
    let sums = |folder| fs::read_to_string(tree.path(folder).join("SHA256SUMS")).expect("it was written");
    assert_eq!(sums("first"), sums("second"));
    tree.release(&["artefacts", "first", target]).expect(2, &["error: first is not empty", "help: "]);
    tree.script("bin/readelf", "#!/bin/sh\necho '  INTERP  0x0'\n");
    let dynamic = tree.release(&["artefacts", "fourth", target]);
    dynamic.expect(1, &["error: the executable of x86_64-unknown-linux-musl is not static"]);
    let unknown = tree.release(&["artefacts", "third", "x86_64-pc-windows-gnu"]);
    unknown.expect(2, &["error: a release has no target 'x86_64-pc-windows-gnu'", target]);
    assert!(!tree.path("third").exists());
}

#[test]
fn the_action_installs_the_executable_of_its_version_and_no_other() {
    let Some(tree) = Tree::new() else { return };
    tree.release(&["artefacts", "out", "x86_64-unknown-linux-musl", "aarch64-apple-darwin"]).expect(0, &[]);
    let action = fs::read_to_string(Path::new(TOP).join("action.yml")).expect("the action is there");
    let action: Value = serde_saphyr::from_str(&action).expect("the action is YAML");
    let steps = action["runs"]["steps"].as_array().expect("it has steps");
    let install = steps.iter().find(|step| step["env"]["REF"] == "${{ github.action_ref }}");
    let script = install.and_then(|step| step["run"].as_str()).expect("a step installs by the version");
    tree.script("bin/curl", CURL);
    tree.script("bin/cargo", "#!/bin/sh\necho \"built: $*\"\n");
    // This machine may have a pollmatrix.
    let script = script.replace("command -v pollmatrix", "test -e already");
    let install = |machine: &str, reference: &str| {
        let _ = fs::remove_file(tree.path("asked"));
        tree.script("bin/uname", &format!("#!/bin/sh\necho '{machine}'\n"));
        fs::create_dir_all(tree.path("temporary")).expect("writable");
        let mut command = tree.command("bash");
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &script]);
        command.env("REF", reference).env("GITHUB_ACTION_PATH", tree.0.path());
        command.env("RUNNER_TEMP", tree.path("temporary")).env("HOME", tree.path("home"));
        command.env("ASKED", tree.path("asked")).env("RELEASE", tree.path("out"));
        answer(&mut command)
    };
    let tag = format!("v{VERSION}");
    for (machine, target) in
        [("Linux x86_64", "x86_64-unknown-linux-musl"), ("Darwin arm64", "aarch64-apple-darwin")]
    {
        install(machine, &tag).expect(0, &[&format!("{target}.tar.gz: OK")]);
        let asked = fs::read_to_string(tree.path("asked")).expect("curl was called");
        assert_eq!(asked.lines().next(), Some(&*binstall("pkg-url", target)));
        let installed = fs::read_to_string(tree.path("home/.cargo/bin/pollmatrix")).expect("installed");
        assert_eq!(installed, EXECUTABLE);
        fs::remove_dir_all(tree.path("home")).expect("ours");
    }
    for (machine, reference) in [("Linux x86_64", "main"), ("Linux x86_64", ""), ("FreeBSD amd64", &*tag)] {
        install(machine, reference).expect(0, &["built: install --locked"]);
        assert!(!tree.path("asked").exists(), "{machine} {reference}");
    }
    // An archive that is not the one of the sums.
    let archive = format!("out/pollmatrix-{VERSION}-x86_64-unknown-linux-musl.tar.gz");
    fs::write(tree.path(&archive), "another").expect("writable");
    install("Linux x86_64", &tag).expect(1, &["FAILED"]);
    assert!(!tree.path("home/.cargo/bin/pollmatrix").exists());
}

#[test]
fn the_text_of_a_release_is_its_section_of_the_changelog() {
    let Some(tree) = Tree::new() else { return };
    let tag = format!("v{VERSION}");
    tree.release(&["notes", &tag])
        .expect(2, &[&format!("error: CHANGELOG.md has no section '## [{VERSION}]'"), "help: "]);
    tree.changelog(&format!(
        "# Changelog\n\n## [Unreleased]\n\nlater\n\n## [{VERSION}] - 2026-12-01\n\n- New.\n\n### Names\n\nold\n\n## [0.0.1]\n\nbefore\n"
    ));
    let notes = tree.release(&["notes", &tag]);
    notes.expect(0, &[]);
    assert_eq!(notes.stdout.trim_end(), "- New.\n\n### Names\n\nold");
    for wrong in ["v99.0.0", VERSION, "main"] {
        let refused = tree.release(&["notes", wrong]);
        refused.expect(
            2,
            &[&format!("error: the tag is '{wrong}', and the version in Cargo.toml is {VERSION}")],
        );
        assert_eq!(refused.stdout, "");
    }
    tree.changelog(&format!("## [{VERSION}]\n\n## [0.0.1]\n\nbefore\n"));
    tree.release(&["notes", &tag]).expect(2, &["has no section"]);
}

/// Returns the steps of a job.
fn steps(job: &Value) -> &[Value] {
    job["steps"].as_array().expect("a job has steps")
}

#[test]
fn the_workflow_calls_the_script_with_few_permissions_and_pinned_actions() {
    let Some(tree) = Tree::new() else { return };
    let text = fs::read_to_string(Path::new(TOP).join(".github/workflows/release.yml")).expect("readable");
    let workflow: Value = serde_saphyr::from_str(&text).expect("the workflow is YAML");
    assert_eq!(workflow["permissions"], serde_json::json!({}), "each job asks for its own");
    let jobs = workflow["jobs"].as_object().expect("it has jobs");
    for (name, job) in jobs {
        let permissions = job["permissions"].as_object().expect("a job names its permissions");
        let writes =
            permissions.iter().filter(|(_, level)| *level == "write").map(|(scope, _)| scope.as_str());
        let writes: Vec<_> = writes.collect();
        let allowed: &[&str] = match name.as_str() {
            "attest" => &["id-token", "attestations"],
            "image" => &["packages", "id-token", "attestations"],
            "draft" => &["contents"],
            "crates" => &["id-token"],
            _ => &[],
        };
        assert!(writes.iter().all(|scope| allowed.contains(scope)), "{name}: {writes:?}");
        for step in steps(job) {
            let Some(action) = step["uses"].as_str() else { continue };
            let commit = action.split_once('@').expect("an action has a version").1;
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{action}");
        }
        let run = steps(job).iter().filter_map(|step| step["run"].as_str()).collect::<String>();
        assert!(!run.contains("${{"), "{name}: an expression in a script would make a name a part of it");
        assert!(!run.contains("cargo ") && !run.contains("docker build"), "{name}: ci/release.sh does that");
    }
    let listed = tree.release(&["targets"]);
    let targets: Vec<_> = listed.stdout.lines().collect();
    assert_eq!(targets.len(), 7);
    let tried = jobs["try"]["strategy"]["matrix"]["include"].as_array().expect("it has machines");
    assert!(tried.len() >= 4);
    tried.iter().for_each(|one| assert!(targets.contains(&one["target"].as_str().expect("text")), "{one}"));
    let called = |job: &str, words: &str| {
        let runs = steps(&jobs[job]).iter().filter_map(|step| step["run"].as_str());
        assert!(runs.collect::<String>().contains(&format!("ci/release.sh {words}")), "{job}: {words}");
    };
    called("check", "notes \"$GITHUB_REF_NAME\"");
    called("build", "artefacts release \"$TARGET\"");
    called("image", "image");
    called("draft", "sums release");
    called("crates", "publish --execute");
}
