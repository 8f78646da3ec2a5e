//! Partners: the other samples that views mix with.

use std::borrow::Cow;

use icl_core::{SampleError, Samples, Seed};
use rand::RngExt;

/// Population from which partners are drawn: samples of a data set, in ascending order. One may occur several times.
#[derive(Debug)]
pub(crate) struct Partners<'a, S> {
    data: &'a S,
    population: &'a [usize],
}

impl<'a, S: Samples> Partners<'a, S> {
    /// Creates the population of these indices, which must ascend.
    pub(crate) fn new(data: &'a S, population: &'a [usize]) -> Self {
        Self { data, population }
    }

    /// Draws `n` partners of the sample at `index`: uniform over the population without the sample, each
    /// independent of the others.
    ///
    /// # Errors
    /// [`SampleError`] if the population has no other sample, or a partner cannot be read.
    pub(crate) fn draw(
        &self,
        index: usize,
        n: usize,
        seed: Seed,
    ) -> Result<Vec<Cow<'a, S::Sample>>, SampleError> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let first = self.population.partition_point(|&it| it < index);
        let own = self.population[first..]
            .iter()
            .take_while(|&&it| it == index);
        let n_own = own.count();
        let n_others = self.population.len() - n_own;
        if n_others == 0 {
            let found = self.population.len();
            return Err(format!("mixup: found {found} sample, expected at least 2").into());
        }
        let mut rng = seed.rng();
        let one = |_| {
            let at = rng.random_range(0..n_others as u64) as usize;
            let n_passed = if at >= first { n_own } else { 0 };
            self.data.sample(self.population[at + n_passed])
        };
        (0..n).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// χ² of 49 partners of one sample: every other sample equally often, the sample itself never.
    #[test]
    fn each_other_sample_is_drawn_equally_often() {
        const N: usize = 50;
        let data: Vec<usize> = (0..2 * N).collect();
        let population: Vec<usize> = (0..N).map(|at| 2 * at).collect();
        let partners = Partners::new(&data, &population);
        for own in [0, 48, 98, 1] {
            let mut counts = [0_f64; 2 * N];
            let n_draws = 100_000;
            for partner in partners.draw(own, n_draws, Seed::new(own as u64)).unwrap() {
                counts[*partner] += 1.0;
            }
            let others: Vec<usize> = population.iter().copied().filter(|&x| x != own).collect();
            let expected = n_draws as f64 / others.len() as f64;
            let chi2: f64 = others
                .iter()
                .map(|&other| (counts[other] - expected).powi(2) / expected)
                .sum();
            // Mean and standard deviation of χ² are k and √(2k); k is at most 49.
            assert!(chi2 < 49.0 + 5.0 * 98_f64.sqrt(), "{chi2}");
            assert_eq!(counts.iter().sum::<f64>(), n_draws as f64);
            assert_eq!(
                others.iter().map(|&x| counts[x]).sum::<f64>(),
                n_draws as f64
            );
        }
    }

    #[test]
    fn a_sample_without_another_is_an_error() {
        let data = vec![1.0, 2.0];
        let partners = Partners::new(&data, &[1]);
        let error = partners.draw(1, 1, Seed::new(1)).unwrap_err().to_string();
        assert_eq!(error, "mixup: found 1 sample, expected at least 2");
        assert_eq!(*partners.draw(0, 1, Seed::new(1)).unwrap()[0], 2.0);
        assert!(partners.draw(1, 0, Seed::new(1)).unwrap().is_empty());
    }
}
