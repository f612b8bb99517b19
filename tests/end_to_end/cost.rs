//! `pollmatrix cost`. No figure is asserted.

use std::fs;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::io::Read;

use serde_json::{Value, json};

use crate::sandbox::{Answer, BAD, Sandbox, eventually, expect_published_form, interrupted, python};

/// Any spread is a figure.
const QUICK: [&str; 4] = ["--pairs", "3", "--noise", "1e9"];

impl Sandbox {
    fn cost(&self, arguments: &[&str]) -> Answer {
        self.run(&[&["cost"], arguments, &QUICK].concat())
    }

    fn costs(&self) -> Value {
        self.json("pollmatrix-costs/results.json")
    }
}

#[test]
fn every_operation_of_every_poller_has_a_figure_or_a_reason() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let answer = sandbox.cost(&["--descriptors", "10,20", "--threads", "1,2", "--adapter", "mio"]);
    answer.expect(
        0,
        &[
            "wait-one, level\n",
            "wake, level\n",
            "register, level, 2 threads\n",
            "Report: pollmatrix-costs/report.html\n",
        ],
    );
    let results = sandbox.costs();
    expect_published_form(&results);
    let costs = results["costs"].as_array().expect("a list");
    let of = |poller: &str, operation: &str| {
        let is_it = |cost: &&Value| cost["poller"] == poller && cost["operation"] == operation;
        costs.iter().filter(is_it).collect::<Vec<_>>()
    };
    for operation in ["register", "modify", "remove", "close", "wait-one", "wait-all", "wake", "hand-over"] {
        let costs = of("poll", operation);
        let threads = if ["wake", "hand-over"].contains(&operation) { 1 } else { 2 };
        assert_eq!(costs.len(), 2 * threads, "{operation}");
        for cost in costs {
            let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
            if cost["threads"].as_u64().is_some_and(|threads| threads > processors) {
                let reason = cost["reason"].as_str().expect("it is not measured");
                assert!(reason.contains("need as many processors"), "{reason}");
                continue;
            }
            assert_eq!(cost["outcome"], "measured", "{cost}");
            assert!(cost["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{cost}");
        }
        let of_mio = of("mio", operation);
        let measured =
            |mode: &str| of_mio.iter().any(|cost| cost["mode"] == mode && cost["outcome"] == "measured");
        assert!(measured("edge") && !measured("level"), "{operation}: mio has edges only");
    }
    let page = sandbox.text("pollmatrix-costs/report.html");
    assert!(
        page.contains("<svg class=\"curve\"")
            && page.contains("Not measured: it has no level mode (mio: 10, 20)")
    );
    let markdown = sandbox.text("pollmatrix-costs/report.md");
    assert!(markdown.contains("| descriptors | 10 | 20 |"));
}

