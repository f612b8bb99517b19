//! A random workload: worker threads and other threads insert, enable, take over, migrate, disown and delete
//! the same descriptors at the same time, and their handlers run; handles may be stale. Each registration
//! ends exactly once, no descriptor is closed under a handler, and no other descriptor of the process is
//! affected (bugs 43 and 66, suspects 2, 6 and 20).

use super::registration::TrackedRegistration;
use super::workload::{STEPS, Workload};
use crate::descriptors::inode;
use crate::prelude::*;
use crate::threads::spawn;
use crate::transport::{Pair, pair};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/close-once",
    title: "Under concurrent deletes, takeovers and inserts every registration ends once, and no other descriptor is closed",
    layer: Layer::Contract,
    clauses: &["S1", "S4", "S5", "S10", "S14", "S20", "L4", "bug 43", "bug 66", "suspect 2", "suspect 20"],
    axes: Axes { threads: &[2, 4, 8], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

const OUTSIDERS: u64 = 2;
const SENTINELS: usize = 8;

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let sentinels = (0..SENTINELS).map(|_| Sentinel::new()).collect::<Result<Vec<_>, _>>()?;
    harness.fence_all()?;
    let (before, used) = (harness.core().registration_counts(), harness.core().table().used());
    let workload = Workload::new(&harness, test.params)?;
    for thread in harness.threads() {
        let (workload, seed) = (Arc::clone(&workload), test.seed.wrapping_add(thread.index() as u64));
        let seed = seed.wrapping_mul(31).wrapping_add(thread.group().get() as u64);
        let _ = harness
            .core()
            .post(thread, move |context| workload.iterate(context, fastrand::Rng::with_seed(seed)));
    }
    let outsiders = (0..OUTSIDERS).map(|index| {
        let (workload, seed) = (Arc::clone(&workload), test.seed ^ (index + 1) << 32);
        spawn(move || {
            let mut random = fastrand::Rng::with_seed(seed);
            while workload.is_active() {
                workload.step(None, &mut random);
            }
        })
    });
    for outsider in outsiders.collect::<Result<Vec<_>, _>>()? {
        outsider.join().map_err(|_| Failure::Wrong("a thread outside the runtime panicked".into()))?;
    }
    harness.wait_until("the workload ends", || !workload.is_active())?;
    // Nothing wakes a thread for that.
    harness.wait_until("the peer of every registration that has ended sees the end", || {
        let registrations = workload.registrations();
        registrations.iter().filter(|known| known.ended() > 0).all(|ended| ended.peer_saw_the_end())
    })?;
    // No task or event of the workload is left in any thread.
    harness.fence_all()?;
    let registrations = workload.registrations();
    for registration in &registrations {
        registration.end(|handle| harness.registration(handle).delete());
    }
    harness.wait_until("every registration has ended", || harness.core().table().used() == used)?;
    harness.wait_until("every handler has been dropped", || {
        registrations.iter().all(|registration| registration.dropped() > 0)
    })?;

    let after = harness.core().registration_counts();
    test.record_counter("registrations", registrations.len() as u64);
    test.record_counter("steps", STEPS);
    test.record_counter(
        "most ended registrations with open descriptors at one time",
        workload.most_lingering(),
    );
    let many = STEPS as usize / 50;
    test.check(
        "registrations",
        format!("more than {many}"),
        registrations.len(),
        "the workload took place",
        registrations.len() > many,
    );
    test.check_eq(
        "registrations inserted",
        registrations.len() as u64,
        after.inserted - before.inserted,
        "RegistrationCounts::inserted",
    );
    let ended = after.closed - before.closed + after.released - before.released;
    test.check_eq("registrations closed or returned", registrations.len() as u64, ended, "S4, L4");
    let count = |of: fn(&TrackedRegistration) -> usize| {
        registrations.iter().filter(|registration| of(registration) != 1).count()
    };
    let others = count(TrackedRegistration::ended);
    test.check_eq("registrations not ended by exactly one call", 0, others, "protocol 6.1");
    test.check_eq("handlers not dropped exactly once", 0, count(TrackedRegistration::dropped), "S4");
    let what = "violations during the workload";
    test.check_eq(what, "".into(), workload.violations().join("; "), "S1, S5, S7, S10");
    for registration in &registrations {
        harness.wait_until("the peer sees the end", || registration.peer_saw_the_end())?;
    }
    let alive = sentinels.into_iter().filter(Sentinel::is_untouched).count();
    let what = "unrelated descriptors that are still open";
    test.check_eq(what, SENTINELS, alive, "S4: no other number is closed");
    drop((registrations, workload));
    harness.finish(test, &[])
}

/// A descriptor that no thread of the workload uses.
struct Sentinel {
    ends: Pair,
    file: u64,
}

impl Sentinel {
    fn new() -> Result<Self> {
        let mut ends = pair(metadata::Transport::Pipe)?;
        ends.far.write_all(b"sentinel")?;
        let file = inode(&ends.near).ok_or_else(|| Failure::Broken("fstat failed".into()))?;
        Ok(Self { ends, file })
    }

    fn is_untouched(&self) -> bool {
        let mut bytes = Vec::new();
        let read = read_all(&self.ends.near, &mut bytes);
        read.is_ok_and(|end| !end) && bytes == b"sentinel" && inode(&self.ends.near) == Some(self.file)
    }
}
