//! Error injection below the backends. Each system call in a backend's `sys.rs` consults this layer first,
//! and can fail with an error that its manual page names.
//!
//! Only builds with the feature `faults` can switch it on. In any other build [`before`] and [`after`] are
//! the constant `Ok(())`, and compile to nothing.
//!
//! Four things decide whether a call fails: the seed, the name of the run, the calling thread, and the number
//! of calls that the thread has made. A thread is identified by its name, and unnamed threads by the order of
//! their first calls. So a worker gets the same errors in each run with one seed, as long as it makes the
//! same calls.
//!
//! Switching it on is safe: the system itself can return each of these errors, so the code above must be
//! sound under all of them.
//!
//! The layer is not async-signal-safe. A call that a signal handler may make does not consult it.

use nix::errno::Errno::{self, *};

/// The effect of a call for which an error is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The call is not made.
    NotMade,
    /// The call is made and its result is replaced: according to the page, this error does not undo the
    /// effect.
    Made,
    /// The error is never chosen, for this reason.
    Excluded(&'static str),
}

/// An error that the manual page of a call names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The error.
    pub errno: Errno,
    /// The effect of the call.
    pub effect: Effect,
}

const fn fails(errno: Errno) -> Failure {
    Failure { errno, effect: Effect::NotMade }
}

const fn takes_effect(errno: Errno) -> Failure {
    Failure { errno, effect: Effect::Made }
}

const fn excluded(errno: Errno, reason: &'static str) -> Failure {
    Failure { errno, effect: Effect::Excluded(reason) }
}

const UNPOLLABLE: &str =
    "a property of the file: the backend believes it and reports the file itself from then on";
const ABSENT: &str =
    "a statement about the kernel's own table: the backend believes it and drops the registration";
const NOT_OPEN: &str = "the call by which the backend checks another EBADF";
const OTHER_FILTER: &str = "concerns filters that the backend does not use";
const OF_CHANGES: &str = "concerns changes, and the call has none";

/// The table of calls: a row is `Call = "name in reports", "manual pages", [errors];`
macro_rules! calls {
    ($($(#[doc = $doc:literal])+ $call:ident = $name:literal, $pages:literal, [$($failure:expr),+];)*) => {
        /// A system call that a backend makes.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Call {
            $($(#[doc = $doc])+ $call,)*
        }

        impl Call {
            /// Every call.
            pub const ALL: &'static [Self] = &[$(Self::$call,)*];

            /// The name in reports.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$call => $name,)* }
            }

            /// The manual pages that are the source of [`Call::failures`]. "Linux" is Linux man-pages 6.03,
            /// "FreeBSD" is FreeBSD 12 to 14, "POSIX" is POSIX.1-2024.
            pub const fn pages(self) -> &'static str {
                match self { $(Self::$call => $pages,)* }
            }

            /// Each error that the pages name for this call.
            pub const fn failures(self) -> &'static [Failure] {
                match self { $(Self::$call => const { &[$($failure),+] },)* }
            }
        }
    };
}

