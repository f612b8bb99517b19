//! A thread walks the shared list. The entry that it will visit next is removed and appended again, so the
//! walk continues at the end of the list and skips the entry in between. HAProxy does not check again before
//! it sleeps (suspect 9).

use super::{about, two_of_a_group, wake};
use crate::migration::Endpoint;
use crate::prelude::*;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/walk-led-astray",
    title: "An entry that a walk of the shared list skipped is processed before the walking thread sleeps",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "S13", "suspect 9"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result {
    let mut harness = Harness::start(test)?;
    let [walker, other] = two_of_a_group(&harness)?;
    // They are in this order in the list.
    let mut listed = Vec::new();
    for thread in [walker, other, walker] {
        let ends = test.pair()?;
        let recorder = Recorder::new();
        let handle = harness.insert(ends.near, recorder.clone(), thread)?;
        listed.push(Endpoint { handle, owner: recorder.id(), recorder, far: ends.far });
    }
    harness.fence_all()?;
    let handles: Vec<_> = listed.iter().map(|endpoint| endpoint.handle).collect();
    let core = Arc::clone(harness.core());
    let want = |which: &[usize]| {
        which
            .iter()
            .try_for_each(|index| core.registration(handles[*index]).want_recv())
            .map_err(Failure::broken)
    };
    // The other thread continues only after the walk: a walker that finds it unlisted starts again.
    let drawing = "
        main                   | walker        | other
        wakes                  |               |
                               | at WorkDone   |
                               |               | at WorkDone
        lists-all              |               |
                               | at WalkAt     |
                               |               | at BeforeWait
        lists-the-second-again |               |
                               | at BeforeWait |
                               |               | continues
                               | continues     |
        ";
    about(&listed[0], "the second entry is removed and appended again", "suspect 9")
        .worker("walker", walker)
        .worker("other", other)
        .main_action("wakes", || wake(&core, &[walker, other]))
        .main_action("lists-all", || want(&[0, 1, 2]))
        .main_action("lists-the-second-again", || want(&[1]))
        .run(test, &mut harness, drawing)?;
    // The end of the harness waits for the last reference to the core.
    drop(core);
    // No fence: it would start another walk.
    for endpoint in listed.iter_mut().rev() {
        endpoint.far.write_all(b"x")?;
        endpoint.wait_for_bytes(&harness, b"x")?;
    }
    for endpoint in listed {
        endpoint.end(&harness)?;
    }
    harness.finish(test, &[])
}
