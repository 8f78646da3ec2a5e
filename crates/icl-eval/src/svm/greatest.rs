//! The place of the greatest number, lane by lane.

use super::kernel::LANES;

/// The greatest of some numbers in each lane, and the last place that has it.
pub(super) struct Greatest {
    value: [f64; LANES],
    at: [u64; LANES],
}

impl Greatest {
    /// Begins before the first number.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            value: [f64::NEG_INFINITY; LANES],
            at: [0; LANES],
        }
    }

    /// Takes the numbers of the next lanes.
    #[inline(always)]
    pub(super) fn take(&mut self, at: usize, values: [f64; LANES]) {
        for (lane, value) in values.into_iter().enumerate() {
            let is_greater = value >= self.value[lane];
            self.value[lane] = if is_greater { value } else { self.value[lane] };
            self.at[lane] = if is_greater { at as u64 } else { self.at[lane] };
        }
    }

    /// Returns the last place of the greatest number with the number; `None` if all are −∞.
    #[inline(always)]
    pub(super) fn place(&self) -> Option<(usize, f64)> {
        let greatest = self.value.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let places = (0..LANES).filter(|&lane| self.value[lane] == greatest);
        let places = places.map(|lane| self.at[lane] as usize * LANES + lane);
        (greatest > f64::NEG_INFINITY).then(|| (places.max().unwrap_or(0), greatest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_numbers_counts() {
        let mut greatest = Greatest::new();
        assert!(greatest.place().is_none());
        let values = |at: usize| std::array::from_fn(|lane| ((at * LANES + lane) % 3) as f64);
        (0..2).for_each(|at| greatest.take(at, values(at)));
        let last = (0..2 * LANES).rev().find(|place| place % 3 == 2);
        assert_eq!(greatest.place(), Some((last.unwrap(), 2.0)));
    }
}
