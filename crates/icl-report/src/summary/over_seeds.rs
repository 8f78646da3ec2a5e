//! Median and spread of a quantity over the seeds.

use serde::Serialize;

/// Probability with which an interval over the seeds holds the true value.
pub const CONFIDENCE: f64 = 0.95;

/// Median, least and greatest value of a quantity over the seeds.
///
/// A seed without a value, such as one that never reached the target, counts as +∞, and so does a value that is not
/// finite. The median is therefore "never" if at least half of the seeds have none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Number of seeds.
    pub n: usize,
    /// Number of seeds without a value.
    pub n_never: usize,
    /// Median; `None` for never.
    pub median: Option<f64>,
    /// Least value; `None` if no seed has one.
    pub min: Option<f64>,
    /// Greatest value; `None` if a seed has none.
    pub max: Option<f64>,
}

impl Summary {
    /// Summarises one entry per seed, `None` for never. Returns `None` without entries.
    pub fn new(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let mut values: Vec<f64> = values
            .into_iter()
            .map(|value| value.filter(|x| x.is_finite()).unwrap_or(f64::INFINITY))
            .collect();
        values.sort_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        let median = middle(&values)?;
        let reached = |value: f64| Some(value).filter(|x| x.is_finite());
        Some(Self {
            n: values.len(),
            n_never: values.iter().filter(|x| x.is_infinite()).count(),
            median: reached(median),
            min: reached(first),
            max: reached(last),
        })
    }

    /// Summarises the finite entries alone. Returns `None` without any.
    pub fn of_present(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        Self::new(
            values
                .into_iter()
                .filter(|value| value.is_some_and(f64::is_finite)),
        )
    }
}

/// Returns the middle of values in order, of an even number the mean of the middle two; `None` without values.
fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    Some((sorted[n.checked_sub(1)? / 2] + sorted[n / 2]) / 2.0)
}

/// Returns the median, of an even number of values the mean of the middle two; `None` without values.
pub fn median(of: &[f64]) -> Option<f64> {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    middle(&sorted)
}

/// Returns the mean; `None` without values.
pub fn mean(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
}

/// Returns the standard deviation of the sample; `None` for fewer than two values.
pub fn deviation(of: &[f64]) -> Option<f64> {
    let centre = mean(of).filter(|_| of.len() > 1)?;
    let squares: f64 = of.iter().map(|x| (x - centre).powi(2)).sum();
    Some((squares / (of.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_odd_and_of_an_even_number() {
        let odd = Summary::new([Some(3.0), Some(1.0), Some(2.0)]).unwrap();
        assert_eq!(
            (odd.median, odd.min, odd.max),
            (Some(2.0), Some(1.0), Some(3.0))
        );
        let even = Summary::new([Some(4.0), Some(1.0), Some(2.0), Some(9.0)]).unwrap();
        assert_eq!(
            (even.median, even.min, even.max),
            (Some(3.0), Some(1.0), Some(9.0))
        );
        assert_eq!((even.n, even.n_never), (4, 0));
        let one = Summary::new([Some(5.0)]).unwrap();
        assert_eq!(
            (one.median, one.min, one.max),
            (Some(5.0), Some(5.0), Some(5.0))
        );
    }

    #[test]
    fn never_counts_as_infinity() {
        let minority = Summary::new([Some(3.0), None, Some(2.0)]).unwrap();
        assert_eq!(
            (minority.median, minority.min, minority.max),
            (Some(3.0), Some(2.0), None)
        );
        assert_eq!((minority.n, minority.n_never), (3, 1));
        let majority = Summary::new([None, None, Some(2.0)]).unwrap();
        assert_eq!(
            (majority.median, majority.min, majority.max),
            (None, Some(2.0), None)
        );
        let half = Summary::new([Some(1.0), Some(2.0), None, None]).unwrap();
        assert_eq!(half.median, None);
        let quarter = Summary::new([Some(1.0), Some(2.0), Some(4.0), None]).unwrap();
        assert_eq!(quarter.median, Some(3.0));
        let all = Summary::new([None, None]).unwrap();
        assert_eq!((all.median, all.min, all.max), (None, None, None));
        assert_eq!(Summary::new([Some(f64::NAN)]).unwrap().n_never, 1);
        assert_eq!(Summary::new([]), None);
    }

    #[test]
    fn what_is_absent_can_be_left_out() {
        let present = Summary::of_present([Some(2.0), None, Some(4.0), Some(f64::NAN)]).unwrap();
        assert_eq!(
            (present.n, present.n_never, present.median),
            (2, 0, Some(3.0))
        );
        assert_eq!(Summary::of_present([None, None]), None);
    }
}
