//! The runner `vm`. Scripts take the place of the emulators, and the agent runs on this machine; one test
//! boots a real kernel.

use std::fs;
use std::process::{Child, Command, Stdio};

use adapters::testing::lacks;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::sandbox::{Answer, POLLMATRIX, Sandbox, answer, eventually, signal};

const CELLS: [&str; 6] = ["pass", "fail", "unsupported", "broken", "panic", "flaky"];
const TOTALS: &str = "6 cells: 2 pass, 1 fail, 1 unsupported, 1 broken, 1 crash";
/// What an emulator does that boots at once: the agent, with the sandbox's matrix.
const AGENT: &str = "sed -u \"s#/matrix.yml#${0%/*}/matrix.yml#g\" | POLLMATRIX worker guest";

impl Sandbox {
    /// Writes the description of a machine whose emulator is this script, and returns its file.
    fn machine(&self, script: &str) -> String {
        let text = format!("echo $$ >>\"${{0%/*}}/emulators\"\n{script}").replace("POLLMATRIX", POLLMATRIX);
        let program = self.script("emulator", &text);
        let text = format!(
            "about: a script\nos: linux\narch: x86_64\nemulator: uml\nprogram: {program}\nmemory: 64\n\
             processors: 1\nsilence: 120\nkernel: {{ console: tty0, port: {{ serial: ttyS0 }} }}\n"
        );
        self.put("machine.yml", text);
        self.path("machine.yml").display().to_string()
    }

    /// Returns the command that runs the cells in that machine, with a cache in the sandbox.
    fn vm_command(&self, machine: &str, arguments: &[&str]) -> Command {
        let runner = format!("vm:{machine}");
        let mut command = self.command(&["run", "--seed", "2", "--runner", &runner]);
        command.args(arguments).env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    fn vm(&self, machine: &str) -> Answer {
        answer(&mut self.vm_command(machine, &[]))
    }

    /// Returns the emulators that were started, and how many of them are still there.
    fn emulators(&self) -> (usize, usize) {
        let text = fs::read_to_string(self.path("emulators")).unwrap_or_default();
        let pids: Vec<i32> =
            text.lines().map(|line| line.parse().expect("it is a process's number")).collect();
        let alive = pids.iter().filter(|pid| kill(Pid::from_raw(**pid), None).is_ok()).count();
        (pids.len(), alive)
    }

    /// Returns the folders of machines that were left behind.
    fn folders(&self) -> usize {
        let entries = fs::read_dir(self.path("cache/pollmatrix/vm/runs")).into_iter().flatten();
        entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir())).count()
    }
}

#[test]
fn one_boot_runs_every_cell_and_nothing_is_left() {
    let sandbox = Sandbox::new(&CELLS, 300);
    let machine = sandbox.machine(&format!("echo 'Booting Linux'; {AGENT}"));
    sandbox.vm(&machine).expect(1, &[TOTALS]);
    assert_eq!(sandbox.emulators(), (1, 0));
    assert_eq!(sandbox.folders(), 0);
    assert_eq!(sandbox.results()["runs"][0]["runner"], "vm");
    let again = sandbox.cell("fail")["reproducer"].as_str().expect("the value is text").to_owned();
    assert!(again.contains("--runner") && again.contains("machine.yml"), "{again}");
}

#[test]
fn a_machine_that_is_silent_is_given_up_with_its_last_lines() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let machine = sandbox.machine("echo 'Kernel panic: no init' >&2; exec sleep 1000");
    sandbox.edit("machine.yml", "silence: 120", "silence: 2");
    let reason = "the virtual machine machine does not boot: it was silent for 2 s: Kernel panic: no init";
    sandbox.vm(&machine).expect(1, &["1 cells: 1 not-run", reason]);
    // It is not started again: it would be silent again.
    assert_eq!(sandbox.emulators(), (1, 0));
    assert_eq!(sandbox.folders(), 0);
}

#[test]
fn a_boot_that_fails_is_not_tried_again() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let machine = sandbox.machine("echo 'emulator: no memory' >&2; exit 3");
    let reason = "does not boot: the emulator ended (exit status: 3): emulator: no memory";
    sandbox.vm(&machine).expect(1, &["1 cells: 1 not-run", reason]);
    assert_eq!(sandbox.emulators(), (1, 0));
}

