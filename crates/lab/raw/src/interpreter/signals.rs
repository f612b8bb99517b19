//! Signals: to a thread that waits, and as a descriptor.

use std::os::fd::OwnedFd;
use std::ptr::null_mut;
use std::sync::Arc;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::pthread::{Pthread, pthread_kill, pthread_self};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::unistd::getpid;

use selector::{Selector, Unsupported};

use super::fenced_poller::{FencedPoller, ROOM};
use super::waiters::{Waited, Waiter};
use super::{Interpreter, broken, call_failed};
use crate::Stopped;
use crate::verbs::SignalMask;

/// The signal to a thread that waits.
const INTERRUPTING: Signal = Signal::SIGUSR1;

/// The signal of `a signal`.
pub(super) const SOURCE: Signal = Signal::SIGUSR2;

/// The signals that every thread blocks in a script that has a descriptor of them.
#[cfg(any(target_os = "linux", target_os = "android"))]
const BLOCKABLE: [Signal; 3] = [SOURCE, Signal::SIGWINCH, Signal::SIGCHLD];

/// Those of this script, as bits. A blocked SIGCHLD tells the descriptors of other signals of a child's end.
#[cfg(any(target_os = "linux", target_os = "android"))]
static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// The poller that the handler wakes; null for none.
static WAKES: AtomicPtr<FencedPoller> = AtomicPtr::new(null_mut());

/// Whether the handler has run. The handler sets it last.
static HANDLED: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_: libc::c_int) {
    let poller = WAKES.swap(null_mut(), Ordering::Acquire);
    if !poller.is_null() {
        // SAFETY: `signals` stores the pointer and keeps the poller alive until the handler has set
        // `HANDLED`. A wake-up is one system call, and allocates only if it fails.
        let _ = unsafe { &*poller }.selector.wake();
    }
    HANDLED.store(true, Ordering::Release);
}

/// The handler, installed.
pub(super) struct Handler {
    before: SigAction,
}

impl Handler {
    pub(super) fn install(flags: SaFlags) -> Result<Self, Stopped> {
        let action = SigAction::new(SigHandler::Handler(handler), flags, SigSet::empty());
        // SAFETY: the handler makes one system call and uses atomics: it is async-signal-safe.
        let before = unsafe { sigaction(INTERRUPTING, &action) };
        before.map(|before| Self { before }).map_err(|errno| call_failed("sigaction", errno))
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        // SAFETY: this restores the previous action, which sigaction returned. It fails for no such action.
        let _ = unsafe { sigaction(INTERRUPTING, &self.before) };
    }
}

/// Waits with a signal mask in a thread that ends afterwards: the mask of the thread itself stays changed.
/// The handler is installed.
pub(super) fn wait_masked(selector: &dyn Selector, mask: SignalMask, timeout: Option<Duration>) -> Waited {
    let wait = || -> Result<Waited, Errno> {
        let [mut open, mut blocked] = [SigSet::thread_get_mask()?; 2];
        open.remove(INTERRUPTING);
        blocked.add(INTERRUPTING);
        let (of_thread, of_wait) = match mask {
            SignalMask::Blocks => (open, blocked),
            SignalMask::Allows | SignalMask::AllowsPending => (blocked, open),
        };
        of_thread.thread_set_mask()?;
        HANDLED.store(false, Ordering::Relaxed);
        if mask == SignalMask::AllowsPending {
            pthread_kill(pthread_self(), INTERRUPTING)?;
        }
        let begun = Instant::now();
        let waited = match selector.wait_masked(ROOM, timeout, of_wait.as_ref()) {
            Ok(waited) => Waited::of(waited, timeout, begun),
            Err(Unsupported(why)) => return Ok(Waited::Unsupported(why)),
        };
        // A signal that the thread does not block was delivered before the call returned to here.
        let handled = HANDLED.load(Ordering::Acquire);
        let restored = SigSet::thread_get_mask()? == of_thread;
        Ok(Waited::Masked { waited: Box::new(waited), handled, restored })
    };
    wait().unwrap_or_else(Waited::Failed)
}

impl Interpreter {
    /// Makes a descriptor of signals.
    pub(super) fn signals_as_descriptor(
        &mut self,
        name: &str,
        signals: &[Signal],
    ) -> Result<String, Stopped> {
        self.require_same_process("a signal reaches this process only")?;
        let fd = descriptor(signals)?;
        self.add_actor(name, fd)?.signals = signals.to_vec();
        Ok("ok".into())
    }

    /// Sends this process, or one of its threads, the signals of a descriptor. All threads block them, so
    /// they are pending when the call returns.
    pub(super) fn raises(&mut self, name: &str, thread: Option<&str>) -> Result<Result<(), Errno>, Stopped> {
        let signals = self.actor(name)?.signals.clone();
        if signals.is_empty() {
            return Err(broken(format!("'{name}' is not a signal")));
        }
        if signals.contains(&Signal::SIGKILL) {
            return Err(broken("SIGKILL would end this process"));
        }
        let Some(thread) = thread else {
            return Ok(signals.into_iter().try_for_each(|signal| kill(getpid(), signal)));
        };
        let id = self.waiting_thread(thread)?.1;
        Ok(signals.into_iter().try_for_each(|signal| pthread_kill(id, signal)))
    }

