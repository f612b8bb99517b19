//! What one thread of a runtime is in the middle of when another one forks.

use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};

use fd_core::hooks::checkpoint::Point;
use fd_core::ids::ThreadId;
use fd_core::{FdHandle, InsertOptions, OwnerId};

use super::{both_ends, idle};
use crate::harness::Harness;
use crate::hold::{Checkpoints, Held};
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext};
use crate::transport::Far;

/// Where the thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In a handler.
    Handler,
    Insertion(Point),
    Takeover(Point),
    /// A push.
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
        Self::Delete(Point::DeleteTokenSet),
        Self::Delete(Point::DeleteMaskCleared),
        Self::Delete(Point::RetiredBeforeClose),
    ];

    /// Whether the child finds a registration.
    pub(super) fn leaves_registration(self) -> bool {
        matches!(self, Self::Handler | Self::Takeover(_) | Self::Move(_))
    }

    /// Whether the child, once it has made the runtime its own, has the number without a registration: what the lost thread
    /// had on its stack, nobody can close.
    pub(super) fn leaves_number(self) -> bool {
        matches!(self, Self::Insertion(_) | Self::Delete(Point::RetiredBeforeClose))
    }
}

/// A thread that is held, and the descriptor that it is at.
pub(super) struct Scene {
    pub(super) number: RawFd,
    /// Unless it is still to be inserted.
    pub(super) handle: Option<FdHandle>,
    pub(super) far: Far,
    held: Held,
    thread: ThreadId,
}

impl Scene {
    /// Holds `thread` at `place`; a descriptor of `other` is what it takes. All that is registered is declared to be cloned:
    /// later, the thread may have something locked.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if it does not come there.
    pub(super) fn set(
        test: &TestContext,
        harness: &mut Harness,
        points: &Checkpoints,
        place: Place,
        thread: ThreadId,
        other: ThreadId,
    ) -> Result<Self, Failure> {
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
            return Ok(Self { number, handle: None, far, held, thread });
        }
        let recorder = Recorder::new();
        let owner: OwnerId = recorder.id();
        let owned_by = if matches!(place, Place::Takeover(_)) { other } else { thread };
        let handle = harness.insert(near, recorder.clone(), owned_by)?;
        harness.core().registration(handle).want_recv().map_err(Failure::broken)?;
        harness.fence_all()?;
        harness.core().before_fork();
        let held = match place {
            Place::Handler => recorder.hold_next(),
            Place::Insertion(point) | Place::Takeover(point) | Place::Move(point) | Place::Delete(point) => {
                points.hold(thread, point, number)
            }
        };
        if place == Place::Handler {
            far.write_all(b"x").map_err(Failure::broken)?;
        }
        let _ = harness.core().post(thread, move |context| match place {
            Place::Takeover(_) => drop(context.takeover(handle, owner)),
            Place::Move(_) => drop(context.registration(handle).migrate_on(context.id())),
            Place::Delete(_) => drop(context.registration(handle).delete()),
            Place::Handler | Place::Insertion(_) => {}
        });
        held.reached()?;
        Ok(Self { number, handle: Some(handle), far, held, thread })
    }

    /// Lets the thread finish what it was in the middle of, and ends the registration.
    ///
    /// # Errors
    /// [`Failure::Wrong`] if something does not come to its end.
    pub(super) fn end(self, harness: &Harness, what: &str) -> Result<(), Failure> {
        self.held.release();
        harness.on(self.thread, |_| ())?;
        if let Some(handle) = self.handle {
            // Refused where that is what the thread has done.
            let _ = harness.core().registration(handle).delete();
        }
        harness.wait_until(&format!("{what}: the peer sees the end"), || self.far.ended())
    }
}
