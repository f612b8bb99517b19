//! Detects whether a thread sleeps.
//!
//! Linux publishes the system call that a thread is in, and whether the thread sleeps there. This is a proof
//! if it is the right call. A thread that was woken, but has not run yet, is still in the call and is not in
//! the sleeping state. FreeBSD publishes whether a thread sleeps, and on what. macOS has neither.
//!
//! Where /proc is not mounted, the thread's processor clock stands still while the thread does not run. This
//! can also mean that the thread waits for a processor, or that the processor itself is stopped: a virtual
//! machine's often is. Therefore many samples are taken on such systems, and another thread is woken between
//! two of them: by then the scheduler has run every runnable thread.
//!
//! A thread that waits for an adapter's program sleeps until the program replies. It waits for events only if
//! the program sleeps, too.

#[cfg(any(target_os = "linux", target_os = "freebsd"))]
use nix::time::ClockId;

/// The sources for a thread's state. The thread makes this value itself; other threads sample it while the
/// thread runs.
pub(super) struct ThreadState {
    /// The thread's folder in /proc.
    #[cfg(target_os = "linux")]
    proc: std::path::PathBuf,
    /// The state of a whole process: it sleeps if all its threads do.
    #[cfg(target_os = "linux")]
    all_threads: bool,
    /// The process, and its thread; without a thread, all threads of the process count.
    #[cfg(target_os = "freebsd")]
    kernel: (libc::pid_t, Option<libc::lwpid_t>),
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    clock: Option<(ClockId, std::time::Duration)>,
}

/// One sample of a thread's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sample {
    /// The thread runs, or waits for something other than events.
    #[cfg_attr(not(any(target_os = "linux", target_os = "freebsd")), allow(dead_code))]
    Busy,
    /// The kernel reports that the thread is blocked.
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    Blocked,
    /// The thread has not run since the previous sample.
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    Still,
    /// The system gives no information.
    Unknown,
}

impl Sample {
    /// Returns how many consecutive samples of this kind mean that the thread sleeps.
    pub(super) const fn samples_needed(self) -> usize {
        match self {
            Self::Busy => usize::MAX,
            #[cfg(any(target_os = "linux", target_os = "freebsd"))]
            Self::Blocked => 3,
            #[cfg(any(target_os = "linux", target_os = "freebsd"))]
            Self::Still => 300,
            Self::Unknown => 3_000,
        }
    }
}

impl ThreadState {
    /// Returns the state of the calling thread.
    pub(super) fn own() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            proc: format!("/proc/self/task/{}", nix::unistd::gettid()).into(),
            #[cfg(target_os = "linux")]
            all_threads: false,
            #[cfg(target_os = "freebsd")]
            // SAFETY: it returns the number of the calling thread.
            kernel: (nix::unistd::getpid().as_raw(), Some(unsafe { libc::pthread_getthreadid_np() })),
            #[cfg(any(target_os = "linux", target_os = "freebsd"))]
            clock: own_clock().map(|clock| (clock, std::time::Duration::MAX)),
        }
    }

    /// Returns the state of a child with one thread.
    pub(super) fn of_child(child: nix::unistd::Pid) -> Self {
        // Other systems publish no state of another process.
        #[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
        let _ = child;
        Self {
            #[cfg(target_os = "linux")]
            proc: format!("/proc/{child}").into(),
            #[cfg(target_os = "linux")]
            all_threads: false,
            #[cfg(target_os = "freebsd")]
            kernel: (child.as_raw(), None),
            #[cfg(any(target_os = "linux", target_os = "freebsd"))]
            clock: nix::time::clock_getcpuclockid(child).ok().map(|clock| (clock, std::time::Duration::MAX)),
        }
    }

    /// Returns the state of a program with any number of threads.
    pub(super) fn of_program(process: nix::unistd::Pid) -> Self {
        #[cfg_attr(not(target_os = "linux"), allow(unused_mut))]
        let mut state = Self::of_child(process);
        #[cfg(target_os = "linux")]
        {
            state.all_threads = true;
        }
        state
    }

    /// Takes one sample. Let another thread run between two samples.
    pub(super) fn sample(&mut self) -> Sample {
        #[cfg(target_os = "freebsd")]
        let blocked = is_blocked(self.kernel);
        #[cfg(target_os = "linux")]
        let blocked = if self.all_threads { is_idle(&self.proc) } else { is_blocked(&self.proc) };
        #[cfg(any(target_os = "linux", target_os = "freebsd"))]
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
                // The thread has ended: its result will arrive.
                Err(_) => Sample::Busy,
            };
        }
        Sample::Unknown
    }
}

/// Returns whether a thread sleeps in a system call other than futex(2); `None` if the kernel does not
/// publish it.
#[cfg(target_os = "linux")]
fn is_blocked(proc: &std::path::Path) -> Option<bool> {
    // `running`, or the number of the call, or -1 in a page fault. In a futex the thread waits for a lock,
    // not for events.
    let call = std::fs::read_to_string(proc.join("syscall")).ok()?;
    let number = call.split_whitespace().next().and_then(|number| number.parse().ok());
    let waits = number.is_some_and(|number: i64| number >= 0 && number != libc::SYS_futex);
    Some(waits && sleeps(proc)?)
}

