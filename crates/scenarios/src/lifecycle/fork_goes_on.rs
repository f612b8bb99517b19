//! A worker thread forks, and goes on in the child, where the other threads do not exist. What they were using, moving,
//! inserting or closing could never end there: a delete said Ok, and the descriptor stayed open. And the child read the
//! bytes that woke its parent's thread.

use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::channel;

use fd_core::{Context, FdHandle, InsertOptions, ReadyGuard, State};
use metadata::{Axes, Layer, Mode, Transport};

use super::child::{Child, Forked, Report, when};
use super::held_at_fork::{Place, Scene};
use crate::catalogue::Scenario;
use crate::deletion::monitor::HandlerMonitor;
use crate::descriptors;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext, patience};
use crate::threads;
use crate::transport::{at_number, pair, read_all};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "lifecycle/fork-goes-on",
    title: "A forked child goes on with one thread: everything can end there, every number be used again, and every thread be woken",
    layer: Layer::Contract,
    clauses: &["S4", "L2", "L9", "core 11", "core 16"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

/// Times that parent and child each wake their thread, at the same time.
const WAKES: usize = 300;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let points = Checkpoints::watch();
    for place in Place::ALL {
        beside_a_held_thread(test, &mut harness, &points, place)?;
    }
    in_a_handler(test, &mut harness)?;
    both_are_woken(test, &mut harness)?;
    drop(points);
    harness.finish(test, &[])
}

fn beside_a_held_thread(
    test: &mut TestContext,
    harness: &mut Harness,
    points: &Checkpoints,
    place: Place,
) -> Result<(), Failure> {
    let (forks, other) = (harness.thread(0), harness.thread(1));
    let when = format!("{place:?}");
    let scene = Scene::set(test, harness, points, place, other, forks)?;
    let (number, handle) = (scene.number, scene.handle);
    let mut child = Child::fork_on(harness, forks, move |context, report| {
        report.eq(
            "a task of a thread that is not there is accepted",
            false,
            context.core().post(other, |_| ()).is_ok(),
        );
        if let Some(handle) = handle {
            let expected = if place.leaves_registration() { "Ok(())" } else { "refused" };
            let deleted = context.registration(handle).delete();
            let deleted = deleted.map_or_else(|_| "refused".to_owned(), |()| "Ok(())".to_owned());
            report.eq("delete", expected.to_owned(), deleted);
        }
        report.eq("the number is open", place.leaves_number(), descriptors::is_open(number));
        end_the_rest(context, report);
        let near = if place.leaves_number() {
            // SAFETY: nobody in the child knows the number but this.
            unsafe { OwnedFd::from_raw_fd(number) }
        } else {
            number_again(number)
        };
        use_again(context, report, near, place);
    })?;
    child.record(test, &format!("beside {when}"), "core 11")?;
    drop(child);
    scene.end(harness, &when)?;
    harness.fence_all()
}

/// Ends every registration that the child has inherited: the files are its parent's, too.
fn end_the_rest(context: &Context, report: Report) {
    let core = context.core();
    let own = |entry: &fd_core::EntryInfo| entry.state.contains(State::INTERNAL);
    let (own, rest): (Vec<_>, Vec<_>) = core.entries().0.into_iter().partition(own);
    let users = |entry: &fd_core::EntryInfo| entry.references > 0 || !entry.running.is_empty();
    report.eq("entries with users that are not there", 0, rest.iter().filter(|entry| users(entry)).count());
    let refused = rest.iter().filter(|entry| context.registration(entry.handle).delete().is_err()).count();
    report.eq("deletes that are refused", 0, refused);
    let open = rest.iter().filter(|entry| descriptors::is_open(entry.handle.number())).count();
    report.eq("numbers open after their delete", 0, open);
    report.eq("registrations that are left", own.len() as u64, core.table().used());
}

fn number_again(number: std::os::fd::RawFd) -> OwnedFd {
    let mut ends = pair(Transport::Pipe).expect("descriptors");
    ends.far.write_all(b"child").expect("room for a few bytes");
    std::mem::forget(ends.far);
    at_number(ends.near, number).expect("the number is free")
}