calls! {
    /// epoll_create1(2).
    EpollCreate = "epoll_create1", "Linux epoll_create(2)",
        [fails(EINVAL), fails(EMFILE), fails(ENFILE), fails(ENOMEM)];
    /// epoll_ctl(2) with `EPOLL_CTL_ADD`.
    EpollAdd = "epoll_ctl ADD", "Linux epoll_ctl(2)",
        [fails(EBADF), fails(EEXIST), fails(EINVAL), fails(ELOOP), fails(ENOMEM), fails(ENOSPC),
         excluded(EPERM, UNPOLLABLE)];
    /// epoll_ctl(2) with `EPOLL_CTL_MOD`.
    EpollModify = "epoll_ctl MOD", "Linux epoll_ctl(2)",
        [fails(EBADF), fails(EINVAL), fails(ENOENT), fails(ENOMEM), excluded(EPERM, UNPOLLABLE)];
    /// epoll_ctl(2) with `EPOLL_CTL_DEL`.
    EpollDelete = "epoll_ctl DEL", "Linux epoll_ctl(2)",
        [fails(EBADF), fails(EINVAL), fails(ENOMEM), excluded(ENOENT, ABSENT), excluded(EPERM, UNPOLLABLE)];
    /// epoll_wait(2).
    EpollWait = "epoll_wait", "Linux epoll_wait(2)",
        [fails(EBADF), fails(EFAULT), fails(EINTR), fails(EINVAL)];
    /// epoll_pwait2(2).
    EpollPwait2 = "epoll_pwait2", "Linux epoll_wait(2)",
        [fails(EBADF), fails(EFAULT), fails(EINTR), fails(EINVAL)];
    /// dup3(2).
    Dup3 = "dup3", "Linux dup(2)",
        [fails(EBADF), fails(EBUSY), fails(EINTR), fails(EINVAL), fails(EMFILE)];
    /// dup2(2).
    Dup2 = "dup2", "FreeBSD dup(2), POSIX dup2()",
        [fails(EBADF), fails(EINTR), fails(EMFILE)];
    /// poll(2).
    Poll = "poll", "Linux and FreeBSD poll(2), POSIX poll()",
        [fails(EAGAIN), fails(EFAULT), fails(EINTR), fails(EINVAL), fails(ENOMEM)];
    /// select(2).
    Select = "select", "Linux and FreeBSD select(2), macOS select(2)",
        [fails(EAGAIN), fails(EBADF), fails(EFAULT), fails(EINTR), fails(EINVAL), fails(ENOMEM)];
    /// kqueue(2).
    Kqueue = "kqueue", "FreeBSD kqueue(2)",
        [fails(EMFILE), fails(ENFILE), fails(ENOMEM)];
    /// kevent(2) with changes.
    KeventSubmit = "kevent (changes)", "FreeBSD kqueue(2)",
        [fails(EACCES), fails(EBADF), fails(EFAULT), takes_effect(EINTR), fails(ENOMEM),
         excluded(EINVAL, UNPOLLABLE), excluded(ENOENT, ABSENT), excluded(ESRCH, OTHER_FILTER)];
    /// kevent(2) without changes.
    KeventWait = "kevent (wait)", "FreeBSD kqueue(2)",
        [fails(EBADF), fails(EFAULT), fails(EINTR), fails(EINVAL), excluded(EACCES, OF_CHANGES),
         excluded(ENOENT, OF_CHANGES), excluded(ENOMEM, OF_CHANGES), excluded(ESRCH, OTHER_FILTER)];
    /// fcntl(2) with `F_GETFD`.
    FcntlGetfd = "fcntl F_GETFD", "Linux and FreeBSD fcntl(2)",
        [excluded(EBADF, NOT_OPEN)];
    /// fcntl(2) with `F_SETFD`.
    FcntlSetfd = "fcntl F_SETFD", "Linux and FreeBSD fcntl(2)",
        [fails(EBADF)];
}

#[cfg(feature = "faults")]
mod switch {
    use std::cell::Cell;
    use std::num::NonZeroU32;
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    use nix::errno::Errno;

    use super::{Call, Effect, Failure};

    /// More errors than any page names for one call.
    const ERRORS: usize = 8;

    // Plain std atomics also under loom: the layer is switched on before the threads start.
    static ONE_IN: AtomicU32 = AtomicU32::new(0);
    static SEED: AtomicU64 = AtomicU64::new(0);
    static UNNAMED: AtomicU64 = AtomicU64::new(0);
    static COUNTS: [[AtomicU64; ERRORS]; Call::ALL.len()] =
        [const { [const { AtomicU64::new(0) }; ERRORS] }; Call::ALL.len()];

    static MADE: [AtomicU64; Call::ALL.len()] = [const { AtomicU64::new(0) }; Call::ALL.len()];

    thread_local! {
        static THREAD: Cell<Option<u64>> = const { Cell::new(None) };
        static CALLS: Cell<u64> = const { Cell::new(0) };
        static TO_REPLACE: Cell<Option<Errno>> = const { Cell::new(None) };
    }

