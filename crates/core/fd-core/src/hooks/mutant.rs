//! Mutants of the protocol: a model switches one on, and must fail. Each omits, moves or weakens one step. A
//! mistake that a scenario can also detect is a fault. In a real build [`Mutant::is_on`] is
//! the constant `false`, and the compiler removes them.

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

            /// The name that switches it on.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

mutants! {
    /// A report does not order its running bit before its read of the thread mask.
    EnterFence = "enter-fence";
    /// A takeover does not order its running bit before its reads of the group word and the thread mask.
    TakeFence = "take-fence";
    /// An exit does not order its cleared running bit before its read of the thread mask.
    ExitFence = "exit-fence";
    /// An exit that finds the thread mask zero does not order that read before its read of the running mask.
    LastFence = "last-fence";
    /// A delete does not order the cleared thread mask before its read of the running mask.
    DeleteFence = "delete-fence";
    /// The bits of an update are not ordered before the check whether the entry is listed.
    ScheduleFence = "schedule-fence";
    /// The removal of an entry from the shared list is not ordered before the read of its update bits.
    UnlistFence = "unlist-fence";

    /// A want does not order its state before its read of the thread mask.
    WantFence = "want-fence";
    /// A takeover does not order the thread mask before its read of the state.
    OwnerFence = "owner-fence";
    /// A change of group does not order its lock before its read of the running mask.
    MoveFence = "move-fence";
    /// An insertion does not order its claimed slot before the check whether the table is closed.
    InsertFence = "insert-fence";
    /// Closing the table is not ordered before the read of its slots.
    CloseFence = "close-fence";
    /// Where interest is shared, the polled masks are replaced relaxed.
    ReplaceRelaxed = "replace-relaxed";

    /// A pin is relaxed.
    PinRelaxed = "pin-relaxed";
    /// The release of a pin is relaxed.
    UnpinRelaxed = "unpin-relaxed";
    /// The end of a registration does not acquire the accesses under the last pin.
    DrainRelaxed = "drain-relaxed";
    /// A new registration is published relaxed.
    PublishRelaxed = "publish-relaxed";
    /// A link is unlocked relaxed.
    LinkRelaxed = "link-relaxed";
    /// Additions to the shared list are counted relaxed.
    EpochRelaxed = "epoch-relaxed";
    /// An exit clears its running bit relaxed.
    ExitRelaxed = "exit-relaxed";
    /// The running mask is read relaxed.
    RunningRelaxed = "running-relaxed";
    /// A delete leaves the close token to the users relaxed.
    TokenRelaxed = "token-relaxed";
    /// Update bits are set relaxed.
    ScheduleRelaxed = "schedule-relaxed";
    /// Update bits are cleared relaxed.
    ClearRelaxed = "clear-relaxed";
    /// The maps of shared interest are changed relaxed.
    InterestRelaxed = "interest-relaxed";
    /// A write of shared interest is counted before it is made.
    InterestCountedEarly = "interest-counted-early";
    /// The sleep flags are changed relaxed.
    FlagsRelaxed = "flags-relaxed";

    /// A report reads the thread mask before the running mask.
    MaskBeforeRunning = "mask-before-running";
    /// An exit reads the running mask before the thread mask.
    RunningBeforeMask = "running-before-mask";
    /// An exit does not check the thread mask.
    NoMaskCheck = "no-mask-check";
    /// An exit does not check the running mask.
    NoRunningCheck = "no-running-check";
    /// An exit does not need the close token.
    NoToken = "no-token";
    /// An exit looks whether the close token is there before it takes it.
    TokenReadFirst = "token-read-first";
    /// An exit decides without a pin whether it ends the registration.
    ExitUnpinned = "exit-unpinned";
    /// A report does not look at the group word between its running bit and its read of the thread mask.
    EnterLooksLate = "enter-looks-late";
    /// A report does not look at the group word after its read of the thread mask.
    EnterLooksEarly = "enter-looks-early";
    /// A report takes the running bit of another group's thread for its own.
    ForeignBitTaken = "foreign-bit-taken";
    /// A report that came too late clears its running bit without an exit.
    LateThreadLeaves = "late-thread-leaves";
    /// A takeover clears its running bit without an exit.
    TakeoverNoExit = "takeover-no-exit";
    /// The end of a registration wipes the masks before the last pin is released.
    WipeBeforeDrain = "wipe-before-drain";
    /// A new registration is published before its masks are written.
    PublishEarly = "publish-early";
    /// A change of group does not check the running mask.
    MoveIgnoresRunning = "move-ignores-running";
    /// A change of group wipes the masks of the old group after the new group can see them.
    WipeAfterUnlock = "wipe-after-unlock";
    /// A change of group leaves the entry in the old group's list.
    MoveKeepsListed = "move-keeps-listed";
    /// A pin does not wait for a change of group.
    PinIgnoresLock = "pin-ignores-lock";
    /// A change of the state without a pin ignores the generation.
    StateOfAnyGeneration = "state-of-any-generation";
    /// A want publishes its update before its state.
    UpdateBeforeState = "update-before-state";
    /// A thread applies the state before it clears the update bit.
    ApplyBeforeClear = "apply-before-clear";
    /// The update bits of an unlisted entry are not read again.
    NoLookAfterUnlist = "no-look-after-unlist";
    /// A thread with a pending update of an entry that was unlisted and listed again is not woken.
    RelistedNotWoken = "relisted-not-woken";
    /// An addition to the shared list is counted after it is linked.
    CountedLate = "counted-late";
    /// Where interest is shared, an update is applied without a second read of the state.
    AppliedOnce = "applied-once";
    /// An addition does not lock its own link while it is being linked.
    AddUnlocked = "add-unlocked";
    /// A removal does not lock its successor.
    SuccessorUnlocked = "successor-unlocked";
    /// All lists have the same tail mark.
    OneTailMark = "one-tail-mark";
    /// The announcement of a sleep does not take back the end of the sleep before.
    StaysAwake = "stays-awake";
    /// The end of a sleep clears NOTIFIED by a plain store.
    EndStores = "end-stores";
    /// A thread looks for work before it announces its sleep.
    LookBeforeAnnounce = "look-before-announce";
    /// A task is pushed relaxed.
    TaskRelaxed = "task-relaxed";
    /// A post wakes the thread before the task is in the queue.
    WakeBeforePost = "wake-before-post";
    /// A signal wakes its thread before the signal is recorded.
    WakeBeforeSignal = "wake-before-signal";
    /// A stop wakes the threads before it is published.
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
