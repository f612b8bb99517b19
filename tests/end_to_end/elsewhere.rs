//! Cells that run on other machines: behind a prefix, over ssh, imported. Scripts take the place of the
//! machines.

use std::fs;

use adapters::testing::lacks;
use nix::sys::signal::Signal;

use crate::sandbox::{POLLMATRIX, Sandbox, eventually, id, signal};

/// Self-tests whose results do not depend on the machine.
const CELLS: [&str; 6] = ["pass", "fail", "unsupported", "broken", "panic", "flaky"];
const TOTALS: &str = "6 cells: 2 pass, 1 fail, 1 unsupported, 1 broken, 1 crash";

impl Sandbox {
    /// Returns the lines of a file that a script writes.
    fn lines(&self, name: &str) -> Vec<String> {
        fs::read_to_string(self.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Returns the id, status and reason of every cell, which do not differ from run to run.
    fn statuses(&self) -> Vec<(String, String, Option<String>)> {
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        self.cells()
            .iter()
            .map(|cell| (text(&cell["id"]).unwrap(), text(&cell["status"]).unwrap(), text(&cell["reason"])))
            .collect()
    }
}

#[test]
fn the_prefix_precedes_the_executor_and_every_cell() {
    let sandbox = Sandbox::new(&CELLS, 300);
    sandbox.run(&["run", "--seed", "2"]).expect(1, &[TOTALS]);
    let native = sandbox.statuses();
    let prefix = sandbox.script("prefix", "shift 0; printf '%s\\n' \"$3\" >>\"${0%/*}/log\"; exec \"$@\"");
    sandbox.run(&["run", "--seed", "2", "--prefix", &prefix]).expect(1, &[TOTALS]);
    assert_eq!(sandbox.statuses(), native);
    let log = sandbox.lines("log");
    assert_eq!(log.iter().filter(|word| *word == "exec").count(), 1, "{log:?}");
    assert_eq!(log.iter().filter(|word| *word == "cell").count(), CELLS.len(), "{log:?}");
    let again = sandbox.cell("fail")["reproducer"].as_str().expect("the value is text").to_owned();
    assert!(again.contains("--prefix") && again.ends_with("--seed 0x2"), "{again}");
}

#[test]
fn behind_a_prefix_that_leads_to_another_machine_cells_start_without_the_prefix() {
    let sandbox = Sandbox::new(&CELLS, 300);
    // The prefix does not exist on the other machine.
    let prefix = sandbox.script("prefix", "[ -z \"$THERE\" ] || exit 1; THERE=1 exec \"$@\"");
    sandbox.run(&["run", "--seed", "2", "--prefix", &prefix]).expect(1, &[TOTALS]);
}

/// gVisor says that it is Linux 4.4.0. The script in its place does not hide the kernel of this machine.
#[test]
fn results_of_gvisor_are_never_those_of_a_linux() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let text =
        "case $1 in --version) echo 'runsc version release-20240729.0';; do) shift; exec \"$@\";; esac";
    let runsc = sandbox.script("runsc", text);
    sandbox.run(&["run", "--prefix", &format!("{runsc} do")]).expect(0, &["1 pass"]);
    let results = sandbox.text("pollmatrix-report/results.json");
    let results: serde_json::Value = serde_json::from_str(&results).expect("it is JSON");
    assert_eq!(
        (&results["runs"][0]["os"], &results["runs"][0]["kernel"]),
        (&"gvisor".into(), &"20240729.0".into())
    );
    // An executor that did not recognise it.
    sandbox.edit("pollmatrix-report/results.json", "\"os\": \"gvisor\"", "\"os\": \"linux\"");
    sandbox.edit("pollmatrix-report/results.json", "\"kernel\": \"20240729.0\"", "\"kernel\": \"4.4.0\"");
    sandbox
        .run(&["expectations", "record", "pollmatrix-report", "--emulated", "--root", "."])
        .expect(2, &["nothing is kept about gvisor 4.4.0"]);
}

#[test]
fn a_lost_connection_is_not_a_lost_result() {
    let sandbox = Sandbox::new(&CELLS, 300);
    // Each connection ends after the first line and one result. The log counts the cells.
    let text = "case $3 in exec) \"$@\" | head -n 2;; cell) echo \"$4\" >>\"${0%/*}/log\"; exec \"$@\";; *) exec \"$@\";; esac";
    let prefix = sandbox.script("prefix", text);
    let answer = sandbox.run(&["run", "--seed", "2", "--jobs", "1", "--prefix", &prefix]);
    answer.expect(
        1,
        &[
            TOTALS,
            "the executor ended",
            "restarting for the remaining 5 cells",
            "restarting for the remaining 1 cells",
        ],
    );
    let journal = sandbox.journal();
    assert_eq!(journal.iter().filter(|line| line.starts_with("{\"line\":\"cell\"")).count(), CELLS.len());
}

#[test]
fn cells_of_a_machine_that_does_not_answer_have_the_reason() {
    let sandbox = Sandbox::new(&["pass", "fail"], 300);
    let prefix = sandbox.script("prefix", "echo 'no route to host' >&2; exit 255");
    let answer = sandbox.run(&["run", "--prefix", &prefix]);
    answer.expect(1, &["2 cells: 2 not-run", "the executor ended (exit status: 255): no route to host"]);
    assert_eq!(sandbox.cell("pass")["status"], "not-run");
    // In the next run the machine answers.
    sandbox.script("prefix", "exec \"$@\"");
    let answer = sandbox.run(&["run", "--prefix", &prefix]);
    answer.expect(1, &["2 cells: 1 pass, 1 fail"]);
}

#[test]
fn results_of_an_executor_with_another_matrix_or_other_options_are_refused() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let other = sandbox.path("other.yml");
    let text = sandbox.text("matrix.yml") + "# another hash\n";
    fs::write(&other, text).expect("the sandbox is writable");
    let swap = |from: &str, to: &str| {
        let text = format!(
            "[ \"$3\" = exec ] || exec \"$@\"\nfor word do shift; [ \"$word\" = '{from}' ] && word='{to}'; set -- \"$@\" \"$word\"; done\nexec \"$@\""
        );
        sandbox.script("prefix", &text)
    };
    let matrix = sandbox.path("matrix.yml").display().to_string();
    let prefix = swap(&matrix, &other.display().to_string());
    sandbox
        .run(&["run", "--prefix", &prefix])
        .expect(1, &["1 cells: 1 not-run", "the executor has another matrix"]);
    let prefix = swap("0x7", "0x8");
    sandbox
        .run(&["run", "--seed", "7", "--prefix", &prefix])
        .expect(1, &["1 not-run", "the executor was started with other options"]);
    sandbox.add_targets("  - { id: other, triple: a-b-c, os: linux, arch: vax, runners: [native] }\n");
    sandbox
        .run(&["run", "--target", "other", "--executable", POLLMATRIX, "--prefix", "env"])
        .expect(1, &["1 not-run", "the executor is built for", "not for a-b-c"]);
}