/// They do not depend on the machine, only on what the poller does.
#[test]
fn system_calls_of_each_operation_are_counted() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let all = ["--backend", "epoll", "--backend", "poll", "--descriptors", "10,1000", "--threads", "1"];
    let all = if cfg!(target_os = "linux") { &all[..] } else { &all[2..] };
    sandbox.cost(&[all, &["--mode", "level"]].concat()).expect(0, &["system calls"]);
    let results = sandbox.costs();
    let of = |poller: &str, operation: &str, descriptors: u32| {
        let is_it = |cost: &&Value| {
            cost["poller"] == poller && cost["operation"] == operation && cost["descriptors"] == descriptors
        };
        let cost = results["costs"].as_array().expect("a list").iter().find(is_it);
        cost.unwrap_or_else(|| panic!("{operation} of {poller} is missing"))["calls"].clone()
    };
    if let Some(reason) = of("poll", "register", 10).pointer("/not-counted/reason") {
        // Another system, another C library, or a sandbox without ptrace(2).
        let reason = reason.as_str().expect("text");
        assert!(
            reason.contains("ptrace(2)") || reason.starts_with("only a build for Linux with glibc"),
            "{reason}"
        );
        matrix::output::print_in_test(&format!("not counted here: {reason}"));
        return;
    }
    let none = json!({});
    let expected = [
        ("register", json!({"epoll_ctl": 1.0}), none.clone()),
        ("modify", json!({"epoll_ctl": 1.0}), none.clone()),
        ("remove", json!({"epoll_ctl": 1.0}), none.clone()),
        ("close", json!({"close": 1.0, "epoll_ctl": 1.0}), json!({"close": 1.0})),
        ("wait-one", json!({"epoll_wait": 1.0}), json!({"poll": 1.0})),
        ("hand-over", json!({"epoll_ctl": 2.0}), none),
    ];
    for (operation, epoll, poll) in expected {
        for descriptors in [10, 1000] {
            assert_eq!(of("epoll", operation, descriptors)["counted"]["by_name"], epoll, "{operation}");
            assert_eq!(of("poll", operation, descriptors)["counted"]["by_name"], poll, "{operation}");
        }
        let total = epoll.as_object().expect("an object").values().filter_map(Value::as_f64).sum::<f64>();
        assert_eq!(of("epoll", operation, 10)["counted"]["total"], total, "{operation}");
    }
    // A wait reports all of them, and each event has its part of it.
    assert_eq!(of("epoll", "wait-all", 1000)["counted"]["by_name"]["epoll_wait"], 0.001);
    assert_eq!(of("poll", "wait-all", 10)["counted"]["by_name"]["poll"], 0.1);
    // Both threads are counted, and the answers are not.
    let wake = of("poll", "wake", 10);
    assert_eq!(wake["counted"]["by_name"]["poll"], 1.0, "{wake}");
    assert_eq!(wake["counted"]["by_name"]["write"], 1.0, "{wake}");
    assert_eq!(of("epoll", "wake", 10)["counted"]["by_name"]["epoll_wait"], 1.0);
    let page = sandbox.text("pollmatrix-costs/report.html");
    assert!(page.contains("<td class=\"calls\">epoll_ctl 1.00</td>"), "{page}");
}

/// A process that is traced already, as under a debugger, has no other tracer.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_refusal_of_ptrace_has_its_reason() {
    use std::os::unix::process::CommandExt;
    use std::process::Stdio;

    use nix::sys::ptrace;
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::Pid;

    let sandbox = Sandbox::new(&["pass"], 20);
    let mut command = sandbox.command(&["worker", "operation", "poll", "register", "level", "10"]);
    command.stdout(Stdio::piped());
    // SAFETY: between fork and exec, only ptrace(2) is called.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(Into::into)) };
    let mut child = match command.spawn() {
        Err(error) if error.raw_os_error() == Some(nix::errno::Errno::EPERM as i32) => {
            matrix::output::print_in_test("nothing can be traced here");
            return;
        }
        child => child.expect("it starts"),
    };
    let process = Pid::from_raw(child.id().cast_signed());
    // After exec, and then at each signal.
    while let WaitStatus::Stopped(..) = waitpid(process, None).expect("it is a child") {
        ptrace::cont(process, None).expect("it is stopped");
    }
    let mut printed = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut printed).expect("it is text");
    assert_eq!(printed, "{\"failed\":\"ptrace(2) is refused: EPERM\"}\n");
}

