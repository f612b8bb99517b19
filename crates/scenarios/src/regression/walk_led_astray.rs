//! A thread walks the shared list; the entry that it will go to next is removed and appended again under its feet, and
//! takes it to the end of the list, past the one in between. HAProxy does not look again before it sleeps (suspect 9).

use std::io::Write;
use std::sync::Arc;

use metadata::{Axes, Layer, Mode, Transport};

use super::{about, two_of_a_group, wake};
use crate::catalogue::Scenario;
use crate::harness::Harness;
use crate::migration::Endpoint;
use crate::recorder::Recorder;
use crate::test_context::{Failure, TestContext};
use crate::transport::pair;

pub(crate) const SCENARIO: Scenario = Scenario {
    id: "regression/walk-led-astray",
    title: "An entry that a walk of the shared list was led past is seen before the walker sleeps",
    layer: Layer::Contract,
    clauses: &["L1", "L3", "S13", "suspect 9"],
    axes: Axes { transports: &[Transport::Pipe], triggers: &[Mode::Level], ..Axes::PLAIN },
    run,
};

fn run(test: &mut TestContext) -> Result<(), Failure> {
    let mut harness = Harness::start(test)?;
    let [walker, other] = two_of_a_group(&harness)?;
    // In this order in the list.
    let mut listed = Vec::new();
    for thread in [walker, other, walker] {
        let ends = pair(test.params.transport).map_err(Failure::broken)?;
        let recorder = Recorder::new();
        let handle = harness.insert(ends.near, recorder.clone(), thread)?;
        listed.push(Endpoint { handle, owner: recorder.id(), recorder, far: ends.far });
    }
    harness.fence_all()?;
    let handles: Vec<_> = listed.iter().map(|subject| subject.handle).collect();
    let core = Arc::clone(harness.core());
    let want = |which: &[usize]| {
        which
            .iter()
            .try_for_each(|index| core.registration(handles[*index]).want_recv())
            .map_err(Failure::broken)
    };
    // The other one lets the entry go only when the walk is over: a walker that finds it unlisted begins anew.
    about(&listed[0], "the entry behind the first leaves and comes back", "suspect 9")
        .worker("walker", walker)
        .worker("other", other)
        .we("wakes", || wake(&core, &[walker, other]))
        .we("lists-all", || want(&[0, 1, 2]))
        .we("lists-the-second-again", || want(&[1]))
        .play(
            test,
            &mut harness,
            "
            us                     | walker        | other
            wakes                  |               |
                                   | at WorkDone   |
                                   |               | at WorkDone
            lists-all              |               |
                                   | at WalkAt     |
                                   |               | at BeforeWait
            lists-the-second-again |               |
                                   | at BeforeWait |
                                   |               | goes on
                                   | goes on       |
            ",
        )?;
    // The lab's end waits for everybody to let go of it.
    drop(core);
    // No fence: it would make the walker walk again.
    for subject in listed.iter_mut().rev() {
        subject.far.write_all(b"x").map_err(Failure::broken)?;
        subject.wait_for_bytes(&harness, b"x")?;
    }
    for subject in listed {
        subject.end(&harness)?;
    }
    harness.finish(test, &[])
}
