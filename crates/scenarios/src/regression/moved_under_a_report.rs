//! A descriptor changes groups while threads of either look at it. HAProxy compares the group with a word that holds the
//! lock too, and drops a report of its own descriptor for good (suspect 8); and it shows the new group before the old
//! group's masks are gone, so that the new owner takes the old one's registration for its own (suspect 7).

use std::sync::Arc;

use fd_core::error::MoveError;
use fd_core::{FdHandle, Handler, OwnerId};
use metadata::{Axes, Layer, Transport};

use super::{about, one_of_each_group};
use crate::catalogue::Scenario;
use crate::lab::Lab;
use crate::migration::Subject;
use crate::script::Speaker;
use crate::trial::{Failure, Trial};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/moved-under-a-report",
    title: "Whoever looks at an FD that is changing groups waits, and then sees it whole in one of them",
    layer: Layer::Contract,
    clauses: &["S9", "S11", "L1", "L5", "suspect 7", "suspect 8"],
    axes: Axes { transports: &[Transport::Unix, Transport::Pipe], groups: &[2], ..Axes::PLAIN },
    run,
};

fn run(trial: &mut Trial) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    report_during_a_refused_move(trial, &mut lab)?;
    for window in ["MoveLocked", "MoveDone"] {
        want_during_a_move(trial, &mut lab, window)?;
    }
    lab.finish(trial, &[])
}

/// Suspect 8. An edge is reported once: dropped, it is lost.
fn report_during_a_refused_move(trial: &mut Trial, lab: &mut Lab) -> Result<(), Failure> {
    let [old, new] = one_of_each_group(lab)?;
    let mut subject = Subject::start(trial, lab, old)?;
    let handle = subject.handle;
    // Kept: an identity is an address, and lasts as long as what it identifies.
    let kept: Arc<dyn Handler> = Arc::new(|_: &fd_core::ReadyGuard<'_>| {});
    let stranger = OwnerId::of(&kept);
    let steals = move |speaker: &Speaker<'_>| {
        speaker.context().map_or(Err(MoveError::NoThread), |context| context.takeover(handle, stranger))
    };
    about(&subject, "report during a refused move", "L1, suspect 8")
        .worker("old", old)
        .worker("new", new)
        .does("steals", steals)
        .we("writes", || subject.write(b"one"))
        .play(
            trial,
            lab,
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
    subject.wait_for_bytes(lab, b"one")?;
    subject.end(lab)
}

/// Suspect 7. Both threads have the same bit in their groups' masks.
fn want_during_a_move(trial: &mut Trial, lab: &mut Lab, window: &str) -> Result<(), Failure> {
    let [old, new] = one_of_each_group(lab)?;
    let mut subject = Subject::start(trial, lab, old)?;
    let handle: FdHandle = subject.handle;
    about(&subject, format!("want at {window}"), "L1, suspect 7")
        .worker("new", new)
        .outsider("mover")
        .does("pushes", move |speaker| speaker.registration(handle).migrate_on(new))
        .play(
            trial,
            lab,
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
    lab.fence_all()?;
    let entry = lab.entry(handle)?;
    trial.check_eq("group", new.group().to_string(), entry.group.to_string(), "S9");
    trial.check_eq("polled by", new.mask().bits(), entry.polled_recv.bits(), "S11");
    let before = lab.activity(old);
    subject.write(b"two")?;
    subject.wait_for_bytes(lab, b"two")?;
    lab.fence_all()?;
    let strangers = subject.recorder.reports() - subject.recorder.reports_on(new);
    trial.check_eq("reports on other threads", 0, strangers, "S3");
    let since = lab.activity(old).since(&before);
    trial.cost_eq("drops and skips of the old thread", 0, since.poll_drop + since.poll_skip, "L5, suspect 7");
    subject.end(lab)
}
