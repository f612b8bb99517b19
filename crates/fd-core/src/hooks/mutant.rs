//! Mutants of the protocol: a model switches one on, to be seen to fail. Each is one line that is left out,
//! moved, or given a weaker ordering. A mistake that a scenario can catch, too, is a fault. In a real build,
//! [`Mutant::is_on`] is the constant `false` and nothing is left of them.

macro_rules! mutants {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// A rule of the protocol that is broken while the mutant is switched on.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Mutant {
            $($(#[$doc])* $variant,)*
        }

        #[cfg(all(test, any(loom, shuttle)))]
        impl Mutant {
            /// Every mutant.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name it is switched on by.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

mutants! {
    /// A report does not order its running bit before its look at the mask.
    EnterFence = "enter-fence";
    /// An exit does not order the end of its running bit before its look at the mask.
    ExitFence = "exit-fence";
    /// An exit that finds the mask empty does not order that before its look at who is running.
    LastFence = "last-fence";
    /// A delete does not order the end of the mask before its look at who is running.
    DeleteFence = "delete-fence";
    /// An update's bits are not ordered before the look whether the entry is listed.
    ScheduleFence = "schedule-fence";
    /// An entry's removal from the shared list is not ordered before the look at its update bits.
    UnlistFence = "unlist-fence";

    /// An insertion does not order its slot before its look whether the table is closed.
    InsertFence = "insert-fence";
    /// Closing the table is not ordered before the look at its slots.
    CloseFence = "close-fence";
    /// Where interest is shared, the polled masks are replaced relaxed.
    ReplaceRelaxed = "replace-relaxed";

    /// A pin is relaxed.
    PinRelaxed = "pin-relaxed";
    /// Giving a pin back is relaxed.
    UnpinRelaxed = "unpin-relaxed";
    /// The end of a registration does not acquire what the last visitor did.
    DrainRelaxed = "drain-relaxed";
    /// A new registration is published relaxed.
    PublishRelaxed = "publish-relaxed";
    /// A link is unlocked relaxed.
    LinkRelaxed = "link-relaxed";
    /// Additions to the shared list are counted relaxed.
    EpochRelaxed = "epoch-relaxed";
    /// An exit clears its running bit relaxed.
    ExitRelaxed = "exit-relaxed";
    /// The running bits are read relaxed.
    RunningRelaxed = "running-relaxed";
    /// The mark of a takeover is set relaxed.
    RearmRelaxed = "rearm-relaxed";
    /// Update bits are set relaxed.
    ScheduleRelaxed = "schedule-relaxed";
    /// Update bits are cleared relaxed.
    ClearRelaxed = "clear-relaxed";
    /// The maps of shared interest are changed relaxed.
    InterestRelaxed = "interest-relaxed";
    /// A sweep gives back what was there before it took it.
    SweepReadsFirst = "sweep-reads-first";
    /// The sleep flags are changed relaxed, and the tasks looked for no more than acquired.
    FlagsRelaxed = "flags-relaxed";

    /// A report looks at the mask first and then at who is running.
    MaskBeforeRunning = "mask-before-running";
    /// An exit looks who is running first and then at the mask.
    RunningBeforeMask = "running-before-mask";
    /// An exit does not look at the mask.
    NoMaskCheck = "no-mask-check";
    /// An exit does not look who is running.
    NoRunningCheck = "no-running-check";
    /// An exit does not need the token.
    NoToken = "no-token";
    /// An exit gives its pin back before it gives up its running bit.
    ExitUnpinned = "exit-unpinned";
    /// A takeover gives its running bit up without an exit.
    TakeoverNoExit = "takeover-no-exit";
    /// The end of a registration wipes the masks before the last visitor has left.
    WipeBeforeDrain = "wipe-before-drain";
    /// A new registration is published before its masks are written.
    PublishEarly = "publish-early";
    /// A change of group does not look who is running.
    MoveIgnoresRunning = "move-ignores-running";
    /// A change of group wipes the masks of the old group after the new one can see them.
    WipeAfterUnlock = "wipe-after-unlock";
    /// A change of group leaves the entry in the old group's list.
    MoveKeepsListed = "move-keeps-listed";
    /// A pin does not wait for a change of group.
    PinIgnoresLock = "pin-ignores-lock";
    /// A want publishes its update first and then its state.
    UpdateBeforeState = "update-before-state";
    /// A pass applies the state first and then takes the update.
    ApplyBeforeClear = "apply-before-clear";
    /// An entry that left the shared list is not looked at again.
    NoLookAfterUnlist = "no-look-after-unlist";
    /// Who owes an update of an entry that was taken off the shared list, and listed again, is not woken for it.
    RelistedNotWoken = "relisted-not-woken";
    /// An addition to the shared list is counted only when it is linked.
    CountedLate = "counted-late";
    /// Where interest is shared, an update is applied without a look at what the state has become.
    AppliedOnce = "applied-once";
    /// An addition leaves its own link unlocked while it is being linked.
    AddUnlocked = "add-unlocked";
    /// A removal does not lock its successor.
    SuccessorUnlocked = "successor-unlocked";
    /// All lists have the same tail mark.
    OneTailMark = "one-tail-mark";
    /// A thread looks for work first and then announces its sleep.
    LookBeforeAnnounce = "look-before-announce";
    /// A task is pushed relaxed.
    TaskRelaxed = "task-relaxed";
    /// A task wakes its thread before it is in the queue.
    WakeBeforePost = "wake-before-post";
    /// A signal wakes its thread before it is noted.
    WakeBeforeSignal = "wake-before-signal";
    /// A stop wakes the threads before it is told.
    WakeBeforeStop = "wake-before-stop";
    /// A waker writes to a thread that has been notified already.
    NotifiedIgnored = "notified-ignored";
}

/// Whether this is a build of the models, which alone can switch mutants on.
pub const IN_MODELS: bool = cfg!(all(test, any(loom, shuttle)));

#[cfg(all(test, any(loom, shuttle)))]
mod switch {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Mutant;

    // A plain std atomic: a switch is set before the model starts.
    static ON: AtomicU64 = AtomicU64::new(0);
    const _: () = assert!(Mutant::ALL.len() <= u64::BITS as usize);

    impl Mutant {
        /// Whether the mutant is switched on.
        pub fn is_on(self) -> bool {
            ON.load(Ordering::Relaxed) & (1 << self as u8) != 0
        }
    }

    /// Breaks the rule for the rest of this process.
    ///
    /// # Safety
    /// As for [`crate::hooks::fault::enable`].
    pub(crate) unsafe fn enable(mutant: Mutant) {
        ON.fetch_or(1 << mutant as u8, Ordering::Relaxed);
    }
}

#[cfg(all(test, any(loom, shuttle)))]
pub(crate) use switch::enable;

#[cfg(not(all(test, any(loom, shuttle))))]
impl Mutant {
    /// Whether the mutant is switched on: never, in a real build.
    #[inline(always)]
    pub const fn is_on(self) -> bool {
        false
    }
}
