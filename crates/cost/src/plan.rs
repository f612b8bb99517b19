//! What is to be measured.

use metadata::{Cost, Mode, Operation};

/// The default numbers of descriptors.
pub const STEPS: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];

/// A poller takes these descriptors for itself, its field and its threads, at most.
const OWN: u64 = 48;

/// One measurement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The operation.
    pub operation: Operation,
    /// The mode of the registrations.
    pub trigger: Mode,
    /// The number of registered descriptors of each poller.
    pub descriptors: u32,
    /// The number of threads.
    pub threads: u32,
    /// The poller's name.
    pub poller: String,
    /// Why it cannot be measured, if that is known before.
    pub refusal: Option<String>,
}

impl Job {
    /// Returns the id: `wait-one/level-1000d-1t@epoll`.
    pub fn id(&self) -> String {
        Cost::id_of(self.operation, self.trigger, self.descriptors, self.threads, &self.poller)
    }
}

/// What is to be measured: every combination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The operations.
    pub operations: Vec<Operation>,
    /// The modes.
    pub triggers: Vec<Mode>,
    /// The numbers of descriptors.
    pub descriptors: Vec<u32>,
    /// The numbers of threads.
    pub threads: Vec<u32>,
    /// The pollers with their modes.
    pub pollers: Vec<(String, Vec<Mode>)>,
    /// The limit of open descriptors.
    pub limit: usize,
}

impl Plan {
    /// Returns the measurements. Those of different pollers that are otherwise equal follow each other, so
    /// that a drift of the machine between them is small. No combination is left out: what cannot be measured
    /// has its reason.
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for operation in &self.operations {
            for trigger in &self.triggers {
                for threads in &self.threads {
                    for descriptors in &self.descriptors {
                        for (poller, modes) in &self.pollers {
                            let mut job = Job {
                                operation: *operation,
                                trigger: *trigger,
                                descriptors: *descriptors,
                                threads: *threads,
                                poller: poller.clone(),
                                refusal: None,
                            };
                            job.refusal = self.refusal(&job, modes);
                            jobs.push(job);
                        }
                    }
                }
            }
        }
        jobs
    }

    fn refusal(&self, job: &Job, modes: &[Mode]) -> Option<String> {
        let Job { operation, trigger, descriptors, threads, poller, .. } = job;
        if !modes.contains(trigger) {
            return Some(format!("{poller} has no {trigger} trigger"));
        }
        if operation.is_of_pairs() && !threads.is_multiple_of(2) {
            return Some("it takes two threads, or pairs of them".into());
        }
        // Of all ready descriptors, the floor has copies.
        let copies = if *operation == Operation::WaitAll { 2 } else { 1 };
        let needed = u64::from(*threads) * (copies * u64::from(*descriptors) + OWN) + OWN;
        (needed > self.limit as u64).then(|| {
            format!("it takes {needed} descriptors, and this process may open {} (ulimit -n)", self.limit)
        })
    }
}

/// Returns the default numbers of threads: 1, 2, 4, up to the number of processors.
pub fn thread_steps(processors: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(1_u32), |threads| threads.checked_mul(2));
    let mut steps: Vec<_> = doubled.take_while(|threads| *threads < processors).collect();
    steps.push(processors.max(1));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let pollers =
            vec![("epoll".into(), vec![Mode::Level, Mode::Edge]), ("poll".into(), vec![Mode::Level])];
        Plan {
            operations: vec![Operation::WaitOne, Operation::Wake],
            triggers: vec![Mode::Level, Mode::Edge],
            descriptors: vec![10, 1000],
            threads: vec![1, 2],
            pollers,
            limit: 1100,
        }
    }

    #[test]
    fn no_combination_is_left_out_and_each_that_is_impossible_has_its_reason() {
        let jobs = plan().jobs();
        assert_eq!(jobs.len(), 2 * 2 * 2 * 2 * 2);
        let why = |id: &str| jobs.iter().find(|job| job.id() == id).unwrap().refusal.clone();
        assert_eq!(why("wait-one/level-10d-1t@epoll"), None);
        assert_eq!(why("wait-one/level-1000d-1t@epoll"), None);
        assert_eq!(why("wait-one/edge-10d-1t@epoll"), None);
        assert_eq!(why("wait-one/edge-10d-1t@poll").unwrap(), "poll has no edge trigger");
        assert_eq!(why("wake/level-10d-1t@epoll").unwrap(), "it takes two threads, or pairs of them");
        assert_eq!(why("wake/level-10d-2t@epoll"), None);
        let many = why("wait-one/level-1000d-2t@epoll").unwrap();
        assert_eq!(many, "it takes 2144 descriptors, and this process may open 1100 (ulimit -n)");
    }

    #[test]
    fn pollers_follow_each_other() {
        let jobs = plan().jobs();
        assert_eq!(jobs[0].id(), "wait-one/level-10d-1t@epoll");
        assert_eq!(jobs[1].id(), "wait-one/level-10d-1t@poll");
    }

    #[test]
    fn threads_double_up_to_the_processors() {
        assert_eq!([1, 2, 3, 8].map(thread_steps), [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8]]);
        assert_eq!(thread_steps(0), [1]);
    }
}
