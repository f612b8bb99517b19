//! What the scenarios about copies share: a descriptor is deleted, its open file lives on, and data arrives there.

use std::io::Write;

use fd_core::{ActivitySnapshot, FdHandle, state};

use super::watch::Watch;
use crate::descriptors;
use crate::gate::Gate;
use crate::lab::Lab;
use crate::transport::{at_number, pair};
use crate::trial::{Failure, Trial};

/// What keeps the open file alive until it is dropped.
pub(super) trait Kept {
    /// What the copy has to read, if this process can.
    fn read(&mut self) -> Result<Option<String>, Failure>;
}

/// Makes the copy, in a way that the core knows of.
pub(super) type MakeCopy = fn(&Lab, FdHandle) -> Result<Box<dyn Kept>, Failure>;

/// The deleted descriptor is reported by no thread, neither for data that was there nor for data to come.
pub(super) fn stays_silent(trial: &mut Trial, copy: MakeCopy) -> Result<(), Failure> {
    let mut lab = Lab::start(trial)?;
    for case in [Case::Idle, Case::IdleByItsPoller, Case::Pending] {
        deleted(trial, &mut lab, copy, case)?;
        trial.all_hold()?;
    }
    lab.finish(trial, &[])
}

/// What there is when it is deleted, and who deletes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    /// Nothing, by an outsider.
    Idle,
    /// Nothing, by one of the threads that poll it: nobody but that thread takes its own registration out.
    IdleByItsPoller,
    /// Unread data, by an outsider.
    Pending,
}

impl Case {
    fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::IdleByItsPoller => "idle, deleted by its poller",
            Self::Pending => "data before the delete",
        }
    }
}

/// Attempts to replace a thread's poller, those that failed among them.
pub(crate) fn replacements(counters: &ActivitySnapshot) -> u64 {
    counters.poll_rebuild + counters.poll_rebuild_fail
}

/// Events that the threads' pollers reported for nobody.
pub(crate) fn for_nobody(lab: &Lab, before: &[ActivitySnapshot]) -> u64 {
    let since =
        lab.threads().into_iter().zip(before).map(|(thread, before)| lab.activity(thread).since(before));
    since.map(|activity| activity.poll_drop + activity.poll_skip).sum()
}

/// Every thread's counters.
pub(crate) fn snapshots(lab: &Lab) -> Vec<ActivitySnapshot> {
    lab.threads().into_iter().map(|thread| lab.activity(thread)).collect()
}

fn deleted(trial: &mut Trial, lab: &mut Lab, make_copy: MakeCopy, case: Case) -> Result<(), Failure> {
    let about = |what: &str| format!("{what} ({})", case.name());
    let thread = lab.thread(0);
    let everybody = lab.core().table().threads(thread.group());
    let mut ends = pair(trial.params.transport).map_err(Failure::broken)?;
    let mut spare = pair(trial.params.transport).map_err(Failure::broken)?;
    let watch = Watch::new(&ends.near);
    let handle = lab.insert_shared(ends.near, watch.recording(), thread, everybody)?;
    lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
    lab.fence_all()?;
    let entry = lab.core().entry(handle).map_err(Failure::broken)?;
    trial.check_eq(about("polled by"), everybody.bits(), entry.polled_recv.bits(), "L3");
    let mut copy = make_copy(lab, handle)?;
    let entry = lab.core().entry(handle).map_err(Failure::broken)?;
    trial.check_eq(about("marked as cloned"), true, entry.state & state::CLONED != 0, "1.2, CLONED");

    let mut before = snapshots(lab);
    if case == Case::Pending {
        let gates =
            lab.threads().into_iter().map(|thread| lab.hold(thread)).collect::<Result<Vec<_>, _>>()?;
        ends.far.write_all(b"pending,").map_err(Failure::broken)?;
        lab.wait_until("the data", || descriptors::readable(watch.number()))?;
        lab.core().fd(handle).delete().map_err(Failure::broken)?;
        // The kernel had it on its lists of what is ready.
        gates.iter().for_each(Gate::open);
    } else {
        let deleted = match case {
            Case::IdleByItsPoller => lab.on(thread, move |context| context.fd(handle).delete())?,
            _ => lab.core().fd(handle).delete(),
        };
        deleted.map_err(Failure::broken)?;
        // A thread that was in poll(2) with the number may have found it closed.
        lab.fence_all()?;
        before = snapshots(lab);
    }
    trial.check_eq(about("handlers dropped"), 1, watch.dropped(), "S4");
    trial.check_eq(about("the number is open"), false, descriptors::is_open(watch.number()), "S4");
    ends.far.write_all(b"for the copy").map_err(Failure::broken)?;
    lab.fence_all()?;
    trial.check_eq(about("handler calls"), 0, watch.entered(), "S6, bugs 1 and 76");
    trial.check_eq(
        about("events for nobody"),
        0,
        for_nobody(lab, &before),
        "bugs 1 and 76: DEL before close",
    );
    trial.check_eq(about("the peer sees the end"), false, ends.far.ended(), "close(2): the file lives on");

    // The number's next life is not troubled by the old file.
    let next = Watch::at(watch.number());
    let near = at_number(spare.near, watch.number()).map_err(Failure::broken)?;
    let handle = lab.insert_shared(near, next.recording(), thread, everybody)?;
    lab.core().fd(handle).want_recv().map_err(Failure::broken)?;
    ends.far.write_all(b", again").map_err(Failure::broken)?;
    lab.fence_all()?;
    trial.check_eq(about("calls of the next life's handler"), 0, next.entered(), "S7");
    trial.check_eq(about("events for nobody, later"), 0, for_nobody(lab, &before), "L5");
    spare.far.write_all(b"next").map_err(Failure::broken)?;
    lab.wait_until("the next life's data", || next.text() == "next")?;
    lab.core().fd(handle).delete().map_err(Failure::broken)?;

    // It had been readable all the time.
    if let Some(text) = copy.read()? {
        let written = match case {
            Case::Pending => "pending,for the copy, again",
            _ => "for the copy, again",
        };
        trial.check_eq(about("what the copy reads"), written.into(), text, "the scenario");
    }
    drop(copy);
    lab.wait_until("the peer sees the end", || ends.far.ended())
}
