//! The call that one thread of a runtime is in the middle of when another thread forks.

use std::os::fd::{AsRawFd, RawFd};

use fd_core::OwnerId;

use super::{both_ends, idle};
use crate::prelude::*;

/// Where the thread is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In a handler.
    Handler,
    Insertion(Point),
    Takeover(Point),
    /// A relocation by `migrate_on`.
    Move(Point),
    Delete(Point),
}

impl Place {
    pub(super) const ALL: [Self; 10] = [
        Self::Handler,
        Self::Insertion(Point::InsertBeforeClaim),
        Self::Insertion(Point::InsertClaimed),
        Self::Takeover(Point::TakeoverRunningSet),
        Self::Takeover(Point::TakeoverMaskSet),
        Self::Move(Point::MoveLocked),
        Self::Move(Point::MoveDone),
        Self::Delete(Point::DeleteMarked),
        Self::Delete(Point::DeleteMaskCleared),
        Self::Delete(Point::RetiredBeforeClose),
    ];

    /// Returns whether the child finds a registration.
    pub(super) fn leaves_registration(self) -> bool {
        matches!(self, Self::Handler | Self::Takeover(_) | Self::Move(_))
    }

    /// Returns whether the child, after its call of `forked`, has the number open without a registration: the
    /// descriptor was on the stack of a thread that does not exist, so nothing can close it.
    pub(super) fn leaves_number(self) -> bool {
        matches!(self, Self::Insertion(_) | Self::Delete(Point::RetiredBeforeClose))
    }
}

/// A thread that is held, and the descriptor of its call.
pub(super) struct Scene {
    pub(super) number: RawFd,
    /// `None` if the descriptor is not inserted yet.
    pub(super) handle: Option<FdHandle>,
    pub(super) far: FarEnd,
    held: HeldThread,
    thread: ThreadId,
    _points: Checkpoints,
}

impl Scene {
    /// Holds `thread` at `place`. A takeover takes a descriptor of `other`. Calls `before_fork` before
    /// the thread is held, because the held thread may have an entry locked.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the thread does not reach the place.
    pub(super) fn set(
        test: &TestContext,
        harness: &mut Harness,
        place: Place,
        thread: ThreadId,
        other: ThreadId,
    ) -> Result<Self> {
        let points = Checkpoints::watch();
        let (near, mut far) = both_ends(test)?;
        let number = near.as_raw_fd();
        if let Place::Insertion(point) = place {
            harness.core().before_fork();
            let held = points.hold(thread, point, number);
            let _ = harness.core().post(thread, move |context| {
                let (core, id) = (context.core(), context.id());
                let options = InsertOptions { cloned: true, ..InsertOptions::default() };
                let inserted = core.insert(near, idle(), id.group(), id.mask(), options);
                if let Ok(handle) = inserted {
                    let _ = context.registration(handle).delete();
                }
            });
            held.reached()?;
            return Ok(Self { number, handle: None, far, held, thread, _points: points });
        }
        let recorder = Recorder::new();
        let owner: OwnerId = recorder.id();
        let owned_by = if matches!(place, Place::Takeover(_)) { other } else { thread };
        let handle = harness.insert_recv(near, recorder.clone(), owned_by)?;
        harness.fence_all()?;
        harness.core().before_fork();
        let held = match place {
            Place::Handler => recorder.hold_next(),
            Place::Insertion(point) | Place::Takeover(point) | Place::Move(point) | Place::Delete(point) => {
                points.hold(thread, point, number)
            }
        };
        if place == Place::Handler {
            far.write_all(b"x")?;
        }
        let _ = harness.core().post(thread, move |context| match place {
            Place::Takeover(_) => drop(context.takeover(handle, owner)),
            Place::Move(_) => drop(context.registration(handle).migrate_on(context.id())),
            Place::Delete(_) => drop(context.registration(handle).delete()),
            Place::Handler | Place::Insertion(_) => {}
        });
        held.reached()?;
        Ok(Self { number, handle: Some(handle), far, held, thread, _points: points })
    }

    /// Lets the thread complete its call, and ends the registration.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if the thread does not continue, or the registration does not end.
    pub(super) fn end(self, harness: &Harness, what: &str) -> Result {
        self.held.release();
        harness.on(self.thread, |_| ())?;
        if let Some(handle) = self.handle {
            // Refused if the thread itself has deleted it.
            let _ = harness.registration(handle).delete();
        }
        harness.wait_until(&format!("{what}: the peer sees the end"), || self.far.ended())
    }
}