#[test]
fn a_machine_that_dies_is_started_again_for_the_remaining_cells() {
    let sandbox = Sandbox::new(&CELLS, 300);
    // The guest's first output ends in the middle of the second result.
    let torn = format!(
        "if [ -e \"$0.once\" ]; then {AGENT}; else : >\"$0.once\"; {AGENT} | dd bs=1 count=3000 2>/dev/null; fi"
    );
    let machine = sandbox.machine(&torn);
    let command = &mut sandbox.vm_command(&machine, &["--jobs", "1"]);
    let answer = answer(command);
    answer.expect(1, &[TOTALS, "restarting for the remaining 2 cells"]);
    answer.expect(1, &["not from the executor: {\"line\":\"cell\""]);
    assert_eq!(sandbox.emulators(), (2, 0));
}

#[test]
fn messages_of_the_kernel_between_the_results_do_not_harm_them() {
    let sandbox = Sandbox::new(&CELLS, 300);
    let noisy = format!(
        "{AGENT} | while IFS= read -r line; do printf '[ 1.5] usb 1-1: new device '; printf '%s\\n' \"$line\"; echo '[ 1.6] random: ready'; done"
    );
    let machine = sandbox.machine(&noisy);
    sandbox.vm(&machine).expect(1, &[TOTALS, "not from the executor"]);
    assert_eq!(sandbox.emulators(), (1, 0));
}