/// Returns whether a thread, or without one each thread of the process, sleeps on something other than a
/// lock; `None` if the kernel does not say.
#[cfg(target_os = "freebsd")]
fn is_blocked((process, thread): (libc::pid_t, Option<libc::lwpid_t>)) -> Option<bool> {
    let threads = threads_of(process)?;
    let mut chosen = threads.iter().filter(|of| thread.is_none_or(|thread| of.ki_tid == thread)).peekable();
    // A thread that has ended was running.
    let exists = chosen.peek().is_some();
    Some(exists && chosen.all(|of| of.ki_stat == libc::SSLEEP && !waits_for_lock(&of.ki_wmesg)))
}

/// Whether the reason of a sleep is a lock or a condition variable, which are waits of umtx(2): `umtxn`,
/// `uwait`, `ucond`, `urdlck`, `uwrlck`, `usem`. Then the thread does not wait for events.
#[cfg(target_os = "freebsd")]
fn waits_for_lock(reason: &[libc::c_char]) -> bool {
    const LOCKS: [&[u8]; 6] = [b"umtx", b"uwait", b"ucond", b"urdlck", b"uwrlck", b"usem"];
    let reason: Vec<u8> =
        reason.iter().map(|byte| byte.cast_unsigned()).take_while(|byte| *byte != 0).collect();
    LOCKS.iter().any(|lock| reason.starts_with(lock))
}

/// Returns the kernel's entry of each thread of a process.
#[cfg(target_os = "freebsd")]
fn threads_of(process: libc::pid_t) -> Option<Vec<libc::kinfo_proc>> {
    let name = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PID | libc::KERN_PROC_INC_THREAD, process];
    let each = size_of::<libc::kinfo_proc>();
    // More threads than a script has. A process with more has no answer, and its clock is asked.
    let mut threads = Vec::<libc::kinfo_proc>::with_capacity(64);
    let mut bytes = threads.capacity() * each;
    // SAFETY: the kernel writes at most `bytes` bytes into the vector's memory, and returns how many.
    let answer = unsafe {
        libc::sysctl(
            name.as_ptr(),
            name.len() as libc::c_uint,
            threads.as_mut_ptr().cast(),
            &raw mut bytes,
            std::ptr::null(),
            0,
        )
    };
    if answer != 0 || !bytes.is_multiple_of(each) {
        return None;
    }
    // SAFETY: the kernel has written this many entries; an entry is plain data.
    unsafe { threads.set_len(bytes / each) };
    threads.iter().all(|thread| thread.ki_structsize as usize == each).then_some(threads)
}

/// Returns whether all threads of a process sleep. Waiting for a lock counts as sleep: another thread holds
/// the lock.
#[cfg(target_os = "linux")]
fn is_idle(proc: &std::path::Path) -> Option<bool> {
    let mut threads = std::fs::read_dir(proc.join("task")).ok()?;
    // A thread that has just ended was running.
    Some(threads.all(|thread| thread.is_ok_and(|thread| sleeps(&thread.path()).unwrap_or(false))))
}

/// Returns whether a thread sleeps in any call.
#[cfg(target_os = "linux")]
fn sleeps(proc: &std::path::Path) -> Option<bool> {
    // `4711 (its name) S ...`; the state is `R` as soon as the thread is woken, even if it does not run yet.
    let stat = std::fs::read_to_string(proc.join("stat")).ok()?;
    Some(stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('S')))
}

/// Returns the processor clock of the calling thread, for use by other threads.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn own_clock() -> Option<ClockId> {
    let mut clock = libc::CLOCK_THREAD_CPUTIME_ID;
    // SAFETY: the thread is the calling one, so it is alive; the clock id is written to a local variable.
    let answer = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
    (answer == 0).then(|| ClockId::from_raw(clock))
}

#[cfg(all(test, any(target_os = "linux", target_os = "freebsd")))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    /// A thread that reads an empty pipe is blocked. A thread that computes or waits for a lock is busy.
    #[test]
    fn blocked_threads_are_distinguished_from_busy_ones() {
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
            assert_eq!(state.sample(), Sample::Busy, "the thread waits for a lock");
            std::thread::yield_now();
        }
        wakes.send(()).unwrap();
        thread.join().unwrap();
    }

    /// A thread that waits for the program's reply sleeps in both cases.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_busy_program_is_distinguished_from_a_waiting_one() {
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
        assert!(busy, "the program computes");
    }

    /// Without /proc, the clock of a thread that computes advances, and the clock of one that sleeps does
    /// not.
    #[test]
    fn a_thread_whose_clock_advances_is_busy() {
        let (states, state) = channel();
        let (wakes, waits) = channel::<()>();
        let over = Arc::new(AtomicBool::new(false));
        let computes = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            #[allow(unused_mut)]
            let mut state = ThreadState::own();
            #[cfg(target_os = "linux")]
            {
                state.proc = "no such folder".into();
            }
            #[cfg(target_os = "freebsd")]
            {
                // No process has this number.
                state.kernel.0 = -1;
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
            assert!(begun.elapsed().as_secs() < 60, "the clock does not advance");
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
