//! The state word of an entry: per direction its activity and readiness, the last report, and flags that
//! decide how the registration ends. It changes by read-modify-writes only, because other threads can set
//! `CLONED`, `EXPORTED` or the close token at any time (suspect 3).

use std::fmt;

use crate::words::events::{Events, Interest};

/// The owner wants to receive.
pub const ACTIVE_R: u32 = 1 << 0;
/// The receiving side has not answered `EAGAIN` since the last report.
pub const READY_R: u32 = 1 << 1;
/// The owner wants to send.
pub const ACTIVE_W: u32 = 1 << 4;
/// The sending side has not answered `EAGAIN` since the last report.
pub const READY_W: u32 = 1 << 5;
/// The last report had readable data.
pub const POLL_IN: u32 = 1 << 8;
// Bit 9 is HAProxy's `FD_POLL_PRI`, urgent data. No backend reports it.
/// The last report was writable.
pub const POLL_OUT: u32 = 1 << 10;
/// A report had an error. It is kept until the registration ends (S15).
pub const POLL_ERR: u32 = 1 << 11;
/// A report had a hang-up. It is kept until the registration ends (S15).
pub const POLL_HUP: u32 = 1 << 12;
/// Closing must reset the connection: `SO_LINGER` is set to a zero timeout first.
pub const LINGER_RISK: u32 = 1 << 16;
/// Another descriptor or process shares the open file, so closing this number does not end the kernel's
/// registration.
pub const CLONED: u32 = 1 << 17;
/// The registration is edge-triggered if the backend supports that.
pub const EDGE: u32 = 1 << 19;
/// A listener that may be handed to another process.
pub const EXPORTED: u32 = 1 << 20;
/// A delete returns the descriptor instead of closing it.
pub const DISOWN: u32 = 1 << 22;
/// The close token. The thread that clears it closes the descriptor, and no other thread does (S14).
pub const MUST_CLOSE: u32 = 1 << 23;
/// The registration was deleted. Set once, together with the close token.
pub const DELETED: u32 = 1 << 24;
/// The owner changed. The owner's poller must replace its registration instead of comparing it (suspect 10).
/// The owner's next update clears the flag.
pub const REARM: u32 = 1 << 25;

/// A descriptor of the runtime itself, which wakes a thread. Every call refuses its handle.
pub const INTERNAL: u32 = 1 << 26;

/// A timeout was set in this registration. Never cleared: it may be over, or cleared.
pub const TIMED: u32 = 1 << 27;

/// Both directions are active.
pub const ACTIVE: u32 = ACTIVE_R | ACTIVE_W;
/// Both directions are ready.
pub const READY: u32 = READY_R | READY_W;

/// Every flag by its name, lowest bit first.
const NAMES: [(u32, &str); 18] = [
    (ACTIVE_R, "ACTIVE_R"),
    (READY_R, "READY_R"),
    (ACTIVE_W, "ACTIVE_W"),
    (READY_W, "READY_W"),
    (POLL_IN, "POLL_IN"),
    (POLL_OUT, "POLL_OUT"),
    (POLL_ERR, "POLL_ERR"),
    (POLL_HUP, "POLL_HUP"),
    (LINGER_RISK, "LINGER_RISK"),
    (CLONED, "CLONED"),
    (EDGE, "EDGE"),
    (EXPORTED, "EXPORTED"),
    (DISOWN, "DISOWN"),
    (MUST_CLOSE, "MUST_CLOSE"),
    (DELETED, "DELETED"),
    (REARM, "REARM"),
    (INTERNAL, "INTERNAL"),
    (TIMED, "TIMED"),
];

/// The flags of a registration at one moment: enabled and ready directions, the last report, and the end that
/// the descriptor will have.
///
/// ```
/// use pollmatrix_fd_core::State;
///
/// let state = State::READY_R.or(State::CLONED);
/// assert!(state.contains(State::CLONED) && state.intersects(State::READY));
/// assert_eq!(state.to_string(), "READY_R|CLONED");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct State(u32);

