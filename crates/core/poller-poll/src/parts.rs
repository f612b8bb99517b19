//! poll(2) for more descriptors than one call accepts: in parts, one call after the other.
//!
//! Linux answers `EINVAL` to more than the soft `RLIMIT_NOFILE` ([poll(2)]), which may be lowered below the
//! number of open descriptors. Other systems have other bounds, so the size of the parts is found by trying.
//!
//! [poll(2)]: https://man7.org/linux/man-pages/man2/poll.2.html

use std::time::Duration;

use fd_core::poller::milliseconds;
use nix::errno::Errno;

/// The maximum duration of a wait for one part. Events of the other parts, and changes by other threads, are
/// seen this much later.
pub(crate) const SLICE: Duration = Duration::from_millis(10);

/// Selects the part for the next wait.
#[derive(Default)]
pub(crate) struct Parts {
    /// The slot at which the next wait begins.
    next: usize,
}

impl Parts {
    /// Polls all slots with `poll`, in parts of at most `limit`. If no slot has events, waits for the next
    /// part, for at most [`SLICE`]. Returns the number of slots with events.
    ///
    /// # Errors
    /// Those of `poll`, if no slot has events; never `EINVAL`.
    pub(crate) fn poll(
        &mut self,
        slots: &mut [libc::pollfd],
        limit: usize,
        timeout: Option<Duration>,
        mut poll: impl FnMut(&mut [libc::pollfd], i32) -> Result<usize, Errno>,
    ) -> Result<usize, Errno> {
        let mut size = limit.min(slots.len());
        let ready = loop {
            match poll_all(slots, size, &mut poll) {
                Err(Errno::EINVAL) if size > 0 => size /= 2,
                Err(Errno::EINVAL) => break 0,
                ready => break ready?,
            }
        };
        let wait = timeout.map_or(SLICE, |timeout| timeout.min(SLICE));
        if ready > 0 || wait.is_zero() {
            return Ok(ready);
        }
        let start = if self.next < slots.len() { self.next } else { 0 };
        let part = &mut slots[start..];
        let end = size.min(part.len());
        self.next = start + end;
        match poll(&mut part[..end], milliseconds(Some(wait))) {
            // The limit was lowered since the first poll. The next wait finds the new one.
            Err(Errno::EINVAL) => Ok(0),
            result => result,
        }
    }
}

