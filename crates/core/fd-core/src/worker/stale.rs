//! Stale registrations: the kernel reports them although their descriptor is closed, because a copy of it
//! keeps the open file. No number remains to remove the registration by. Only a new poller, with everything
//! registered again, removes it.
//!
//! Most stale registrations end by themselves. Between fork and exec a child has a copy of every descriptor,
//! so a close while an ordinary `std::process::Command` starts leaves a registration until the exec. A
//! registration that does not end belongs to an undeclared copy: in a child that does not exec, in another
//! process, or in this one.

use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use crate::words::events::{Event, Generation};

/// A child needs less time than this from fork to exec.
const EXEC: Duration = Duration::from_secs(1);

/// A fork needs less time than this from its copy of the descriptors until waitid(2) sees the child.
const FORK: Duration = Duration::from_millis(100);

/// The time after which a registration that is not reported is dropped.
const MEMORY: Duration = Duration::from_secs(10);

struct Stale {
    fd: RawFd,
    generation: Generation,
    first_seen: Instant,
    last_seen: Instant,
    /// A wait after the first one has reported it. The batch of the first wait may be older than the close.
    seen_again: bool,
    /// The first and the last of the consecutive checks after the close that found no child. A fork that had
    /// copied the descriptors before the close can be invisible to the first one. [`FORK`] later, its child
    /// is visible, or has made its exec, or has ended. A child that starts later has no copy.
    childless: Option<(Instant, Instant)>,
    /// No child has a copy, and a wait that began after the last of these checks has reported it. A batch
    /// that was collected before proves nothing, because a child may have had its copy then.
    outlives_children: bool,
}

impl Stale {
    fn no_child_has_a_copy(&self) -> bool {
        self.childless.is_some_and(|(first, last)| last.saturating_duration_since(first) >= FORK)
    }
}

/// The stale registrations of one thread's poller.
#[derive(Default)]
pub(crate) struct StaleRegistrations(Vec<Stale>);

impl StaleRegistrations {
    /// Records the events of one batch whose registrations had ended.
    pub(crate) fn note(&mut self, events: &[Event], now: Instant) {
        self.0.retain(|stale| now.saturating_duration_since(stale.last_seen) < MEMORY);
        let known = self.0.len();
        for event in events {
            let is_known = |stale: &Stale| (stale.fd, stale.generation) == (event.fd, event.generation);
            match self.0.iter().position(is_known) {
                Some(index) => {
                    let (stale, is_later) = (&mut self.0[index], index < known);
                    stale.last_seen = now;
                    stale.seen_again |= is_later;
                    stale.outlives_children |= is_later && stale.no_child_has_a_copy();
                }
                None => self.0.push(Stale {
                    fd: event.fd,
                    generation: event.generation,
                    first_seen: now,
                    last_seen: now,
                    seen_again: false,
                    childless: None,
                    outlives_children: false,
                }),
            }
        }
    }

    /// Whether one of the registrations does not end by itself, and so needs a new poller. The worker calls
    /// this after each batch. `has_children` returns whether this process has children, one of which may be
    /// about to exec.
    pub(crate) fn need_new_poller(&mut self, now: Instant, has_children: impl FnOnce() -> bool) -> bool {
        let is_repeated = |stale: &Stale| stale.seen_again && stale.last_seen == now;
        let outlives_an_exec = |stale: &Stale| now.saturating_duration_since(stale.first_seen) >= EXEC;
        let stays = |stale: &Stale| stale.outlives_children || outlives_an_exec(stale);
        fault!(StaleAtSecondReport => if self.0.iter().any(is_repeated) { return true });
        if self.0.iter().any(|stale| is_repeated(stale) && stays(stale)) {
            return true;
        }
        let childless = !has_children();
        for stale in &mut self.0 {
            let first = stale.childless.map_or(now, |(first, _)| first);
            stale.childless = childless.then_some((first, now));
        }
        fault!(ChildlessAfterBatch => return childless && self.0.iter().any(is_repeated));
        false
    }

    /// Drops all of them, because the poller is new.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Whether this process has a child, running or not yet waited for. Returns true on systems that cannot tell.
pub(crate) fn has_children() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        use nix::errno::Errno;
        use nix::sys::wait::{Id, WaitPidFlag, waitid};
        // With WNOWAIT a child that has ended can still be waited for by its parent's code.
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
        assert!(!stale.need_new_poller(now + EXEC, || false), "the first one is no longer reported");
    }

    #[test]
    fn without_children_a_copy_is_undeclared() {
        let (mut stale, now) = (StaleRegistrations::default(), Instant::now());
        let mut need = |after, has_children| {
            let now = now + Duration::from_millis(after);
            stale.note(&[event(3)], now);
            stale.need_new_poller(now, || has_children)
        };
        assert_eq!([need(0, true), need(1, true)], [false; 2], "a child may be about to exec");
        assert!(!need(1, true), "more reports prove nothing");
        assert_eq!([need(2, false), need(3, false)], [false; 2], "a fork may be about to show its child");
        assert!(!need(4, true), "that child may have a copy");
        assert_eq!([need(5, false), need(104, false)], [false; 2], "the checks begin again");
        assert!(!need(105, false), "the batch is older than the last check for children");
        assert!(need(106, true), "a child that starts later has no copy");
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
            "the age counts from the first report that is remembered"
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

    /// Runs in a process of its own, whose children no other test starts. Its exit status is the result.
    #[test]
    fn children_are_seen_until_the_process_has_waited_for_them() {
        use nix::sys::wait::{WaitStatus, waitpid};
        use nix::unistd::{ForkResult, fork};

        if cfg!(not(any(target_os = "linux", target_os = "android", target_os = "freebsd"))) {
            return;
        }
        // SAFETY: the children call only async-signal-safe functions, and functions that wrap one system call
        // each.
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
