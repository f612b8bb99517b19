use std::io;

use selector::{Capabilities, Changed, Event, Interest, Selector, Unsupported, View};

use super::*;

fn plan(operation: Operation, descriptors: usize) -> Plan {
    // No figure is asserted, so every spread is one.
    Plan { operation, mode: Mode::Level, threads: 1, descriptors, pairs: 3, noise: f64::INFINITY }
}

#[track_caller]
fn measured(make: MakeSelector, plan: &Plan) {
    match measure(make, plan).outcome {
        CostOutcome::Measured { ratio, low, high, nanoseconds, floor, pairs } => {
            assert!(low <= ratio && ratio <= high && nanoseconds > 0.0 && floor > 0.0, "{plan:?}");
            assert_eq!(pairs, 3);
        }
        other => panic!("{plan:?}: {other:?}"),
    }
}

#[track_caller]
fn not_measured(make: MakeSelector, plan: &Plan) -> String {
    match measure(make, plan).outcome {
        CostOutcome::NotMeasured { reason } => reason,
        other => panic!("{plan:?}: {other:?}"),
    }
}

#[test]
fn every_operation_of_poll_and_select_is_measured() {
    for &operation in Operation::ALL {
        for descriptors in [2, 20, 40] {
            measured(&poller_poll::selector, &plan(operation, descriptors));
        }
        measured(&poller_select::selector, &plan(operation, 20));
    }
    // In this test, because select cannot have its own pipe while so many descriptors are open.
    let many = plan(Operation::WaitOne, 2000);
    if check_descriptors(&many).is_ok() {
        let reason = not_measured(&poller_select::selector, &many);
        assert!(reason.contains("FD_SETSIZE"), "{reason}");
    }
}

#[test]
fn several_threads_have_pollers_of_their_own() {
    for operation in Operation::ALL.iter().copied().filter(|operation| has_threads(*operation)) {
        let processors = Processors::here().count() as u32;
        let several = Plan { threads: processors.min(3), ..plan(operation, 10) };
        measured(&poller_poll::selector, &several);
        let more = Plan { threads: processors + 1, ..several };
        let expected = format!(
            "{} threads at once need as many processors, and this process may use {processors}",
            processors + 1
        );
        assert_eq!(not_measured(&poller_poll::selector, &more), expected);
    }
    assert!(!has_threads(Operation::Wake) && !has_threads(Operation::HandOver));
}

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
#[test]
fn threads_that_measure_at_once_are_bound_to_a_processor_each() {
    let allowed = || Processors::here().allowed().to_vec();
    let all = allowed();
    let plan = plan(Operation::Modify, 4);
    let bench = || Mutex::new(Bench::new(&poller_poll::selector, &plan, Clock::Here).unwrap());
    // Two benches for each processor, of which the second is bound to it again.
    let benches: Vec<_> = all.iter().chain(&all).map(|_| bench()).collect();
    let bound = Mutex::new(Vec::new());
    in_threads(&benches, &Processors::here(), |_| {
        locked(&bound).push(allowed());
        Ok(Sample::default())
    })
    .unwrap();
    let mut bound = bound.into_inner().unwrap();
    bound.sort();
    let expected: Vec<_> = all.iter().flat_map(|processor| [vec![*processor], vec![*processor]]).collect();
    assert_eq!(bound, expected);
    assert_eq!(allowed(), all, "this thread is free");
}

#[test]
fn a_mode_or_a_number_that_cannot_be_has_its_reason() {
    let edge = Plan { mode: Mode::Edge, ..plan(Operation::WaitOne, 10) };
    assert_eq!(not_measured(&poller_poll::selector, &edge), "it has no edge mode");
    assert_eq!(
        not_measured(&poller_poll::selector, &Plan { operation: Operation::Wake, ..edge }),
        "it has no edge mode"
    );
    let (limit, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let limit = usize::try_from(limit).unwrap();
    let many = plan(Operation::Register, limit);
    let needed = limit + 8 + SPARE;
    assert_eq!(
        not_measured(&poller_poll::selector, &many),
        format!("it needs {needed} descriptors, and `ulimit -n` is {limit}")
    );
}

#[test]
fn samples_with_a_wide_interval_give_no_figure() {
    let pairs: Vec<_> = (0..31).map(|n| [100.0 + f64::from(n) * 10.0, 100.0]).collect();
    let wide = Compared::of(&pairs);
    let plan = Plan { noise: 6.0, pairs: 31, ..plan(Operation::Modify, 2) };
    assert!(matches!(outcome(&wide, &plan), CostOutcome::Noise { pairs: 31, low, high } if low < high));
    let equal = Compared::of(&[[211.116, 100.0]; 31]);
    let CostOutcome::Measured { ratio, low, high, nanoseconds, floor, .. } = outcome(&equal, &plan) else {
        panic!()
    };
    assert_eq!((ratio, low, high, nanoseconds, floor), (2.111, 2.111, 2.111, 211.1, 100.0), "four digits");
}

/// A poller over poll(2) that never reports one of the descriptors, or is a program.
struct Wrong {
    poller: Box<dyn Selector>,
    forgets: bool,
    process: Option<i32>,
}

impl Selector for Wrong {
    selector::forward!(poller {
        fn column(&self) -> selector::Column;
        fn capabilities(&self) -> Capabilities;
        fn views(&self, mode: Mode) -> &'static [View];
        fn add(&self, fd: i32, token: u64, interest: Interest, mode: Mode) -> Changed;
        fn modify(&self, fd: i32, token: u64, interest: Interest, mode: Mode) -> Changed;
        fn remove(&self, fd: i32) -> Changed;
        fn close(&self) -> Result<Result<(), nix::errno::Errno>, Unsupported>;
    });

    fn name(&self) -> &str {
        "wrong"
    }

    fn wait(&self, room: usize, timeout: Option<Duration>) -> Result<Vec<Event>, nix::errno::Errno> {
        let mut events = self.poller.wait(room, timeout)?;
        events.retain(|event| !self.forgets || event.token != 3);
        Ok(events)
    }

    fn wake(&self) -> Result<(), Unsupported> {
        Err(Unsupported("it cannot be woken".into()))
    }

    fn process(&self) -> Option<i32> {
        self.process
    }
}

fn wrong(forgets: bool, process: Option<i32>) -> io::Result<Box<dyn Selector>> {
    Ok(Box::new(Wrong { poller: poller_poll::selector()?, forgets, process }))
}

#[test]
fn a_poller_that_answers_wrongly_has_no_figure() {
    let forgetful: MakeSelector = &|| wrong(true, None);
    let reason = not_measured(forgetful, &plan(Operation::WaitOne, 10));
    assert!(reason.contains("descriptor 3 of 10 is ready, and [] were reported"), "{reason}");
    let reason = not_measured(forgetful, &plan(Operation::WaitAll, 10));
    assert_eq!(reason, "10 descriptors are ready, and 9 were reported");
}

#[test]
fn a_program_and_a_poller_without_wake_ups_are_not_measured() {
    let program: MakeSelector = &|| wrong(false, Some(1));
    for operation in [Operation::Register, Operation::Wake] {
        let reason = not_measured(program, &plan(operation, 2));
        let expected = match operation {
            Operation::Wake => "it is a program: a wake-up takes the way to it",
            _ => "it is a program without `times`: what would be measured is the way to it",
        };
        assert_eq!(reason, expected);
    }
    let deaf: MakeSelector = &|| wrong(false, None);
    assert_eq!(not_measured(deaf, &plan(Operation::Wake, 2)), "it cannot be woken");
}