/// Polls all slots without waiting, and returns the number of slots with events. Ignores the error of a call
/// if an earlier part has events.
fn poll_all(
    slots: &mut [libc::pollfd],
    size: usize,
    poll: &mut impl FnMut(&mut [libc::pollfd], i32) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let mut ready = 0;
    if size == 0 {
        return Ok(0);
    }
    for part in slots.chunks_mut(size) {
        match poll(part, 0) {
            Ok(count) => ready += count,
            // The kernel has not written them.
            Err(_) if ready > 0 => part.iter_mut().for_each(|slot| slot.revents = 0),
            Err(errno) => return Err(errno),
        }
    }
    Ok(ready)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// poll(2) with a bound and some ready numbers. It records the size and the timeout of each call.
    struct Kernel {
        bound: usize,
        ready: Vec<i32>,
        calls: RefCell<Vec<(usize, i32)>>,
    }

    impl Kernel {
        fn poll(&self, slots: &mut [libc::pollfd], milliseconds: i32) -> Result<usize, Errno> {
            if slots.len() > self.bound {
                return Err(Errno::EINVAL);
            }
            self.calls.borrow_mut().push((slots.len(), milliseconds));
            for slot in slots.iter_mut() {
                slot.revents = if self.ready.contains(&slot.fd) { slot.events } else { 0 };
            }
            Ok(slots.iter().filter(|slot| slot.revents != 0).count())
        }

        fn calls(&self) -> Vec<(usize, i32)> {
            std::mem::take(&mut *self.calls.borrow_mut())
        }
    }

    fn kernel(bound: usize, ready: impl IntoIterator<Item = i32>) -> Kernel {
        Kernel { bound, ready: ready.into_iter().collect(), calls: RefCell::default() }
    }

    fn slots(count: i32) -> Vec<libc::pollfd> {
        (0..count).map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect()
    }

    fn ready(slots: &[libc::pollfd]) -> Vec<i32> {
        slots.iter().filter(|slot| slot.revents != 0).map(|slot| slot.fd).collect()
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn every_part_is_polled_and_no_call_waits_while_a_slot_has_events() {
        let (kernel, mut parts, mut slots) = (kernel(3, [0, 4, 7]), Parts::default(), slots(8));
        let count = parts.poll(&mut slots, 3, Some(HOUR), |slots, timeout| kernel.poll(slots, timeout));
        assert_eq!((count, ready(&slots)), (Ok(3), vec![0, 4, 7]));
        assert_eq!(kernel.calls(), [(3, 0), (3, 0), (2, 0)]);
    }

    #[test]
    fn short_waits_cover_the_parts_in_rotation() {
        let (kernel, mut parts, mut slots) = (kernel(3, []), Parts::default(), slots(8));
        let first_polls = [(3, 0), (3, 0), (2, 0)];
        for waited in [3, 3, 2, 3, 3] {
            let count = parts.poll(&mut slots, 3, Some(HOUR), |slots, timeout| kernel.poll(slots, timeout));
            assert_eq!(count, Ok(0));
            assert_eq!(kernel.calls(), [&first_polls[..], &[(waited, 10)]].concat());
        }
        let _ =
            parts.poll(&mut slots, 3, Some(Duration::from_micros(1)), |s, timeout| kernel.poll(s, timeout));
        assert_eq!(kernel.calls().last(), Some(&(2, 1)), "rounded up");
        let _ = parts.poll(&mut slots, 3, Some(Duration::ZERO), |s, timeout| kernel.poll(s, timeout));
        assert_eq!(kernel.calls(), first_polls, "no wait without a timeout");
    }

    #[test]
    fn a_wait_for_a_part_returns_its_events() {
        let (mut parts, mut slots) = (Parts::default(), slots(4));
        let mut calls = 0;
        let count = parts.poll(&mut slots, 2, Some(HOUR), |slots, timeout| {
            calls += 1;
            // It becomes ready during the wait.
            slots[1].revents = if timeout > 0 { libc::POLLIN } else { 0 };
            Ok(usize::from(timeout > 0))
        });
        assert_eq!((count, ready(&slots), calls), (Ok(1), vec![1], 3));
    }

    #[test]
    fn a_bound_below_the_limit_is_found() {
        for bound in 1..10 {
            let (kernel, mut slots) = (kernel(bound, [9]), slots(10));
            let count = Parts::default()
                .poll(&mut slots, 10, Some(HOUR), |slots, timeout| kernel.poll(slots, timeout));
            assert_eq!((count, ready(&slots)), (Ok(1), vec![9]), "{bound}");
        }
    }

    #[test]
    fn a_thread_that_may_poll_no_descriptor_sleeps_in_slices() {
        for (limit, bound) in [(0, 0), (8, 0)] {
            let (kernel, mut parts, mut slots) = (kernel(bound, [1]), Parts::default(), slots(8));
            for _ in 0..3 {
                let count =
                    parts.poll(&mut slots, limit, Some(HOUR), |slots, timeout| kernel.poll(slots, timeout));
                assert_eq!(count, Ok(0));
                assert_eq!(kernel.calls(), [(0, 10)]);
            }
        }
    }

    #[test]
    fn a_failed_call_does_not_hide_the_events_of_other_parts() {
        let poll = |fail: i32, errno| {
            let mut slots = slots(4);
            // What the wait before has left.
            slots.iter_mut().for_each(|slot| slot.revents = libc::POLLIN);
            let count = Parts::default().poll(&mut slots, 1, Some(HOUR), |slots, _| {
                if slots[0].fd == fail { Err(errno) } else { Ok(1) }
            });
            count.map(|count| (count, ready(&slots)))
        };
        assert_eq!(poll(2, Errno::ENOMEM), Ok((3, vec![0, 1, 3])));
        assert_eq!(poll(2, Errno::EINVAL), Ok((3, vec![0, 1, 3])));
        assert_eq!(poll(0, Errno::ENOMEM), Err(Errno::ENOMEM));
    }
}
