//! A descriptor moves to another group and back.
//!
//! Masks are local to the group. HAProxy left the old group's kernel registration behind, and on the way back
//! `ADD` failed with `EEXIST`, which was ignored: the former interest stayed in place (`752c5cba5`).

use fd_core::EntryInfo;

use super::{Endpoint, check_answer};
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/group-round-trip",
    title: "An FD that moves to another group and back is reported to its current owner only",
    layer: Layer::Contract,
    clauses: &["S9", "S11", "S18", "L5", "bug 77", "suspect 7"],
    axes: Axes { threads: &[2, 4, 8], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let sleepers = Sleepers::watch();
    let mut harness = Harness::start(test)?;
    let (first, last) = (harness.thread(0), harness.thread(test.params.threads - 1));
    if first.group() == last.group() {
        return Err(Failure::Unsupported("needs two groups".into()));
    }
    there_and_back(test, &mut harness, first, last)?;
    // In the other group a mask of the wrong group would show: the same bit stands for another thread.
    there_and_back(test, &mut harness, last, first)?;
    while_in_batch(test, &mut harness, &sleepers, first, last)?;
    harness.finish(test, &[])
}

fn there_and_back(test: &mut TestContext, harness: &mut Harness, home: ThreadId, away: ThreadId) -> Result {
    let mut endpoint = Endpoint::start(test, harness, home)?;
    let handle = endpoint.handle;
    endpoint.write(b"0")?;
    endpoint.wait_for_bytes(harness, b"0")?;
    harness.fence(home)?;
    let mut expected = format!("{home}:0");
    let mut read = b"0".to_vec();
    for (hop, thread) in [away, home, away, home].into_iter().enumerate() {
        let label = |what: &str| format!("from {home}, hop {} to {thread}: {what}", hop + 1);
        let owner = endpoint.owner;
        let (taken, entry) = harness.on(thread, move |context| {
            let taken = context.takeover(handle, owner);
            (taken, context.core().entry(handle))
        })?;
        check_answer(test, label("takeover"), Ok(()), taken, "L9")?;
        check_moved(test, &label, thread, entry.map_err(|stale| Failure::Wrong(stale.to_string()))?)?;
        let what = label("changes of owner");
        test.check_eq(what, hop as u32 + 1, harness.entry(handle)?.takeovers, "protocol 9.5");

        endpoint.want_recv(harness, thread)?;
        harness.wait_until_polled(handle, thread.mask())?;
        harness.fence(thread)?;
        let entry = harness.entry(handle)?;
        let what = label("threads that poll it");
        test.check_eq(what, thread.mask().bits(), entry.polled_recv.bits(), "S9, S11");
        let digit = b'1' + hop as u8;
        endpoint.write(&[digit])?;
        read.push(digit);
        endpoint.wait_for_bytes(harness, &read)?;
        expected.push_str(&format!(" {thread}:{}", char::from(digit)));
        harness.fence_all()?;
        test.check_eq(label("reports"), expected.clone(), endpoint.reads(), "S3, bug 77");
    }
    endpoint.end(harness)
}

/// Checks the entry right after a change of group, before any interest is enabled.
fn check_moved(
    test: &mut TestContext,
    label: &dyn Fn(&str) -> String,
    thread: ThreadId,
    entry: EntryInfo,
) -> Result {
    test.check_eq(label("group"), thread.group(), entry.group, "protocol 9.6");
    test.check_eq(label("thread mask"), thread.mask().bits(), entry.thread_mask.bits(), "protocol 9.3");
    test.check_eq(label("running"), 0, entry.running.bits(), "protocol 9.2");
    let polled = entry.polled_recv.or(entry.polled_send).bits();
    test.check_eq(label("threads that poll it"), 0, polled, "S9, suspect 7");
    test.check_eq(label("threads with a pending update"), 0, entry.update_mask.bits(), "S9, protocol 9.4");
    let what = label("active directions");
    test.check_eq(what, State::default(), entry.state.and(State::ACTIVE), "protocol 9.5");
    test.stop_if_failed()
}

/// The old group's thread holds an event in its batch while the descriptor moves away, and again while it
/// moves away and back.
fn while_in_batch(
    test: &mut TestContext,
    harness: &mut Harness,
    sleepers: &Sleepers,
    home: ThreadId,
    away: ThreadId,
) -> Result {
    let label = |what: &str| format!("held batch: {what}");
    let mut endpoint = Endpoint::start(test, harness, home)?;
    let handle = endpoint.handle;

    let counted = harness.activity(home);
    let held_batch = sleepers.hold_batch(harness, home)?;
    endpoint.write(b"1")?;
    held_batch.reached()?;
    check_answer(test, label("takeover"), Ok(()), endpoint.take_over(harness, away)?, "L7")?;
    check_moved(test, &label, away, harness.entry(handle)?)?;
    held_batch.release();
    harness.fence_all()?;
    let since = harness.activity(home).since(&counted);
    let counts = format!("{} {}", since.poll_skip, since.poll_drop);
    let what = label("events skipped and dropped by the old group's thread");
    test.check_cost_eq(what, "0 1".into(), counts, "protocol 4.2");
    test.check_eq(label("reports without interest"), 0, endpoint.recorder.reports(), "S3, S18");
    // The late event makes its thread clean up its own poller. That must not change the new group's masks.
    check_moved(test, &label, away, harness.entry(handle)?)?;
    endpoint.want_recv(harness, away)?;
    endpoint.wait_for_bytes(harness, b"1")?;
    harness.fence_all()?;

    // Moves the descriptor home and away again while the thread of the other group holds an event.
    let held_batch = sleepers.hold_batch(harness, away)?;
    endpoint.write(b"2")?;
    held_batch.reached()?;
    check_answer(test, label("takeover back"), Ok(()), endpoint.take_over(harness, home)?, "L7")?;
    let moved = harness.registration(handle).migrate_on(away);
    check_answer(test, label("second migration"), Ok(()), moved, "protocol 9")?;
    check_moved(test, &label, away, harness.entry(handle)?)?;
    held_batch.release();
    harness.fence_all()?;
    test.check_eq(label("reports before the interest is enabled"), 1, endpoint.recorder.reports(), "S18");
    endpoint.want_recv(harness, away)?;
    endpoint.wait_for_bytes(harness, b"12")?;
    harness.wait_until_polled(handle, away.mask())?;
    harness.fence_all()?;
    let expected = format!("{away}:1 {away}:2");
    test.check_eq(label("reports"), expected, endpoint.reads(), "S3, bug 77");
    let entry = harness.entry(handle)?;
    test.check_eq(label("threads that poll it"), away.mask().bits(), entry.polled_recv.bits(), "S9, S11");
    endpoint.end(harness)
}
