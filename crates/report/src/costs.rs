//! The costs of several runs: which one is kept, and which ones grew.

use std::collections::BTreeMap;

use metadata::{Cost, CostOutcome, Figure, Results};
use serde::Serialize;

/// Returns one cost of each operation, poller and target, sorted, and the number of those that several inputs
/// had. A figure is better than none; of several figures, the one with the narrowest interval is kept.
pub(crate) fn merged(costs: impl IntoIterator<Item = Cost>) -> (Vec<Cost>, usize) {
    let mut by_key: BTreeMap<(String, String), Cost> = BTreeMap::new();
    let mut several = 0;
    for cost in costs {
        let key = (cost.id.clone(), cost.target.clone());
        match by_key.get_mut(&key) {
            None => {
                by_key.insert(key, cost);
            }
            Some(kept) => {
                several += usize::from(*kept != cost);
                // Between equal ones the text decides, so that the order of the inputs does not matter.
                let rank = |cost: &Cost| (worth(&cost.outcome), text_of(cost));
                if rank(&cost) < rank(kept) {
                    *kept = cost;
                }
            }
        }
    }
    let mut costs: Vec<_> = by_key.into_values().collect();
    costs.sort_by(Cost::compare);
    (costs, several)
}

fn text_of(cost: &Cost) -> String {
    serde_json::to_string(cost).expect("the types have string keys and no fallible parts")
}

/// Orders outcomes, the best one first.
fn worth(outcome: &CostOutcome) -> (u8, u64) {
    match outcome {
        // The relative width, in millionths.
        CostOutcome::Measured(Figure { ratio, interval: [low, high], .. }) => {
            (0, ((high - low) / ratio * 1e6) as u64)
        }
        CostOutcome::Failed { .. } => (1, 0),
        CostOutcome::Noise { spread_percent, .. } => (2, (spread_percent * 1e4) as u64),
        CostOutcome::Unsupported { .. } => (3, 0),
        CostOutcome::NotRun { .. } => (4, 0),
    }
}

/// A cost with a figure in both reports, and intervals that do not overlap.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ChangedCost {
    /// The target.
    pub target: String,
    /// The cost's id.
    pub id: String,
    /// The ratio in the old report.
    pub old: f64,
    /// The ratio in the new report.
    pub new: f64,
    /// The 95 % confidence interval of the old ratio.
    pub old_interval: [f64; 2],
    /// The 95 % confidence interval of the new ratio.
    pub new_interval: [f64; 2],
    /// By what factor the ratio grew, at least: from the greatest old to the least new value of the
    /// intervals.
    pub grew_at_least: f64,
    /// By what factor the ratio grew, at most.
    pub grew_at_most: f64,
}

/// A cost with a figure in the old report, and none in the new one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LostCost {
    /// The target.
    pub target: String,
    /// The cost's id.
    pub id: String,
    /// Why it has no figure.
    pub reason: String,
}

/// The differences between the costs in two reports.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CostDiff {
    /// The number of costs with a figure in both reports.
    pub compared: usize,
    /// Those whose intervals do not overlap, the greatest growth first.
    pub changed: Vec<ChangedCost>,
    /// Those with a figure in the old report only.
    pub lost: Vec<LostCost>,
}

impl CostDiff {
    /// Compares the costs of two reports.
    pub fn new(old: &Results, new: &Results) -> Self {
        let key = |cost: &Cost| (cost.target.clone(), cost.id.clone());
        let after: BTreeMap<_, _> = new.costs.iter().map(|cost| (key(cost), cost)).collect();
        let mut diff = Self::default();
        for cost in &old.costs {
            let Some(before) = cost.figure() else { continue };
            let now = after.get(&key(cost));
            match now.and_then(|cost| cost.figure()) {
                Some(figure) => {
                    diff.compared += 1;
                    diff.changed.extend(ChangedCost::of(cost, before, figure));
                }
                None => {
                    let missing = || "the new report does not have it".to_owned();
                    let reason = now.and_then(|cost| cost.outcome.reason()).unwrap_or_else(missing);
                    diff.lost.push(LostCost { target: cost.target.clone(), id: cost.id.clone(), reason });
                }
            }
        }
        diff.changed.sort_by(|one, other| other.grew_at_least.total_cmp(&one.grew_at_least));
        diff
    }

    /// Returns whether neither report has anything to compare.
    pub fn is_empty(&self) -> bool {
        self.compared == 0 && self.lost.is_empty()
    }

    /// Returns the costs that grew by more than a factor, even between the nearest ends of both intervals.
    pub fn grown(&self, factor: f64) -> impl Iterator<Item = &ChangedCost> {
        self.changed.iter().filter(move |changed| changed.grew_at_least > factor)
    }
}

impl ChangedCost {
    /// Returns the change, unless the intervals overlap.
    fn of(cost: &Cost, old: &Figure, new: &Figure) -> Option<Self> {
        let ([old_low, old_high], [new_low, new_high]) = (old.interval, new.interval);
        let overlap = new_low <= old_high && old_low <= new_high;
        (!overlap).then(|| Self {
            target: cost.target.clone(),
            id: cost.id.clone(),
            old: old.ratio,
            new: new.ratio,
            old_interval: old.interval,
            new_interval: new.interval,
            grew_at_least: new_low / old_high,
            grew_at_most: new_high / old_low,
        })
    }