#[test]
fn a_prefix_that_passes_no_standard_input_on_gets_the_cells_as_arguments() {
    let sandbox = Sandbox::new(&CELLS, 300);
    let log = "[ \"$3\" = exec ] && echo \"$@\" >>\"${0%/*}/log\"";
    let prefix = sandbox.script("prefix", &format!("{log}\nexec \"$@\" </dev/null"));
    sandbox
        .run(&["run", "--seed", "2", "--prefix", &prefix])
        .expect(1, &[TOTALS, "the executor ended (exit status: 2)", "restarting for the remaining 6 cells"]);
    let log = sandbox.lines("log");
    assert!(log.len() == 2 && log[1].contains(&format!("exec {}", id("pass"))), "{log:?}");
    // The standard input of a cell is its lifeline. This prefix closes it, so the cell starts without the
    // prefix.
    sandbox.run(&["run", "selftest/pass", "--prefix", &prefix]).expect(0, &["1 cells: 1 pass"]);
}

#[test]
fn behind_a_prefix_to_another_machine_the_executable_may_have_another_path() {
    let sandbox = Sandbox::new(&CELLS, 300);
    // The prefix copies the executable to another path.
    let text = "[ -z \"$THERE\" ] || exit 1\ncd \"${0%/*}\"; mkdir -p there; cp \"$1\" there/copy; shift\n\
         for word do shift; case $word in */pollmatrix) word=/no/such/file;; esac; set -- \"$@\" \"$word\"; done\n\
         THERE=1 exec there/copy \"$@\"";
    let prefix = sandbox.script("prefix", text);
    sandbox.run(&["run", "--seed", "2", "--prefix", &prefix]).expect(1, &[TOTALS]);
}

