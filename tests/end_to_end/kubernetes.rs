//! `plan --format k8s-job`: the printed manifest, and the command of its Job.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer, id};

const SCHEMA: &str = include_str!("kubernetes.schema.json");
const CELLS: [&str; 4] = ["pass", "fail", "unsupported", "broken"];

/// The printed documents for `kubectl apply`.
struct Manifest(Vec<Value>);

impl Manifest {
    fn of(printed: &Answer) -> Self {
        printed.expect(0, &[]);
        let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
        let schema = jsonschema::validator_for(&schema).expect("a schema");
        let documents: Vec<Value> = printed
            .stdout
            .split("\n---\n")
            .map(|document| serde_saphyr::from_str(document).expect("each document is YAML"))
            .collect();
        for document in &documents {
            let wrong: Vec<_> = schema.iter_errors(document).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{wrong:?}:\n{document:#}");
        }
        Self(documents)
    }

    fn plan(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        Self::of(&sandbox.run(&[&["plan", "--format", "k8s-job"], arguments].concat()))
    }

    fn kinds(&self) -> Vec<&str> {
        self.0.iter().map(|document| document["kind"].as_str().expect("a kind is text")).collect()
    }

    fn find(&self, kind: &str) -> Option<&Value> {
        self.0.iter().find(|document| document["kind"] == kind)
    }

    fn job(&self) -> &Value {
        self.find("Job").expect("there is a Job")
    }

    fn name(&self) -> String {
        self.job()["metadata"]["name"].as_str().expect("a name is text").to_owned()
    }

    fn container(&self) -> &Value {
        &self.job()["spec"]["template"]["spec"]["containers"][0]
    }

    fn volume(&self, name: &str) -> &Value {
        let volumes = self.job()["spec"]["template"]["spec"]["volumes"].as_array().expect("a list");
        volumes.iter().find(|volume| volume["name"] == name).expect("the volume is mounted")
    }

    /// Returns the command as Kubernetes starts it.
    fn command(&self) -> Vec<String> {
        let words = self.container()["command"].as_array().expect("a list");
        words.iter().map(|word| as_started(word.as_str().expect("a word"))).collect()
    }

    /// Writes the files of the ConfigMap to the paths of its mount.
    fn mount_config(&self, folder: &Path) {
        let Some(config) = self.find("ConfigMap") else { return };
        let volume = &self.volume("config")["configMap"];
        assert_eq!(volume["name"], config["metadata"]["name"]);
        for item in volume["items"].as_array().expect("a list") {
            let path = folder.join(item["path"].as_str().expect("a path"));
            fs::create_dir_all(path.parent().expect("the path is in the folder")).expect("writable");
            let text = config["data"][item["key"].as_str().expect("a key")].as_str();
            fs::write(path, text.expect("each item has its data")).expect("writable");
        }
    }
}

/// Applies Kubernetes' expansion of a command: it replaces `$(NAME)`, and two dollar signs by one.
fn as_started(word: &str) -> String {
    assert!(!word.replace("$$", "").contains('$'), "Kubernetes would expand {word:?}");
    word.replace("$$", "$")
}

/// The volume of a cluster and the folders of its pods, in the sandbox.
struct Cluster<'a>(&'a Sandbox);

impl Cluster<'_> {
    fn path(&self, name: &str) -> PathBuf {
        let path = self.0.path("cluster").join(name);
        fs::create_dir_all(&path).expect("writable");
        path
    }

    /// Runs the command of a Job, with this pollmatrix in its PATH and local folders in place of the mounts.
    fn pod(&self, manifest: &Manifest, uid: &str, index: usize) -> Answer {
        let (results, config, bin) = (self.path("results"), self.path(uid), self.path("bin"));
        manifest.mount_config(&config);
        let _ = symlink(POLLMATRIX, bin.join("pollmatrix"));
        let mounted = |word: String| {
            word.replace("/results/", &format!("{}/", results.display()))
                .replace("/config/", &format!("{}/", config.display()))
        };
        let words: Vec<_> = manifest.command().into_iter().map(mounted).collect();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("there is a PATH"));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&results).env("PATH", path).env("JOB_UID", uid);
        answer(command.env("JOB_COMPLETION_INDEX", index.to_string()))
    }

    fn results(&self, job: &str, uid: &str, shard: &str) -> Value {
        let file = self.path("results").join(job).join(uid).join(shard).join("results.json");
        serde_json::from_str(&fs::read_to_string(file).expect("there is a report")).expect("JSON")
    }
}

