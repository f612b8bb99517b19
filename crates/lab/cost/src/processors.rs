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

    /// The numbers of the processors.
    #[cfg(all(test, any(target_os = "linux", target_os = "freebsd")))]
    pub(crate) fn allowed(&self) -> &[usize] {
        self.0.as_ref().as_ref().unwrap()
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
fn refused(call: &str, errno: nix::errno::Errno) -> String {
    format!("{call}(2) is refused: {errno:?}")
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;

    use super::refused;

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
}

/// The C library of version 12 has no sched_setaffinity(3): a program that is linked to it does not start.
#[cfg(target_os = "freebsd")]
mod system {
    use libc::{CPU_LEVEL_WHICH, CPU_WHICH_TID, c_int, cpuset_getaffinity, cpuset_setaffinity, cpuset_t};
    use nix::errno::Errno;

    use super::refused;

    const BITS: usize = usize::BITS as usize;

    /// The most processors that a kernel has: version 14, and the versions before it. A kernel refuses with
    /// ERANGE a set of another size than its own.
    const SIZES: [usize; 2] = [1024, 256];

    /// A bit for each processor, of which a kernel takes the first ones.
    type Set = [usize; SIZES[0] / BITS];

    pub(super) fn allowed() -> Result<Vec<usize>, String> {
        let mut set = Set::default();
        in_its_size(|bytes| {
            // SAFETY: the kernel writes `bytes` bytes, which is no more than the set has. -1 is the calling
            // thread.
            unsafe {
                cpuset_getaffinity(
                    CPU_LEVEL_WHICH,
                    CPU_WHICH_TID,
                    -1,
                    bytes,
                    set.as_mut_ptr().cast::<cpuset_t>(),
                )
            }
        })
        .map_err(|errno| refused("cpuset_getaffinity", errno))?;
        let is_set = |processor: &usize| set[processor / BITS] & 1 << (processor % BITS) != 0;
        Ok((0..SIZES[0]).filter(is_set).collect())
    }

    pub(super) fn bind(processor: usize) -> Result<(), String> {
        let mut set = Set::default();
        set[processor / BITS] = 1 << (processor % BITS);
        in_its_size(|bytes| {
            // SAFETY: the kernel reads `bytes` bytes, which is no more than the set has. -1 is the calling
            // thread.
            unsafe {
                cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, bytes, set.as_ptr().cast::<cpuset_t>())
            }
        })
        .map_err(|errno| refused("cpuset_setaffinity", errno))
    }

    /// Calls with the number of bytes of a kernel's set.
    fn in_its_size(mut call: impl FnMut(usize) -> c_int) -> Result<(), Errno> {
        let mut answers = SIZES.iter().map(|bits| Errno::result(call(bits / 8)).map(drop));
        answers.find(|answer| *answer != Err(Errno::ERANGE)).unwrap_or(Err(Errno::ERANGE))
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

#[cfg(all(test, any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
mod tests {
    use super::system::{allowed, bind};
    use super::*;

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
        let refused = bind(1023).unwrap_err();
        assert!(refused.ends_with("affinity(2) is refused: EINVAL"), "{refused}");
    }
}
