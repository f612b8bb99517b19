//! A descriptor goes to another group and comes back.
//!
//! Masks are local to the group. HAProxy left the old group's registration behind, and on the way back `ADD` answered
//! `EEXIST`, which was ignored: the interest of long ago stayed in place (`752c5cba5`).

use fd_core::ids::ThreadId;
use fd_core::{EntryInfo, State};
use metadata::{Axes, Layer};

use super::{Endpoint, check_answer, reads_by_thread};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::hold::Checkpoints;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "migration/group-round-trip",
    title: "An FD that moves to another group and back is reported where it is",
    layer: Layer::Contract,
    clauses: &["S9", "S11", "S18", "L5", "bug 77", "suspect 7"],
    axes: Axes { threads: &[2, 4, 8], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let (first, last) = (harness.thread(0), harness.thread(test.params.threads - 1));
    if first.group() == last.group() {
        return Err(Failure::Unsupported("needs two groups".into()));
    }
    let checkpoints = Checkpoints::watch();
    there_and_back(test, &mut harness, first, last)?;
    // The other group's numbers are where a mask of the wrong group shows: same bit, another thread.
    there_and_back(test, &mut harness, last, first)?;
    while_in_batch(test, &mut harness, &checkpoints, first, last)?;
    drop(checkpoints);
    harness.finish(test, &[])
}

fn there_and_back(
    test: &mut TestContext,
    harness: &mut Harness,
    home: ThreadId,
    away: ThreadId,
) -> Result<(), Failure> {
    let mut endpoint = Endpoint::start(test, harness, home)?;
    let handle = endpoint.handle;
    endpoint.write(b"0")?;
    endpoint.wait_for_bytes(harness, b"0")?;
    harness.fence(home)?;
    let mut expected = format!("{home}:0");
    let mut read = b"0".to_vec();
    for (hop, thread) in [away, home, away, home].into_iter().enumerate() {
        let at = |what: &str| format!("from {home}, hop {} to {thread}: {what}", hop + 1);
        let owner = endpoint.owner;
        let (taken, entry) = harness.on(thread, move |context| {
            let taken = context.takeover(handle, owner);
            (taken, context.core().entry(handle))
        })?;
        check_answer(test, at("takeover"), Ok(()), taken, "L9")?;
        landed(test, &at, thread, entry.map_err(|stale| Failure::Wrong(stale.to_string()))?)?;
        test.check_eq(
            at("changes of owner"),
            hop as u32 + 1,
            harness.entry(handle)?.takeovers,
            "protocol 9.5",
        );

        endpoint.want(harness, thread)?;
        harness.fence(thread)?;
        let entry = harness.entry(handle)?;
        test.check_eq(at("threads that poll it"), thread.mask().bits(), entry.polled_recv.bits(), "S9, S11");
        let digit = b'1' + hop as u8;
        endpoint.write(&[digit])?;
        read.push(digit);
        endpoint.wait_for_bytes(harness, &read)?;
        expected.push_str(&format!(" {thread}:{}", char::from(digit)));
        harness.fence_all()?;
        test.check_eq(
            at("reports"),
            expected.clone(),
            reads_by_thread(&endpoint.recorder.seen()),
            "S3, bug 77",
        );
    }
    endpoint.end(harness)
}

/// What a descriptor must look like right after a change of group, before anybody wants it.
fn landed(
    test: &mut TestContext,
    at: &dyn Fn(&str) -> String,
    thread: ThreadId,
    entry: EntryInfo,
) -> Result<(), Failure> {
    test.check_eq(at("group"), thread.group(), entry.group, "protocol 9.6");
    test.check_eq(at("thread mask"), thread.mask().bits(), entry.thread_mask.bits(), "protocol 9.3");
    test.check_eq(at("running"), 0, entry.running.bits(), "protocol 9.2");
    test.check_eq(
        at("threads that poll it"),
        0,
        entry.polled_recv.or(entry.polled_send).bits(),
        "S9, suspect 7",
    );
    test.check_eq(at("threads that owe an update"), 0, entry.update_mask.bits(), "S9, protocol 9.4");
    test.check_eq(at("active directions"), State::default(), entry.state.and(State::ACTIVE), "protocol 9.5");
    test.all_hold()
}

/// The old group's thread has an event in its hands while the descriptor goes away, and while it goes and comes back.
fn while_in_batch(
    test: &mut TestContext,
    harness: &mut Harness,
    checkpoints: &Checkpoints,
    home: ThreadId,
    away: ThreadId,
) -> Result<(), Failure> {
    let at = |what: &str| format!("harvested: {what}");
    let mut endpoint = Endpoint::start(test, harness, home)?;
    let handle = endpoint.handle;

    let counted = harness.activity(home);
    let harvested = checkpoints.hold_batch(home);
    endpoint.write(b"1")?;
    harvested.reached()?;
    check_answer(test, at("takeover"), Ok(()), endpoint.take_over(harness, away)?, "L7")?;
    landed(test, &at, away, harness.entry(handle)?)?;
    harvested.release();
    harness.fence_all()?;
    let since = harness.activity(home).since(&counted);
    let counts = format!("{} {}", since.poll_skip, since.poll_drop);
    test.cost_eq(
        at("events skipped and dropped by the old group's thread"),
        "0 1".into(),
        counts,
        "protocol 4.2",
    );
    test.check_eq(at("reports while nobody wants it"), 0, endpoint.recorder.reports(), "S3, S18");
    // The late event makes its thread clean its own poller. That must not touch the new group's masks.
    landed(test, &at, away, harness.entry(handle)?)?;
    endpoint.want(harness, away)?;
    endpoint.wait_for_bytes(harness, b"1")?;
    harness.fence_all()?;

    // Away and home again, all while the other side holds an event.
    let harvested = checkpoints.hold_batch(away);
    endpoint.write(b"2")?;
    harvested.reached()?;
    check_answer(test, at("takeover back"), Ok(()), endpoint.take_over(harness, home)?, "L7")?;
    check_answer(
        test,
        at("push away again"),
        Ok(()),
        harness.core().registration(handle).migrate_on(away),
        "protocol 9",
    )?;
    landed(test, &at, away, harness.entry(handle)?)?;
    harvested.release();
    harness.fence_all()?;
    test.check_eq(at("reports before anybody wants it"), 1, endpoint.recorder.reports(), "S18");
    endpoint.want(harness, away)?;
    endpoint.wait_for_bytes(harness, b"12")?;
    harness.fence_all()?;
    let expected = format!("{away}:1 {away}:2");
    test.check_eq(at("reports"), expected, reads_by_thread(&endpoint.recorder.seen()), "S3, bug 77");
    let entry = harness.entry(handle)?;
    test.check_eq(at("threads that poll it"), away.mask().bits(), entry.polled_recv.bits(), "S9, S11");
    endpoint.end(harness)
}
