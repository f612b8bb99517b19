//! Being asked to stop.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Error;
use crate::exit;

/// Whether to stop, and why.
#[derive(Default)]
pub struct Stop {
    /// The signal that asked for it; 0 if none did.
    signal: Arc<AtomicUsize>,
    /// The run cannot go on for a reason of its own.
    halted: AtomicBool,
}

impl Stop {
    /// Reacts to Ctrl-C, SIGTERM and SIGHUP from now on. A second one ends the process at once; cells then die of
    /// their lifelines. A second SIGHUP does not: a terminal that is closed sends one, and so does its shell.
    pub fn install() -> std::io::Result<Self> {
        let stop = Self::default();
        flag::register_usize(SIGHUP, Arc::clone(&stop.signal), SIGHUP as usize)?;
        for signal in [SIGINT, SIGTERM] {
            let again = Arc::new(AtomicBool::new(false));
            // The order matters: the shutdown sees `again` as the signal before left it.
            flag::register_conditional_shutdown(signal, exit::SIGNAL as i32 + signal, Arc::clone(&again))?;
            flag::register(signal, again)?;
            flag::register_usize(signal, Arc::clone(&stop.signal), signal as usize)?;
        }
        Ok(stop)
    }

    /// Asks for a stop because the run cannot go on.
    pub fn halt(&self) {
        // Relaxed: a flag alone, nothing is published with it.
        self.halted.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub fn asked(&self) -> bool {
        self.signal().is_some() || self.halted.load(Ordering::Relaxed)
    }

    /// The exit code of a run that was interrupted, if this one was.
    pub fn signal(&self) -> Option<u8> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(exit::SIGNAL.saturating_add(signal as u8)),
        }
    }
}

/// The error for signals that cannot be listened to.
pub fn cannot_start(source: std::io::Error) -> Error {
    Error::Io {
        action: "start cells of",
        path: PathBuf::from("pollmatrix"),
        source,
        help: "start pollmatrix again",
    }
}