impl State {
    /// The receiving direction is enabled.
    pub const ACTIVE_R: Self = Self(ACTIVE_R);
    /// The program has noted no `EAGAIN` on the receiving side since the last report
    /// ([`RegistrationRef::cant_recv`](crate::RegistrationRef::cant_recv)). Set from the insertion on.
    pub const READY_R: Self = Self(READY_R);
    /// The sending direction is enabled.
    pub const ACTIVE_W: Self = Self(ACTIVE_W);
    /// The program has noted no `EAGAIN` on the sending side since the last report
    /// ([`RegistrationRef::cant_send`](crate::RegistrationRef::cant_send)). Set from the insertion on.
    pub const READY_W: Self = Self(READY_W);
    /// The last report had readable data.
    pub const POLL_IN: Self = Self(POLL_IN);
    /// The last report was writable.
    pub const POLL_OUT: Self = Self(POLL_OUT);
    /// A report had an error. The flag stays until the registration ends.
    pub const POLL_ERR: Self = Self(POLL_ERR);
    /// A report had a hang-up. The flag stays until the registration ends.
    pub const POLL_HUP: Self = Self(POLL_HUP);
    /// The close resets the connection; see
    /// [`RegistrationRef::reset_on_close`](crate::RegistrationRef::reset_on_close).
    pub const LINGER_RISK: Self = Self(LINGER_RISK);
    /// The open file has another descriptor; see
    /// [`RegistrationRef::mark_cloned`](crate::RegistrationRef::mark_cloned).
    pub const CLONED: Self = Self(CLONED);
    /// The registration is edge-triggered if the backend supports that.
    pub const EDGE: Self = Self(EDGE);
    /// A listener that may be handed to another process.
    pub const EXPORTED: Self = Self(EXPORTED);
    /// The end of the registration returns the source instead of closing it.
    pub const DISOWN: Self = Self(DISOWN);
    /// The registration was deleted and not ended: the thread that clears this flag ends it.
    pub const MUST_CLOSE: Self = Self(MUST_CLOSE);
    /// The registration was deleted.
    pub const DELETED: Self = Self(DELETED);
    /// The descriptor has moved: the poller of its new thread must register it anew.
    pub const REARM: Self = Self(REARM);
    /// A descriptor of the runtime, which wakes a thread. Every call refuses its handle.
    pub const INTERNAL: Self = Self(INTERNAL);
    /// A timeout was set; it may be over or cleared. See
    /// [`RegistrationRef::set_timeout`](crate::RegistrationRef::set_timeout).
    pub const TIMED: Self = Self(TIMED);
    /// Both directions. [`State::intersects`] tells whether one of them is enabled.
    pub const ACTIVE: Self = Self(ACTIVE);
    /// Both directions. [`State::intersects`] tells whether one of them is ready.
    pub const READY: Self = Self(READY);

    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The bits, which [`EntryInfo`](crate::EntryInfo) prints.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The flags of either.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether all flags of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether some flag of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no flag is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The names of the flags that are set, `READY_R|CLONED`.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: Vec<_> = NAMES.iter().filter(|(bit, _)| self.0 & bit != 0).map(|(_, name)| *name).collect();
        f.pad(if set.is_empty() { "NONE".into() } else { set.join("|") }.as_str())
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::LowerHex for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

/// The directions that a poller must poll for this state.
pub const fn wanted(state: u32) -> Interest {
    Interest { recv: state & ACTIVE_R != 0, send: state & ACTIVE_W != 0 }
}

/// The state after a report of `events` (protocol 4.7): the bits of the last report are replaced, errors and
/// hang-ups are kept, and readiness is added.
#[inline(always)]
pub(crate) fn after_report(state: u32, events: Events) -> u32 {
    let sends = state & ACTIVE_W != 0;
    fault!(HangupIsError: sends => true);
    let replaced = POLL_IN | POLL_OUT;
    fault!(ReportForgetsHangup: replaced => replaced | POLL_ERR | POLL_HUP);
    state & !replaced | EFFECTS[events.index()].reported[sends as usize]
}

/// What a report does to the state.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Effect {
    /// The bits that it adds, for an owner that does not send and for one that does.
    reported: [u32; 2],
    /// The directions that it concerns, as bits of [`ACTIVE`].
    directions: u32,
}

/// The effect of each set of events.
static EFFECTS: [Effect; Events::SETS] = {
    let mut effects = [Effect { reported: [0; 2], directions: 0 }; Events::SETS];
    let mut index = 0;
    while index < Events::SETS {
        let events = Events::at(index);
        effects[index] = Effect {
            reported: [reported(events, false), reported(events, true)],
            directions: directions(events),
        };
        index += 1;
    }
    effects
};

const fn directions(events: Events) -> u32 {
    let failed = Events::ERR.or(Events::INVALID);
    let recv = events.intersects(Events::READY_R.or(Events::SHUT_R).or(failed));
    let send = events.intersects(Events::READY_W.or(Events::SHUT_W).or(failed));
    (if recv { ACTIVE_R } else { 0 }) | (if send { ACTIVE_W } else { 0 })
}

