//! The samples on which accuracies are measured, and which the map shows.

use icl_core::{Increment, Seed};
use rand::seq::SliceRandom;

use crate::process::failure::Failure;

/// Maximum number of points of a map.
const MAX_SHOWN: usize = 2000;

/// Samples of a data set whose embeddings are evaluated, the same for all methods and floors of a seed.
#[derive(Debug)]
pub struct EvaluatedSamples {
    /// Indices of the samples in the data set, in ascending order.
    pub samples: Vec<usize>,
    /// Positions in [`samples`](Self::samples) of the old and of the new ones.
    pub increment: Increment,
}

impl EvaluatedSamples {
    /// Returns all samples of an increment or, of more than `most`, that many drawn at random with the growth ratio
    /// of the data, at least two of them old and two new.
    ///
    /// # Errors
    /// If the increment is not valid.
    pub fn of(increment: &Increment, most: usize, seed: Seed) -> Result<Self, Failure> {
        let all = increment.all().len();
        let mut drawn = Vec::new();
        // The name is that of earlier versions: another one would draw other samples.
        let mut rng = seed.child("judged").rng();
        let n_new = (increment.growth_ratio().value() * most as f64).round() as usize;
        let n_new = n_new.clamp(2, most - 2);
        let parts = [
            (increment.old(), most - n_new, false),
            (increment.new_data(), n_new, true),
        ];
        for (part, n, is_new) in parts {
            let mut part = part.to_vec();
            if all > most {
                part.shuffle(&mut rng);
                part.truncate(n);
            }
            drawn.extend(part.into_iter().map(|index| (index, is_new)));
        }
        drawn.sort_unstable();
        let places = |wanted: bool| {
            let places = drawn.iter().enumerate();
            let places = places.filter(|(_, (_, is_new))| *is_new == wanted);
            places.map(|(place, _)| place).collect()
        };
        Ok(Self {
            increment: Increment::try_new(places(false), places(true)).map_err(Failure::input)?,
            samples: drawn.iter().map(|(index, _)| *index).collect(),
        })
    }
}

impl EvaluatedSamples {
    /// Returns the positions of the samples that a map shows, ascending: all or, of more than 2000, 2000 at equal
    /// distances.
    pub fn shown(&self) -> Vec<usize> {
        let n = self.samples.len();
        let n_shown = n.min(MAX_SHOWN);
        (0..n_shown).map(|place| place * n / n_shown).collect()
    }
}

impl EvaluatedSamples {
    /// Returns whether each of the samples at these positions is new.
    pub fn are_new(&self, shown: &[usize]) -> Vec<bool> {
        let mut is_new = vec![false; self.samples.len()];
        for &place in self.increment.new_data() {
            is_new[place] = true;
        }
        shown.iter().map(|&at| is_new[at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn increment(n_old: usize, n_new: usize) -> Increment {
        let n = n_old + n_new;
        Increment::try_new((n_new..n).collect(), (0..n_new).collect()).unwrap()
    }

    #[test]
    fn few_samples_are_all_judged_in_their_order() {
        let evaluated = EvaluatedSamples::of(&increment(1500, 500), 2000, Seed::new(1)).unwrap();
        assert_eq!(evaluated.samples, (0..2000).collect::<Vec<_>>());
        assert_eq!(evaluated.increment.old(), (500..2000).collect::<Vec<_>>());
    }

    #[test]
    fn many_samples_are_drawn_by_the_growth_ratio() {
        let increment = increment(14_000, 6_000);
        let evaluated = EvaluatedSamples::of(&increment, 2000, Seed::new(1)).unwrap();
        assert_eq!(evaluated.samples.len(), 2000);
        assert!(evaluated.samples.is_sorted());
        assert_eq!(evaluated.increment.new_data().len(), 600);
        for &place in evaluated.increment.new_data() {
            assert!(evaluated.samples[place] < 6_000);
        }
        for &place in evaluated.increment.old() {
            assert!(evaluated.samples[place] >= 6_000);
        }
        let other = EvaluatedSamples::of(&increment, 2000, Seed::new(2)).unwrap();
        assert_ne!(evaluated.samples, other.samples);
    }

    #[test]
    fn a_map_shows_at_most_2000() {
        let few = EvaluatedSamples::of(&increment(30, 20), 10_000, Seed::new(1)).unwrap();
        assert_eq!(few.shown(), (0..50).collect::<Vec<_>>());
        let many = EvaluatedSamples::of(&increment(5_000, 3_000), 10_000, Seed::new(1)).unwrap();
        assert_eq!(many.shown(), (0..2000).map(|i| 4 * i).collect::<Vec<_>>());
    }
}
