//! The processors of threads that measure at once.
//!
//! Which processors the system chooses decides most of the cost of a wake-up, and two threads on one
//! processor wait for each other. So each thread has a processor of its own, if the system binds threads.

use std::num::NonZeroUsize;
use std::sync::Arc;

/// The processors that this process may use.
#[derive(Clone, Debug)]
pub(crate) struct Processors(Arc<Result<Vec<usize>, String>>);

impl Processors {
    /// Asks for the processors that the calling thread may use.
    pub(crate) fn here() -> Self {
        Self(Arc::new(system::allowed()))
    }

    /// The number of threads that can run at once.
    pub(crate) fn count(&self) -> usize {
        match &*self.0 {
            Ok(allowed) => allowed.len(),
            Err(_) => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }

    /// Binds the calling thread to one of the processors. The error is the reason why it cannot be bound.
    pub(crate) fn bind(&self, index: usize) -> Result<(), String> {
        let allowed = self.0.as_ref().as_ref().map_err(Clone::clone)?;
        match allowed.get(index % allowed.len().max(1)) {
            Some(processor) => system::bind(*processor),
            None => Err("the system names no processor".to_owned()),
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
mod system {
    use nix::errno::Errno;
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    /// The calling thread.
    const SELF: Pid = Pid::from_raw(0);

    pub(super) fn allowed() -> Result<Vec<usize>, String> {
        let set = sched_getaffinity(SELF).map_err(|errno| refused("sched_getaffinity", errno))?;
        Ok((0..CpuSet::count()).filter(|processor| set.is_set(*processor) == Ok(true)).collect())
    }

    pub(super) fn bind(processor: usize) -> Result<(), String> {
        let mut set = CpuSet::new();
        let bound = set.set(processor).and_then(|()| sched_setaffinity(SELF, &set));
        bound.map_err(|errno| refused("sched_setaffinity", errno))
    }

    fn refused(call: &str, errno: Errno) -> String {
        format!("{call}(2) is refused: {errno:?}")
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::processors::Processors;

        #[test]
        fn each_thread_has_a_processor_of_its_own_as_long_as_there_are_any() {
            let processors = Processors::here();
            let all = allowed().unwrap();
            assert_eq!(processors.count(), all.len());
            for index in 0..2 * all.len() {
                let processors = processors.clone();
                let bind = move || processors.bind(index).and_then(|()| allowed());
                let bound = std::thread::Builder::new().spawn(bind).unwrap();
                assert_eq!(bound.join().unwrap(), Ok(vec![all[index % all.len()]]));
            }
            assert_eq!(allowed().unwrap(), all, "this thread is not bound");
            // No machine has it.
            assert_eq!(bind(CpuSet::count() - 1), Err("sched_setaffinity(2) is refused: EINVAL".into()));
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
mod system {
    const REASON: &str = "this system binds no thread to a processor";

    pub(super) fn allowed() -> Result<Vec<usize>, String> {
        Err(REASON.to_owned())
    }

    pub(super) fn bind(_: usize) -> Result<(), String> {
        Err(REASON.to_owned())
    }
}