#[test]
fn the_manifest_has_everything_that_the_job_needs() {
    let sandbox = Sandbox::new(&CELLS, 20);
    fs::create_dir_all(sandbox.path("expected/answers")).expect("writable");
    fs::write(sandbox.path("expected/divergences.yml"), "divergences: []\n...\n").expect("writable");
    let image = "registry.example/pollmatrix:1";
    let arguments = ["--shards", "3", "--image", image, "--expectations", "expected"];
    let manifest = Manifest::plan(&sandbox, &arguments);
    assert_eq!(manifest.kinds(), ["PersistentVolumeClaim", "ConfigMap", "Job"]);
    let spec = &manifest.job()["spec"];
    assert_eq!((&spec["completions"], &spec["parallelism"]), (&3.into(), &3.into()));
    let container = manifest.container();
    assert_eq!(container["image"], image);
    assert_eq!(container["name"], spec["podFailurePolicy"]["rules"][1]["onExitCodes"]["containerName"]);

    // The claim is mounted, and several nodes can write to it.
    let claim = manifest.find("PersistentVolumeClaim").expect("there is a claim");
    let mounted = &manifest.volume("results")["persistentVolumeClaim"]["claimName"];
    assert_eq!(
        (mounted, &claim["spec"]["accessModes"][0]),
        (&claim["metadata"]["name"], &"ReadWriteMany".into())
    );
    let one = Manifest::plan(&sandbox, &["--shards", "1"]);
    let own = one.find("PersistentVolumeClaim").expect("there is a claim");
    assert_eq!(own["spec"]["accessModes"][0], "ReadWriteOnce");
    // Kubernetes cannot change the modes of a claim, so the claims have different names.
    assert_ne!(own["metadata"]["name"], claim["metadata"]["name"]);
    let given = Manifest::plan(&sandbox, &["--shards", "1", "--claim", "mine"]);
    assert_eq!(given.kinds(), ["ConfigMap", "Job"]);
    assert_eq!(given.volume("results")["persistentVolumeClaim"]["claimName"], "mine");

    // The files are byte for byte those of the command line. The built-in matrix needs no files.
    let data = &manifest.find("ConfigMap").expect("there is a ConfigMap")["data"];
    let text = |name: &str| Value::from(fs::read_to_string(sandbox.path(name)).expect("the file exists"));
    assert_eq!(data["matrix.yml"], text("matrix.yml"));
    assert_eq!(data["expectations__divergences.yml"], text("expected/divergences.yml"));
    let built_in = Manifest::of(&answer(
        Command::new(POLLMATRIX).args(["plan", "--shards", "2", "--format", "k8s-job"]),
    ));
    assert_eq!(built_in.kinds(), ["PersistentVolumeClaim", "Job"]);
}

#[test]
fn the_name_of_a_job_is_unique_to_its_cells_and_files() {
    let sandbox = Sandbox::new(&CELLS, 20);
    let name = |arguments: &[&str]| Manifest::plan(&sandbox, arguments).name();
    let long = "*".repeat(50);
    let all = [
        name(&["--shards", "2"]),
        name(&["--shards", "1"]),
        name(&["--shards", "2", "--filter", "*s*"]),
        name(&["--shards", "2", "--filter", &long]),
        name(&["--shards", "2", "selftest/pass", "selftest/fail"]),
        name(&["--shards", "2", "--image", "other"]),
        name(&["--shards", "2", "--subject", "mio"]),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[..index].contains(one), "{all:?}");
    }
    assert!(all[0].starts_with("pollmatrix-everything-"), "{all:?}");
    assert!(all[4].starts_with("pollmatrix-selftest-pass-selftest-f-"), "{all:?}");
    assert_eq!(name(&["--shards", "2"]), all[0]);
    let other = Sandbox::new(&["pass", "fail"], 20);
    assert_ne!(Manifest::plan(&other, &["--shards", "2"]).name(), all[0]);
}

