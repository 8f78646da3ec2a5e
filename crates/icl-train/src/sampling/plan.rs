//! The plan of an epoch: the samples of each step.

use std::sync::Arc;

use icl_core::{Increment, Seed};

use crate::method::Method;
use crate::sampling::batch_plan::{BatchPlan, count_repetitions};
use crate::sampling::sampler::{Sampler, part, shuffled};
use crate::settings::TrainingSettings;

/// Batches of one step of the optimizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepPlan {
    /// Batches of the inner steps (Eq. 11), empty without meta-optimization. Their old samples are
    /// anchors, and their new samples are noise.
    pub support: Vec<BatchPlan>,
    /// Batch whose gradient is applied. Under meta-optimization it is the query (Eq. 12): its new samples
    /// are anchors, and its old samples are noise.
    pub batch: BatchPlan,
}

/// Steps of one epoch. Every sample of the epoch occurs once, except for old ones that stand for several, and under
/// meta-optimization, where the numbers of inner steps and batches decide how often a sample occurs: an old one in
/// several support batches and queries, a new one as the anchor of one query and as noise in support batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpochPlan {
    /// Steps in order.
    pub steps: Vec<StepPlan>,
    /// Samples of the epoch in ascending order, each as often as it counts: the population of the noise distribution,
    /// from which views draw their partners.
    pub population: Arc<[usize]>,
}

/// Planner of epochs. A plan is a pure function of the seed, the epoch, the data and the share of old data: the
/// batches of a [`Sampler`], one a step, except under meta-optimization.
///
/// There every batch holds as many old samples as new ones. A step has
/// max(⌈N/ΔN⌉, 1) support batches, where N counts the old samples of the epoch: max(⌈(1 − α)/α⌉, 1) with
/// all of them, as in Algorithm 1 of the paper. Every new sample is an anchor of one query.
#[derive(Debug, Clone)]
pub struct Planner<'a> {
    pub(crate) sampler: Sampler<'a>,
    is_meta: bool,
}

impl<'a> Planner<'a> {
    /// Creates a planner for a method. `seed` decides the order of samples.
    pub fn new(
        method: &Method,
        increment: &'a Increment,
        settings: &TrainingSettings,
        seed: Seed,
    ) -> Self {
        let mut sampler = Sampler::new(method.sampling, increment, settings.batch_size, seed);
        if let Some(n) = settings.replay_size {
            sampler = sampler.with_buffer(n);
        }
        if method.separates_noise() {
            sampler = sampler.separated();
        }
        Self {
            sampler,
            is_meta: method.optimizer.is_meta(),
        }
    }

    /// Returns the plan of an epoch. `share` is the current share of the old data for a sampling that
    /// has one.
    pub fn epoch(&self, epoch: usize, share: f64) -> EpochPlan {
        if self.is_meta {
            return self.meta(epoch, share);
        }
        let batches = self.sampler.epoch(epoch, share);
        let population = batches.iter().flat_map(|batch| &batch.samples);
        let population = population.copied().collect();
        let step = |batch| StepPlan {
            support: Vec::new(),
            batch,
        };
        EpochPlan::new(batches.into_iter().map(step).collect(), population)
    }

    /// Plans an epoch of meta-optimization, with support batches and a query in each step.
    fn meta(&self, epoch: usize, share: f64) -> EpochPlan {
        let ([old, new], mut rng) = self.sampler.parts(epoch, share);
        // Each sample once: those that count several times occur again when the round starts over.
        let at_hand = &old[..old.len().min(self.sampler.n_old_at_hand())];
        let [old_noise, new_noise] = [at_hand, &new].map(|part| shuffled(part, &mut rng));
        let half = (self.sampler.batch_size() / 2).max(2);
        // A query needs two new samples, of which one is noise for the other.
        let n_steps = new.len().div_ceil(half).min(new.len() / 2);
        // Algorithm 1: max(⌈(1 − α)/α⌉, 1), in integers.
        let n_inner = old.len().div_ceil(new.len()).max(1);
        let [mut anchors, mut old_noise, mut new_noise] =
            [at_hand, &old_noise, &new_noise].map(Round::new);
        let steps = (0..n_steps).map(|step| {
            let support =
                (0..n_inner).map(|_| BatchPlan::joined(anchors.take(half), new_noise.take(half)));
            StepPlan {
                support: support.collect(),
                batch: BatchPlan::joined(old_noise.take(half), part(&new, step, n_steps).to_vec()),
            }
        });
        let steps = steps.collect();
        EpochPlan::new(steps, [old, new].concat())
    }
}