    fn waiting_thread(&self, thread: &str) -> Result<(&Waiter, Pthread), Stopped> {
        let waiter = self.threads.get(thread).ok_or_else(|| broken(format!("'{thread}' does not wait")))?;
        let id = waiter.thread().ok_or_else(|| broken(format!("'{thread}' has ended")))?;
        Ok((waiter, id))
    }

    /// Sends a thread a signal, and waits until its handler has run.
    pub(super) fn signals(&mut self, thread: &str, restarting: bool, wakes: bool) -> Result<String, Stopped> {
        self.require_same_process("a signal reaches this process only")?;
        if let Some(waiter) = self.threads.get_mut(thread)
            && waiter.arguments.timeout().is_some()
            && waiter.has_ended()
        {
            // On a slow machine: the answer would be that of a wait without a signal.
            return Err(broken(format!("'{thread}' has ended its wait before it is signalled")));
        }
        let (waiter, thread_id) = self.waiting_thread(thread)?;
        let poller = Arc::clone(&waiter.poller);
        if waiter.arguments.is_masking() {
            if restarting || wakes {
                return Err(broken(format!("'{thread}' waits masking: its handler runs after its wait")));
            }
            let sent = pthread_kill(thread_id, INTERRUPTING);
            return sent.map(|()| "pending".into()).map_err(|errno| call_failed("pthread_kill", errno));
        }
        let flags = if restarting { SaFlags::SA_RESTART } else { SaFlags::empty() };
        let installed = Handler::install(flags)?;
        HANDLED.store(false, Ordering::Relaxed);
        WAKES.store(if wakes { Arc::as_ptr(&poller).cast_mut() } else { null_mut() }, Ordering::Release);
        let sent = pthread_kill(thread_id, INTERRUPTING);
        let begun = Instant::now();
        while sent.is_ok() && !HANDLED.load(Ordering::Acquire) && begun.elapsed() < self.setting.patience {
            std::thread::yield_now();
        }
        let handled = HANDLED.load(Ordering::Acquire);
        WAKES.store(null_mut(), Ordering::Relaxed);
        drop(installed);
        sent.map_err(|errno| call_failed("pthread_kill", errno))?;
        if handled { Ok("handled".into()) } else { Err(broken("the signal was not handled")) }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod source {
    use super::{
        OwnedFd, SOURCE, SaFlags, SigAction, SigHandler, SigSet, Signal, Stopped, call_failed, sigaction,
    };

    /// The signal, ignored. Elsewhere a signal is a filter of kqueue, which counts ignored deliveries, too:
    /// each kernel notifies the filter before it looks at the action (FreeBSD `tdsendsignal`, XNU
    /// `psignal_internal`).
    pub(in super::super) struct BlockedSignals {
        before: SigAction,
    }

    impl BlockedSignals {
        pub(in super::super) fn new(_: &[Signal]) -> Result<Self, Stopped> {
            let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
            // SAFETY: no handler runs.
            let before = unsafe { sigaction(SOURCE, &action) };
            before.map(|before| Self { before }).map_err(|errno| call_failed("sigaction", errno))
        }
    }

    impl Drop for BlockedSignals {
        fn drop(&mut self) {
            // SAFETY: this restores the previous action, which sigaction returned.
            let _ = unsafe { sigaction(SOURCE, &self.before) };
        }
    }

    pub(in super::super) fn descriptor(_: &[Signal]) -> Result<OwnedFd, Stopped> {
        Err(Stopped::Unsupported("a signal is a descriptor on Linux only".into()))
    }
}
#[cfg(any(target_os = "linux", target_os = "android"))]
mod source {
    use nix::sys::signal::{SigmaskHow, pthread_sigmask};
    use nix::unistd::gettid;
    use std::collections::HashSet;
    use std::fs;
    use std::os::fd::FromRawFd;

    use super::*;

    /// The signals, blocked in every thread: otherwise the kernel delivers one to a thread that does not
    /// block it.
    pub(in super::super) struct BlockedSignals {
        before: SigSet,
    }

    impl BlockedSignals {
        /// Blocks the signals in this thread, whose new threads inherit that, and in all others for good.
        pub(in super::super) fn new(signals: &[Signal]) -> Result<Self, Stopped> {
            // The first one makes the other threads block the rest.
            let bits = signals.iter().fold(1 << SOURCE as u64, |bits, signal| bits | 1 << *signal as u64);
            BLOCKED.store(bits, Ordering::Relaxed);
            let mut before = SigSet::empty();
            let blocked = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&set()), Some(&mut before));
            blocked.map_err(|errno| call_failed("pthread_sigmask", errno))?;
            let this = Self { before };
            block_in_other_threads()?;
            take_pending();
            Ok(this)
        }
    }