    /// Makes one call in `one_in` fail, for the rest of this process. `subject` names the run: with one seed,
    /// different runs get different errors.
    pub fn enable(seed: u64, subject: &str, one_in: NonZeroU32) {
        // Relaxed: set before any thread of the runtime starts.
        SEED.store(mixed(seed) ^ hashed(subject), Ordering::Relaxed);
        ONE_IN.store(one_in.get(), Ordering::Relaxed);
    }

    /// Whether calls may fail.
    #[inline]
    pub fn is_on() -> bool {
        ONE_IN.load(Ordering::Relaxed) != 0
    }

    /// The number of injections of each error, without the errors that were not injected.
    pub fn counts() -> Vec<(Call, Errno, u64)> {
        let of_call = |call: &'static Call| {
            let counts = COUNTS[*call as usize].each_ref().map(|count| count.load(Ordering::Relaxed));
            call.failures().iter().zip(counts).map(move |(failure, count)| (*call, failure.errno, count))
        };
        Call::ALL.iter().flat_map(of_call).filter(|(_, _, count)| *count > 0).collect()
    }

    /// How often the backends have made this call, in this process.
    pub fn made(call: Call) -> u64 {
        MADE[call as usize].load(Ordering::Relaxed)
    }

    /// Counts `call`, and decides whether it fails without being made.
    ///
    /// # Errors
    /// The error to return instead of making the call.
    #[inline]
    pub fn before(call: Call) -> Result<(), Errno> {
        MADE[call as usize].fetch_add(1, Ordering::Relaxed);
        if is_on() { decide(call) } else { Ok(()) }
    }

    /// Decides whether the result of `call`, which has been made, is replaced by an error.
    ///
    /// # Errors
    /// The error to return instead of the result.
    #[inline]
    pub fn after(_: Call) -> Result<(), Errno> {
        if is_on() { TO_REPLACE.take().map_or(Ok(()), Err) } else { Ok(()) }
    }

    fn decide(call: Call) -> Result<(), Errno> {
        let number = CALLS.get();
        CALLS.set(number.wrapping_add(1));
        let (seed, one_in) = (SEED.load(Ordering::Relaxed), ONE_IN.load(Ordering::Relaxed));
        let Some(index) = chosen(seed, one_in, thread(), number, call.failures()) else { return Ok(()) };
        let Failure { errno, effect } = call.failures()[index];
        COUNTS[call as usize][index].fetch_add(1, Ordering::Relaxed);
        match effect {
            Effect::Made => {
                TO_REPLACE.set(Some(errno));
                Ok(())
            }
            _ => Err(errno),
        }
    }

    /// The index of the error that this call fails with, or `None` if it succeeds.
    pub(super) fn chosen(
        seed: u64,
        one_in: u32,
        thread: u64,
        number: u64,
        failures: &[Failure],
    ) -> Option<usize> {
        let random = mixed(mixed(seed ^ thread).wrapping_add(number));
        if !random.is_multiple_of(u64::from(one_in)) {
            return None;
        }
        let injected = || {
            let excluded = |failure: &Failure| matches!(failure.effect, Effect::Excluded(_));
            failures.iter().enumerate().filter(move |(_, failure)| !excluded(failure)).map(|(index, _)| index)
        };
        let choice = (random / u64::from(one_in)).checked_rem(injected().count() as u64)?;
        injected().nth(choice as usize)
    }

    fn thread() -> u64 {
        if let Some(known) = THREAD.get() {
            return known;
        }
        let current = std::thread::current();
        let id = current.name().map_or_else(|| UNNAMED.fetch_add(1, Ordering::Relaxed), hashed);
        THREAD.set(Some(id));
        id
    }

    /// FNV-1a.
    fn hashed(name: &str) -> u64 {
        name.bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// SplitMix64.
    fn mixed(value: u64) -> u64 {
        let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(feature = "faults")]
pub use switch::{after, before, counts, enable, is_on, made};

/// Whether calls may fail: never, in a build without the feature `faults`.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub const fn is_on() -> bool {
    false
}