#[test]
fn foreign_output_of_a_prefix_is_shown_and_ignored() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let prefix = sandbox.script("prefix", "[ \"$3\" = cell ] || echo 'Welcome to this machine'; exec \"$@\"");
    let answer = sandbox.run(&["run", "--prefix", &prefix]);
    answer.expect(0, &["1 cells: 1 pass", "not from the executor: Welcome to this machine"]);
}

#[test]
fn the_executor_and_its_cells_end_with_a_killed_driver() {
    if lacks("ps") {
        return;
    }
    let sandbox = Sandbox::new(&["pass", "hang"], 300);
    let prefix = sandbox.script("prefix", "exec \"$@\"");
    let mut child = sandbox.start(&["run", "--jobs", "1", "--prefix", &prefix]);
    eventually("a result and a cell that hangs", || {
        sandbox.journal().len() == 3 && sandbox.cells_alive() >= 1
    });
    child.kill().expect("the driver is alive");
    child.wait().expect("the driver is reaped");
    eventually("the cell is gone", || sandbox.cells_alive() == 0);
    // The first result was kept. The other cell runs again, and is interrupted again.
    let mut child = sandbox.start(&["run", "--resume", "--jobs", "1", "--prefix", &prefix]);
    eventually("the run is resumed", || sandbox.journal().len() == 5 && sandbox.cells_alive() >= 1);
    signal(&child, Signal::SIGINT);
    assert_eq!(child.wait().expect("the driver ends").code(), Some(130));
    assert_eq!(sandbox.cell("pass")["status"], "pass");
    assert_eq!(sandbox.cells_alive(), 0);
    sandbox
        .run(&["run", "--resume"])
        .expect(2, &["a different one", "it was started with --target here --runner prefix"]);
}

#[test]
fn over_ssh_the_executable_is_copied_once_and_results_come_back() {
    let sandbox = Sandbox::new(&CELLS, 300);
    // A login shell with another home that prints a greeting.
    let text = "printf '%s\\n' \"$3\" >>\"${0%/*}/log\"; cd \"${0%/*}\"; mkdir -p home; export HOME=$PWD/home; unset XDG_CACHE_HOME; echo hello; exec sh -c \"$3\"";
    let ssh = format!("{} -q", sandbox.script("ssh", text));
    let run = ["run", "--seed", "2", "--host", "user@there", "--ssh", &ssh];
    sandbox.run(&run).expect(1, &[TOTALS, "copying "]);
    let there: Vec<_> = fs::read_dir(sandbox.path("home/.cache/pollmatrix"))
        .expect("the folder was made")
        .map(|entry| {
            entry.expect("the file can be read").file_name().into_string().expect("the value is text")
        })
        .collect();
    assert_eq!(there.len(), 2, "only the executable and the matrix are left: {there:?}");
    let copies = || sandbox.lines("log").iter().filter(|line| line.contains("cat >")).count();
    assert_eq!(copies(), 2);
    sandbox.run(&run).expect(1, &[TOTALS]);
    assert_eq!(copies(), 3, "the matrix is copied again, the executable is not");
}

/// macOS itself refuses to start a file with an invalid signature.
#[cfg(not(target_os = "macos"))]
#[test]
fn over_ssh_a_modified_copy_is_refused() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let text =
        "cd \"${0%/*}\"; mkdir -p home; export HOME=$PWD/home; unset XDG_CACHE_HOME; exec sh -c \"$2\"";
    let ssh = sandbox.script("ssh", text);
    let run = ["run", "--host", "there", "--ssh", &ssh];
    sandbox.run(&run).expect(0, &["1 pass"]);
    let entries = fs::read_dir(sandbox.path("home/.cache/pollmatrix")).expect("the folder was made");
    let copy = entries
        .map(|entry| entry.expect("the file can be read").path())
        .find(|path| path.extension().is_none());
    let copy = copy.expect("the executable is there");
    // The size stays the same, and the last byte is not needed to start.
    let mut bytes = fs::read(&copy).expect("the file can be read");
    *bytes.last_mut().expect("the executable is not empty") ^= 1;
    fs::write(&copy, bytes).expect("the copy is writable");
    sandbox.run(&run).expect(1, &["the executor is another executable: SHA-256"]);
    assert_eq!(sandbox.cell("pass")["status"], "not-run");
}

