//! Runtimes are started and stopped many times, each with registrations, tasks and timers left. The
//! repetition multiplies what one start leaves behind: descriptors, threads, memory, address space.

use std::time::Duration;

use fd_core::error::StartError;
use fd_core::poller::BackendError;
use nix::sys::resource::{UsageWho, getrusage};

use super::{both_ends, builder, stop};
use crate::patience::{slowness, wait_until};
use crate::prelude::*;
use crate::retry;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/start-stop-often",
    title: "Ten thousand runtimes that are started, used, and stopped or dropped leave no descriptor, thread or memory",
    layer: Layer::Contract,
    clauses: &["L8", "core 6", "core 8", "core 14", "bug 11"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

/// On a machine of ordinary speed; `--slow` divides it.
const ROUNDS: u32 = 10_000;

/// How much a measure may grow in the second half of the rounds. A leak of `each` bytes a round exceeds it;
/// the memory that an allocator keeps does not grow with the rounds.
struct Bound {
    each: u64,
    noise: u64,
}

/// Less than a page: each runtime writes to some of its own.
const RESIDENT: Bound = Bound { each: 1024, noise: 2 << 20 };

/// Less than the stack of a thread, and than the table of a runtime. An allocator may map an arena of 64 MiB
/// at any time.
const MAPPED: Bound = Bound { each: 256 << 10, noise: 256 << 20 };

/// Large enough for the table to show in the address space.
const CAPACITY: usize = 1 << 16;

/// The resources of the process.
#[derive(Clone, Copy)]
struct Usage {
    /// The maximum resident set size, in bytes.
    resident: u64,
    /// The address space in bytes, where the system reports it.
    mapped: Option<u64>,
}

fn run(test: &mut TestContext) -> Result {
    let rounds = (ROUNDS / slowness()).max(20);
    test.record_counter("rounds", rounds.into());
    let before = descriptors::open();
    let threads_before = mapped().map(|(_, threads)| threads);
    let mut middle = None;
    for round in 0..rounds {
        one(test, round)?;
        if round == rounds / 2 {
            // By now the process has everything that it keeps permanently.
            middle = Some(usage()?);
        }
    }
    let (middle, end) = (middle.ok_or_else(|| Failure::Broken("no round".into()))?, usage()?);
    let open = descriptors::open();
    test.check_debug("open descriptors", before, open, "core 6, bug 11");
    let half = u64::from(rounds / 2);
    bounded(test, "resident memory", &RESIDENT, half, end.resident.saturating_sub(middle.resident));
    if let (Some(mapped), Some(more)) = (middle.mapped, end.mapped) {
        bounded(test, "address space", &MAPPED, half, more.saturating_sub(mapped));
    }
    if let Some(before) = threads_before {
        let left = threads_left(before);
        test.check("threads", format!("at most {before}"), left, "core 14", left <= before);
    }
    Ok(())
}

/// Returns the number of threads, as soon as it is not above `expected`: for a moment, the kernel still
/// counts a thread that was joined.
fn threads_left(expected: u64) -> u64 {
    let threads = || mapped().map_or(0, |(_, threads)| threads);
    wait_until(|| threads() <= expected);
    threads()
}

fn bounded(test: &mut TestContext, what: &str, bound: &Bound, rounds: u64, grown: u64) {
    let most = bound.each * rounds + bound.noise;
    test.record_counter(format!("{what}: growth in the second half"), grown);
    // An emulator or a sanitizer keeps memory, too, which cannot be distinguished from the program's.
    if slowness() > 1 {
        return;
    }
    test.check(format!("{what}: growth"), format!("at most {most} bytes"), grown, "core 6", grown <= most);
}

/// Starts and ends one runtime with registrations, tasks and timers, some of which hold a reference to it.
fn one(test: &TestContext, round: u32) -> Result {
    let runtime = match retry::start(|| builder(test).capacity(CAPACITY), test.make) {
        Err(StartError::Backend(BackendError::Capacity { .. })) => retry::start(|| builder(test), test.make),
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
        core.registration(inserted?).want_recv()?;
        let (in_timer, in_task) = (Arc::clone(&core), Arc::clone(&core));
        let _ = core.post(thread, move |context| {
            context.after(Duration::from_secs(3600), move |_| drop(in_timer));
        });
        let _ = core.post(thread, move |_| drop(in_task));
    }
    match round % 4 {
        0 => drop(runtime),
        // One of its own threads drops it.
        1 => {
            let thread = core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?;
            let _ = core.post(thread, move |_| drop(runtime));
            Harness::wait_with_core(&core, "the runtime has ended", || Arc::strong_count(&core) == 1)?;
        }
        2 => {
            stop(runtime)?;
            let held = Arc::clone(&core);
            let _ = core.post(
                core.threads().next().ok_or_else(|| Failure::Broken("no thread".into()))?,
                move |_| {
                    drop(held);
                },
            );
        }
        _ => stop(runtime)?,
    }
    Ok(())
}

fn usage() -> Result<Usage> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    // Kibibytes, but bytes on macOS.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let resident = u64::try_from(usage.max_rss()).unwrap_or(0) * unit;
    Ok(Usage { resident, mapped: mapped().map(|(bytes, _)| bytes) })
}

/// Returns the address space in bytes and the number of threads. proc_pid_stat(5): fields 20 and 23, counted
/// from the end of the name, which may contain any character.
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