impl EpochPlan {
    fn new(mut steps: Vec<StepPlan>, mut population: Vec<usize>) -> Self {
        population.sort_unstable();
        let batches = steps.iter_mut();
        count_repetitions(
            batches.flat_map(|step| step.support.iter_mut().chain([&mut step.batch])),
        );
        Self {
            steps,
            population: population.into(),
        }
    }
}

/// Endless iteration over a list.
struct Round<'a> {
    items: &'a [usize],
    at: usize,
}

impl<'a> Round<'a> {
    fn new(items: &'a [usize]) -> Self {
        Self { items, at: 0 }
    }

    /// Returns the next n items, or all items if the list has fewer, so that none occurs twice.
    fn take(&mut self, n: usize) -> Vec<usize> {
        let n = n.min(self.items.len());
        let taken = (self.at..self.at + n).map(|at| self.items[at % self.items.len()]);
        let taken = taken.collect();
        self.at += n;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::{LossKind, OptimizerChoice, Sampling};

    fn increment(n_old: usize, n_new: usize) -> Increment {
        Increment::try_new((0..n_old).collect(), (n_old..n_old + n_new).collect()).unwrap()
    }

    fn planner<'a>(method: &Method, increment: &'a Increment, batch_size: usize) -> Planner<'a> {
        let settings = TrainingSettings {
            batch_size,
            ..Default::default()
        };
        Planner::new(method, increment, &settings, Seed::new(1))
    }

    fn info_nce(sampling: Sampling) -> Method {
        Method::new(sampling, LossKind::InfoNce)
    }

    fn corrected() -> Method {
        Method::new(Sampling::Stratified, LossKind::Corrected)
    }

    fn sorted(plan: &EpochPlan) -> Vec<usize> {
        let batches = plan.steps.iter().map(|step| &step.batch);
        let mut all: Vec<usize> = batches.flat_map(|b| b.samples.clone()).collect();
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
            for (method, expected) in [
                (info_nce(Sampling::All), 0..n_old + n_new),
                (info_nce(Sampling::Old), 0..n_old),
                (info_nce(Sampling::New), n_old..n_old + n_new),
                (info_nce(Sampling::Stratified), 0..n_old + n_new),
                (corrected(), 0..n_old + n_new),
            ] {
                for batch_size in [4, 8, 32] {
                    let plan = planner(&method, &increment, batch_size).epoch(3, 1.0);
                    assert_eq!(sorted(&plan), expected.clone().collect::<Vec<_>>());
                    let batches: Vec<_> = plan.steps.iter().map(|step| &step.batch).collect();
                    let sizes: Vec<usize> = batches.iter().map(|b| b.samples.len()).collect();
                    assert!(sizes.iter().all(|&size| size >= 2));
                    assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
                    for step in batches
                        .iter()
                        .filter(|_| method.sampling == Sampling::Stratified)
                    {
                        assert!(step.n_old >= 2 && step.samples.len() - step.n_old >= 2);
                        assert!(step.samples[..step.n_old].iter().all(|&i| i < n_old));
                        assert!(step.samples[step.n_old..].iter().all(|&i| i >= n_old));
                    }
                }
            }
        }
    }

    /// Partners come from the samples of the objective: X alone before new data arrive, ΔX alone in
    /// fine-tuning, the buffer or the epoch's share with ΔX otherwise.
    #[test]
    fn the_population_is_that_of_the_objective() {
        let increment = increment(100, 40);
        let of = |method: &Method, fraction| planner(method, &increment, 16).epoch(1, fraction);
        let population = |sampling, fraction| of(&info_nce(sampling), fraction).population;
        let range = |range: std::ops::Range<usize>| range.collect::<Vec<_>>();
        assert_eq!(population(Sampling::Old, 1.0)[..], range(0..100));
        assert_eq!(population(Sampling::New, 0.0)[..], range(100..140));
        assert_eq!(population(Sampling::All, 1.0)[..], range(0..140));
        assert_eq!(population(Sampling::Stratified, 1.0)[..], range(0..140));
        assert_eq!(of(&corrected(), 1.0).population[..], range(0..140));
        for (sampling, n_old) in [
            (Sampling::Share(0.3), 30),
            (Sampling::Widening(Some(0.3)), 30),
            (Sampling::Buffer, 20),
        ] {
            let plan = of(&info_nce(sampling), 0.3);
            assert_eq!(plan.population[..], sorted(&plan));
            assert_eq!(plan.population[n_old..], range(100..140));
        }
        let meta = Method {
            optimizer: OptimizerChoice::Meta(None),
            ..corrected()
        };
        assert_eq!(of(&meta, 1.0).population[..], range(0..140));
    }

    #[test]
    fn a_fraction_is_fresh_each_epoch() {
        let increment = increment(100, 40);
        let method = info_nce(Sampling::Share(0.2));
        let plan = |epoch| sorted(&planner(&method, &increment, 32).epoch(epoch, 0.2));
        assert_eq!(plan(0).len(), 60);
        assert_eq!(plan(0), plan(0));
        assert_ne!(plan(0)[..20], plan(1)[..20]);
        assert_eq!(plan(0)[20..], (100..140).collect::<Vec<_>>());
    }

    /// An epoch of 12 old samples that stand for 120 is one of 120: no batch holds one twice, and each occurrence has
    /// views of its own.
    #[test]
    fn samples_that_stand_for_several_are_repeated() {
        let increment = increment(12, 30).with_old_weight(10.0).unwrap();
        for (method, batch_size, share, n_old) in [
            (info_nce(Sampling::All), 32, 1.0, 120),
            (info_nce(Sampling::Widening(Some(0.5))), 8, 0.5, 60),
            (info_nce(Sampling::Share(0.1)), 8, 0.1, 12),
            (info_nce(Sampling::Stratified), 16, 1.0, 120),
            (corrected(), 8, 1.0, 120),
            (info_nce(Sampling::Old), 16, 1.0, 120),
        ] {
            let plan = planner(&method, &increment, batch_size).epoch(1, share);
            let found = sorted(&plan);
            let n_new = found.iter().filter(|&&at| at >= 12).count();
            let is_old = method.sampling == Sampling::Old;
            assert_eq!(n_new, if is_old { 0 } else { 30 });
            assert_eq!(found.len() - n_new, n_old);
            let counts: Vec<usize> = (0..12)
                .map(|at| found.iter().filter(|&&it| it == at).count())
                .collect();
            assert_eq!(counts, [n_old / 12; 12]);
            assert_eq!(plan.population[..], found);
            let mut occurrences = vec![Vec::new(); 42];
            for step in &plan.steps {
                let mut distinct = step.batch.samples.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), step.batch.samples.len());
                assert!(distinct.len() >= 2);
                for (sample, repetition) in step.batch.samples.iter().zip(&step.batch.repetitions) {
                    occurrences[*sample].push(*repetition);
                }
            }
            for found in occurrences {
                assert_eq!(found, (0..found.len()).collect::<Vec<_>>());
            }
        }
    }

    /// Where fewer are kept than a batch would hold, batches are smaller; where new samples allow no more of them, each
    /// holds every kept sample.
    #[test]
    fn few_kept_samples_are_in_no_batch_twice() {
        for method in [info_nce(Sampling::All), corrected()] {
            let increment = increment(3, 4).with_old_weight(100.0).unwrap();
            let plan = planner(&method, &increment, 32).epoch(0, 1.0);
            for StepPlan { batch, .. } in &plan.steps {
                let n_old = batch.samples.iter().filter(|&&at| at < 3).count();
                assert_eq!(n_old, 3);
            }
            let is_separated = method.separates_noise();
            assert_eq!(plan.steps.len(), if is_separated { 2 } else { 100 });
        }
        let meta = Method {
            optimizer: OptimizerChoice::Meta(None),
            ..corrected()
        };
        let increment = increment(20, 30).with_old_weight(5.0).unwrap();
        let plan = planner(&meta, &increment, 16).epoch(0, 1.0);
        // ⌈N/ΔN⌉ inner steps, of N = 100.
        assert!(plan.steps.iter().all(|step| step.support.len() == 4));
        assert_eq!(plan.population.len(), 130);
    }

    #[test]
    fn seeds_and_epochs_give_other_orders() {
        let increment = increment(50, 50);
        let settings = TrainingSettings::default();
        let plan = |seed, epoch| {
            Planner::new(&corrected(), &increment, &settings, Seed::new(seed)).epoch(epoch, 1.0)
        };
        assert_eq!(plan(1, 1), plan(1, 1));
        assert_ne!(plan(1, 1), plan(1, 2));
        assert_ne!(plan(1, 1), plan(2, 1));
    }

    #[test]
    fn replay_keeps_one_buffer() {
        let increment = increment(100, 40);
        let settings = TrainingSettings {
            replay_size: Some(25),
            ..Default::default()
        };
        let planner = Planner::new(
            &info_nce(Sampling::Buffer),
            &increment,
            &settings,
            Seed::new(1),
        );
        let first = sorted(&planner.epoch(0, 1.0));
        assert_eq!(first.len(), 65);
        assert_eq!(first, sorted(&planner.epoch(7, 1.0)));
        assert_eq!(first[25..], (100..140).collect::<Vec<_>>());
    }

    #[test]
    fn meta_optimization_takes_each_new_sample_once_and_old_ones_as_far_as_it_reaches() {
        for (n_old, n_new, n_inner) in [
            (700, 300, 3),
            (500, 500, 1),
            (300, 700, 1),
            (900, 100, 9),
            (13, 2, 7),
            (2, 90, 1),
        ] {
            let increment = increment(n_old, n_new);
            let method = Method {
                optimizer: OptimizerChoice::Meta(None),
                ..Method::new(Sampling::Stratified, LossKind::Published)
            };
            let settings = TrainingSettings::default();
            let planner = Planner::new(&method, &increment, &settings, Seed::new(1));
            let plan = planner.epoch(2, 1.0);
            let (mut anchors, mut seen) = (Vec::new(), Vec::new());
            for step in &plan.steps {
                assert_eq!(step.support.len(), n_inner);
                for batch in step.support.iter().chain([&step.batch]) {
                    let mut distinct = batch.samples.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    assert_eq!(distinct.len(), batch.samples.len());
                    assert!(batch.n_old >= 2 && batch.samples.len() - batch.n_old >= 2);
                    assert!(batch.samples.len() <= 32);
                    let is_old: Vec<bool> = batch.samples.iter().map(|&i| i < n_old).collect();
                    assert_eq!(is_old.iter().filter(|&&old| old).count(), batch.n_old);
                    for (sample, repetition) in batch.samples.iter().zip(&batch.repetitions) {
                        let n_before = seen.iter().filter(|other| *other == sample).count();
                        assert_eq!(*repetition, n_before);
                    }
                    seen.extend_from_slice(&batch.samples);
                    assert!(is_old[..batch.n_old].iter().all(|&old| old));
                }
                anchors.extend_from_slice(&step.batch.samples[step.batch.n_old..]);
            }
            anchors.sort_unstable();
            assert_eq!(anchors, (n_old..n_old + n_new).collect::<Vec<_>>());
        }
    }
}
