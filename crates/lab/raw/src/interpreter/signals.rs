//! Signals to a thread that waits.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Instant;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use super::fenced_poller::FencedPoller;
use super::{Interpreter, broken, call_failed};
use crate::Stopped;

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

impl Interpreter {
    /// Sends a thread a signal, and waits until its handler has run.
    pub(super) fn signals(&mut self, thread: &str, restarting: bool, wakes: bool) -> Result<String, Stopped> {
        self.require_same_process("a signal reaches this process only")?;
        let waiter = self.threads.get(thread).ok_or_else(|| broken(format!("'{thread}' does not wait")))?;
        let thread_id = waiter.thread().ok_or_else(|| broken(format!("'{thread}' has ended")))?;
        let poller = Arc::clone(&waiter.poller);
        let flags = if restarting { SaFlags::SA_RESTART } else { SaFlags::empty() };
        let action = SigAction::new(SigHandler::Handler(handler), flags, SigSet::empty());
        // SAFETY: the handler makes one system call and uses atomics: it is async-signal-safe.
        let before = unsafe { sigaction(Signal::SIGUSR1, &action) };
        let before = before.map_err(|errno| call_failed("sigaction", errno))?;
        HANDLED.store(false, Ordering::Relaxed);
        WAKES.store(if wakes { Arc::as_ptr(&poller).cast_mut() } else { null_mut() }, Ordering::Release);
        let sent = pthread_kill(thread_id, Signal::SIGUSR1);
        let begun = Instant::now();
        while sent.is_ok() && !HANDLED.load(Ordering::Acquire) && begun.elapsed() < self.setting.patience {
            std::thread::yield_now();
        }
        let handled = HANDLED.load(Ordering::Acquire);
        WAKES.store(null_mut(), Ordering::Relaxed);
        // SAFETY: this restores the previous action.
        let restored = unsafe { sigaction(Signal::SIGUSR1, &before) };
        restored.map_err(|errno| call_failed("sigaction", errno))?;
        sent.map_err(|errno| call_failed("pthread_kill", errno))?;
        if handled { Ok("handled".into()) } else { Err(broken("the signal was not handled")) }
    }
}
