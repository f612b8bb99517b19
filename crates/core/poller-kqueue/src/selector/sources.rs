//! From a source to the fields of a kevent, and from the `fflags` of an event to names.
//!
//! The flags were compared with `sys/event.h` of FreeBSD, OpenBSD, NetBSD, XNU and libkqueue. What a change
//! means to each kernel was read in the functions that a comment names.

use std::os::fd::RawFd;
use std::time::Duration;

use ::selector::{Filter, Source, TimerSetting, Unsupported};

use super::calls::{Action, Trigger};

/// The values of the system's `NOTE_…` constants that are not the same everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Codes {
    /// `NOTE_ABSTIME`, on XNU `NOTE_ABSOLUTE`. `None` if timers of this system are only relative.
    pub(crate) absolute_time: Option<u32>,
    /// `NOTE_EXIT`, on XNU with `NOTE_EXITSTATUS`: without it, `data` has no status (`filt_procevent`).
    pub(crate) exit: u32,
    /// The name of 0x80 of a file: `NOTE_TRUNCATE` on OpenBSD. Elsewhere it stands for something else, and is
    /// not requested.
    pub(crate) truncate: Option<u32>,
}

/// `NOTE_TRIGGER`, the same everywhere.
pub(crate) const TRIGGER: u32 = 0x0100_0000;

/// The notes of a file that every system has: `NOTE_DELETE` to `NOTE_REVOKE`.
const OF_FILE: [(u32, &str); 8] = [
    (0x01, "delete"),
    (0x02, "write"),
    (0x04, "extend"),
    (0x08, "attrib"),
    (0x10, "link"),
    (0x20, "rename"),
    (0x40, "revoke"),
    (0x80, "truncate"),
];

/// The notes of a process: `NOTE_EXIT`, `NOTE_FORK` and `NOTE_EXEC`. That an exit has its status is no fact
/// about the process.
const OF_PROCESS: [(u32, &str); 3] = [(0x8000_0000, "exit"), (0x4000_0000, "fork"), (0x2000_0000, "exec")];

/// How far away the time of a timer is that must not expire.
const LONG: Duration = Duration::from_secs(3600);

/// The fields of a kevent that depend on the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fields {
    pub(crate) ident: usize,
    pub(crate) fflags: u32,
    pub(crate) data: i64,
}

/// Returns the filter of a source.
pub(crate) fn filter(source: Source) -> Filter {
    match source {
        Source::Timer(_) => Filter::Timer,
        Source::Process(_) => Filter::Process,
        Source::Signal(_) => Filter::Signal,
        Source::File => Filter::File,
        Source::UserEvent { .. } => Filter::User,
    }
}

/// Returns whether the source has a filter. A timer that is not set has none.
pub(crate) fn exists(source: Source) -> bool {
    source != Source::Timer(TimerSetting::Unset)
}

/// Returns the fields of a kevent that makes this change. `now` is the time since 1970, from which absolute
/// timers count.
///
/// A timer is absolute where the system has that: a relative one expires again and again (FreeBSD
/// `filt_timerexpire`), and XNU refuses to make a relative timer absolute (`filt_timertouch`). Elsewhere it
/// is relative, and expires once only if it is one-shot.
pub(crate) fn fields(
    codes: &Codes,
    number: RawFd,
    source: Source,
    action: Action,
    now: Duration,
) -> Result<Fields, Unsupported> {
    let ident = match source {
        Source::Process(id) | Source::Signal(id) => id as usize,
        Source::Timer(_) | Source::File | Source::UserEvent { .. } => number as usize,
    };
    let none = Fields { ident, fflags: 0, data: 0 };
    let trigger = match action {
        Action::Add(trigger) => trigger,
        Action::AddEnabled => Trigger::Dispatch,
        Action::Delete | Action::Enable | Action::Disable | Action::Touch => {
            return Ok(with_notes(codes, source, none));
        }
    };
    let Source::Timer(setting) = source else { return Ok(with_notes(codes, source, none)) };
    let milliseconds = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let relative = match setting {
        TimerSetting::Unset | TimerSetting::Long => LONG,
        TimerSetting::Expired => Duration::from_millis(1),
        TimerSetting::Repeating(period) => period,
    };
    match (codes.absolute_time, setting) {
        (Some(fflags), TimerSetting::Expired) => Ok(Fields { fflags, data: 1, ..none }),
        (Some(fflags), TimerSetting::Long | TimerSetting::Unset) => {
            Ok(Fields { fflags, data: milliseconds(now + LONG), ..none })
        }
        (None, TimerSetting::Expired) if trigger != Trigger::OneShot => Err(Unsupported(
            "a timer of this system's kqueue that expires once is one-shot: it has no absolute time".into(),
        )),
        (_, _) => Ok(Fields { data: milliseconds(relative), ..none }),
    }
}

/// Returns the fields with the notes of a source that is no timer.
///
/// They are in every change of an existing filter, too: FreeBSD's `kqueue_register` and XNU's touch functions
/// replace those of the filter by those of the change, `EV_ENABLE` and `EV_DISABLE` included.
fn with_notes(codes: &Codes, source: Source, none: Fields) -> Fields {
    let fflags = match source {
        Source::Process(_) => codes.exit,
        Source::File => 0x7f | codes.truncate.unwrap_or_default(),
        Source::UserEvent { triggers: true } => TRIGGER,
        Source::UserEvent { triggers: false } | Source::Signal(_) | Source::Timer(_) => 0,
    };
    Fields { fflags, ..none }
}

