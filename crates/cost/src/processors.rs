//! The processors of the threads.
//!
//! What a wake-up costs depends on whether both threads share a processor. Where the system lets a thread
//! choose, each has its own, so that the choice of the scheduler is no part of the difference between two
//! runs.

/// Binds the calling thread to the processor with this index, among those that the process may use. Threads
/// beyond them share processors. Without such a call, the scheduler chooses.
pub fn take(index: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
        use nix::unistd::Pid;

        // Zero is the calling thread.
        let thread = Pid::from_raw(0);
        let Ok(allowed) = sched_getaffinity(thread) else { return };
        let processors: Vec<_> =
            (0..CpuSet::count()).filter(|processor| allowed.is_set(*processor) == Ok(true)).collect();
        let Some(own) = processors.get(index % processors.len().max(1)) else { return };
        let mut set = CpuSet::new();
        // A refusal leaves the choice to the scheduler.
        let _ = set.set(*own).and_then(|()| sched_setaffinity(thread, &set));
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = index;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use nix::sched::{CpuSet, sched_getaffinity};
    use nix::unistd::Pid;

    use super::*;

    /// Returns the processors that the calling thread may use.
    fn allowed() -> Vec<usize> {
        let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
        (0..CpuSet::count()).filter(|processor| set.is_set(*processor).unwrap()).collect()
    }

    #[test]
    fn each_thread_has_a_processor_of_its_own_as_long_as_there_are_any() {
        let all = allowed();
        for index in 0..2 * all.len() {
            let taken = std::thread::spawn(move || {
                take(index);
                allowed()
            });
            assert_eq!(taken.join().unwrap(), [all[index % all.len()]]);
        }
    }
}
