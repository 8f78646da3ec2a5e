//! Splits of one data set into old and new samples (Definition 3), as pure functions of the seed.

use std::fmt;
use std::str::FromStr;

use icl_core::{GrowthRatio, Increment, Seed};
use rand::seq::SliceRandom;

use crate::error::DataError;
use crate::place::Found;

/// Rule that divides the samples of one data set into old data X and new data ΔX.
///
/// Every split puts ΔN = round(α · n) samples into ΔX. The splits differ in the choice of these
/// samples:
///
/// | name | ΔX |
/// |---|---|
/// | `random` | ΔN samples drawn uniformly without replacement: the paper's split |
/// | `size` | the ΔN largest samples: the distribution shifts towards larger samples |
/// | `class` | the ΔN samples of the last classes: new data brings new classes |
///
/// Prints and parses as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Split {
    /// Samples drawn uniformly without replacement become new.
    Random,
    /// The largest samples become new (by nodes of a graph, by pixels of an image).
    ///
    /// Samples of equal size are shuffled by the seed, so that on images of one size this is a
    /// random split.
    Size,
    /// The samples of the last classes become new.
    ///
    /// The samples are sorted by class, shuffled within each class, and cut at n − ΔN. ΔX therefore
    /// holds whole classes from the end and, unless the cut falls on a class boundary, a random part
    /// of one more class, of which the rest is old. The growth ratio is α exactly as requested.
    Class,
}

impl Split {
    /// All splits, in the order of the table above.
    pub const ALL: [Self; 3] = [Self::Random, Self::Size, Self::Class];

