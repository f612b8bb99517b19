//! A worker thread forks and continues in the child, where the other threads do not exist. The uses, moves,
//! insertions and closes of those threads never ended there: a delete returned Ok, and the descriptor stayed
//! open. The child also read the bytes that should wake its parent's thread.

use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::mpsc::channel;

use super::child::{Child, Forked, Report, when};
use super::held_at_fork::{Place, Scene};
use crate::deletion::monitor::HandlerMonitor;
use crate::prelude::*;
use crate::threads;
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/fork-goes-on",
    title: "In a forked child that continues with one thread, registrations end, numbers are reusable, and wake-ups work",
    layer: Layer::Contract,
    clauses: &["S4", "L2", "L9", "core 11", "core 16"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

/// How often parent and child wake their threads, at the same time.
const WAKES: usize = 300;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    for place in Place::ALL {
        beside_a_held_thread(test, &mut harness, place)?;
    }
    in_a_handler(test, &mut harness)?;
    both_are_woken(test, &mut harness)?;
    harness.finish(test, &[])
}

fn beside_a_held_thread(test: &mut TestContext, harness: &mut Harness, place: Place) -> Result {
    let (forks, other) = (harness.thread(0), harness.thread(1));
    let when = format!("{place:?}");
    let scene = Scene::set(test, harness, place, other, forks)?;
    let (number, handle) = (scene.number, scene.handle);
    let mut child = Child::fork_on(harness, forks, move |context, report| {
        let is_accepted = context.core().post(other, |_| ()).is_ok();
        report.eq("a task of a thread that does not exist is accepted", false, is_accepted);
        if let Some(handle) = handle {
            let expected = if place.leaves_registration() { "Ok(())" } else { "refused" };
            let deleted = context.registration(handle).delete();
            let deleted = deleted.map_or_else(|_| "refused".to_owned(), |()| "Ok(())".to_owned());
            report.eq("delete", expected.to_owned(), deleted);
        }
        report.eq("the number is open", place.leaves_number(), descriptors::is_open(number));
        end_the_rest(context, report);
        let near = if place.leaves_number() {
            // SAFETY: no other part of the child owns the number.
            unsafe { OwnedFd::from_raw_fd(number) }
        } else {
            pipe_at(number)
        };
        register_again(context, report, near, place);
    })?;
    child.record(test, &format!("beside {when}"), "core 11")?;
    drop(child);
    scene.end(harness, &when)?;
    harness.fence_all()
}

/// Ends every registration that the child has inherited. The parent has the files, too.
fn end_the_rest(context: &Context, report: Report) {
    let core = context.core();
    let own = |entry: &fd_core::EntryInfo| entry.state.contains(State::INTERNAL);
    let (own, rest): (Vec<_>, Vec<_>) = core.entries().0.into_iter().partition(own);
    let users = |entry: &fd_core::EntryInfo| entry.references > 0 || !entry.running.is_empty();
    report.eq("entries with users that do not exist", 0, rest.iter().filter(|entry| users(entry)).count());
    let refused = rest.iter().filter(|entry| context.registration(entry.handle).delete().is_err()).count();
    report.eq("deletes that are refused", 0, refused);
    let open = rest.iter().filter(|entry| descriptors::is_open(entry.handle.number())).count();
    report.eq("numbers open after their delete", 0, open);
    report.eq("remaining registrations", own.len() as u64, core.table().used());
}

/// Returns a readable pipe under `number`.
fn pipe_at(number: std::os::fd::RawFd) -> OwnedFd {
    let mut ends = pair(Transport::Pipe).expect("descriptors");
    ends.far.write_all(b"child").expect("room for a few bytes");
    std::mem::forget(ends.far);
    at_number(ends.near, number).expect("the number is free")
}