/// The number of injections of each error: none, in a build without the feature `faults`.
#[cfg(not(feature = "faults"))]
pub const fn counts() -> Vec<(Call, Errno, u64)> {
    Vec::new()
}

/// Decides whether `call` fails without being made: never, in a build without the feature `faults`.
///
/// # Errors
/// None.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub const fn before(_: Call) -> Result<(), Errno> {
    Ok(())
}

/// Decides whether the result of `call` is replaced by an error: never, in a build without the feature
/// `faults`.
///
/// # Errors
/// None.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub const fn after(_: Call) -> Result<(), Errno> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_its_own_name() {
        let mut names: Vec<_> = Call::ALL.iter().map(|call| call.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Call::ALL.len());
    }

    #[test]
    fn no_error_is_named_twice_for_one_call() {
        for call in Call::ALL {
            let mut errors: Vec<_> = call.failures().iter().map(|failure| failure.errno as i32).collect();
            errors.sort_unstable();
            errors.dedup();
            assert_eq!(errors.len(), call.failures().len(), "{call:?}");
            assert!(!call.pages().is_empty());
        }
    }
}

#[cfg(all(test, feature = "faults"))]
mod chance {
    use super::switch::chosen;
    use super::*;

    const CALLS: u64 = 20_000;

    fn sequence(seed: u64, one_in: u32, thread: u64, call: Call) -> Vec<Option<usize>> {
        (0..CALLS).map(|number| chosen(seed, one_in, thread, number, call.failures())).collect()
    }

    #[test]
    fn only_the_seed_the_thread_and_the_number_of_the_call_decide() {
        let expected = sequence(7, 20, 1, Call::EpollAdd);
        assert_eq!(expected, sequence(7, 20, 1, Call::EpollAdd));
        assert_ne!(expected, sequence(8, 20, 1, Call::EpollAdd), "another seed");
        assert_ne!(expected, sequence(7, 20, 2, Call::EpollAdd), "another thread");
    }

    #[test]
    fn one_call_in_n_fails() {
        for one_in in [1, 2, 20, 100] {
            let failed = sequence(3, one_in, 5, Call::Poll).iter().flatten().count() as u64;
            let expected = CALLS / u64::from(one_in);
            assert!(failed.abs_diff(expected) <= expected / 4, "one in {one_in}: {failed}");
        }
    }

    #[test]
    fn every_error_is_injected_except_those_that_are_excluded() {
        for call in Call::ALL {
            let all = sequence(11, 2, 0, *call);
            for (index, failure) in call.failures().iter().enumerate() {
                let seen = all.contains(&Some(index));
                assert_eq!(seen, !matches!(failure.effect, Effect::Excluded(_)), "{call:?} {failure:?}");
            }
        }
    }

    /// The switch belongs to the process, so one test contains everything that needs it on.
    #[test]
    fn an_error_comes_before_a_call_that_is_not_made_and_after_one_that_is_made() {
        assert_eq!((before(Call::Poll), after(Call::Poll), is_on()), (Ok(()), Ok(()), false));
        enable(1, "this test", std::num::NonZeroU32::MIN);
        let mut errors = Vec::new();
        for _ in 0..100 {
            errors.extend(before(Call::Poll).err());
            assert_eq!(after(Call::Poll), Ok(()));
            if before(Call::KeventSubmit).is_ok() {
                assert_eq!(after(Call::KeventSubmit), Err(Errno::EINTR));
                assert_eq!(after(Call::KeventSubmit), Ok(()), "an error replaces one result");
            }
            assert_eq!(before(Call::FcntlGetfd), Ok(()), "every error is excluded");
        }
        let of = |wanted: Call| counts().iter().filter(|(call, _, _)| *call == wanted).map(|row| row.2).sum();
        let (poll, submit): (u64, u64) = (of(Call::Poll), of(Call::KeventSubmit));
        assert_eq!((poll, submit, errors.len()), (100, 100, 100));
        assert!(errors.iter().any(|errno| *errno != errors[0]), "each call is decided separately");
    }
}
