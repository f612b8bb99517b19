//! The operations of each worker thread, in batches.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fd_core::error::{EnterError, MoveError};
use fd_core::{Context, FdCore, FdHandle, ReadyGuard};

use super::Shared;
use super::ring::Op;
use super::slots::end;
use crate::mutex::unpoisoned;

/// Operations of a worker in one iteration of its loop.
const BATCH: usize = 64;
/// Descriptors that are examined to find one to take.
const EXAMINED: usize = 8;

/// Widens the windows between the steps of the protocol. Called at every checkpoint.
pub(super) fn widen_windows() {
    if fastrand::u16(..1024) == 0 {
        std::thread::yield_now();
    }
}

/// Posts the first batch of a round to a worker.
pub(super) fn start(shared: &Arc<Shared>, core: &Arc<FdCore>, index: usize) {
    let (shared, thread) = (Arc::clone(shared), shared.threads[index].id);
    let seed = shared.soak.seed.wrapping_add(index as u64 + 1);
    let _ = core.post(thread, move |context| {
        if shared.threads[index].batches.load(Ordering::SeqCst) == 0 {
            fastrand::seed(seed);
        }
        batch(&shared, context, index);
    });
}

fn batch(shared: &Arc<Shared>, context: &Context, index: usize) {
    let thread = &shared.threads[index];
    thread.batches.fetch_add(1, Ordering::SeqCst);
    if shared.resting.load(Ordering::SeqCst) {
        shared.rested.fetch_add(1, Ordering::SeqCst);
        return;
    }
    let mut ended = None;
    for _ in 0..BATCH {
        let (op, handle, outcome) = step(shared, context, index, &mut ended);
        unpoisoned(&thread.ring).note(op, handle, outcome);
    }
    unpark_one(shared, context.core());
    let task_shared = Arc::clone(shared);
    if fastrand::u8(..32) == 0 && others_work(shared, index) {
        // Its poller may now sleep until another thread's post wakes it.
        unpoisoned(&thread.ring).note(Op::Park, None, "done");
        thread.parked.store(true, Ordering::SeqCst);
    } else {
        let _ = context.core().post(context.id(), move |context| batch(&task_shared, context, index));
    }
}

fn others_work(shared: &Shared, index: usize) -> bool {
    let works =
        |(other, thread): (usize, &super::Thread)| other != index && !thread.parked.load(Ordering::SeqCst);
    shared.threads.iter().enumerate().any(works)
}

fn unpark_one(shared: &Arc<Shared>, core: &Arc<FdCore>) {
    unpark(shared, core, fastrand::usize(..shared.threads.len()));
}

/// Returns whether the worker stays parked until the next round.
pub(super) fn stays_parked(shared: &Shared, index: usize) -> bool {
    shared.stays_parked.load(Ordering::SeqCst) == index && shared.threads[index].parked.load(Ordering::SeqCst)
}

/// Posts the next batch to every parked worker, except the one that stays parked.
pub(super) fn unpark_all(shared: &Arc<Shared>, core: &Arc<FdCore>) {
    (0..shared.threads.len()).for_each(|index| unpark(shared, core, index));
}

fn unpark(shared: &Arc<Shared>, core: &Arc<FdCore>, index: usize) {
    let thread = &shared.threads[index];
    if shared.stays_parked.load(Ordering::SeqCst) == index {
        return;
    }
    if thread.parked.load(Ordering::SeqCst) && thread.parked.swap(false, Ordering::SeqCst) {
        let task_shared = Arc::clone(shared);
        let _ = core.post(thread.id, move |context| batch(&task_shared, context, index));
    }
}

