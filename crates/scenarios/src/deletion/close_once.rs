//! A storm: worker threads and outsiders insert, want, take over, migrate, report, disown and delete the same descriptors at
//! the same time, with handles that may be stale. Each registration ends exactly once, nothing is closed under a handler, and
//! no other descriptor of the process is touched (bugs 43 and 66, suspects 2, 6 and 20).

use std::io::Write;
use std::sync::Arc;

use metadata::{Axes, Layer};

use super::registration::{Registration, identity};
use super::storm::{STEPS, Storm};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::test_context::{Failure, TestContext};
use crate::threads::spawn;
use crate::transport::{Pair, pair, read_all};

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "deletion/close-once",
    title: "In a storm of deletes, takeovers and inserts every registration ends once, and no other descriptor is closed",
    layer: Layer::Contract,
    clauses: &["S1", "S4", "S5", "S10", "S14", "S20", "L4", "bug 43", "bug 66", "suspect 2", "suspect 20"],
    axes: Axes { threads: &[2, 4, 8], groups: &[1, 2], ..Axes::PLAIN },
    run,
};

const OUTSIDERS: u64 = 2;
const SENTINELS: usize = 8;

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let sentinels = (0..SENTINELS).map(|_| Sentinel::new()).collect::<Result<Vec<_>, _>>()?;
    let (before, used) = (harness.core().registration_counts(), harness.core().table().used());
    let storm = Storm::new(&harness, test.params);
    for thread in harness.threads() {
        let (storm, seed) = (Arc::clone(&storm), test.seed.wrapping_add(thread.index() as u64));
        let seed = seed.wrapping_mul(31).wrapping_add(thread.group().get() as u64);
        let _ = harness.core().post(thread, move |context| storm.turn(context, fastrand::Rng::with_seed(seed)));
    }
    let outsiders = (0..OUTSIDERS).map(|index| {
        let (storm, seed) = (Arc::clone(&storm), test.seed ^ (index + 1) << 32);
        spawn(move || {
            let mut random = fastrand::Rng::with_seed(seed);
            while storm.goes_on() {
                storm.step(None, &mut random);
            }
        })
    });
    for outsider in outsiders.collect::<Result<Vec<_>, _>>()? {
        outsider.join().map_err(|_| Failure::Wrong("an outsider panicked".into()))?;
    }
    harness.wait_until("the storm is over", || !storm.goes_on())?;
    // Nothing of it is still on its way through a thread.
    harness.fence_all()?;
    let registrations = storm.registrations();
    for registration in &registrations {
        registration.end(|handle| harness.core().registration(handle).delete());
    }
    harness.wait_until("every registration ends", || harness.core().table().used() == used)?;
    harness.wait_until("every handler is dropped", || {
        registrations.iter().all(|registration| registration.dropped() > 0)
    })?;

    let after = harness.core().registration_counts();
    test.count("lives", registrations.len() as u64);
    test.count("steps", STEPS);
    test.count(
        "most registrations at a time that had ended and still had descriptors",
        storm.most_lingering(),
    );
    let many = STEPS as usize / 50;
    test.check(
        "lives",
        format!("more than {many}"),
        registrations.len(),
        "a storm",
        registrations.len() > many,
    );
    test.check_eq(
        "lives begun",
        registrations.len() as u64,
        after.inserted - before.inserted,
        "RegistrationCounts::inserted",
    );
    let ended = after.closed - before.closed + after.released - before.released;
    test.check_eq("lives closed or handed back", registrations.len() as u64, ended, "S4, L4");
    let count = |what: fn(&Registration) -> usize| {
        registrations.iter().filter(|registration| what(registration) != 1).count()
    };
    test.check_eq(
        "lives that were not ended by exactly one call",
        0,
        count(Registration::ended),
        "protocol 6.1",
    );
    test.check_eq("handlers not dropped exactly once", 0, count(Registration::dropped), "S4");
    test.check_eq("what went wrong on the way", "".into(), storm.wrong().join("; "), "S1, S5, S7, S10");
    for registration in &registrations {
        harness.wait_until("the peer sees the end", || registration.peer_saw_the_end())?;
    }
    let alive = sentinels.into_iter().filter(Sentinel::is_untouched).count();
    test.check_eq("bystanders that are still open", SENTINELS, alive, "S4: no other number is closed");
    drop((registrations, storm));
    harness.finish(test, &[])
}

/// A descriptor that nobody has any business with.
struct Sentinel {
    ends: Pair,
    file: u64,
}

impl Sentinel {
    fn new() -> Result<Self, Failure> {
        let mut ends = pair(metadata::Transport::Pipe).map_err(Failure::broken)?;
        ends.far.write_all(b"sentinel").map_err(Failure::broken)?;
        let file = identity(&ends.near).ok_or_else(|| Failure::Broken("fstat failed".into()))?;
        Ok(Self { ends, file })
    }

    fn is_untouched(&self) -> bool {
        let mut bytes = Vec::new();
        let read = read_all(&self.ends.near, &mut bytes);
        read.is_ok_and(|end| !end) && bytes == b"sentinel" && identity(&self.ends.near) == Some(self.file)
    }
}