#[test]
fn an_interrupted_run_leaves_a_report_and_is_resumed() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let numbers = (2..62).step_by(2).map(|number: u32| number.to_string()).collect::<Vec<_>>().join(",");
    let of = ["cost", "close", "--backend", "poll", "--threads", "1", "--descriptors", &numbers];
    let arguments = [&of[..], &QUICK].concat();
    let child = sandbox.start(&arguments);
    let journal = sandbox.path("pollmatrix-costs/costs.jsonl");
    let read = || fs::read_to_string(&journal).unwrap_or_default();
    eventually("two costs are measured", || read().lines().count() > 2);
    interrupted(child).expect(130, &["Interrupted: `pollmatrix cost close --backend poll "]);
    let partial = sandbox.costs();
    expect_published_form(&partial);
    let known = partial["costs"].as_array().expect("a list").clone();
    assert!((2..30).contains(&known.len()), "{} of 30 were measured", known.len());
    assert!(known.iter().all(|cost| cost["outcome"] == "measured"), "{known:?}");
    assert_eq!(partial["runs"][0]["interrupted"], true);

    let other = [&of[..], &["--pairs", "5", "--noise", "1e9", "--resume"]].concat();
    sandbox.run(&other).expect(2, &["it was started as `pollmatrix cost close", "with the same options"]);
    let resume = [&arguments[..], &["--resume"]].concat();
    // A line that was cut off is no loss of the others.
    let whole = read();
    fs::write(&journal, format!("{whole}{{\"line\":\"cost\",\"tar")).expect("writable");
    sandbox.run(&resume).expect(0, &[&format!("{} of 30 costs are already measured", known.len())]);
    let all = sandbox.costs();
    assert_eq!(all["runs"][0]["resumed"], 1);
    assert_eq!(all["runs"][0]["interrupted"], false);
    let costs = all["costs"].as_array().expect("a list");
    assert_eq!(costs.len(), 30);
    assert!(known.iter().all(|cost| costs.contains(cost)), "what was measured was not measured again");

    let foreign = read().replacen("\"machine\":\"", "\"machine\":\"another ", 1);
    fs::write(&journal, foreign).expect("writable");
    sandbox.run(&resume).expect(2, &["it was measured on another machine (another ", "omit --resume"]);
}

/// Each call of this adapter takes 1000 ns by its own account, which the way to it is no part of.
#[test]
fn a_program_is_measured_by_its_own_clock_or_not_at_all() {
    let Some(bad) = python(BAD) else { return };
    let sandbox = Sandbox::new(&["pass"], 20);
    let cost = |mistake: &str, operations: &[&str]| {
        let adapter = format!("{bad} {mistake} poll");
        let of = ["--adapter", &adapter, "--backend", "python-poll", "--mode", "level"];
        sandbox.cost(&[operations, &of, &["--descriptors", "4", "--threads", "1"]].concat()).expect(0, &[]);
        sandbox.costs()["costs"].as_array().expect("a list").clone()
    };
    let alike = cost("times-alike", &[]);
    assert_eq!(alike.len(), 8);
    for cost in alike {
        let operation = cost["operation"].as_str().expect("text");
        let expected = match operation {
            "wake" => {
                assert_eq!(cost["reason"], "it is a program: a wake-up takes the way to it");
                continue;
            }
            // A wait that reports all four.
            "wait-all" => 250.0,
            // A removal and an addition, or a removal and a close.
            "hand-over" | "close" => 2000.0,
            _ => 1000.0,
        };
        assert_eq!(cost["nanoseconds"], expected, "{cost}");
        let reason = &cost["calls"]["not-counted"]["reason"];
        assert_eq!(reason, "it is a program, which is not traced", "{cost}");
    }
    for (mistake, expected) in [
        ("featureless", "it is a program without `times`: what would be measured is the way to it"),
        ("times-nothing", "the clock is too coarse for a sample"),
    ] {
        let costs = cost(mistake, &["modify"]);
        assert_eq!(costs[0]["reason"], expected);
    }
    // An answer that breaks the protocol is no figure.
    let costs = cost("times-the-way", &["modify"]);
    let reason = costs[0]["reason"].as_str().expect("it is not measured");
    assert!(reason.contains("says that the poller took 1000000s, and it arrived after"), "{reason}");
}