/// Registers the number again. When it has been reported, and a task has run, the child has told everything.
fn use_again(context: &Context, report: Report, near: OwnedFd, place: Place) {
    let handler = move |ready: &ReadyGuard<'_>| {
        if !place.leaves_number() {
            let mut bytes = Vec::new();
            let _ = read_all(ready, &mut bytes);
            report.eq(
                "what the number reads",
                "child".to_owned(),
                String::from_utf8_lossy(&bytes).into_owned(),
            );
        }
        let _ = ready.registration().delete();
        let context = ready.context();
        let number = ready.handle().number();
        let _ = context.core().post(context.id(), move |_| {
            report.eq(
                "the number is open after its own handler's delete",
                false,
                descriptors::is_open(number),
            );
            report.end()
        });
    };
    let (core, id) = (context.core(), context.id());
    let inserted = core.insert(near, Arc::new(handler), id.group(), id.mask(), InsertOptions::default());
    match inserted {
        Ok(handle) if place.leaves_number() => {
            // Nobody but its parent could make it ready.
            report.eq(
                "delete of what was inserted again",
                true,
                context.registration(handle).delete().is_ok(),
            );
            report.end()
        }
        Ok(handle) => context.registration(handle).want_recv().expect("just inserted"),
        Err(refused) => {
            report.eq("insertion of the number", "Ok".to_owned(), refused.to_string());
            report.end()
        }
    }
}

/// The thread that forks is in a handler. The child goes on in it.
fn in_a_handler(test: &mut TestContext, harness: &mut Harness) -> Result<(), Failure> {
    let thread = harness.thread(0);
    let mut ends = pair(test.params.transport).map_err(Failure::broken)?;
    let watch = HandlerMonitor::new(&ends.near);
    let forked = Forked::default();
    let told = forked.clone();
    let (reader, report) = std::io::pipe().map_err(Failure::broken)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&report);
    let handler = watch.doing(move |ready| {
        let context = ready.context();
        context.core().before_fork();
        let child = super::child::go_on_in_child(context, Report::at(number), |context, report| {
            let running = context.core().entry(ready.handle()).map(|entry| entry.running);
            report.eq("who runs the handler", Ok(context.id().mask()), running);
            report.eq("delete", Ok(()), ready.registration().delete());
            report.eq("open while it runs", true, descriptors::is_open(ready.handle().number()));
            let inner = ready.handle();
            end_the_others(context, inner);
            when(context, move |_| !descriptors::is_open(inner.number()), move |_| report.end());
        });
        // Not the child: the descriptor is deleted there.
        if child.is_ok() {
            let _ = ready.registration().stop_recv();
        }
        told.tell(child);
    });
    let handle = harness.insert(ends.near, handler, thread)?;
    harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
    ends.far.write_all(b"x").map_err(Failure::broken)?;
    let mut child = forked.child(harness, reader)?;
    drop(report);
    child.record(test, "forked in a handler", "core 11")?;
    drop(child);
    harness.fence(thread)?;
    test.check_eq("the parent's handler was dropped", 0, watch.dropped(), "the child has its own copy");
    harness.core().registration(handle).delete().map_err(Failure::broken)?;
    harness.wait_until("the peer sees the end", || ends.far.ended())
}

/// Ends what the child has inherited, but for `kept`.
fn end_the_others(context: &Context, kept: FdHandle) {
    for entry in context.core().entries().0 {
        if entry.handle != kept {
            let _ = context.registration(entry.handle).delete();
        }
    }
}

/// Threads of parent and child sleep, and are woken. Neither wake-up is the other one's.
fn both_are_woken(test: &mut TestContext, harness: &mut Harness) -> Result<(), Failure> {
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
                let (tell, told) = channel();
                let _ = core.post(id, move |_| tell.send(()).unwrap_or_default());
                told.recv_timeout(patience() / 2).is_ok()
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