#[test]
fn over_ssh_a_lost_connection_makes_no_cell_run_twice() {
    let sandbox = Sandbox::new(&CELLS, 300);
    // The first connection ends when all cells have run and one result was received.
    let text = "cd \"${0%/*}\"; mkdir -p home; export HOME=$PWD/home; unset XDG_CACHE_HOME\n\
         case $2 in *'exec '*'--cells'*) if mkdir cut 2>/dev/null; then\n\
         sh -c \"$2\" >all; head -n 2 all; exit 255; fi;; esac\n\
         exec sh -c \"$2\"";
    let ssh = sandbox.script("ssh", text);
    let answer = sandbox.run(&["run", "--seed", "2", "--jobs", "1", "--host", "there", "--ssh", &ssh]);
    answer.expect(1, &[TOTALS, "restarting for the remaining 5 cells"]);
    let first: Vec<_> = sandbox.lines("all").into_iter().filter(|line| line.contains("\"cell\"")).collect();
    assert_eq!(first.len(), CELLS.len());
    // Equal durations show that the results were kept there, and that no cell ran again.
    for line in first {
        let cell: serde_json::Value = serde_json::from_str(&line).expect("the line is JSON");
        let name = cell["scenario"].as_str().expect("a scenario is text").replace("selftest/", "");
        assert_eq!(sandbox.cell(&name)["duration_ms"], cell["duration_ms"], "{name}");
    }
}

#[test]
fn executor_output_with_console_messages_is_imported() {
    let sandbox = Sandbox::new(&CELLS, 300);
    let printed = sandbox.run(&["worker", "exec", "--all", "--seed", "2"]);
    printed.expect(1, &["{\"line\":\"begin\"", "{\"line\":\"end\",\"cells\":6}"]);
    let console = printed.stdout.replace("{\"line\":\"cell\"", "[    7.1] eth0: link up {\"line\":\"cell\"");
    sandbox.put("console", console.replace('\n', "\r\n"));
    sandbox.run(&["run", "--import", "console"]).expect(1, &[TOTALS]);

    // A report can be imported, too.
    fs::copy(sandbox.path("pollmatrix-report/results.json"), sandbox.path("other.json"))
        .expect("there is one");
    sandbox.run(&["run", "--import", "other.json"]).expect(1, &[TOTALS]);

    // After truncated output the other cells are not run, with a warning.
    let whole: Vec<_> = printed.stdout.lines().collect();
    let cut = format!("{}\n{}", whole[..3].join("\n"), &whole[3][..whole[3].len() / 2]);
    sandbox.put("cut", cut);
    sandbox
        .run(&["run", "--import", "cut"])
        .expect(1, &["the imported results are not complete", "cut: line 4 cannot be read", "4 not-run"]);

    sandbox.put("foreign", "login: ");
    sandbox
        .run(&["run", "--import", "foreign"])
        .expect(2, &["foreign has no results of here", "it seems to be plain text", "help: "]);
}

/// The provenance is that of the machine that ran the cells, and the name of the file is none of it.
#[test]
fn imported_results_keep_their_provenance_and_can_be_merged() {
    let sandbox = Sandbox::new(&CELLS, 300);
    for (file, cell) in [("first/lines", "selftest/pass"), ("second/lines", "selftest/unsupported")] {
        let printed = sandbox.run(&["worker", "exec", cell, "--seed", "2", "--fault", "double-close"]);
        sandbox.put(file, &printed.stdout);
        let begin: serde_json::Value =
            serde_json::from_str(printed.stdout.lines().next().expect("there is a line"))
                .expect("it is JSON");
        let dir = file.replace("/lines", "-report");
        sandbox.run(&["run", "--import", file, "--report-dir", &dir]).expect(1, &["5 not-run"]);
        let text = fs::read_to_string(sandbox.path(&format!("{dir}/results.json"))).expect("it was written");
        assert!(!text.contains(file), "{text}");
        let results: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        for key in ["executable", "matrix", "seed", "fault", "started"] {
            assert_eq!(results["runs"][0][key], begin["run"][key], "{key}");
        }
        assert_eq!(results["runs"][0]["executable"].as_str().map(str::len), Some(64), "it is a hash");
    }
    sandbox.run(&["merge", "first-report", "second-report"]).expect(1, &["1 pass", "1 unsupported"]);
}