/// Registers the number again. The report ends after its event and one task.
fn register_again(context: &Context, report: Report, near: OwnedFd, place: Place) {
    let handler = move |ready: &ReadyGuard<'_>| {
        if !place.leaves_number() {
            let mut bytes = Vec::new();
            let _ = read_all(ready, &mut bytes);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            report.eq("data read from the number", "child".to_owned(), text);
        }
        let _ = ready.registration().delete();
        let context = ready.context();
        let number = ready.handle().number();
        let _ = context.core().post(context.id(), move |_| {
            let what = "the number is open after its own handler's delete";
            report.eq(what, false, descriptors::is_open(number));
            report.end()
        });
    };
    let (core, id) = (context.core(), context.id());
    let inserted = core.insert(near, Arc::new(handler), id.group(), id.mask(), InsertOptions::default());
    match inserted {
        Ok(handle) if place.leaves_number() => {
            // Only the parent could make it ready.
            let is_deleted = context.registration(handle).delete().is_ok();
            report.eq("delete of the new registration succeeds", true, is_deleted);
            report.end()
        }
        Ok(handle) => context.registration(handle).want_recv().expect("just inserted"),
        Err(refused) => {
            report.eq("insertion of the number", "Ok".to_owned(), refused.to_string());
            report.end()
        }
    }
}

/// The thread that forks is in a handler. The child continues in it.
fn in_a_handler(test: &mut TestContext, harness: &mut Harness) -> Result {
    let thread = harness.thread(0);
    let mut ends = test.pair()?;
    let monitor = HandlerMonitor::new(&ends.near);
    let forked = Forked::default();
    let result = forked.clone();
    let (reader, report) = std::io::pipe()?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&report);
    let handler = monitor.doing(move |_, ready| {
        let context = ready.context();
        context.core().before_fork();
        let child = super::child::continue_in_child(context, Report::at(number), |context, report| {
            let running = context.core().entry(ready.handle()).map(|entry| entry.running);
            report.eq("threads that run the handler", Ok(context.id().mask()), running);
            report.eq("delete", Ok(()), ready.registration().delete());
            report.eq("open while it runs", true, descriptors::is_open(ready.handle().number()));
            let inner = ready.handle();
            end_the_others(context, inner);
            when(context, move |_| !descriptors::is_open(inner.number()), move |_| report.end());
        });
        // Only in the parent: the child has deleted the descriptor.
        if child.is_ok() {
            let _ = ready.registration().stop_recv();
        }
        result.set(child);
    });
    let handle = harness.insert_recv(ends.near, handler, thread)?;
    ends.far.write_all(b"x")?;
    let mut child = forked.child(harness, reader)?;
    drop(report);
    child.record(test, "forked in a handler", "core 11")?;
    drop(child);
    harness.fence(thread)?;
    test.check_eq("the parent's handler was dropped", 0, monitor.dropped(), "the child has its own copy");
    harness.registration(handle).delete()?;
    harness.wait_until("the peer sees the end", || ends.far.ended())
}

/// Ends every registration that the child has inherited, except `kept`.
fn end_the_others(context: &Context, kept: FdHandle) {
    for entry in context.core().entries().0 {
        if entry.handle != kept {
            let _ = context.registration(entry.handle).delete();
        }
    }
}

/// Wakes threads of parent and child from their sleep. A wake-up in one process must not reach the other.
fn both_are_woken(test: &mut TestContext, harness: &mut Harness) -> Result {
    let (thread, other) = (harness.thread(0), harness.thread(1));
    harness.core().before_fork();
    let before = harness.activity(other).wake_thread;
    let mut child = Child::fork_on(harness, thread, move |context, report| {
        end_the_rest(context, report);
        let (core, id) = (Arc::clone(context.core()), context.id());
        core.wake(other);
        let _ = core.post(other, |_| ());
        let started = threads::spawn(move || {
            let woken = (0..WAKES).take_while(|_| {
                let (sender, receiver) = channel();
                let _ = core.post(id, move |_| sender.send(()).unwrap_or_default());
                receiver.recv_timeout(patience() / 2).is_ok()
            });
            report.eq("wake-ups that its thread answered", WAKES, woken.count());
            report.end()
        });
        if let Err(failure) = started {
            report.eq("a thread of the child", "started".to_owned(), failure.to_string());
            report.end()
        }
    })?;
    for _ in 0..WAKES {
        harness.on(thread, |_| ())?;
    }
    child.record(test, "woken beside its parent", "core 16")?;
    harness.fence(other)?;
    let wakes = harness.activity(other).wake_thread - before;
    test.check_eq("wake-ups of a parent's thread by the child", 0, wakes, "core 16");
    for _ in 0..WAKES {
        harness.on(thread, |_| ())?;
    }
    Ok(())
}
