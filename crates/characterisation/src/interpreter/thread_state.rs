//! Whether a thread sleeps.
//!
//! Linux says in which system call a thread is, and that it sleeps there: that is a proof, once it is the right one. A
//! thread that has been woken on another processor, which has not heard of it yet, is still in the call and does not
//! sleep. FreeBSD has a clock for each thread, which stands still while it does not run; macOS has neither. What stands
//! still may only be waiting for a processor, so that there it is looked many times, and somebody else is woken between
//! two looks: a thread that can run has had its turn by then.
//!
//! A thread that asks a program sleeps until the program has answered: it waits for events only if the program does, too.

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
use nix::time::ClockId;

/// Where a thread's sleep can be seen. Made by the thread itself, and looked at by others while it lives.
pub(super) struct ThreadState {
    /// The thread's folder in /proc.
    #[cfg(target_os = "linux")]
    proc: std::path::PathBuf,
    /// Of another process, of which nobody knows which thread it is: none of them runs.
    #[cfg(target_os = "linux")]
    all_threads: bool,
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    clock: Option<(ClockId, std::time::Duration)>,
}

/// What one look at a thread says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sample {
    /// It runs, or waits for something else than events.
    #[cfg_attr(not(any(target_os = "linux", target_os = "freebsd")), allow(dead_code))]
    Busy,
    /// The kernel says that it is blocked.
    #[cfg(target_os = "linux")]
    Blocked,
    /// It has not run since the look before.
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    Still,
    /// Nothing can be said.
    Unknown,
}

impl Sample {
    /// How many such looks in a row mean that it sleeps.
    pub(super) const fn samples_needed(self) -> usize {
        match self {
            Self::Busy => usize::MAX,
            #[cfg(target_os = "linux")]
            Self::Blocked => 3,
            #[cfg(any(target_os = "linux", target_os = "freebsd"))]
            Self::Still => 300,
            Self::Unknown => 3_000,
        }
    }
}

impl ThreadState {
    /// The calling thread's.
    pub(super) fn own() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            proc: format!("/proc/self/task/{}", nix::unistd::gettid()).into(),
            #[cfg(target_os = "linux")]
            all_threads: false,
            #[cfg(any(target_os = "linux", target_os = "freebsd"))]
            clock: own_clock().map(|clock| (clock, std::time::Duration::MAX)),
        }
    }

    /// A child's, of one thread.
    pub(super) fn of_child(child: nix::unistd::Pid) -> Self {
        // Nothing can be seen of another process there.
        #[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
        let _ = child;
        Self {
            #[cfg(target_os = "linux")]
            proc: format!("/proc/{child}").into(),
            #[cfg(target_os = "linux")]
            all_threads: false,
            #[cfg(any(target_os = "linux", target_os = "freebsd"))]
            clock: nix::time::clock_getcpuclockid(child).ok().map(|clock| (clock, std::time::Duration::MAX)),
        }
    }

    /// A program's, of any number of threads.
    pub(super) fn of_program(process: nix::unistd::Pid) -> Self {
        #[cfg_attr(not(target_os = "linux"), allow(unused_mut))]
        let mut state = Self::of_child(process);
        #[cfg(target_os = "linux")]
        {
            state.all_threads = true;
        }
        state
    }

    /// Looks once. Two looks are to have a turn of somebody else's between them.
    pub(super) fn sample(&mut self) -> Sample {
        #[cfg(target_os = "linux")]
        let blocked = if self.all_threads { is_idle(&self.proc) } else { is_blocked(&self.proc) };
        #[cfg(target_os = "linux")]
        if let Some(blocked) = blocked {
            return if blocked { Sample::Blocked } else { Sample::Busy };
        }
        #[cfg(any(target_os = "linux", target_os = "freebsd"))]
        if let Some((clock, before)) = &mut self.clock {
            return match nix::time::clock_gettime(*clock) {
                Ok(now) => {
                    let now = now.into();
                    if std::mem::replace(before, now) == now { Sample::Still } else { Sample::Busy }
                }
                // It has ended: its answer is on the way.
                Err(_) => Sample::Busy,
            };
        }
        Sample::Unknown
    }
}

/// Whether a thread sleeps in a system call that is not a lock's; nothing where the kernel does not say it.
#[cfg(target_os = "linux")]
fn is_blocked(proc: &std::path::Path) -> Option<bool> {
    // `running`, or the number of the call, -1 in a page fault. A futex is a lock on the way to the call.
    let call = std::fs::read_to_string(proc.join("syscall")).ok()?;
    let number = call.split_whitespace().next().and_then(|number| number.parse().ok());
    let waits = number.is_some_and(|number: i64| number >= 0 && number != libc::SYS_futex);
    Some(waits && sleeps(proc)?)
}

