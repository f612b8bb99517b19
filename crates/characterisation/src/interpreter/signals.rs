//! Signals to a thread that waits.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Instant;

use nix::sys::pthread::pthread_kill;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use super::fenced_poller::FencedPoller;
use super::{Interpreter, call_failed, setup_error};
use crate::Stopped;

/// In which poller the handler makes the wake-up.
static WAKES: AtomicPtr<FencedPoller> = AtomicPtr::new(null_mut());

/// The handler has returned, but for its last instruction.
static HANDLED: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_: libc::c_int) {
    let poller = WAKES.swap(null_mut(), Ordering::Acquire);
    if !poller.is_null() {
        // SAFETY: whoever put it there keeps it alive until the handler has said that it is done. A wake-up is one
        // system call, and allocates nothing unless it fails.
        let _ = unsafe { &*poller }.selector.wake();
    }
    HANDLED.store(true, Ordering::Release);
}

impl Interpreter {
    /// Sends a thread a signal, and waits until its handler has run.
    pub(super) fn signals(&mut self, thread: &str, restarting: bool, wakes: bool) -> Result<String, Stopped> {
        self.require_same_process("a signal reaches the thread that asks it")?;
        let sleeper =
            self.sleepers.get(thread).ok_or_else(|| setup_error(format!("'{thread}' does not wait")))?;
        let listener = sleeper.thread().ok_or_else(|| setup_error(format!("'{thread}' has ended")))?;
        let poller = Arc::clone(&sleeper.poller);
        let flags = if restarting { SaFlags::SA_RESTART } else { SaFlags::empty() };
        let action = SigAction::new(SigHandler::Handler(handler), flags, SigSet::empty());
        // SAFETY: the handler makes one system call, and uses atomics.
        let before = unsafe { sigaction(Signal::SIGUSR1, &action) };
        let before = before.map_err(|errno| call_failed("sigaction", errno))?;
        HANDLED.store(false, Ordering::Relaxed);
        WAKES.store(if wakes { Arc::as_ptr(&poller).cast_mut() } else { null_mut() }, Ordering::Release);
        let sent = pthread_kill(listener, Signal::SIGUSR1);
        let begun = Instant::now();
        while sent.is_ok() && !HANDLED.load(Ordering::Acquire) && begun.elapsed() < self.setting.patience {
            std::thread::yield_now();
        }
        let handled = HANDLED.load(Ordering::Acquire);
        WAKES.store(null_mut(), Ordering::Relaxed);
        // SAFETY: what was there before is put back.
        let put_back = unsafe { sigaction(Signal::SIGUSR1, &before) };
        put_back.map_err(|errno| call_failed("sigaction", errno))?;
        sent.map_err(|errno| call_failed("pthread_kill", errno))?;
        if handled { Ok("handled".into()) } else { Err(setup_error("the signal was not handled")) }
    }
}
