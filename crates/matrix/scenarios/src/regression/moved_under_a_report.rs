//! A descriptor changes groups while threads of both groups look it up. HAProxy compares the group with a
//! word that also holds the lock, and loses a report of its own descriptor (suspect 8). It also publishes the
//! new group before it clears the old group's masks, so the new owner mistakes the old owner's registration
//! for its own (suspect 7).

use fd_core::OwnerId;
use fd_core::error::MoveError;

use super::{about, one_of_each_group};
use crate::interleaving::Participant;
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/moved-under-a-report",
    title: "A lookup during a change of groups waits, and never sees a mixed state",
    layer: Layer::Contract,
    clauses: &["S9", "S11", "L1", "L5", "suspect 7", "suspect 8"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    report_during_a_refused_move(test, &mut harness)?;
    for window in ["MoveLocked", "MoveDone"] {
        want_during_a_move(test, &mut harness, window)?;
    }
    harness.finish(test, &[])
}

/// Suspect 8. An edge is reported once: if it is dropped, it is lost.
fn report_during_a_refused_move(test: &mut TestContext, harness: &mut Harness) -> Result {
    let [old, new] = one_of_each_group(harness)?;
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle = endpoint.handle;
    // Kept: an owner id is an address, and is unique only while the owner exists.
    let kept: Arc<dyn Handler> = Arc::new(|_: &ReadyGuard<'_>| {});
    let stranger = OwnerId::of(&kept);
    let steals = move |participant: &Participant<'_>| {
        participant.context().map_or(Err(MoveError::NoThread), |context| context.takeover(handle, stranger))
    };
    let drawing = "
        main   | old          | new
        writes |              |
               | at AfterWait |
               |              | steals at MoveLocked
               | at PinWaits  |
               |              | ends = Err(WrongOwner)
               | continues    |
        ";
    about(&endpoint, "report during a refused move", "L1, suspect 8")
        .worker("old", old)
        .worker("new", new)
        .action("steals", steals)
        .main_action("writes", || endpoint.write(b"one"))
        .run(test, harness, drawing)?;
    endpoint.wait_for_bytes(harness, b"one")?;
    endpoint.end(harness)
}

/// Suspect 7. Both threads have the same bit in their groups' masks.
fn want_during_a_move(test: &mut TestContext, harness: &mut Harness, window: &str) -> Result {
    let [old, new] = one_of_each_group(harness)?;
    let mut endpoint = Endpoint::start(test, harness, old)?;
    let handle: FdHandle = endpoint.handle;
    let drawing = format!(
        "
        mover              | new
        pushes at {window} |
                           | wants at PinWaits
        ends = Ok(())      |
                           | ends = Ok(())
        "
    );
    about(&endpoint, format!("want at {window}"), "L1, suspect 7")
        .worker("new", new)
        .outsider("mover")
        .action("pushes", move |participant| participant.registration(handle).migrate_on(new))
        .run(test, harness, &drawing)?;
    harness.wait_until_polled(handle, new.mask())?;
    harness.fence_all()?;
    let entry = harness.entry(handle)?;
    test.check_eq("group", new.group().to_string(), entry.group.to_string(), "S9");
    test.check_eq("polled by", new.mask().bits(), entry.polled_recv.bits(), "S11");
    let before = harness.activity(old);
    endpoint.write(b"two")?;
    endpoint.wait_for_bytes(harness, b"two")?;
    harness.fence_all()?;
    let elsewhere = endpoint.recorder.reports() - endpoint.recorder.reports_on(new);
    test.check_eq("reports on other threads", 0, elsewhere, "S3");
    let since = harness.activity(old).since(&before);
    let strays = since.poll_drop + since.poll_skip;
    test.check_cost_eq("drops and skips of the old thread", 0, strays, "L5, suspect 7");
    endpoint.end(harness)
}