    /// Returns `2.00 → 3.00 (grew 1.23 to 1.83 times)  wait-one/level-10d-1t@epoll on here`.
    pub(crate) fn line(&self) -> String {
        let Self { target, id, old, new, grew_at_least, grew_at_most, .. } = self;
        format!("{old:.2} → {new:.2} ({grew_at_least:.2} to {grew_at_most:.2} times)  {id} on {target}")
    }
}

impl LostCost {
    pub(crate) fn line(&self) -> String {
        format!("{} on {}: {}", self.id, self.target, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use metadata::samples::{cost, measured};

    use super::*;
    use crate::samples;

    fn with(costs: &[(u32, CostOutcome)]) -> Results {
        let mut results = samples::results("here", &[]);
        results.costs = costs.iter().map(|(n, outcome)| cost("epoll", *n, outcome.clone())).collect();
        results
    }

    fn noise() -> CostOutcome {
        CostOutcome::Noise { spread_percent: 30.0, limit_percent: 10.0 }
    }

    /// The samples have intervals of 10 % on both sides: from 2.00 to 3.00 it grew 2.70 / 2.20 times at
    /// least.
    #[test]
    fn a_cost_grew_by_a_factor_if_even_the_nearest_ends_of_the_intervals_say_so() {
        let old = with(&[(10, measured(2.0)), (20, measured(2.0)), (30, measured(2.0)), (40, measured(2.0))]);
        let new = with(&[(10, measured(3.0)), (20, measured(2.4)), (30, measured(1.0)), (40, measured(2.5))]);
        let diff = CostDiff::new(&old, &new);
        assert_eq!(diff.compared, 4);
        let changed: Vec<_> = diff.changed.iter().map(|changed| changed.id.as_str()).collect();
        // 2.4 × 0.9 = 2.16 is inside the old interval, up to 2.2; 2.5 × 0.9 = 2.25 is not.
        let expected =
            ["wait-one/level-10d-1t@epoll", "wait-one/level-40d-1t@epoll", "wait-one/level-30d-1t@epoll"];
        assert_eq!(changed, expected);
        let grown = |factor| diff.grown(factor).map(|changed| changed.id.clone()).collect::<Vec<_>>();
        assert_eq!(grown(1.0), expected[..2]);
        assert_eq!(grown(1.02), expected[..2]);
        assert_eq!(grown(1.2), expected[..1]);
        assert_eq!(grown(1.22), expected[..1]);
        // The medians grew 1.5 times, but that much is not certain.
        assert_eq!(grown(1.23), [""; 0]);
        assert!((diff.changed[0].grew_at_least - 2.7 / 2.2).abs() < 1e-9);
        assert!((diff.changed[0].grew_at_most - 3.3 / 1.8).abs() < 1e-9);
    }

    #[test]
    fn a_lost_figure_is_listed_with_its_reason_and_a_new_one_is_no_change() {
        let old = with(&[(10, measured(2.0)), (20, measured(2.0)), (30, noise())]);
        let new = with(&[(10, noise()), (30, measured(2.0)), (40, measured(2.0))]);
        let diff = CostDiff::new(&old, &new);
        let lost: Vec<_> = diff.lost.iter().map(LostCost::line).collect();
        let expected = [
            "wait-one/level-10d-1t@epoll on here: noise: the interval is 30 % wide, more than 10 %",
            "wait-one/level-20d-1t@epoll on here: the new report does not have it",
        ];
        assert_eq!(
            (lost.as_slice(), diff.compared, diff.changed.len()),
            (&expected.map(str::to_owned)[..], 0, 0)
        );
        assert!(CostDiff::new(&with(&[]), &old).is_empty() && !diff.is_empty());
    }

    #[test]
    fn the_best_of_several_costs_is_kept_in_any_order() {
        let narrow = match measured(2.5) {
            CostOutcome::Measured(figure) => {
                CostOutcome::Measured(Figure { interval: [2.45, 2.55], ..figure })
            }
            other => other,
        };
        let unsupported = CostOutcome::Unsupported { reason: "why".into() };
        let not_run = CostOutcome::NotRun { reason: "interrupted".into() };
        let order = [narrow, measured(2.0), noise(), unsupported, not_run];
        for better in 0..order.len() {
            for worse in better..order.len() {
                let pair =
                    [cost("epoll", 10, order[better].clone()), cost("epoll", 10, order[worse].clone())];
                for turned in [pair.clone(), [pair[1].clone(), pair[0].clone()]] {
                    let (kept, several) = merged(turned);
                    assert_eq!(kept, pair[..1], "{better} {worse}");
                    assert_eq!(several, usize::from(better != worse));
                }
            }
        }
        let sorted =
            merged([cost("poll", 10, noise()), cost("epoll", 100, noise()), cost("epoll", 10, noise())]).0;
        let ids: Vec<_> = sorted.iter().map(|cost| cost.id.as_str()).collect();
        let expected =
            ["wait-one/level-10d-1t@epoll", "wait-one/level-10d-1t@poll", "wait-one/level-100d-1t@epoll"];
        assert_eq!(ids, expected);
    }
}