#[test]
fn the_command_of_a_job_runs_its_shard_with_the_files_of_the_manifest() {
    let sandbox = Sandbox::new(&CELLS, 20);
    fs::create_dir_all(sandbox.path("expected/answers")).expect("writable");
    let text = format!(
        "divergences:\n  - cells: selftest/fail/*@poll\n    os: {}\n    check: the answer\n    observed: ['41']\n    \
         kind: permitted\n    expect: always\n    source: a book\n    evidence: D\n...\n",
        std::env::consts::OS
    );
    fs::write(sandbox.path("expected/divergences.yml"), text).expect("writable");
    let expectations = sandbox.path("expected").display().to_string();
    let manifest = Manifest::plan(&sandbox, &["--shards", "2", "--expectations", &expectations]);
    let cluster = Cluster(&sandbox);
    let name = manifest.name();
    let mut totals = Vec::new();
    for (index, shard) in ["shard-1-of-2", "shard-2-of-2"].into_iter().enumerate() {
        let pod = cluster.pod(&manifest, "uid-1", index);
        let says = format!("pollmatrix: shard {} of 2; the results go to ", index + 1);
        assert!(
            matches!(pod.code, Some(0 | 1)) && pod.stdout.contains(&says),
            "{}\n{}",
            pod.stdout,
            pod.stderr
        );
        let results = cluster.results(&name, "uid-1", shard);
        totals.extend(
            results["cells"].as_array().expect("a list").iter().map(|cell| cell["status"].to_string()),
        );
    }
    totals.sort();
    // Without the expectations, one cell would have failed.
    assert_eq!(totals, ["\"broken\"", "\"pass\"", "\"permitted\"", "\"unsupported\""]);
    // The merge as in docs/elsewhere.md.
    let folder = cluster.path("results").join(&name).join("uid-1");
    let shards = ["shard-1-of-2", "shard-2-of-2"].map(|shard| folder.join(shard).display().to_string());
    sandbox
        .run(&["merge", &shards[0], &shards[1], "--report-dir", "merged"])
        .expect(1, &["4 cells: 1 pass, 1 permitted, 1 unsupported, 1 broken"]);
}

#[test]
fn a_second_job_on_the_same_volume_runs_its_own_cells() {
    let sandbox = Sandbox::new(&["pass", "unsupported"], 20);
    let cluster = Cluster(&sandbox);
    let all = Manifest::plan(&sandbox, &["--shards", "1"]);
    let some = Manifest::plan(&sandbox, &["--shards", "1", "selftest/pass"]);
    let first = cluster.pod(&all, "uid-1", 0);
    first.expect(0, &["2 cells: 1 pass, 1 unsupported", "[2/2] "]);
    // First another selection, then the same selection in another Job.
    cluster.pod(&some, "uid-2", 0).expect(0, &["1 cells: 1 pass", "[1/1] pass"]);
    let again = cluster.pod(&all, "uid-3", 0);
    again.expect(0, &["2 cells: 1 pass, 1 unsupported", "[2/2] "]);
    // A pod of the same Job continues the run of the previous pod, with a note.
    let evicted = cluster.pod(&all, "uid-1", 0);
    evicted.expect(0, &["2 cells: 1 pass, 1 unsupported", "note: 2 of 2 cells already have a result"]);
    assert!(!evicted.stderr.contains("/2] "), "{}", evicted.stderr);
    let ids: Vec<_> = [(&all, "uid-1"), (&some, "uid-2"), (&all, "uid-3")]
        .map(|(manifest, uid)| {
            cluster.results(&manifest.name(), uid, "shard-1-of-1")["cells"][0]["id"].clone()
        })
        .into_iter()
        .collect();
    assert_eq!(ids, [id("pass"), id("pass"), id("pass")]);
}

