//! Requests to stop: signals, and errors that end a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Error;
use crate::exit;

/// A request to stop, and its reason.
#[derive(Default)]
pub struct Stop {
    /// The signal that requested it; 0 for none.
    signal: Arc<AtomicUsize>,
    /// Whether an error of the run requested it.
    halted: AtomicBool,
}

impl Stop {
    /// Handles Ctrl-C, SIGTERM and SIGHUP from now on.
    ///
    /// A second SIGINT or SIGTERM ends the process at once, and the lifelines of the cells end them. A second
    /// SIGHUP does not: both a closed terminal and its shell send one.
    pub fn install() -> std::io::Result<Self> {
        let stop = Self::default();
        flag::register_usize(SIGHUP, Arc::clone(&stop.signal), SIGHUP as usize)?;
        for signal in [SIGINT, SIGTERM] {
            let again = Arc::new(AtomicBool::new(false));
            // The order matters: the conditional shutdown runs before this signal sets `again`.
            flag::register_conditional_shutdown(signal, exit::SIGNAL as i32 + signal, Arc::clone(&again))?;
            flag::register(signal, again)?;
            flag::register_usize(signal, Arc::clone(&stop.signal), signal as usize)?;
        }
        Ok(stop)
    }

    /// Requests a stop because the run cannot continue.
    pub fn halt(&self) {
        // Relaxed: the flag publishes no other data.
        self.halted.store(true, Ordering::Relaxed);
    }

    /// Returns whether a stop is requested.
    pub fn requested(&self) -> bool {
        self.signal().is_some() || self.halted.load(Ordering::Relaxed)
    }

    /// Returns the exit code for the signal that interrupted the run, if one did.
    pub fn signal(&self) -> Option<u8> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(exit::SIGNAL.saturating_add(signal as u8)),
        }
    }
}

/// Returns the error for signal handlers that cannot be installed.
pub fn cannot_start(source: std::io::Error) -> Error {
    Error::io("start cells of", "pollmatrix", "start pollmatrix again")(source)
}
