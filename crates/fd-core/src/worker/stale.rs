//! Registrations that the kernel reports though their descriptor is closed: a copy of it keeps the open file, and no number is
//! left to remove the registration by. Only a new poller gets rid of them, and everything must be registered again.
//!
//! Most of them end by themselves: between fork and exec a child has a copy of every descriptor, so a close beside an ordinary
//! `std::process::Command` leaves a registration until the exec. What does not end is an undeclared copy: in a child that does
//! not exec, in another process, in this one.

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::words::events::{Event, Generation};

/// A child takes less from fork to exec.
const EXEC: Duration = Duration::from_secs(1);

/// How long a registration is remembered that is not reported.
const MEMORY: Duration = Duration::from_secs(10);

struct Stale {
    fd: RawFd,
    generation: Generation,
    first_seen: Instant,
    last_seen: Instant,
    /// Reported by a later wait than the first one, whose batch may be older than the close.
    seen_again: bool,
    /// The process had no child at some time after the close: so no child has a copy, not even one that is started later.
    childless: bool,
    /// Reported by a wait that began after that time. A batch that was collected before it proves nothing: the child may have
    /// had its copy then.
    outlives_children: bool,
}

/// The stale registrations of one thread's poller.
#[derive(Default)]
pub(crate) struct StaleRegistrations(Vec<Stale>);

impl StaleRegistrations {
    /// Notes the events of one batch whose registrations had ended.
    pub(crate) fn note(&mut self, events: &[Event], now: Instant) {
        self.0.retain(|stale| now.saturating_duration_since(stale.last_seen) < MEMORY);
        let known = self.0.len();
        for event in events {
            let same = |stale: &Stale| (stale.fd, stale.generation) == (event.fd, event.generation);
            match self.0.iter().position(same) {
                Some(index) => {
                    let (stale, is_later) = (&mut self.0[index], index < known);
                    stale.last_seen = now;
                    stale.seen_again |= is_later;
                    stale.outlives_children |= is_later && stale.childless;
                }
                None => self.0.push(Stale {
                    fd: event.fd,
                    generation: event.generation,
                    first_seen: now,
                    last_seen: now,
                    seen_again: false,
                    childless: false,
                    outlives_children: false,
                }),
            }
        }
    }

    /// Whether one of them is worth a new poller: it does not end by itself. To be called after each batch. `has_children` tells
    /// whether this process has children, one of which may be on its way to an exec.
    pub(crate) fn need_new_poller(&mut self, now: Instant, has_children: impl FnOnce() -> bool) -> bool {
        let again = |stale: &Stale| stale.seen_again && stale.last_seen == now;
        let outlives_an_exec = |stale: &Stale| now.saturating_duration_since(stale.first_seen) >= EXEC;
        let stays = |stale: &Stale| stale.outlives_children || outlives_an_exec(stale);
        fault!(StaleAtSecondReport => if self.0.iter().any(again) { return true });
        if self.0.iter().any(|stale| again(stale) && stays(stale)) {
            return true;
        }
        if self.0.iter().all(|stale| stale.childless) || has_children() {
            return false;
        }
        self.0.iter_mut().for_each(|stale| stale.childless = true);
        fault!(ChildlessAfterBatch => return self.0.iter().any(again));
        false
    }

    /// Forgets them: the poller is new.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Whether this process has a child, running or not waited for. Where the system cannot be asked, it may have one.
pub(crate) fn has_children() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        use nix::errno::Errno;
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        // WNOWAIT leaves a child that has ended to whoever waits for it.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        waitid(Id::All, flags) != Err(Errno::ECHILD)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    true
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::poller::Events;

    fn event(fd: RawFd) -> Event {
        Event { fd, generation: 1, events: Events::READY_R }
    }