#[test]
fn what_cannot_be_measured_here_has_its_reason_and_noise_is_no_figure() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let arguments = ["register", "--backend", "select", "--descriptors", "10,10000000", "--threads", "1"];
    sandbox.cost(&arguments).expect(
        0,
        &["not measured: it needs 10000136 descriptors, and `ulimit -n` is ", "(select: 10000000)"],
    );
    let noise =
        ["cost", "register", "--backend", "poll", "--descriptors", "10", "--pairs", "9", "--noise", "1e-9"];
    sandbox.run(&noise).expect(1, &["noise"]);
    assert!(
        sandbox.costs()["costs"].as_array().expect("a list").iter().all(|cost| cost["outcome"] == "noise")
    );
}

#[test]
fn wrong_names_and_numbers_are_refused_with_a_suggestion() {
    let sandbox = Sandbox::new(&["pass"], 20);
    sandbox.cost(&["wait-on"]).expect(2, &["there is no operation 'wait-on'", "did you mean 'wait-one'?"]);
    sandbox.cost(&["--mode", "edgy"]).expect(2, &["there is no mode 'edgy'", "did you mean 'edge'?"]);
    sandbox.cost(&["--backend", "pol"]).expect(2, &["'pol'", "did you mean 'poll'?"]);
    sandbox.cost(&["--descriptors", "1"]).expect(2, &["--descriptors"]);
    sandbox.run(&["cost", "--noise", "0"]).expect(2, &["a number above 0 is needed"]);
    assert!(!sandbox.path("pollmatrix-costs").exists(), "nothing is written");
}

#[test]
fn costs_are_merged_into_a_report_of_cells_and_compared() {
    let sandbox = Sandbox::new(&["pass"], 20);
    let one = ["modify", "--backend", "poll", "--descriptors", "10", "--threads", "1"];
    sandbox.cost(&one).expect(0, &[]);
    sandbox.run(&["run", "selftest/pass"]).expect(0, &[]);
    let both = ["merge", "pollmatrix-report", "pollmatrix-costs", "--report-dir", "both", "--allow-mixed"];
    sandbox.run(&both).expect(0, &["1 cells: 1 pass"]);
    let merged = sandbox.text("both/results.json");
    assert!(merged.contains("\"operation\":\"modify\""));

    // Intervals of their own, because those of a busy machine overlap.
    let write = |name: &str, ratio: f64, calls: Value| {
        let mut results = sandbox.costs();
        let cost = &mut results["costs"][0];
        for (field, factor) in [("ratio", 1.0), ("low", 0.9), ("high", 1.1)] {
            cost[field] = Value::from(ratio * factor);
        }
        let total = calls.as_object().map_or(0, |calls| calls.len());
        cost["calls"] = json!({"counted": {"total": total, "by_name": calls}});
        sandbox.put(name, results.to_string());
    };
    write("fast.json", 2.0, json!({"poll": 1.0}));
    write("slower.json", 18.0, json!({"poll": 1.0}));
    write("busier.json", 2.0, json!({"poll": 1.0, "fstat": 1.0}));
    let diff = |old: &str, new: &str, what: &str| sandbox.run(&["diff", old, new, "--fail-on", what]);
    diff("fast.json", "slower.json", "cost:1.2")
        .expect(1, &["modify, level, poll, 10 descriptors (", ", 9.00 times"]);
    diff("fast.json", "slower.json", "cost:10").expect(0, &["no cost is more than 10 times as great"]);
    diff("slower.json", "fast.json", "cost:1.2").expect(0, &[]);
    let more = "modify, level, poll, 10 descriptors (";
    diff("fast.json", "busier.json", "cost:10").expect(1, &[more, "1 → 2 system calls (fstat 0 → 1)"]);
    diff("busier.json", "fast.json", "cost:1.2").expect(0, &["none has more system calls"]);
    diff("pollmatrix-report", "slower.json", "cost:1.2")
        .expect(2, &["pollmatrix-report cannot be used: it has no costs"]);
    diff("slower.json", "slower.json", "cost:0.5").expect(2, &["a factor of at least 1 is needed"]);
    diff("slower.json", "slower.json", "regresion").expect(2, &["did you mean 'regression'?"]);
}