const fn reported(events: Events, sends: bool) -> u32 {
    let mut reported = 0;
    if events.intersects(Events::READY_R) {
        reported |= POLL_IN;
    }
    if events.intersects(Events::READY_W) {
        reported |= POLL_OUT;
    }
    if events.intersects(Events::SHUT_R) {
        reported |= POLL_HUP;
    }
    // A hang-up is an error only for an owner that still sends (bug 36).
    let failed_while_sending = events.intersects(Events::SHUT_W) && sends;
    if events.intersects(Events::ERR.or(Events::INVALID)) || failed_while_sending {
        reported |= POLL_ERR;
    }
    if reported & (POLL_IN | POLL_HUP | POLL_ERR) != 0 {
        reported |= READY_R;
    }
    if reported & (POLL_OUT | POLL_ERR) != 0 {
        reported |= READY_W;
    }
    reported
}

/// The directions that were reported and are not active, as bits of [`ACTIVE`] (protocol 4.8). If they are
/// still inactive after the handler, this thread's poller must stop polling them (L6).
#[inline(always)]
pub(crate) fn must_stop(state: u32, events: Events) -> u32 {
    if state & ACTIVE == 0 { ACTIVE } else { EFFECTS[events.index()].directions & !state }
}

/// Whether one of `directions` is inactive.
pub(crate) const fn some_inactive(state: u32, directions: Interest) -> bool {
    (directions.recv && state & ACTIVE_R == 0) || (directions.send && state & ACTIVE_W == 0)
}