    /// Returns the name by which the split prints and parses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Size => "size",
            Self::Class => "class",
        }
    }

    /// Splits n = `keys.len()` samples; the indices of both parts are in ascending order.
    ///
    /// `keys[i]` is the size of sample i for [`Split::Size`] and its class for [`Split::Class`];
    /// [`Split::Random`] uses only the number of keys. The result is a pure function of the
    /// arguments. With the same seed, a larger α adds samples to ΔX and removes none.
    ///
    /// ```
    /// use icl_core::{GrowthRatio, Seed};
    /// use icl_data::Split;
    ///
    /// let sizes = [30, 10, 50, 20, 40];
    /// let alpha = GrowthRatio::try_new(0.4)?;
    /// let increment = Split::Size.increment(&sizes, alpha, Seed::new(1))?;
    /// assert_eq!(increment.old(), [0, 1, 3]);
    /// assert_eq!(increment.new_data(), [2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::SplitTooSmall`] if either part would have fewer than two samples.
    pub fn increment(
        self,
        keys: &[usize],
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        let n = keys.len();
        let n_new = (alpha.value() * n as f64).round() as usize;
        let n_old = n - n_new;
        if n_old < 2 || n_new < 2 {
            return Err(DataError::SplitTooSmall {
                split: self.name(),
                alpha: alpha.value(),
                n_old,
                n_new,
            });
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut seed.child("split").child(self.name()).rng());
        if self != Self::Random {
            // The sort is stable, so that samples with equal keys stay shuffled.
            order.sort_by_key(|&index| keys[index]);
        }
        let mut new = order.split_off(n_old);
        order.sort_unstable();
        new.sort_unstable();
        Ok(Increment::try_new(order, new)?)
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Split {
    type Err = DataError;

    fn from_str(name: &str) -> Result<Self, DataError> {
        Self::ALL
            .into_iter()
            .find(|split| split.name() == name)
            .ok_or_else(|| DataError::UnknownSplit {
                found: Found::new(name),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alpha(value: f64) -> GrowthRatio {
        GrowthRatio::try_new(value).unwrap()
    }

    #[test]
    fn every_split_parts_all_samples_by_alpha() {
        let keys: Vec<usize> = (0..101).map(|index| index * 37 % 7).collect();
        for split in Split::ALL {
            for value in [0.02, 0.3, 0.5, 0.977] {
                let increment = split.increment(&keys, alpha(value), Seed::new(3)).unwrap();
                assert_eq!(
                    increment.new_data().len(),
                    (value * 101.0_f64).round() as usize
                );
                let mut all = increment.all();
                all.sort_unstable();
                assert_eq!(all, (0..101).collect::<Vec<_>>());
                assert!(increment.old().is_sorted() && increment.new_data().is_sorted());
            }
        }
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let keys = vec![5; 60];
        for split in Split::ALL {
            let of = |seed| split.increment(&keys, alpha(0.5), Seed::new(seed)).unwrap();
            assert_eq!(of(1), of(1));
            assert_ne!(of(1), of(2), "{split} must break ties by the seed");
        }
    }

    #[test]
    fn a_greater_alpha_only_adds_to_the_new_data() {
        let keys: Vec<usize> = (0..50).map(|index| index % 3).collect();
        for split in Split::ALL {
            let of = |value| {
                split
                    .increment(&keys, alpha(value), Seed::new(4))
                    .unwrap()
                    .new_data()
                    .to_vec()
            };
            let (small, large) = (of(0.2), of(0.6));
            assert!(small.iter().all(|index| large.contains(index)));
        }
    }

    #[test]
    fn ordered_splits_put_the_greatest_keys_into_the_new_data() {
        let keys: Vec<usize> = (0..90).map(|index| index * 31 % 10).collect();
        for split in [Split::Size, Split::Class] {
            let increment = split.increment(&keys, alpha(0.35), Seed::new(9)).unwrap();
            let greatest_old = increment.old().iter().map(|&i| keys[i]).max();
            let least_new = increment.new_data().iter().map(|&i| keys[i]).min();
            assert!(greatest_old <= least_new);
        }
    }

    #[test]
    fn the_random_split_ignores_keys_and_is_uniform() {
        let rising: Vec<usize> = (0..10).collect();
        let mut counts = [0_usize; 10];
        for seed in 0..2000 {
            let increment = Split::Random
                .increment(&rising, alpha(0.3), Seed::new(seed))
                .unwrap();
            let flat = Split::Random
                .increment(&[0; 10], alpha(0.3), Seed::new(seed))
                .unwrap();
            assert_eq!(increment, flat);
            for &index in increment.new_data() {
                counts[index] += 1;
            }
        }
        // Each count is binomial with mean 600 and standard deviation 20.5; five of them are 102.
        assert!(
            counts.iter().all(|&count| count.abs_diff(600) < 102),
            "{counts:?}"
        );
    }

    #[test]
    fn draws_are_fixed_for_all_time() {
        // A change of generator or order changes every recorded result: it must be noticed.
        let increment = Split::Random
            .increment(&[0; 12], alpha(0.5), Seed::new(7))
            .unwrap();
        assert_eq!(increment.new_data(), DRAW);
    }
    const DRAW: [usize; 6] = [0, 2, 3, 9, 10, 11];

    #[test]
    fn too_little_on_a_side_is_an_error() {
        for (n, value) in [
            (10, 0.1),
            (10, 0.9),
            (10, 0.0),
            (10, 1.0),
            (3, 0.5),
            (0, 0.5),
        ] {
            for split in Split::ALL {
                let error = split
                    .increment(&vec![0; n], alpha(value), Seed::new(1))
                    .unwrap_err();
                assert!(matches!(error, DataError::SplitTooSmall { .. }), "{error}");
            }
        }
        let error = Split::Size
            .increment(&[1; 10], alpha(0.1), Seed::new(1))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "split `size` at alpha 0.1: found 9 old and 1 new of 10 samples, expected at least 2 of each"
        );
    }

    #[test]
    fn names_print_and_parse() {
        for split in Split::ALL {
            assert_eq!(split.to_string().parse::<Split>().unwrap(), split);
        }
        assert_eq!(
            "sizes".parse::<Split>().unwrap_err().to_string(),
            "split: found \"sizes\", expected `random`, `size` or `class`"
        );
    }
}
