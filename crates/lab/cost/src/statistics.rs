//! The ratio of two costs that are measured alternately, with a confidence interval that assumes nothing
//! about their distribution.

use std::io;

/// The ratio of two costs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Compared {
    /// The medians of what the first and the second did, such as the nanoseconds of an event.
    pub medians: [f64; 2],
    /// The median of the ratios of the pairs.
    pub ratio: f64,
    /// The 95 % confidence interval of that median.
    pub interval: [f64; 2],
}

impl Compared {
    /// Summarises pairs of costs.
    pub fn of(pairs: &[[f64; 2]]) -> Self {
        let column = |index: usize| median(pairs.iter().map(|pair| pair[index]).collect());
        let ratios: Vec<f64> = pairs.iter().map(|[first, second]| first / second).collect();
        Self {
            medians: [column(0), column(1)],
            ratio: median(ratios.clone()),
            interval: confidence_of_median(ratios),
        }
    }

    /// The width of the interval, in percent of the ratio.
    fn spread_percent(&self) -> f64 {
        (self.interval[1] - self.interval[0]) / self.ratio * 100.0
    }

    /// Whether the interval is wider than `noise` percent of the ratio.
    pub fn is_noise(&self, noise: f64) -> bool {
        self.spread_percent() > noise
    }

    /// The ratio, unless it is noise, and the interval.
    pub fn texts(&self, noise: f64) -> [String; 2] {
        let ratio = if self.is_noise(noise) { "noise".into() } else { format!("{:.2}", self.ratio) };
        let [low, high] = self.interval;
        [ratio, format!("{low:.2} to {high:.2}")]
    }
}

/// The median of some values, and the 95 % confidence interval of the median of their distribution.
pub fn median_and_interval(values: Vec<f64>) -> [f64; 3] {
    let [low, high] = confidence_of_median(values.clone());
    [median(values), low, high]
}

fn median(values: Vec<f64>) -> f64 {
    let values = sorted(values);
    let last = values.len() - 1;
    f64::midpoint(values[last / 2], values[last.div_ceil(2)])
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The order statistics between which the median of the distribution lies with a probability of at least
/// 95 %. This needs no assumption about the distribution: each value is above its median with probability ½.
fn confidence_of_median(values: Vec<f64>) -> [f64; 2] {
    let count = values.len();
    // The binomial distribution with ½, as logarithms: ½ to the power of `count` can be too small for an f64.
    let (mut log_of_term, mut below) = (-(count as f64) * 2_f64.ln(), 0.0);
    // The greatest rank with P(at most `rank` values below the median) ≤ 2.5 %, or the extremes.
    let is_outside = |rank: &usize| {
        below += log_of_term.exp();
        log_of_term += ((count - rank) as f64 / (rank + 1) as f64).ln();
        below <= 0.025
    };
    let rank = (0..count / 2).take_while(is_outside).count().max(1);
    let values = sorted(values);
    [values[rank - 1], values[count - rank]]
}

/// Takes pairs of samples. The first one of a pair alternates, so that a drift of the machine favours none.
///
/// # Errors
/// The error of a sample.
pub fn alternately<T>(
    pairs: u32,
    first: impl Fn() -> io::Result<T>,
    second: impl Fn() -> io::Result<T>,
) -> io::Result<Vec<[T; 2]>> {
    let pair = |number: u32| match number % 2 {
        0 => Ok([first()?, second()?]),
        _ => {
            let second = second()?;
            Ok([first()?, second])
        }
    };
    (0..pairs).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_costs_have_the_ratio_one_and_no_spread() {
        let compared = Compared::of(&[[200.0, 100.0]; 9]);
        assert_eq!((compared.ratio, compared.interval, compared.medians), (2.0, [2.0; 2], [200.0, 100.0]));
        assert_eq!(compared.spread_percent(), 0.0);
    }

    /// The table of ranks of the sign test: for 9 values the interval leaves out one value at each end, for
    /// 20 values five.
    #[test]
    fn the_interval_leaves_out_as_many_values_as_the_sign_test_allows() {
        let values = |count: u32| (1..=count).map(f64::from).collect();
        assert_eq!(confidence_of_median(values(9)), [2.0, 8.0]);
        assert_eq!(confidence_of_median(values(20)), [6.0, 15.0]);
        assert_eq!(confidence_of_median(values(5)), [1.0, 5.0], "too few values for any rank");
        assert_eq!(confidence_of_median(values(5000)), [2431.0, 2570.0], "½ to their power is no f64");
    }

    #[test]
    fn a_wild_machine_gives_a_wide_interval() {
        let pairs: Vec<_> = (0..31).map(|n| [100.0 + f64::from(n) * 10.0, 100.0]).collect();
        assert!(Compared::of(&pairs).spread_percent() > 30.0);
    }
}
