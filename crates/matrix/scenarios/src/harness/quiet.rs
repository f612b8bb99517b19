//! Proves that a thread sleeps while there is nothing to do.

use fd_core::ids::ThreadId;

use super::Harness;
use crate::failure::Result;
use crate::test_context::TestContext;

/// Iterations that one fence may take: two events, each with a wake-up of its own, and some to spare.
const ITERATIONS_PER_FENCE: u64 = 6;
const FENCES: u64 = 20;

impl Harness {
    /// Checks that `thread` sleeps while there is nothing to do: a number of fences takes it a bounded number
    /// of iterations, and none of its waits reports a descriptor without interest.
    ///
    /// The second check does not depend on the scheduler. On one processor, a thread that spins can run as
    /// rarely as one that sleeps, but each of its waits reports the descriptor again.
    ///
    /// # Errors
    /// As for [`Harness::fence`]; `Failure::Wrong` if a check has failed.
    pub(crate) fn check_quiet(
        &mut self,
        test: &mut TestContext,
        thread: ThreadId,
        when: &str,
        source: &str,
    ) -> Result {
        // Afterwards no removal of interest is pending.
        self.fence(thread)?;
        let before = self.activity(thread);
        for _ in 0..FENCES {
            self.fence(thread)?;
        }
        let activity = self.activity(thread).since(&before);
        let (iterations, unwanted) = (activity.loops, activity.poll_unwanted);
        test.check_cost_eq(format!("events without interest, {when}"), 0, unwanted, source);
        let bound = FENCES * ITERATIONS_PER_FENCE;
        test.check_cost_most(format!("iterations of the loop, {when}"), bound, iterations, source);
        test.stop_if_failed()
    }
}
