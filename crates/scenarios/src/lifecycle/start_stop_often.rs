//! Runtimes are started and stopped many times over, each with something left to end. What one start leaves behind is as
//! many times as much in the end: descriptors, threads, memory, address space.

use std::sync::Arc;
use std::time::Duration;

use fd_core::error::StartError;
use fd_core::poller::BackendError;
use fd_core::{InsertOptions, ReadyGuard};
use metadata::{Axes, Layer, Mode, Transport};
use nix::sys::resource::{UsageWho, getrusage};

use super::{both_ends, builder, stopped};
use crate::catalogue::Scenario;
use crate::descriptors;
use crate::persist;
use crate::test_context::{Failure, TestContext, slowness};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/start-stop-often",
    title: "Ten thousand runtimes, started, used, and stopped or dropped, leave no descriptor, thread or memory",
    layer: Layer::Contract,
    clauses: &["L8", "core 6", "core 8", "core 14", "bug 11"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

/// On a machine of ordinary speed; `--slow` says by how much this one is slower.
const ROUNDS: u32 = 10_000;

/// How much a measure may grow in the second half of the rounds: a leak of `each` bytes a round is seen, and what an allocator
/// comes to keep does not grow with the rounds.
struct Bound {
    each: u64,
    noise: u64,
}

/// Less than a page: each runtime writes to some of its own.
const RESIDENT: Bound = Bound { each: 1024, noise: 2 << 20 };

/// Less than the stack of a thread, and than the table of a runtime. An allocator may map an arena of 64 MiB at any time.
const MAPPED: Bound = Bound { each: 256 << 10, noise: 256 << 20 };

/// As many entries as a table should have to be seen in the address space.
const CAPACITY: usize = 1 << 16;

/// What the process has.
#[derive(Clone, Copy)]
struct Usage {
    /// The most that was ever resident, in bytes.
    resident: u64,
    /// Its address space in bytes, and its threads, where the system can be asked.
    mapped: Option<(u64, u64)>,
}

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let rounds = (ROUNDS / slowness()).max(20);
    test.count("rounds", rounds.into());
    let before = descriptors::open();
    let mut middle = None;
    for round in 0..rounds {
        one(test, round)?;
        if round == rounds / 2 {
            // The process has all by now that it keeps for its own.
            middle = Some(usage()?);
        }
    }
    let (middle, end) = (middle.ok_or_else(|| Failure::Broken("no round".into()))?, usage()?);
    let open = descriptors::open();
    test.check_eq("open descriptors", format!("{before:?}"), format!("{open:?}"), "core 6, bug 11");
    let half = u64::from(rounds / 2);
    bounded(test, "resident memory", &RESIDENT, half, end.resident.saturating_sub(middle.resident));
    if let (Some((mapped, threads)), Some((more, later))) = (middle.mapped, end.mapped) {
        bounded(test, "address space", &MAPPED, half, more.saturating_sub(mapped));
        test.check_eq("threads", threads, later, "core 14");
    }
    Ok(())
}

fn bounded(test: &mut TestContext, what: &str, bound: &Bound, rounds: u64, grown: u64) {
    let most = bound.each * rounds + bound.noise;
    test.count(format!("{what}: growth in the second half"), grown);
    // What an emulator or a sanitizer keeps is not told from what its program keeps.
    if slowness() > 1 {
        return;
    }
    test.check(format!("{what}: growth"), format!("at most {most} bytes"), grown, "core 6", grown <= most);
}

/// One runtime that has something to end: registrations, tasks and timers, some of which hold it.
fn one(test: &TestContext, round: u32) -> Result<(), Failure> {
    let runtime = match persist::start(|| builder(test).capacity(CAPACITY), test.make) {
        Err(StartError::Backend(BackendError::Capacity { .. })) => {
            persist::start(|| builder(test), test.make)
        }
        started => started,
    };
    let runtime = runtime.map_err(Failure::from_start)?;
    let core = Arc::clone(runtime.core());
    for thread in core.threads() {
        let (near, _far) = both_ends(test)?;
        let held = Arc::clone(&core);
        let handler = move |ready: &ReadyGuard<'_>| {
            let _ = (ready.registration().stop_recv(), &held);
        };
        let inserted =
            core.insert(near, Arc::new(handler), thread.group(), thread.mask(), InsertOptions::default());
        core.registration(inserted.map_err(Failure::broken)?).want_recv().map_err(Failure::broken)?;
        let (in_timer, in_task) = (Arc::clone(&core), Arc::clone(&core));
        let _ = core.post(thread, move |context| context.after(Duration::from_secs(3600), move |_| drop(in_timer)));
        let _ = core.post(thread, move |_| drop(in_task));
    }
    match round % 4 {
        0 => drop(runtime),
        // The thread that drops it is one of those that end.
        1 => {
            let thread = core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?;
            let _ = core.post(thread, move |_| drop(runtime));
            crate::Harness::wait(&core, "the runtime is gone", || Arc::strong_count(&core) == 1)?;
        }
        2 => {
            stopped(runtime)?;
            let held = Arc::clone(&core);
            let _ = core.post(core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?, move |_| {
                drop(held);
            });
        }
        _ => stopped(runtime)?,
    }
    Ok(())
}

fn usage() -> Result<Usage, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(Failure::broken)?;
    // Kibibytes, but bytes on macOS.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let resident = u64::try_from(usage.max_rss()).unwrap_or(0) * unit;
    Ok(Usage { resident, mapped: mapped() })
}

/// proc_pid_stat(5): fields 20 and 23, counted behind the name, which may have anything in it.
#[cfg(target_os = "linux")]
fn mapped() -> Option<(u64, u64)> {
    // Not in every container.
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<_> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(20)?.parse().ok()?, fields.get(17)?.parse().ok()?))
}

#[cfg(not(target_os = "linux"))]
fn mapped() -> Option<(u64, u64)> {
    None
}
