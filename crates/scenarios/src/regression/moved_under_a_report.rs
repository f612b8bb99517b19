//! A descriptor changes groups while threads of either look at it. HAProxy compares the group with a word that holds the
//! lock too, and drops a report of its own descriptor for good (suspect 8); and it shows the new group before the old
//! group's masks are gone, so that the new owner takes the old one's registration for its own (suspect 7).

use std::sync::Arc;

use fd_core::error::MoveError;
use fd_core::{FdHandle, Handler, OwnerId};
use metadata::{Axes, Layer, Transport};

use super::{about, one_of_each_group};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::interleaving::Participant;
use crate::migration::Endpoint;
use crate::test_context::{Failure, TestContext};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/moved-under-a-report",
    title: "Whoever looks at an FD that is changing groups waits, and then sees it whole in one of them",
    layer: Layer::Contract,
    clauses: &["S9", "S11", "L1", "L5", "suspect 7", "suspect 8"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    report_during_a_refused_move(test, &mut harness)?;
    for window in ["MoveLocked", "MoveDone"] {
        want_during_a_move(test, &mut harness, window)?;
    }
    harness.finish(test, &[])
}

/// Suspect 8. An edge is reported once: dropped, it is lost.
fn report_during_a_refused_move(test: &mut TestContext, harness: &mut Harness) -> Result<(), Failure> {
    let [old, new] = one_of_each_group(harness)?;
    let mut subject = Endpoint::start(test, harness, old)?;
    let handle = subject.handle;
    // Kept: an identity is an address, and lasts as long as what it identifies.
    let kept: Arc<dyn Handler> = Arc::new(|_: &fd_core::ReadyGuard<'_>| {});
    let stranger = OwnerId::of(&kept);
    let steals = move |participant: &Participant<'_>| {
        participant.context().map_or(Err(MoveError::NoThread), |context| context.takeover(handle, stranger))
    };
    about(&subject, "report during a refused move", "L1, suspect 8")
        .worker("old", old)
        .worker("new", new)
        .does("steals", steals)
        .we("writes", || subject.write(b"one"))
        .play(
            test,
            harness,
            "
            us     | old          | new
            writes |              |
                   | at AfterWait |
                   |              | steals at MoveLocked
                   | at PinWaits  |
                   |              | ends = Err(WrongOwner)
                   | ends         |
            ",
        )?;
    subject.wait_for_bytes(harness, b"one")?;
    subject.end(harness)
}

/// Suspect 7. Both threads have the same bit in their groups' masks.
fn want_during_a_move(test: &mut TestContext, harness: &mut Harness, window: &str) -> Result<(), Failure> {
    let [old, new] = one_of_each_group(harness)?;
    let mut subject = Endpoint::start(test, harness, old)?;
    let handle: FdHandle = subject.handle;
    about(&subject, format!("want at {window}"), "L1, suspect 7")
        .worker("new", new)
        .outsider("mover")
        .does("pushes", move |participant| participant.registration(handle).migrate_on(new))
        .play(
            test,
            harness,
            &format!(
                "
                mover              | new
                pushes at {window} |
                                   | wants at PinWaits
                ends = Ok(())      |
                                   | ends = Ok(())
                "
            ),
        )?;
    harness.fence_all()?;
    let entry = harness.entry(handle)?;
    test.check_eq("group", new.group().to_string(), entry.group.to_string(), "S9");
    test.check_eq("polled by", new.mask().bits(), entry.polled_recv.bits(), "S11");
    let before = harness.activity(old);
    subject.write(b"two")?;
    subject.wait_for_bytes(harness, b"two")?;
    harness.fence_all()?;
    let strangers = subject.recorder.reports() - subject.recorder.reports_on(new);
    test.check_eq("reports on other threads", 0, strangers, "S3");
    let since = harness.activity(old).since(&before);
    test.cost_eq("drops and skips of the old thread", 0, since.poll_drop + since.poll_skip, "L5, suspect 7");
    subject.end(harness)
}