/// Starts a run whose cell hangs in the machine.
fn hanging(sandbox: &Sandbox) -> Child {
    let machine = sandbox.machine(AGENT);
    let mut command = sandbox.vm_command(&machine, &[]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the executable starts");
    eventually("the cell hangs", || sandbox.cells_alive() == 1);
    child
}

#[test]
fn the_machine_ends_with_a_killed_driver() {
    if lacks("ps") {
        return;
    }
    let sandbox = Sandbox::new(&["hang"], 300);
    let mut driver = hanging(&sandbox);
    signal(&driver, Signal::SIGKILL);
    driver.wait().expect("it was killed");
    eventually("the emulator and the cell are gone", || {
        sandbox.emulators() == (1, 0) && sandbox.cells_alive() == 0
    });
    // The next run removes the folder of the killed one.
    sandbox.write_matrix(&["pass"], 300);
    let machine = sandbox.machine(AGENT);
    sandbox.vm(&machine).expect(0, &["1 cells: 1 pass"]);
    assert_eq!(sandbox.folders(), 0);
}

#[test]
fn the_machine_ends_with_a_killed_guard() {
    if lacks("ps") {
        return;
    }
    let sandbox = Sandbox::new(&["hang"], 300);
    let mut driver = hanging(&sandbox);
    let output =
        Command::new("ps").args(["-A", "-o", "pid=,ppid=,args="]).output().expect("every unix has ps");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.lines().filter(|line| line.contains("worker guard")).map(|line| {
        let mut words = line.split_whitespace();
        let mut number = || words.next().and_then(|word| word.parse::<i32>().ok()).expect("it is a number");
        (number(), number())
    });
    let driver_pid = i32::try_from(driver.id()).expect("a process's number fits");
    let (guard, _) = numbers.find(|(_, parent)| *parent == driver_pid).expect("the guard runs");
    kill(Pid::from_raw(guard), Signal::SIGKILL).expect("the guard is there");
    // The driver starts another machine for the cell that is left.
    eventually("the first emulator is gone", || matches!(sandbox.emulators(), (1, 0) | (2, 0 | 1)));
    signal(&driver, Signal::SIGTERM);
    driver.wait().expect("it ends");
    eventually("every emulator is gone", || sandbox.emulators().1 == 0);
}

#[test]
fn what_a_machine_lacks_is_said_before_it_starts() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let machine = sandbox.machine("exit 3");
    let change = |from: &str, to: &str| {
        let text = fs::read_to_string(&machine).expect("there is a description");
        fs::write(&machine, text.replace(from, to)).expect("the sandbox is writable");
    };
    let program = sandbox.path("emulator").display().to_string();
    change(&program, "/no/such/emulator");
    sandbox.vm(&machine).expect(2, &["cannot be run from here", "there is no program /no/such/emulator"]);
    change("/no/such/emulator", &program);
    answer(&mut sandbox.vm_command(&machine, &["--kernel", "/no/such/kernel"]))
        .expect(2, &["boots no kernel of a file"]);
    change("emulator: uml", "emulator: qemu");
    sandbox.vm(&machine).expect(2, &["its kernel has no source", "write 'package' below 'kernel'"]);
    sandbox.vm("debian-6-2").expect(2, &["there is no virtual machine of this name"]);
    assert_eq!(sandbox.emulators(), (0, 0));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[ignore = "needs user-mode Linux: `ci/runners.sh uml` runs it"]
fn a_real_kernel_boots_and_runs_a_cell() {
    // user-mode Linux needs no download. It maps executable files of its temporary folder.
    let sandbox = Sandbox::new(&["pass", "fail"], 300);
    let answer = answer(&mut sandbox.vm_command("uml", &["--target", "here"]));
    answer.expect(1, &["2 cells: 1 pass, 1 fail"]);
    let kernel = sandbox.results()["runs"][0]["kernel"].as_str().expect("the value is text").to_owned();
    let host = fs::read_to_string("/proc/sys/kernel/osrelease").expect("the kernel has a release");
    assert_ne!(kernel, host.trim(), "the cell ran on this machine's kernel");
}

#[test]
fn only_a_machine_that_is_up_can_be_attached_to_or_stopped() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(&[&["run"], arguments].concat());
        answer(command.env("XDG_CACHE_HOME", sandbox.path("cache")).stdin(Stdio::null()))
    };
    for action in ["attach", "stop"] {
        let none_is_up = "help: none is up: `pollmatrix run --runner vm --keep` leaves one up";
        run(&["--vm", action]).expect(2, &[none_is_up]);
        run(&["--runner", "vm:uml", "--vm", action]).expect(2, &["begins with 'uml'", none_is_up]);
    }
    for runner in [&["--runner", "vm"][..], &["--runner", "native"], &[]] {
        run(&[runner, &["--vm", "shell"]].concat()).expect(2, &["help: give --runner vm:MACHINE"]);
    }
    run(&["--vm", "stop", "selftest/pass"]).expect(2, &["cannot be used with"]);
    assert!(!sandbox.path("pollmatrix-report").exists(), "no cell runs");
}

/// apt waits without an end for room in the file system of its lists.
#[cfg(target_os = "linux")]
#[test]
fn a_full_cache_is_the_reason_and_nothing_waits_for_room() {
    let sandbox = Sandbox::new(&["pass"], 300);
    let cache = sandbox.path("cache");
    fs::create_dir(&cache).expect("the sandbox is writable");
    sandbox.script(
        "apt-get",
        &format!("dd if=/dev/zero of='{}/fill' bs=1M 2>&1; exec sleep 3600", cache.display()),
    );
    let fetch = |size: &str| {
        let script = format!(
            "mount -t tmpfs -o size={size} tmpfs \"$XDG_CACHE_HOME\" && exec {POLLMATRIX} run --runner vm:debian-6-1 --vm fetch"
        );
        let path = std::env::var("PATH").expect("there is a PATH");
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &script]).env("XDG_CACHE_HOME", &cache);
        command.env("PATH", format!("{}:{path}", sandbox.path("").display()));
        answer(command.stdin(Stdio::null()))
    };
    let may_mount =
        Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs"]).arg(&cache).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        eprintln!("not run: unshare and mount are missing or not permitted");
        return;
    }
    let help = "help: make room, or set XDG_CACHE_HOME to a folder of another file system";
    fetch("16m").expect(
        2,
        &["error: virtual machine debian-6-1: the file system of ", "MiB left, less than 256 MiB", help],
    );
    // It is filled meanwhile.
    fetch("260m").expect(2, &["debian-6-1: apt-get: the file system of ", "has 0 MiB left", help]);
}
