//! Signals: caught on any thread, handled on the first thread of the first group. In a forked child, the
//! thread that continues handles them.

use std::io;
use std::os::raw::c_int;
use std::sync::Arc;

use signal_hook::SigId;

use crate::shared::FdCore;
use crate::shared::context::Context;
use crate::words::sync::Ordering;

/// The action for a signal.
pub(crate) type Action = Box<dyn Fn(&Context) + Send + Sync>;

/// Refuses a number that is not a signal, and a signal that a program cannot catch and return from. The error
/// is the reason.
pub(crate) fn check(signal: c_int) -> Result<(), String> {
    if !(1..=64).contains(&signal) {
        return Err(format!("{signal} is not a signal number from 1 to 64"));
    }
    fault!(ForbiddenSignalTaken => return Ok(()));
    // signal-hook panics if it is given one of these.
    if signal_hook::consts::FORBIDDEN.contains(&signal) {
        return Err(format!("signal {signal} cannot be caught, or its handler cannot return"));
    }
    Ok(())
}

/// The signals that a runtime handles.
pub(crate) struct Signals {
    actions: Vec<(c_int, Action)>,
}

impl Signals {
    pub(crate) fn new(actions: Vec<(c_int, Action)>) -> Self {
        Self { actions }
    }

    /// Whether there is no signal to handle.
    pub(crate) fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Starts to catch the signals.
    ///
    /// # Errors
    /// The error of `sigaction`.
    pub(crate) fn catch(&self, core: &Arc<FdCore>) -> io::Result<Caught> {
        let mut caught = Caught(Vec::new());
        for &(signal, _) in &self.actions {
            let core = Arc::clone(core);
            let note = move || note(&core, signal);
            // SAFETY: the action uses only atomics and the wake descriptor, which is async-signal-safe. Its
            // Arc keeps the core alive, and `Caught` drops it outside of any signal handler.
            caught.0.push(unsafe { signal_hook::low_level::register(signal, note) }?);
        }
        Ok(caught)
    }

    /// Runs the actions of the signals that were caught.
    pub(crate) fn handle(&self, context: &Context) {
        // Pair: signals.
        let pending = &context.shared().signals;
        if pending.load(Ordering::Acquire) == 0 {
            return;
        }
        let caught = pending.swap(0, Ordering::AcqRel);
        for (signal, action) in self.actions.iter().filter(|(signal, _)| caught & bit(*signal) != 0) {
            let _ = signal;
            action(context);
        }
    }
}

/// Records `signal` and wakes the thread that handles it. It runs in a signal handler, so it uses only
/// atomics and the wake descriptor.
pub(crate) fn note(core: &FdCore, signal: c_int) {
    if let Some(shared) = core.thread(core.signal_thread()) {
        if core.is_inherited() {
            // A child that has not adopted the core: the thread does not exist here, and its wake descriptor
            // is the parent's. The adoption finds the bit.
            // Pair: signals.
            shared.signals.fetch_or(bit(signal), Ordering::AcqRel);
            return;
        }
        fault!(WakeBeforeSignal => shared.sleep.wake());
        // Pairs: signals, sleep. The bit is published before the wake-up, as for any work (L2, bug 62).
        shared.signals.fetch_or(bit(signal), Ordering::AcqRel);
        unless!(WakeBeforeSignal => shared.sleep.wake());
    }
}

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Catches signals until it is dropped.
pub(crate) struct Caught(Vec<SigId>);

impl Drop for Caught {
    fn drop(&mut self) {
        for id in self.0.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
