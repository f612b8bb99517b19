//! No process of a run outlives its runner.

use std::io::Read;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg, pthread_sigmask};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::getpgrp;

use crate::{exit, notes};

/// Kills the process group when standard input ends. Whoever started the cell holds the other end and never
/// writes, so that no cell outlives a runner that was killed. Does nothing if standard input has no other end: a command
/// in front of this program may have put something else there.
pub fn watch() {
    let kind = fstat(std::io::stdin()).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    if !matches!(kind, Ok(SFlag::S_IFIFO | SFlag::S_IFSOCK)) {
        return;
    }
    // Signals are the scenario's: this thread, which it does not know of, must not catch any. The mask is
    // inherited, so it is changed around the start of the thread.
    let mut before = SigSet::empty();
    let all = SigSet::all();
    let blocked = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&all), Some(&mut before)).is_ok();
    let watcher = std::thread::Builder::new().name("lifeline".into()).spawn(|| {
        let mut byte = [0];
        while !matches!(std::io::stdin().read(&mut byte), Ok(0)) {}
        let _ = killpg(getpgrp(), Signal::SIGKILL);
        // Still here: the first process of a container, which no signal from inside kills.
        std::process::exit(exit::SIGNAL.into());
    });
    if blocked {
        let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
    }
    if let Err(error) = watcher {
        notes::warning(&format!("this cell will outlive a runner that is killed: {error}"));
    }
}