    impl Drop for BlockedSignals {
        fn drop(&mut self) {
            // A pending signal would be delivered, and ends the process.
            take_pending();
            let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&self.before), None);
        }
    }

    fn blocked() -> impl Iterator<Item = Signal> {
        let bits = BLOCKED.load(Ordering::Relaxed);
        BLOCKABLE.into_iter().filter(move |signal| bits & 1 << *signal as u64 != 0)
    }

    fn set() -> SigSet {
        blocked().collect()
    }

    fn take_pending() {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel reads the set and the timeout, and writes no information about the signal.
        while unsafe { libc::sigtimedwait(set().as_ref(), null_mut(), &now) } > 0 {}
    }

    /// Puts the signals into the mask that its thread has when this handler returns, and takes those of other
    /// scripts out of it.
    extern "C" fn block_on_return(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: with SA_SIGINFO the kernel passes the context that it restores when the handler returns.
        let mask = unsafe { &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask };
        let set = set();
        for signal in BLOCKABLE {
            let change = if set.contains(signal) { libc::sigaddset } else { libc::sigdelset };
            // SAFETY: the mask is part of the context, and initialised.
            unsafe { change(mask, signal as _) };
        }
    }

    /// Makes every thread that this process has already block the signals. Only a thread itself can do that,
    /// in the handler of a signal that none blocks.
    fn block_in_other_threads() -> Result<(), Stopped> {
        let failed = |call: &'static str| move |errno: Errno| call_failed(call, errno);
        if threads_without_it()?.is_empty() {
            return Ok(());
        }
        let flags = SaFlags::SA_SIGINFO | SaFlags::SA_RESTART;
        let action = SigAction::new(SigHandler::SigAction(block_on_return), flags, SigSet::empty());
        // SAFETY: the handler only writes to its own context: it is async-signal-safe.
        let before = unsafe { sigaction(INTERRUPTING, &action) }.map_err(failed("sigaction"))?;
        let begun = Instant::now();
        let mut told = HashSet::new();
        // A thread may start others after its task directory was read and before it was told. After two
        // looks that find none, those of the first look and all that they have started block the signals.
        let mut looks = 0;
        while looks < 2 {
            let left = threads_without_it()?;
            looks = if left.is_empty() { looks + 1 } else { 0 };
            if begun.elapsed() > Duration::from_secs(5) {
                // The handler stays: a signal that is still on its way would end the process.
                return Err(Stopped::Unsupported(format!("{} threads do not block the signals", left.len())));
            }
            for thread in left.into_iter().filter(|thread| told.insert(*thread)) {
                // SAFETY: tgkill takes no pointer. The thread may have ended: then there is nothing to do.
                unsafe {
                    libc::syscall(libc::SYS_tgkill, getpid().as_raw(), thread, INTERRUPTING as libc::c_int)
                };
            }
            std::thread::yield_now();
        }
        // SAFETY: this restores the previous action.
        unsafe { sigaction(INTERRUPTING, &before) }.map(drop).map_err(failed("sigaction"))
    }

    /// Returns the other threads of this process that do not block exactly these signals, or will not in a
    /// moment: the C library blocks every signal, its own too, in a thread that starts another and at the
    /// start of that.
    fn threads_without_it() -> Result<Vec<libc::pid_t>, Stopped> {
        let bit = |signal: libc::c_int| 1u64 << (signal - 1);
        let of_the_library = bit(libc::SIGSYS + 1);
        let unknown = || Stopped::Unsupported("/proc does not show which signals a thread blocks".into());
        let mut threads = Vec::new();
        for entry in fs::read_dir("/proc/self/task").map_err(|_| unknown())?.flatten() {
            let thread: libc::pid_t =
                entry.file_name().to_str().and_then(|name| name.parse().ok()).ok_or_else(unknown)?;
            // A thread without a status has ended.
            let Ok(status) = fs::read_to_string(entry.path().join("status")) else { continue };
            let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).ok_or_else(unknown)?;
            let has = |signal: Signal| mask & bit(signal as _) != 0;
            // A thread that blocks the handler's signal, too, has a mask of its own.
            let is_extra = |signal: &Signal| has(*signal) && !set().contains(*signal);
            let is_told = has(INTERRUPTING) || !BLOCKABLE.iter().any(is_extra);
            let blocks = blocked().all(has) && is_told && mask & of_the_library == 0;
            if thread != gettid().as_raw() && !blocks {
                threads.push(thread);
            }
        }
        Ok(threads)
    }

    /// Makes a descriptor of signals.
    pub(in super::super) fn descriptor(signals: &[Signal]) -> Result<OwnedFd, Stopped> {
        let set = SigSet::from_iter(signals.iter().copied());
        // SAFETY: the kernel reads the set, and makes a new descriptor.
        let made = Errno::result(unsafe {
            libc::signalfd(-1, set.as_ref(), libc::SFD_NONBLOCK | libc::SFD_CLOEXEC)
        });
        // SAFETY: signalfd has just made this descriptor, and nothing else owns it.
        made.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).map_err(|errno| call_failed("signalfd", errno))
    }
}
pub(super) use source::{BlockedSignals, descriptor};
