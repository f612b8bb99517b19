//! Ends a cell or an executor when the process that started it is gone.

use std::io::{BufRead, Read};
use std::sync::mpsc::{Receiver, channel};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg, pthread_sigmask};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::getpgrp;

use crate::{diagnostics, exit};

/// Kills the process group, as the end of a lifeline does.
fn end() -> ! {
    let _ = killpg(getpgrp(), Signal::SIGKILL);
    // Reached by the init process of a container, which no signal from inside the container kills.
    std::process::exit(exit::SIGNAL.into());
}

/// Starts a thread that kills the process group when standard input ends.
///
/// The process that started the cell holds the other end and never writes to it, so no cell outlives a runner
/// that was killed. Does nothing if standard input is neither a pipe nor a socket: a command in front of this
/// program can have replaced it.
pub fn watch() {
    let kind = fstat(std::io::stdin()).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    if !matches!(kind, Ok(SFlag::S_IFIFO | SFlag::S_IFSOCK)) {
        return;
    }
    let watcher = start(|| {
        let mut byte = [0];
        while !matches!(std::io::stdin().read(&mut byte), Ok(0)) {}
        end();
    });
    if let Err(error) = watcher {
        diagnostics::warning(&format!("if the runner is killed, this cell continues: {error}"));
    }
}

/// Starts a thread that reads lines from standard input, and kills the process group when it ends. Returns
/// the lines.
///
/// # Errors
/// The system has no more threads.
pub fn lines() -> std::io::Result<Receiver<String>> {
    let (sender, receiver) = channel();
    start(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
        end();
    })?;
    Ok(receiver)
}

/// Starts the thread.
fn start(watch: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    // Signals belong to the scenario, so this thread must not receive any. A new thread inherits the mask, so
    // the mask is changed around the start of the thread.
    let mut before = SigSet::empty();
    let all = SigSet::all();
    let blocked = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&all), Some(&mut before)).is_ok();
    let watcher = std::thread::Builder::new().name("lifeline".into()).spawn(watch);
    if blocked {
        let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
    }
    watcher.map(drop)
}