/// Performs one operation. Returns it with its descriptor and its outcome.
fn step(
    shared: &Arc<Shared>,
    context: &Context,
    index: usize,
    ended: &mut Option<FdHandle>,
) -> (Op, Option<FdHandle>, &'static str) {
    let slot = fastrand::usize(..shared.slots.len());
    let choice = fastrand::u8(..);
    if choice >= 251 {
        return flap(shared, context);
    }
    let Some((handle, _, handler)) = shared.slots[slot].get() else { return (Op::Stale, None, "empty") };
    let core = context.core();
    let stale = |done: Result<(), _>| if done.is_ok() { "done" } else { "stale" };
    let (op, outcome) = match choice {
        0..12 => (Op::Want, stale(context.registration(handle).want_recv())),
        12..20 => (Op::Stop, stale(context.registration(handle).stop_recv())),
        20..28 => (Op::Write, if shared.slots[slot].write().is_some() { "done" } else { "full" }),
        28..32 => {
            let result = context.enter(handle, |ready| match handler.upgrade() {
                Some(handler) => handler.check_use(shared, ready),
                None => shared.violate(format!("S5: {handle:?} is entered after its handler was dropped")),
            });
            let outcome = match result {
                Ok(()) => "done",
                Err(EnterError::Stale(_)) => "stale",
                Err(EnterError::NotAllowed) => "not allowed",
                Err(EnterError::WrongType) => {
                    shared.violate(format!("S7: fd {} has another source", handle.number()));
                    "wrong source"
                }
                Err(EnterError::Nested) => {
                    shared.violate(format!(
                        "L9: thread {} has kept the running bit of fd {}",
                        context.id(),
                        handle.number()
                    ));
                    "nested"
                }
            };
            (Op::Enter, outcome)
        }
        32..36 => {
            let target = fastrand::usize(..shared.threads.len());
            let outcome =
                moved(shared, handle, context.registration(handle).migrate_on(shared.threads[target].id));
            if let ("done", Some(handler)) = (outcome, handler.upgrade()) {
                handler.at.store(target as u32, Ordering::Relaxed);
            }
            (Op::Migrate, outcome)
        }
        36 | 37 => {
            let disown = choice == 37;
            let mut outcome = "refused";
            end(shared, core, slot, handle, disown, |disown| {
                let fd = context.registration(handle);
                let done = if disown { fd.disown() } else { fd.delete() }.is_ok();
                outcome = if done { "done" } else { "refused" };
                done
            });
            *ended = Some(handle);
            (if disown { Op::Disown } else { Op::Delete }, outcome)
        }
        38 => match ended {
            Some(ended_handle) => (Op::Stale, use_stale(shared, context, *ended_handle)),
            None => (Op::Stale, "none yet"),
        },
        _ => return take(shared, context, index, slot),
    };
    (op, Some(handle), outcome)
}

/// Takes the first descriptor from `slot` on that seems to belong to another thread: taking one's own is no
/// takeover.
fn take(
    shared: &Shared,
    context: &Context,
    index: usize,
    slot: usize,
) -> (Op, Option<FdHandle>, &'static str) {
    for offset in 0..EXAMINED {
        let slot = &shared.slots[(slot + offset) % shared.slots.len()];
        let Some((handle, owner, handler)) = slot.get() else { continue };
        let Some(handler) = handler.upgrade() else { return (Op::Takeover, Some(handle), "over") };
        if handler.at.load(Ordering::Relaxed) == index as u32 {
            continue;
        }
        let taken = context.takeover(handle, owner);
        if taken.is_ok() {
            handler.at.store(index as u32, Ordering::Relaxed);
            check_taken(shared, context, handle, &handler);
        }
        return (Op::Takeover, Some(handle), moved(shared, handle, taken));
    }
    // This thread has nearly all descriptors: other threads must run.
    std::thread::yield_now();
    (Op::Yield, None, "done")
}

/// Names the outcome of a change of owner. For a descriptor of one thread, called with its owner, every other
/// error is a violation.
fn moved(shared: &Shared, handle: FdHandle, answer: Result<(), MoveError>) -> &'static str {
    match answer {
        Ok(()) => "done",
        Err(MoveError::Stale(_)) => "stale",
        Err(MoveError::Busy) => "busy",
        Err(MoveError::Deleted) => "deleted",
        Err(error) => {
            shared.violate(format!("S2: {handle:?} has one thread and the named owner, but: {error}"));
            "wrong"
        }
    }
}

/// Checks that no thread uses the descriptor right after a takeover, unless another thread has taken it
/// since.
fn check_taken(shared: &Shared, context: &Context, handle: FdHandle, handler: &super::slots::SoakHandler) {
    let thread = context.id();
    let Ok(before) = context.core().entry(handle) else { return };
    let in_use = handler.is_in_use();
    if !in_use {
        return;
    }
    let Ok(after) = context.core().entry(handle) else { return };
    let is_own =
        |entry: &fd_core::EntryInfo| entry.group == thread.group() && entry.thread_mask == thread.mask();
    shared.require(!(is_own(&before) && is_own(&after) && before.takeovers == after.takeovers), || {
        format!("S3: thread {thread} has taken fd {} while its handler runs\n{after}", handle.number())
    });
}

/// Checks that every call refuses a handle whose registration this thread has ended.
fn use_stale(shared: &Shared, context: &Context, ended_handle: FdHandle) -> &'static str {
    let fd = context.registration(ended_handle);
    let refused = fd.delete().is_err() && fd.migrate_on(context.id()).is_err();
    shared.require(refused, || format!("S7: {ended_handle:?} is accepted after its end"));
    let entered = context.enter(ended_handle, |_: &ReadyGuard<'_>| ()).is_ok();
    shared.require(!entered, || format!("S6: {ended_handle:?} is entered after its end"));
    "refused"
}

/// Starts or stops a random listener, of this group or another.
fn flap(shared: &Shared, context: &Context) -> (Op, Option<FdHandle>, &'static str) {
    let listener = &shared.listeners[fastrand::usize(..shared.listeners.len())];
    let Some(handle) = listener.handle() else { return (Op::Flap, None, "none") };
    let fd = context.registration(handle);
    let done = if fastrand::bool() { fd.want_recv() } else { fd.stop_recv() };
    shared.require(done.is_ok(), || "S4: a listener that no thread has deleted has ended".into());
    (Op::Flap, Some(handle), "done")
}