#[test]
fn the_exit_code_of_an_executor_is_that_of_its_cells() {
    let sandbox = Sandbox::new(&CELLS, 300);
    sandbox.run(&["worker", "exec", "selftest/pass"]).expect(0, &["{\"line\":\"end\",\"cells\":1}"]);
    sandbox.run(&["worker", "exec", "selftest/fail"]).expect(1, &[]);
    sandbox.run(&["worker", "exec", "selftest/unsupported"]).expect(127, &[]);
    sandbox.run(&["worker", "exec"]).expect(2, &["no cells are selected", "help: give --all"]);
    sandbox.run(&["worker", "exec", "--all", "selftest/pass"]).expect(2, &["cannot be used with"]);
    sandbox
        .run(&["worker", "exec", "selftest/pass", "--self", "/bin/true"])
        .expect(0, &["/bin/true does not start here: using"]);
    sandbox.put("ids", id("fali"));
    sandbox
        .run(&["worker", "exec", "--cells", "ids"])
        .expect(2, &["did you mean 'selftest/fail/tcp-level-1t1g@poll'?"]);
}

#[test]
fn an_executor_continues_from_its_kept_results() {
    let sandbox = Sandbox::new(&["pass", "fail"], 300);
    let exec = ["worker", "exec", "--all", "--seed", "2", "--keep", "kept"];
    let first = sandbox.run(&exec);
    first.expect(1, &[]);
    let kept = sandbox.text("kept");
    // The state after a kill in the middle of the last line.
    sandbox.put("kept", &kept[..kept.len() - 20]);
    let second = sandbox.run(&exec);
    second.expect(1, &["kept: the last line (3) is truncated"]);
    let cell_line = |text: &str, name: &str| {
        let lines: Vec<_> = text.lines().filter(|line| line.contains(&id(name))).map(str::to_owned).collect();
        assert_eq!(lines.len(), 1, "{text}");
        lines[0].clone()
    };
    let cut = kept.lines().last().expect("the file has lines").contains(&id("fail"));
    let whole = if cut { "pass" } else { "fail" };
    assert_eq!(cell_line(&first.stdout, whole), cell_line(&second.stdout, whole));
    cell_line(&second.stdout, if cut { "fail" } else { "pass" });
    // The state after damage to the line of one cell: the other cell does not run again.
    for (spoiled, other) in [("pass", "fail"), ("fail", "pass")] {
        let lines: Vec<_> = kept.lines().collect();
        let at = lines.iter().position(|line| line.contains(&id(spoiled))).expect("the line was kept");
        let bytes = kept.replace(lines[at], "?").into_bytes();
        let bytes = bytes.into_iter().map(|byte| if byte == b'?' { 0xff } else { byte }).collect::<Vec<_>>();
        sandbox.put("kept", bytes);
        let third = sandbox.run(&exec);
        third.expect(1, &[&format!("kept: line {} cannot be read; the other results are used", at + 1)]);
        assert_eq!(cell_line(&first.stdout, other), cell_line(&third.stdout, other));
        cell_line(&third.stdout, spoiled);
    }
    sandbox
        .run(&["worker", "exec", "--all", "--seed", "3", "--keep", "kept"])
        .expect(2, &["kept cannot be continued", "another --seed", "help: "]);
}

