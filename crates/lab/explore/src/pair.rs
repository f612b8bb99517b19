//! Two sides that perform the same lines.

use std::collections::BTreeSet;

use raw::verbs::Action;

use crate::cluster::Confirmed;
use crate::compare::{Comparison, Difference, single};
use crate::line::Line;
use crate::side::{End, MakeSide, Performed, Runs, Side};

/// How often a line with threads is performed before its answers are compared.
const REPEAT: usize = 5;

/// The two sides of one job.
pub struct Pair<'a> {
    left: Box<dyn Side + Send + 'a>,
    /// `None` if the answers of the left side are recorded.
    right: Option<Box<dyn Side + Send + 'a>>,
    comparison: &'a Comparison,
    /// The number of performances, of both sides together.
    pub performed: u64,
}

/// The answers of both sides to a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answered {
    /// The performances of the left side.
    pub left: Runs,
    /// The performances of the right side.
    pub right: Runs,
    /// The differences.
    pub differences: Vec<Difference>,
}

impl<'a> Pair<'a> {
    /// Starts both sides. Without a right side, the left side is recorded.
    pub fn of(left: &'a dyn MakeSide, right: Option<&'a dyn MakeSide>, comparison: &'a Comparison) -> Self {
        Self { left: left.make(), right: right.map(MakeSide::make), comparison, performed: 0 }
    }

    /// Performs a line on both sides. If answers of threads differ, performs it several times. If the
    /// set-up of a side failed, performs it again in a process of its own.
    pub fn perform(&mut self, line: &Line) -> Answered {
        let (mut left, mut right) = (single(self.on_left(line, false)), self.on_right(line, false));
        let mut differences = self.compare(line, &left, &right);
        if differences.iter().any(|difference| difference.is_end) && is_broken(&left, &right) {
            (left, right) = (single(self.on_left(line, true)), self.on_right(line, true));
            differences = self.compare(line, &left, &right);
        }
        if !differences.is_empty() && has_threads(line) {
            for _ in 1..REPEAT {
                left.insert(self.on_left(line, false));
                right.extend(self.on_right(line, false));
            }
            differences = self.compare(line, &left, &right);
        }
        Answered { left, right, differences }
    }

    /// Performs a line in processes of its own, `times` times, and counts how often it shows the difference.
    pub fn confirm(&mut self, line: &Line, difference: &Difference, times: u32) -> Confirmed {
        let mut confirmed = Confirmed { shown: 0, of: times };
        for _ in 0..times {
            let repeat = if has_threads(line) { REPEAT } else { 1 };
            let (mut left, mut right) = (Runs::new(), Runs::new());
            for _ in 0..repeat {
                left.insert(self.on_left(line, true));
                right.extend(self.on_right(line, true));
            }
            let found = self.compare(line, &left, &right);
            confirmed.shown += u32::from(found.iter().any(|found| found.what.is_like(&difference.what)));
        }
        confirmed
    }

    fn compare(&self, line: &Line, left: &Runs, right: &Runs) -> Vec<Difference> {
        match self.right {
            Some(_) => self.comparison.differences(line, left, right),
            None => Vec::new(),
        }
    }

    fn on_left(&mut self, line: &Line, afresh: bool) -> Performed {
        self.performed += 1;
        if afresh { self.left.perform_afresh(line) } else { self.left.perform(line) }
    }

    fn on_right(&mut self, line: &Line, afresh: bool) -> Runs {
        let Some(right) = &mut self.right else { return BTreeSet::new() };
        self.performed += 1;
        single(if afresh { right.perform_afresh(line) } else { right.perform(line) })
    }
}

/// Returns whether the set-up of a side failed: the reason can be a short time limit.
fn is_broken(left: &Runs, right: &Runs) -> bool {
    left.iter().chain(right).any(|run| matches!(run.end, End::Broken(_)))
}

/// Returns whether threads wait in the line, whose answers can vary.
pub fn has_threads(line: &Line) -> bool {
    let waits = |action: &Action| {
        matches!(action, Action::ThreadWaits { .. } | Action::Waiters { .. } | Action::WorkerPool { .. })
    };
    line.clauses().iter().any(|clause| waits(&clause.action))
}