#[test]
fn every_word_of_a_selection_is_passed_on_unchanged() {
    let sandbox = Sandbox::new(&CELLS, 20);
    let arguments = [
        "--shards",
        "1",
        "--filter",
        "*$(HOME)*",
        "--filter",
        "a 'b' \"c\"",
        "--filter",
        "pass",
        "--layer",
        "contract",
    ];
    let manifest = Manifest::plan(
        &sandbox,
        &[&arguments[..], &["--subject", "/opt/my adapter", "--backend", "poll"]].concat(),
    );
    // This pollmatrix prints its arguments.
    let bin = sandbox.path("bin");
    fs::create_dir(&bin).expect("writable");
    fs::write(bin.join("pollmatrix"), "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").expect("writable");
    fs::set_permissions(bin.join("pollmatrix"), fs::Permissions::from_mode(0o755)).expect("ours");
    let words = manifest.command();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("there is a PATH"));
    let mut command = Command::new(&words[0]);
    let printed = answer(
        command.args(&words[1..]).env("PATH", path).env("JOB_COMPLETION_INDEX", "0").env("JOB_UID", "u"),
    );
    let folder = format!("/results/{}/u/shard-1-of-1", manifest.name());
    let expected = [
        &["run", "--shard", "1/1", "--resume", "--report-dir", &folder, "--matrix", "/config/matrix.yml"][..],
        &[
            "--subject",
            "/opt/my adapter",
            "--backend",
            "poll",
            "--filter",
            "*$(HOME)*",
            "--filter",
            "a 'b' \"c\"",
        ],
        &["--filter", "pass", "--layer", "contract"],
    ];
    assert_eq!(printed.stdout.lines().skip(1).collect::<Vec<_>>(), expected.concat(), "{}", printed.stderr);
}

#[test]
fn options_that_do_not_work_in_a_pod_are_refused_with_help() {
    let sandbox = Sandbox::new(&CELLS, 20);
    let plan =
        |arguments: &[&str]| sandbox.run(&[&["plan", "--format", "k8s-job", "--shards"], arguments].concat());
    plan(&["1", "--subject", "./my-adapter epoll"]).expect(
        2,
        &[
            "a Kubernetes Job cannot run this: --subject ./my-adapter epoll is a file of this machine",
            "into the image",
        ],
    );
    plan(&["5"]).expect(2, &["4 cells cannot be split over 5 machines"]);
    plan(&["1", "--filter", "nothing"]).expect(2, &["no cell matches"]);
    plan(&["1", "selftest/pas@"]).expect(2, &["no cell's id begins with"]);
    plan(&["1", "selftest/pas@", "--subject", "mio"]).expect(2, &["no cell's id begins with"]);
    plan(&["1", "--claim", "My_Claim"]).expect(2, &["'My_Claim' for '--claim <NAME>'", "lower-case"]);
    sandbox.add_targets(
        "  - { id: bsd, triple: x86_64-unknown-freebsd, os: freebsd, arch: x86_64, ways: [ssh] }\n",
    );
    plan(&["1", "--target", "bsd"]).expect(2, &["bsd has freebsd", "help: omit --target"]);
    let text = fs::read_to_string(sandbox.path("matrix.yml")).expect("there is one");
    fs::write(sandbox.path("matrix.yml"), text + &"# much\n".repeat(150_000)).expect("writable");
    plan(&["1"]).expect(2, &["--matrix and --expectations have 1050", "build them into the image"]);
}

/// An image with this pollmatrix, a shell and their libraries. Removed when dropped.
#[cfg(target_os = "linux")]
struct Image {
    engine: String,
    name: String,
}

