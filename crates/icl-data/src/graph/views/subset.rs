//! Drawing some of a graph's nodes.

use icl_core::Rng;
use rand::RngExt;

/// round(ratio · n), but less than n.
pub(super) fn share_below(ratio: f64, n: usize) -> usize {
    ((ratio * n as f64).round() as usize).min(n - 1)
}

/// Marks `n_drawn` of the places of `marks`, drawn uniformly without replacement.
///
/// All places must be unmarked. Floyd's algorithm (Bentley and Floyd, 1987): one draw for each
/// place that is marked.
pub(super) fn mark_subset(marks: &mut [bool], n_drawn: usize, rng: &mut Rng) {
    for last in marks.len() - n_drawn..marks.len() {
        let drawn = rng.random_range(0..=last as u32) as usize;
        let place = if marks[drawn] { last } else { drawn };
        marks[place] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::Seed;

    #[test]
    fn shares_are_rounded_and_leave_one() {
        let shares: Vec<usize> = (1..=8).map(|n| share_below(0.2, n)).collect();
        assert_eq!(shares, [0, 0, 1, 1, 1, 1, 1, 2]);
        assert_eq!(share_below(0.99, 2), 1);
        assert_eq!(share_below(0.0, 5), 0);
    }

    #[test]
    fn every_subset_is_equally_likely() {
        let mut counts = [0_usize; 32];
        let mut rng = Seed::new(2).child("subset").rng();
        for _ in 0..10_000 {
            let mut marks = [false; 5];
            mark_subset(&mut marks, 2, &mut rng);
            let code = marks.iter().fold(0, |code, &mark| code * 2 + mark as usize);
            counts[code] += 1;
        }
        for (code, count) in counts.into_iter().enumerate() {
            // 10 subsets; each count is binomial with mean 1000 and standard deviation 30.
            let expected = if code.count_ones() == 2 { 1000 } else { 0 };
            assert!(count.abs_diff(expected) < 150, "{code:05b}: {count}");
        }
    }
}