/// Whether no thread of a process has anything to do: what a lock's waiter waits for is another one's to do.
#[cfg(target_os = "linux")]
fn is_idle(proc: &std::path::Path) -> Option<bool> {
    let mut threads = std::fs::read_dir(proc.join("task")).ok()?;
    // A thread that ends meanwhile has run.
    Some(threads.all(|thread| thread.is_ok_and(|thread| sleeps(&thread.path()).unwrap_or(false))))
}

/// Whether a thread sleeps, in whatever call.
#[cfg(target_os = "linux")]
fn sleeps(proc: &std::path::Path) -> Option<bool> {
    // `4711 (its name) S ...`; `R` from the moment at which it is woken, whether or not it runs yet.
    let stat = std::fs::read_to_string(proc.join("stat")).ok()?;
    Some(stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('S')))
}

/// The clock of the calling thread, for other threads.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn own_clock() -> Option<ClockId> {
    let mut clock = libc::CLOCK_THREAD_CPUTIME_ID;
    // SAFETY: the thread is the calling one, and lives; the clock's number is written to a variable that does, too.
    let answer = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
    (answer == 0).then(|| ClockId::from_raw(clock))
}

#[cfg(all(test, any(target_os = "linux", target_os = "freebsd")))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    /// A thread in a pipe's read sleeps, one that computes does not, and nor does one that waits for a lock.
    #[test]
    #[cfg(target_os = "linux")]
    fn blocked_is_told_from_busy() {
        use std::io::{Read, Write};
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let (states, state) = channel();
        let over = Arc::new(AtomicBool::new(false));
        let computes = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            states.send(ThreadState::own()).unwrap();
            while !computes.load(Ordering::Relaxed) {}
            reader.read_exact(&mut [0]).unwrap();
        });
        let mut state = state.recv().unwrap();
        for _ in 0..100 {
            assert_eq!(state.sample(), Sample::Busy);
        }
        over.store(true, Ordering::Relaxed);
        while state.sample() != Sample::Blocked {
            std::thread::yield_now();
        }
        writer.write_all(&[0]).unwrap();
        thread.join().unwrap();

        let (wakes, waits) = channel::<()>();
        let (states, state) = channel();
        let thread = std::thread::spawn(move || {
            states.send(ThreadState::own()).unwrap();
            waits.recv().unwrap();
        });
        let mut state = state.recv().unwrap();
        for _ in 0..1000 {
            assert_eq!(state.sample(), Sample::Busy, "a lock is not the call");
            std::thread::yield_now();
        }
        wakes.send(()).unwrap();
        thread.join().unwrap();
    }

    /// A thread that asks it sleeps all the time.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_that_works_is_told_from_one_that_waits() {
        use std::io::Write;
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "read line; while :; do :; done"]).stdin(std::process::Stdio::piped());
        let mut program = command.spawn().unwrap();
        let id = nix::unistd::Pid::from_raw(program.id().cast_signed());
        let mut state = ThreadState::of_program(id);
        while state.sample() != Sample::Blocked {
            std::thread::yield_now();
        }
        program.stdin.take().unwrap().write_all(b"go\n").unwrap();
        while state.sample() != Sample::Busy {
            std::thread::yield_now();
        }
        let busy = (0..100).all(|_| state.sample() == Sample::Busy);
        program.kill().unwrap();
        program.wait().unwrap();
        assert!(busy, "it computes");
    }

    /// Where the kernel does not say it: a thread that computes is seen to, and one that does not is still.
    #[test]
    fn a_clock_that_runs_is_no_sleep() {
        let (states, state) = channel();
        let (wakes, waits) = channel::<()>();
        let over = Arc::new(AtomicBool::new(false));
        let computes = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            #[allow(unused_mut)]
            let mut state = ThreadState::own();
            #[cfg(target_os = "linux")]
            {
                state.proc = "there is no such folder".into();
            }
            states.send(state).unwrap();
            while !computes.load(Ordering::Relaxed) {}
            waits.recv().unwrap();
        });
        let mut state = state.recv().unwrap();
        let begun = std::time::Instant::now();
        let mut busy = 0;
        while busy < 100 {
            busy += usize::from(state.sample() == Sample::Busy);
            assert!(begun.elapsed().as_secs() < 60, "its clock stands still");
        }
        over.store(true, Ordering::Relaxed);
        let mut still = 0;
        while still < Sample::Still.samples_needed() {
            still = if state.sample() == Sample::Still { still + 1 } else { 0 };
            std::thread::yield_now();
        }
        wakes.send(()).unwrap();
        thread.join().unwrap();
    }
}