#[test]
fn target_all_runs_every_possible_target_into_one_report() {
    let sandbox = Sandbox::new(&CELLS, 300);
    let prefix = sandbox.script("prefix", "echo \"$2\" >>\"${0%/*}/log\"; exec \"$@\"");
    let (os, arch, triple) = (std::env::consts::OS, std::env::consts::ARCH, matrix::provenance::TRIPLE);
    sandbox.add_targets(&format!(
        "  - {{ id: there, triple: {triple}, os: {os}, arch: {arch}, runners: [{{ prefix: {prefix} }}] }}\n  \
         - {{ id: nowhere, triple: a-b-c, os: freebsd, arch: vax, build: zig, runners: [native, ssh, import] }}\n"
    ));
    let run = ["run", "--target", "all", "--seed", "2"];
    let first = sandbox.run(&run);
    first.expect(
        1,
        &[
            "there runner prefix",
            "nowhere: not built",
            "2 runs of 2 targets: 12 cells: 4 pass, 2 fail, 2 unsupported, 2 broken, 2 crash",
            "[12/12]",
        ],
    );
    let results = sandbox.results();
    assert_eq!(results["runs"][0]["target"], "here");
    assert_eq!(
        (&results["runs"][1]["target"], &results["runs"][1]["runner"]),
        (&"there".into(), &"prefix".into())
    );
    assert_eq!(results["not_run"][0]["target"], "nowhere");
    assert!(sandbox.path("pollmatrix-report/targets/there/results.json").is_file());
    assert!(!sandbox.lines("log").is_empty());

    // All results exist already.
    fs::remove_file(sandbox.path("log")).expect("the file was written");
    let again = sandbox.run(&["run", "--target", "all", "--resume"]);
    again.expect(1, &["2 runs of 2 targets: 12 cells: 4 pass, 2 fail, 2 unsupported, 2 broken, 2 crash"]);
    assert_eq!(sandbox.lines("log"), [""; 0]);

    // Targets in --not-run are not run, with the reason given there.
    let named = ["--not-run", "there=no standard library", "--not-run", "nowhere=no such machine"];
    let without = sandbox.run(&[&run[..], &named].concat());
    without.expect(
        1,
        &[
            "note: not run: there: no standard library",
            "6 cells: 2 pass",
            "not run  there: no standard library",
        ],
    );
    assert_eq!(sandbox.results()["not_run"].as_array().map(Vec::len), Some(2));
    assert_eq!(sandbox.lines("log"), [""; 0]);
    sandbox.run(&[&run[..], &["--not-run", "theer=x"]].concat()).expect(2, &["did you mean 'there'?"]);
    sandbox
        .run(&["run", "--not-run", "there=x"])
        .expect(2, &["--not-run there=x: the run has one target", "--target all"]);

    // A machine that does not answer does not affect the other one.
    sandbox.script("prefix", "exit 1");
    let answer = sandbox.run(&run);
    answer.expect(1, &["12 cells: 2 pass, 1 fail, 1 unsupported, 1 broken, 1 crash, 6 not-run"]);
    // A part of the matrix, and an unknown id.
    sandbox.run(&["run", "--target", "all", "selftest/pas"]).expect(1, &["2 cells: 1 pass, 1 not-run"]);
    sandbox.run(&["run", "--target", "all", "selftest/zzz"]).expect(2, &["help: "]);
}

#[test]
fn missing_requirements_of_a_runner_are_reported() {
    let sandbox = Sandbox::new(&["pass"], 300);
    sandbox
        .run(&["run", "--target", "heer"])
        .expect(2, &["there is no target 'heer'", "did you mean 'here'?"]);
    sandbox
        .run(&["run", "--runner", "sssh"])
        .expect(2, &["there is no runner 'sssh'", "did you mean 'ssh'?"]);
    sandbox.run(&["run", "--runner", "ssh"]).expect(2, &["the runner 'ssh' needs --host"]);
    sandbox.run(&["run", "--runner", "prefix"]).expect(2, &["the runner 'prefix' needs --prefix COMMAND"]);
    sandbox
        .run(&["run", "--prefix", "no-such-emulator"])
        .expect(2, &["here cannot be run from here", "there is no program no-such-emulator"]);
    sandbox
        .run(&["run", "--prefix", "env", "--executable", "nowhere"])
        .expect(2, &["nowhere is not a file", "help: "]);
    sandbox.run(&["list", "--targets"]).expect(0, &["here", "native", "can run"]);
    let json = sandbox.run(&["list", "--targets", "--format", "json"]);
    let targets: serde_json::Value = json.json();
    assert_eq!(targets[0]["runners"][0]["possible"], true);
}