#[cfg(target_os = "linux")]
impl Image {
    fn make(sandbox: &Sandbox) -> Self {
        let root = sandbox.path("image");
        let put = |from: &str, to: &str| {
            let to = root.join(to.trim_start_matches('/'));
            fs::create_dir_all(to.parent().expect("the path is in the folder")).expect("writable");
            fs::copy(from, to).expect("the file can be copied");
        };
        for (program, place) in [(POLLMATRIX, "/usr/local/bin/pollmatrix"), ("/bin/sh", "/bin/sh")] {
            put(program, place);
            let needs = answer(Command::new("ldd").arg(program)).stdout;
            for library in needs.split_whitespace().filter(|word| word.starts_with('/')) {
                put(library, library);
            }
        }
        let engine = std::env::var("CONTAINER").unwrap_or_else(|_| "docker".into());
        let name = format!("pollmatrix-test-{}", std::process::id());
        let tar = sandbox.path("image.tar").display().to_string();
        answer(Command::new("tar").arg("-cf").arg(&tar).arg("-C").arg(&root).arg(".")).expect(0, &[]);
        answer(Command::new(&engine).args(["import", &tar, &name])).expect(0, &[]);
        Self { engine, name }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Image {
    fn drop(&mut self) {
        let _ = answer(Command::new(&self.engine).args(["rmi", "--force", &self.name]));
    }
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs a container engine: `ci/ways.sh container` runs it"]
fn the_command_of_a_job_runs_in_a_container_without_privileges() {
    let sandbox = Sandbox::new(&CELLS, 20);
    fs::create_dir(sandbox.path("expected")).expect("writable");
    fs::write(sandbox.path("expected/divergences.yml"), "divergences: []\n...\n").expect("writable");
    let image = Image::make(&sandbox);
    let manifest =
        Manifest::plan(&sandbox, &["--shards", "2", "--image", &image.name, "--expectations", "expected"]);
    let cluster = Cluster(&sandbox);
    let (results, config) = (cluster.path("results"), cluster.path("config"));
    manifest.mount_config(&config);
    // fsGroup has this effect: the user can write to a volume of another owner.
    fs::set_permissions(&results, fs::Permissions::from_mode(0o777)).expect("ours");
    let pod = &manifest.job()["spec"]["template"]["spec"]["securityContext"];
    let container = manifest.container();
    let limits = &container["resources"]["limits"];
    let user = format!("{}:{}", pod["runAsUser"], pod["runAsGroup"]);
    let cpus = limits["cpu"].as_str().expect("text");
    let memory = limits["memory"].as_str().expect("text").trim_end_matches('i').to_owned();
    for index in 0..2 {
        let mut command = Command::new(&image.engine);
        command.args([
            "run",
            "--rm",
            "--network",
            "none",
            "--user",
            &user,
            "--cpus",
            cpus,
            "--memory",
            &memory,
        ]);
        command.args([
            "--cap-drop",
            "ALL",
            "--security-opt",
            "no-new-privileges",
            "--read-only",
            "--tmpfs",
            "/tmp",
        ]);
        command.args(["--volume", &format!("{}:/results", results.display())]);
        command.args(["--volume", &format!("{}:/config:ro", config.display())]);
        command.args(["--workdir", container["workingDir"].as_str().expect("text")]);
        command.args(["--env", "JOB_UID=uid", "--env", &format!("JOB_COMPLETION_INDEX={index}")]);
        let ran = answer(command.arg(&image.name).args(manifest.command()));
        assert!(matches!(ran.code, Some(0 | 1)), "{}\n{}", ran.stdout, ran.stderr);
    }
    let folder = results.join(manifest.name()).join("uid");
    let shards = ["shard-1-of-2", "shard-2-of-2"].map(|shard| folder.join(shard).display().to_string());
    let merged = sandbox.run(&["merge", &shards[0], &shards[1], "--report-dir", "merged"]);
    merged.expect(1, &["4 cells: 1 pass, 1 fail, 1 unsupported, 1 broken"]);
}
