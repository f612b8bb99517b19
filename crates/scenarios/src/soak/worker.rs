//! What each worker thread does, one batch after the other.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use fd_core::error::{EnterError, MoveError};
use fd_core::{Context, FdCore, FdHandle, ReadyGuard};

use super::Shared;
use super::ring::Op;
use super::subject::end;

/// Operations between two turns of the worker's loop.
const BATCH: usize = 64;
/// Descriptors that are looked at for one to take.
const LOOKED_AT: usize = 8;

/// Widens the windows between the steps of the protocol: called at every one of them.
pub(super) fn widen() {
    if fastrand::u16(..1024) == 0 {
        std::thread::yield_now();
    }
}

/// Gives a worker its work.
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
    let me = &shared.threads[index];
    me.batches.fetch_add(1, Ordering::SeqCst);
    if shared.resting.load(Ordering::SeqCst) {
        shared.rested.fetch_add(1, Ordering::SeqCst);
        return;
    }
    let mut older = None;
    for _ in 0..BATCH {
        let (op, handle, outcome) = step(shared, context, index, &mut older);
        me.ring.lock().unwrap_or_else(PoisonError::into_inner).note(op, handle, outcome);
    }
    unpark_one(shared, context.core());
    let again = Arc::clone(shared);
    if fastrand::u8(..32) == 0 && others_work(shared, index) {
        // Its poller may sleep now, until another thread's post wakes it.
        me.ring.lock().unwrap_or_else(PoisonError::into_inner).note(Op::Park, None, "done");
        me.parked.store(true, Ordering::SeqCst);
    } else {
        let _ = context.core().post(context.id(), move |context| batch(&again, context, index));
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

/// Gives every parked worker its work back.
pub(super) fn unpark_all(shared: &Arc<Shared>, core: &Arc<FdCore>) {
    (0..shared.threads.len()).for_each(|index| unpark(shared, core, index));
}

fn unpark(shared: &Arc<Shared>, core: &Arc<FdCore>, index: usize) {
    let thread = &shared.threads[index];
    if thread.parked.load(Ordering::SeqCst) && thread.parked.swap(false, Ordering::SeqCst) {
        let again = Arc::clone(shared);
        let _ = core.post(thread.id, move |context| batch(&again, context, index));
    }
}

/// One operation, and what came of it.
fn step(
    shared: &Arc<Shared>,
    context: &Context,
    index: usize,
    older: &mut Option<FdHandle>,
) -> (Op, Option<FdHandle>, &'static str) {
    let slot = fastrand::usize(..shared.slots.len());
    let choice = fastrand::u8(..);
    if choice >= 251 {
        return flap(shared, context);
    }
    let Some((handle, _, subject)) = shared.slots[slot].get() else { return (Op::Stale, None, "empty") };
    let core = context.core();
    let stale = |done: Result<(), _>| if done.is_ok() { "done" } else { "stale" };
    let (op, outcome) = match choice {
        0..12 => (Op::Want, stale(context.registration(handle).want_recv())),
        12..20 => (Op::Stop, stale(context.registration(handle).stop_recv())),
        20..28 => (Op::Write, if shared.slots[slot].write().is_some() { "done" } else { "full" }),
        28..32 => {
            let used = context.enter(handle, |ready| match subject.upgrade() {
                Some(subject) => subject.used(shared, ready),
                None => shared.violate(format!("S5: {handle:?} is entered without its owner")),
            });
            let outcome = match used {
                Ok(()) => "done",
                Err(EnterError::Stale(_)) => "stale",
                Err(EnterError::NotAllowed) => "not allowed",
                Err(EnterError::WrongSource) => {
                    shared.violate(format!("S7: fd {} has another source", handle.number()));
                    "wrong source"
                }
                Err(EnterError::Nested) => {
                    shared.violate(format!(
                        "L9: thread {} has left fd {} running",
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
            if let ("done", Some(subject)) = (outcome, subject.upgrade()) {
                subject.at.store(target as u32, Ordering::Relaxed);
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
            *older = Some(handle);
            (if disown { Op::Disown } else { Op::Delete }, outcome)
        }
        38 => match older {
            Some(over) => (Op::Stale, use_stale(shared, context, *over)),
            None => (Op::Stale, "none yet"),
        },
        _ => return take(shared, context, index, slot),
    };
    (op, Some(handle), outcome)
}

/// Takes the first descriptor from `slot` on that seems to be another thread's: of one's own it would be no takeover.
fn take(
    shared: &Shared,
    context: &Context,
    index: usize,
    slot: usize,
) -> (Op, Option<FdHandle>, &'static str) {
    for offset in 0..LOOKED_AT {
        let slot = &shared.slots[(slot + offset) % shared.slots.len()];
        let Some((handle, owner, subject)) = slot.get() else { continue };
        let Some(subject) = subject.upgrade() else { return (Op::Takeover, Some(handle), "over") };
        if subject.at.load(Ordering::Relaxed) == index as u32 {
            continue;
        }
        let taken = context.takeover(handle, owner);
        if taken.is_ok() {
            subject.at.store(index as u32, Ordering::Relaxed);
            check_taken(shared, context, handle, &subject);
        }
        return (Op::Takeover, Some(handle), moved(shared, handle, taken));
    }
    // This thread has nearly all of them: it is the others' turn.
    std::thread::yield_now();
    (Op::Yield, None, "done")
}

/// What a change of owner may answer for a descriptor of one thread whose owner is the one of its handle.
fn moved(shared: &Shared, handle: FdHandle, answer: Result<(), MoveError>) -> &'static str {
    match answer {
        Ok(()) => "done",
        Err(MoveError::Stale(_)) => "stale",
        Err(MoveError::Busy) => "busy",
        Err(MoveError::Deleted) => "deleted",
        Err(error) => {
            shared.violate(format!("S2: {handle:?} has one thread and its owner, but: {error}"));
            "wrong"
        }
    }
}

/// After a takeover, and unless somebody has taken it since, nobody is inside.
fn check_taken(shared: &Shared, context: &Context, handle: FdHandle, subject: &super::subject::Subject) {
    let me = context.id();
    let Ok(before) = context.core().entry(handle) else { return };
    let inside = subject.is_inside();
    if !inside {
        return;
    }
    let Ok(after) = context.core().entry(handle) else { return };
    let mine = |entry: &fd_core::EntryInfo| entry.group == me.group() && entry.thread_mask == me.mask();
    shared.must(!(mine(&before) && mine(&after) && before.takeovers == after.takeovers), || {
        format!("S3: thread {me} has taken fd {} under its handler\n{after}", handle.number())
    });
}

/// A handle whose registration was ended by this thread is refused everywhere.
fn use_stale(shared: &Shared, context: &Context, over: FdHandle) -> &'static str {
    let fd = context.registration(over);
    let refused = fd.delete().is_err() && fd.migrate_on(context.id()).is_err();
    shared.must(refused, || format!("S7: {over:?} is accepted after its end"));
    let entered = context.enter(over, |_: &ReadyGuard<'_>| ()).is_ok();
    shared.must(!entered, || format!("S6: {over:?} is entered after its end"));
    "refused"
}

/// Wants or stops the listener of this group or another.
fn flap(shared: &Shared, context: &Context) -> (Op, Option<FdHandle>, &'static str) {
    let listening = &shared.listeners[fastrand::usize(..shared.listeners.len())];
    let Some(handle) = listening.handle() else { return (Op::Flap, None, "none") };
    let fd = context.registration(handle);
    let done = if fastrand::bool() { fd.want_recv() } else { fd.stop_recv() };
    shared.must(done.is_ok(), || "S4: a listener that nobody has deleted is gone".into());
    (Op::Flap, Some(handle), "done")
}