/// The letters of `show fd`: one per flag, in the order C L E D X T R I, with `-` for a clear flag.
pub(crate) fn letters(state: u32) -> String {
    let flags = [
        (CLONED, 'C'),
        (LINGER_RISK, 'L'),
        (EDGE, 'E'),
        (DISOWN, 'D'),
        (EXPORTED, 'X'),
        (MUST_CLOSE, 'T'),
        (REARM, 'R'),
        (INTERNAL, 'I'),
    ];
    flags.iter().map(|&(bit, letter)| if state & bit != 0 { letter } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are part of `show fd`, of stored dumps, and of HAProxy's tools (include/haproxy/fd-t.h).
    #[test]
    fn the_bits_have_the_values_that_dumps_print() {
        let bits = [
            (ACTIVE_R, 0x0000_0001),
            (READY_R, 0x0000_0002),
            (ACTIVE_W, 0x0000_0010),
            (READY_W, 0x0000_0020),
            (POLL_IN, 0x0000_0100),
            (POLL_OUT, 0x0000_0400),
            (POLL_ERR, 0x0000_0800),
            (POLL_HUP, 0x0000_1000),
            (LINGER_RISK, 0x0001_0000),
            (CLONED, 0x0002_0000),
            (EDGE, 0x0008_0000),
            (EXPORTED, 0x0010_0000),
            (DISOWN, 0x0040_0000),
            (MUST_CLOSE, 0x0080_0000),
            (DELETED, 0x0100_0000),
            (REARM, 0x0200_0000),
            (INTERNAL, 0x0400_0000),
            (TIMED, 0x0800_0000),
        ];
        for (bit, value) in bits {
            assert_eq!(bit, value, "{value:#x}");
        }
        assert_eq!((ACTIVE, READY), (0x11, 0x22));
        assert_eq!(NAMES.map(|(bit, _)| bit), bits.map(|(bit, _)| bit), "each has its name");
        assert_eq!(after_report(0, Events::READY_R), 0x0102);
        assert_eq!(after_report(0, Events::READY_W), 0x0420);
        assert_eq!(letters(0x06db_0000), "CLEDXTRI");
        let named = [CLONED, LINGER_RISK, EDGE, DISOWN, EXPORTED, MUST_CLOSE, REARM, INTERNAL];
        for (place, bit) in named.into_iter().enumerate() {
            assert_eq!(letters(bit).find(|letter| letter != '-'), Some(place), "{bit:#x}");
            assert_eq!(letters(bit).matches('-').count(), named.len() - 1, "{bit:#x}");
        }
    }

    #[test]
    fn a_state_prints_the_names_of_its_flags() {
        let state = State::READY_R.or(State::CLONED);
        assert_eq!(
            (state.to_string(), format!("{state:?}")),
            ("READY_R|CLONED".into(), "READY_R|CLONED".into())
        );
        assert_eq!((State::default().to_string(), format!("{state:#x}")), ("NONE".into(), "0x20002".into()));
    }

    #[test]
    fn a_state_contains_all_of_some_flags_and_intersects_one_of_them() {
        let (state, both) = (State::READY_R.or(State::EDGE), State::READY);
        assert!(state.intersects(both) && !state.contains(both) && state.contains(State::READY_R));
        assert!(state.and(State::CLONED).is_empty() && !state.is_empty());
        assert_eq!(both.or(State::READY_R), both);
        assert_eq!((state.and(both), state.bits()), (State::READY_R, 0x0008_0002));
    }

    #[test]
    fn each_direction_is_wanted_on_its_own() {
        for (state, expected) in [
            (0, Interest::NONE),
            (ACTIVE_R, Interest::RECV),
            (ACTIVE_W, Interest::SEND),
            (ACTIVE, Interest::BOTH),
            (!ACTIVE, Interest::NONE),
        ] {
            assert_eq!(wanted(state), expected, "{state:#x}");
        }
    }

    /// One report alone, and one after each bit of an earlier report.
    #[test]
    fn each_event_sets_its_own_bits_and_replaces_the_last_report() {
        let reports = [
            (Events::NONE, 0),
            (Events::READY_R, POLL_IN | READY_R),
            (Events::READY_W, POLL_OUT | READY_W),
            (Events::SHUT_R, POLL_HUP | READY_R),
            (Events::SHUT_W, 0),
            (Events::ERR, POLL_ERR | READY),
            (Events::INVALID, POLL_ERR | READY),
        ];
        for (events, alone) in reports {
            assert_eq!(after_report(0, events), alone, "{events:?}");
            for (before, stays) in [(POLL_IN, 0), (POLL_OUT, 0), (POLL_ERR, POLL_ERR), (POLL_HUP, POLL_HUP)] {
                assert_eq!(after_report(before, events), alone | stays, "{events:?} after {before:#x}");
            }
        }
    }

    #[test]
    fn a_report_replaces_the_last_one_and_keeps_errors() {
        let state = after_report(ACTIVE_R, Events::READY_R.or(Events::ERR).or(Events::SHUT_R));
        assert_eq!(state, ACTIVE_R | POLL_IN | POLL_ERR | POLL_HUP | READY);
        let state = after_report(state, Events::READY_W);
        assert_eq!(state & (POLL_IN | POLL_OUT), POLL_OUT);
        assert_eq!(state & (POLL_ERR | POLL_HUP), POLL_ERR | POLL_HUP, "S15");
    }

    /// Bug 4: a HUP that was reported with IN was lost with the next report, so the read side was never
    /// signalled.
    #[test]
    fn a_hangup_keeps_the_read_side_ready() {
        assert_eq!(after_report(ACTIVE_R, Events::SHUT_R) & READY, READY_R);
    }

    /// Bug 36: a hang-up after the owner's own shutdown of the sending side was treated as an error.
    #[test]
    fn a_full_hangup_is_an_error_only_while_sending_is_wanted() {
        let hangup = Events::SHUT_R.or(Events::SHUT_W);
        assert_eq!(after_report(ACTIVE_R, hangup) & POLL_ERR, 0);
        assert_eq!(after_report(ACTIVE_R | ACTIVE_W, hangup) & POLL_ERR, POLL_ERR);
    }

    #[test]
    fn a_report_never_changes_the_upper_half_or_the_activity() {
        let upper = LINGER_RISK | CLONED | EDGE | EXPORTED | DISOWN | MUST_CLOSE | DELETED | REARM;
        for active in [0, ACTIVE_R, ACTIVE_W, ACTIVE] {
            let after = after_report(upper | active, Events::READY_R.or(Events::ERR));
            assert_eq!(after & (upper | ACTIVE), upper | active);
        }
    }

    #[test]
    fn unwanted_directions_must_stop() {
        assert_eq!(must_stop(0, Events::READY_R), ACTIVE);
        assert_eq!(must_stop(ACTIVE_R, Events::READY_R), 0);
        assert_eq!(must_stop(ACTIVE_R, Events::READY_W), ACTIVE_W);
        assert_eq!(must_stop(ACTIVE_W, Events::READY_W.or(Events::SHUT_R)), ACTIVE_R);
        assert_eq!(must_stop(ACTIVE_W, Events::ERR), ACTIVE_R);
        assert_eq!(must_stop(ACTIVE, Events::ERR.or(Events::READY_R)), 0);
    }

    #[test]
    fn a_direction_wanted_again_by_the_handler_does_not_stop() {
        assert!(some_inactive(ACTIVE_R, Interest::BOTH));
        assert!(!some_inactive(ACTIVE_R, Interest::RECV));
        assert!(!some_inactive(ACTIVE, Interest::BOTH));
        assert!(!some_inactive(0, Interest::NONE));
    }
}
