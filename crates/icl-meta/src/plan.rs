//! Which samples each step of an epoch takes.

use icl_core::{Increment, Seed};
use rand::seq::SliceRandom;

use crate::{Noise, Objective};

/// One step: indices into the data set, of which the first `n_old` are old where batches are
/// stratified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepPlan {
    /// The samples.
    pub samples: Vec<usize>,
    /// How many of them are old; 0 where batches are not stratified.
    pub n_old: usize,
}

/// One epoch: every sample of its population once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpochPlan {
    /// The steps, in order.
    pub steps: Vec<StepPlan>,
}

impl EpochPlan {
    /// The plan of an epoch, a pure function of the seed, the epoch and the data.
    ///
    /// An epoch of n samples has ⌈n/B⌉ batches whose sizes differ by at most one, so that none is
    /// short. A stratified epoch deals old and new samples out evenly; it has fewer batches where
    /// they would hold fewer than the two of each that a contrast needs.
    ///
    /// # Panics
    /// If `batch_size` is 0.
    pub fn new(
        objective: Objective,
        increment: &Increment,
        batch_size: usize,
        seed: Seed,
        epoch: usize,
    ) -> Self {
        let mut rng = seed.at(epoch as u64).rng();
        let mut shuffled = |indices: &[usize]| {
            let mut indices = indices.to_vec();
            indices.shuffle(&mut rng);
            indices
        };
        let old = shuffled(increment.old());
        let new = shuffled(increment.new_data());
        let population = match objective {
            Objective::InfoNce(Noise::Old) => old,
            Objective::InfoNce(Noise::New) => new,
            Objective::InfoNce(Noise::All) => shuffled(&increment.all()),
            Objective::InfoNce(Noise::Fraction(fraction)) => {
                let n_old = (fraction * old.len() as f64).round() as usize;
                shuffled(&[&old[..n_old.min(old.len())], &new].concat())
            }
            Objective::Published | Objective::Corrected => {
                return Self::stratified(&old, &new, batch_size);
            }
        };
        let n_steps = population
            .len()
            .div_ceil(batch_size)
            .min(population.len() / 2);
        let steps = (0..n_steps).map(|step| StepPlan {
            samples: share(&population, step, n_steps).to_vec(),
            n_old: 0,
        });
        Self {
            steps: steps.collect(),
        }
    }

    /// Old samples are dealt out evenly; new ones, too, those that are left over to the batches that
    /// have the fewest old ones.
    fn stratified(old: &[usize], new: &[usize], batch_size: usize) -> Self {
        let n_steps = (old.len() + new.len())
            .div_ceil(batch_size)
            .min(old.len() / 2)
            .min(new.len() / 2);
        let old: Vec<&[usize]> = (0..n_steps).map(|step| share(old, step, n_steps)).collect();
        let mut by_length: Vec<usize> = (0..n_steps).collect();
        by_length.sort_by_key(|&step| old[step].len());
        let mut n_new = vec![new.len() / n_steps; n_steps];
        for &step in &by_length[..new.len() % n_steps] {
            n_new[step] += 1;
        }
        let mut rest = new;
        let steps = old.iter().zip(n_new).map(|(old, n_new)| {
            let (new, after) = rest.split_at(n_new);
            rest = after;
            StepPlan {
                samples: [old, new].concat(),
                n_old: old.len(),
            }
        });
        Self {
            steps: steps.collect(),
        }
    }
}

/// The part-th of `n_parts` parts whose lengths differ by at most one.
fn share(items: &[usize], part: usize, n_parts: usize) -> &[usize] {
    &items[part * items.len() / n_parts..(part + 1) * items.len() / n_parts]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn increment(n_old: usize, n_new: usize) -> Increment {
        Increment::try_new((0..n_old).collect(), (n_old..n_old + n_new).collect()).unwrap()
    }

    fn sorted(plan: &EpochPlan) -> Vec<usize> {
        let mut all: Vec<usize> = plan.steps.iter().flat_map(|s| s.samples.clone()).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn an_epoch_takes_each_sample_once_in_even_batches() {
        for (n_old, n_new) in [
            (557, 556),
            (33, 2),
            (2, 2),
            (1000, 11),
            (5, 400),
            (12, 22),
            (13, 9),
        ] {
            let increment = increment(n_old, n_new);
            for (objective, expected) in [
                (Objective::InfoNce(Noise::All), 0..n_old + n_new),
                (Objective::InfoNce(Noise::Old), 0..n_old),
                (Objective::InfoNce(Noise::New), n_old..n_old + n_new),
                (Objective::Corrected, 0..n_old + n_new),
            ] {
                for batch_size in [4, 8, 32] {
                    let plan = EpochPlan::new(objective, &increment, batch_size, Seed::new(1), 3);
                    assert_eq!(sorted(&plan), expected.clone().collect::<Vec<_>>());
                    let sizes: Vec<usize> = plan.steps.iter().map(|s| s.samples.len()).collect();
                    assert!(sizes.iter().all(|&size| size >= 2));
                    assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
                    for step in plan.steps.iter().filter(|_| objective.is_stratified()) {
                        assert!(step.n_old >= 2 && step.samples.len() - step.n_old >= 2);
                        assert!(step.samples[..step.n_old].iter().all(|&i| i < n_old));
                        assert!(step.samples[step.n_old..].iter().all(|&i| i >= n_old));
                    }
                }
            }
        }
    }

    #[test]
    fn a_fraction_is_fresh_each_epoch() {
        let increment = increment(100, 40);
        let objective = Objective::InfoNce(Noise::Fraction(0.2));
        let plan = |epoch| {
            sorted(&EpochPlan::new(
                objective,
                &increment,
                32,
                Seed::new(1),
                epoch,
            ))
        };
        assert_eq!(plan(0).len(), 60);
        assert_eq!(plan(0), plan(0));
        assert_ne!(plan(0)[..20], plan(1)[..20]);
        assert_eq!(plan(0)[20..], (100..140).collect::<Vec<_>>());
    }

    #[test]
    fn seeds_and_epochs_give_other_orders() {
        let increment = increment(50, 50);
        let plan = |seed, epoch| {
            EpochPlan::new(Objective::Corrected, &increment, 32, Seed::new(seed), epoch)
        };
        assert_eq!(plan(1, 1), plan(1, 1));
        assert_ne!(plan(1, 1), plan(1, 2));
        assert_ne!(plan(1, 1), plan(2, 1));
    }
}