    #[test]
    fn a_batch_that_was_collected_before_the_close_proves_nothing() {
        let (mut stale, now) = (StaleRegistrations::default(), Instant::now());
        stale.note(&[event(3), event(3)], now);
        assert!(!stale.need_new_poller(now, || false));
        stale.note(&[event(4)], now + EXEC);
        assert!(!stale.need_new_poller(now + EXEC, || false), "the other one is not reported any more");
    }

    #[test]
    fn without_children_a_copy_is_undeclared() {
        let (mut stale, now) = (StaleRegistrations::default(), Instant::now());
        let mut need = |after, has_children| {
            let now = now + Duration::from_micros(after);
            stale.note(&[event(3)], now);
            stale.need_new_poller(now, || has_children)
        };
        assert_eq!([need(0, true), need(1, true)], [false; 2], "a child may be about to exec");
        assert!(!need(1, true), "however often it is reported");
        assert!(!need(2, false), "the batch is older than the look at the children");
        assert!(need(3, true), "a child that is started later has no copy");
        stale.clear();
        stale.note(&[event(3)], now);
        assert!(!stale.need_new_poller(now, || false), "the new poller has reported it once");
    }

    #[test]
    fn with_children_a_copy_is_undeclared_when_it_outlives_an_exec() {
        let (mut stale, start) = (StaleRegistrations::default(), Instant::now());
        for (after, expected) in [(0, false), (1, false), (999, false), (1000, true), (1001, true)] {
            let now = start + Duration::from_millis(after);
            stale.note(&[event(3), event(after as RawFd + 10)], now);
            assert_eq!(stale.need_new_poller(now, || true), expected, "after {after} ms");
        }
        let forgotten = start + Duration::from_millis(1001) + MEMORY;
        stale.note(&[event(3)], forgotten);
        assert!(
            !stale.need_new_poller(forgotten, || true),
            "the age counts from the report that is remembered"
        );
    }

    #[test]
    fn a_stale_registration_is_dropped_if_it_is_not_reported_for_long() {
        for (silence, known) in [(MEMORY - Duration::from_nanos(1), true), (MEMORY, false)] {
            let (mut stale, start) = (StaleRegistrations::default(), Instant::now());
            stale.note(&[event(3)], start);
            stale.note(&[event(3)], start + silence);
            assert_eq!(stale.need_new_poller(start + silence, || true), known, "{silence:?}");
        }
    }

    /// In a process of its own, whose children no other test starts. What it sees comes back as its exit status.
    #[test]
    fn children_are_seen_until_the_process_has_waited_for_them() {
        use nix::sys::wait::{WaitStatus, waitpid};
        use nix::unistd::{ForkResult, fork};

        if cfg!(not(any(target_os = "linux", target_os = "android", target_os = "freebsd"))) {
            return;
        }
        // SAFETY: beyond what is async-signal-safe the children call nothing but what wraps one system call each.
        match unsafe { fork() }.unwrap() {
            ForkResult::Child => {
                let before = has_children();
                // SAFETY: as above.
                let Ok(ForkResult::Parent { child }) = (unsafe { fork() }) else {
                    // SAFETY: ends this process at once.
                    unsafe { nix::libc::_exit(0) }
                };
                let beside = has_children();
                let waited = waitpid(child, None).is_ok();
                let status = [before, beside, waited, has_children()];
                let status = status.into_iter().fold(0, |bits, bit| 2 * bits + i32::from(bit));
                // SAFETY: ends this process at once.
                unsafe { nix::libc::_exit(status) }
            }
            ForkResult::Parent { child } => {
                assert_eq!(waitpid(child, None), Ok(WaitStatus::Exited(child, 0b0110)));
            }
        }
    }

    #[test]
    fn a_child_is_noticed_and_not_reaped() {
        if cfg!(not(any(target_os = "linux", target_os = "android", target_os = "freebsd"))) {
            return;
        }
        let mut child = std::process::Command::new("sleep").arg("3600").spawn().unwrap();
        assert!(has_children());
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "has_children did not reap it");
    }
}