/// Returns the names of the notes in the `fflags` of an event.
pub(crate) fn notes(filter: Filter, fflags: u32) -> Vec<&'static str> {
    let known: &[(u32, &'static str)] = match filter {
        Filter::File => &OF_FILE,
        Filter::Process => &OF_PROCESS,
        _ => &[],
    };
    known.iter().filter(|(flag, _)| fflags & flag != 0).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREEBSD: Codes = Codes { absolute_time: Some(0x10), exit: 0x8000_0000, truncate: None };
    const XNU: Codes = Codes { absolute_time: Some(0x08), exit: 0x8400_0000, truncate: None };
    const OPENBSD: Codes = Codes { absolute_time: None, exit: 0x8000_0000, truncate: Some(0x80) };
    const NOW: Duration = Duration::from_secs(1_000_000);

    const LEVEL: Action = Action::Add(Trigger::Level);
    const ONE_SHOT: Action = Action::Add(Trigger::OneShot);
    const USER: Source = Source::UserEvent { triggers: false };
    const TRIGGERED: Source = Source::UserEvent { triggers: true };
    const EXPIRED: Source = Source::Timer(TimerSetting::Expired);
    const TICKING: Source = Source::Timer(TimerSetting::Repeating(Duration::from_millis(100)));
    const SET: Source = Source::Timer(TimerSetting::Long);

    #[test]
    fn each_source_has_its_own_fields_on_each_system() {
        #[rustfmt::skip]
        let table = [
            (FREEBSD, EXPIRED,              LEVEL,           (70, 0x10, 1)),
            (FREEBSD, EXPIRED,              ONE_SHOT,        (70, 0x10, 1)),
            (FREEBSD, SET,                  LEVEL,           (70, 0x10, 1_003_600_000)),
            (XNU,     EXPIRED,              Action::AddEnabled, (70, 0x08, 1)),
            (FREEBSD, TICKING,              LEVEL,           (70, 0, 100)),
            (OPENBSD, TICKING,              LEVEL,           (70, 0, 100)),
            (OPENBSD, EXPIRED,              ONE_SHOT,        (70, 0, 1)),
            (OPENBSD, SET,                  LEVEL,           (70, 0, 3_600_000)),
            (FREEBSD, SET,                  Action::Delete,  (70, 0, 0)),
            (FREEBSD, Source::Process(12),  LEVEL,           (12, 0x8000_0000, 0)),
            (XNU,     Source::Process(12),  LEVEL,           (12, 0x8400_0000, 0)),
            (FREEBSD, Source::Signal(31),   LEVEL,           (31, 0, 0)),
            (FREEBSD, Source::File,         LEVEL,           (70, 0x7f, 0)),
            (OPENBSD, Source::File,         ONE_SHOT,        (70, 0xff, 0)),
            (FREEBSD, Source::File,         Action::Disable, (70, 0x7f, 0)),
            (FREEBSD, USER,                 LEVEL,           (70, 0, 0)),
            (FREEBSD, TRIGGERED,            LEVEL,           (70, 0x0100_0000, 0)),
            (FREEBSD, USER,                 Action::Enable,  (70, 0, 0)),
        ];
        for (codes, source, action, (ident, fflags, data)) in table {
            let expected = Ok(Fields { ident, fflags, data });
            assert_eq!(fields(&codes, 70, source, action, NOW), expected, "{source:?} {action:?}");
        }
    }

    /// It would expire every millisecond, and the count would be one of luck.
    #[test]
    fn a_relative_timer_that_repeats_has_not_expired_once() {
        for trigger in [Trigger::Level, Trigger::Clear, Trigger::Dispatch] {
            assert!(fields(&OPENBSD, 70, EXPIRED, Action::Add(trigger), NOW).is_err(), "{trigger:?}");
        }
        assert!(fields(&OPENBSD, 70, EXPIRED, Action::AddEnabled, NOW).is_err());
    }

    #[test]
    fn only_a_timer_that_is_set_has_a_filter() {
        assert!(!exists(Source::Timer(TimerSetting::Unset)));
        assert!([SET, EXPIRED, USER, Source::File].into_iter().all(exists));
        let all = [SET, Source::Process(1), Source::Signal(1), Source::File, USER].map(filter);
        assert_eq!(all.map(|filter| filter.to_string()).concat(), "TPSVU");
    }

    #[test]
    fn notes_have_the_names_of_the_manual() {
        let table = [
            (Filter::File, 0x06, "write extend"),
            (Filter::File, 0x01 | 0x10, "delete link"),
            (Filter::File, 0xe8, "attrib rename revoke truncate"),
            (Filter::Process, 0x8000_0000, "exit"),
            // XNU returns NOTE_EXITSTATUS with it.
            (Filter::Process, 0x8400_0000, "exit"),
            (Filter::Process, 0x6000_0000, "fork exec"),
            (Filter::Timer, 0x10, ""),
            (Filter::User, TRIGGER, ""),
        ];
        for (filter, fflags, expected) in table {
            assert_eq!(notes(filter, fflags).join(" "), expected, "{filter} {fflags:#x}");
        }
    }
}
