//! Views that depend on other samples, and on their pair.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Mutex;

use burn::module::AutodiffModule;
use icl_core::{Both, Pairing, Rng, SampleError, Samples, Seed, Side, Views};
use icl_train::{LossKind, NoiseSet, Sampling, TrainErrorKind, Trainer, TrainingSettings};
use rand::RngExt;

use crate::toy::{
    Jitter, Stack, corrected, increment, info_nce, meta, points, published, settings, start,
    timeless,
};
use icl_core::testing::TestAutodiff;

/// View that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Made {
    sample: [u32; 4],
    partner: [u32; 4],
    side: Side,
    pair: Seed,
}

/// Views halfway to one partner, which note what they were made of.
pub struct Halfway(Mutex<HashSet<Made>>);

impl Halfway {
    pub fn new() -> Self {
        Self(Mutex::default())
    }
}

impl Views for Halfway {
    type Sample = [f32; 4];
    type View = [f32; 4];

    fn view(&self, _: &[f32; 4], _: &mut Rng) -> [f32; 4] {
        panic!("the trainer makes views with their pairing")
    }

    fn plain(&self, sample: &[f32; 4]) -> [f32; 4] {
        *sample
    }

    fn paired_view(
        &self,
        sample: &[f32; 4],
        pairing: &Pairing<'_, [f32; 4]>,
        rng: &mut Rng,
    ) -> [f32; 4] {
        let [partner] = pairing.partners else {
            panic!("found {} partners, expected 1", pairing.partners.len());
        };
        self.0.lock().unwrap().insert(Made {
            sample: sample.map(f32::to_bits),
            partner: partner.map(f32::to_bits),
            side: pairing.side,
            pair: pairing.pair,
        });
        let share = 0.5 * rng.random::<f32>();
        std::array::from_fn(|at| sample[at] + share * (partner[at] - sample[at]))
    }

    fn n_partners(&self) -> usize {
        1
    }
}

/// Points that panic when one outside of a part is read.
struct Only(Vec<[f32; 4]>, std::ops::Range<usize>);

impl Samples for Only {
    type Sample = [f32; 4];

    fn n_samples(&self) -> usize {
        self.0.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, [f32; 4]>, SampleError> {
        assert!(self.1.contains(&index), "sample {index} was read");
        Ok(Cow::Borrowed(&self.0[index]))
    }
}

fn short() -> TrainingSettings {
    TrainingSettings {
        epochs: 2,
        ..settings()
    }
}

#[test]
fn pretraining_reads_no_new_sample() {
    let increment = increment();
    let samples = Only(points(), 0..60);
    let trainer =
        Trainer::<TestAutodiff, _, _, _>::new(&samples, Halfway::new(), Stack, &increment)
            .settings(short());
    trainer.pretrain(start()).unwrap();
    // Partners of the evaluation over X alone are old, too.
    trainer.evaluator().evaluate_old(start().valid()).unwrap();
}

/// Returns what the views of one update were made of, without the evaluations, of which there is one.
fn made(method: &icl_train::Method, settings: TrainingSettings) -> (HashSet<Made>, HashSet<Made>) {
    let (samples, increment, views) = (points(), increment(), Halfway::new());
    let trainer = Trainer::<TestAutodiff, _, _, _>::new(&samples, &views, Stack, &increment)
        .settings(settings);
    trainer.evaluator().evaluate(start().valid()).unwrap();
    let evaluated = std::mem::take(&mut *views.0.lock().unwrap());
    trainer.update(method, start()).unwrap();
    let made = std::mem::take(&mut *views.0.lock().unwrap());
    let steps = made.difference(&evaluated).copied().collect();
    (steps, evaluated)
}

#[test]
fn partners_come_from_the_population_of_the_objective() {
    let points = points()
        .iter()
        .map(|x| x.map(f32::to_bits))
        .collect::<Vec<_>>();
    let place = |x: &[u32; 4]| points.iter().position(|point| point == x).unwrap();
    for (method, expected) in [
        (info_nce(Sampling::New), 60..90),
        (info_nce(Sampling::All), 0..90),
        (corrected(), 0..90),
        (meta(published()), 0..90),
    ] {
        let (steps, evaluated) = made(&method, settings());
        assert!(!steps.is_empty());
        let partners: HashSet<usize> = steps.iter().map(|made| place(&made.partner)).collect();
        // Of several hundred draws none is missed.
        assert_eq!(partners, expected.collect(), "{method}");
        for made in steps.iter().chain(&evaluated) {
            assert_ne!(made.sample, made.partner);
        }
        // Each evaluation makes the same two views of each sample.
        assert_eq!(evaluated.len(), 2 * 90);
        let pairs: HashSet<Seed> = evaluated.iter().map(|made| made.pair).collect();
        assert_eq!(pairs.len(), 90);
        let n_steps = steps.len();
        let pairs: HashSet<Seed> = steps.iter().map(|made| made.pair).collect();
        // A sample that occurs twice in an epoch has the same views.
        assert_eq!(n_steps, 2 * pairs.len());
    }
}

#[test]
fn a_buffer_provides_the_old_partners() {
    let points = points()
        .iter()
        .map(|x| x.map(f32::to_bits))
        .collect::<Vec<_>>();
    let place = |x: &[u32; 4]| points.iter().position(|point| point == x).unwrap();
    let settings = TrainingSettings {
        replay_size: Some(7),
        ..settings()
    };
    let (steps, _) = made(&info_nce(Sampling::Buffer), settings);
    let old = |of: fn(&Made) -> &[u32; 4]| -> HashSet<usize> {
        let places = steps.iter().map(|made| place(of(made)));
        places.filter(|&at| at < 60).collect()
    };
    let buffer = old(|made| &made.sample);
    assert_eq!(buffer.len(), 7);
    assert_eq!(old(|made| &made.partner), buffer);
}

/// The same run on one thread and on four, and from a checkpoint's point of view: the record is the same.
#[test]
fn views_do_not_depend_on_threads() {
    let run = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .unwrap();
        pool.install(|| {
            let (samples, increment) = (points(), increment());
            let trainer =
                Trainer::<TestAutodiff, _, _, _>::new(&samples, Halfway::new(), Stack, &increment)
                    .settings(short())
                    .seed(3);
            timeless(
                trainer
                    .update(&info_nce(Sampling::All), start())
                    .unwrap()
                    .record,
            )
        })
    };
    let one = run(1);
    assert_eq!(one, run(4));
    assert!(one.evaluations[0].risk.all > 0.0);
}

#[test]
fn old_partners_change_the_risk_and_nothing_else() {
    let (samples, increment) = (points(), increment());
    let views = Halfway::new();
    let trainer = Trainer::<TestAutodiff, _, _, _>::new(&samples, &views, Stack, &increment)
        .settings(short());
    let encoder = start().valid();
    let all = trainer.evaluator().evaluate(encoder.clone()).unwrap().risk;
    views.0.lock().unwrap().clear();
    let evaluator = trainer.evaluator().with_old_partners();
    let old = evaluator.evaluate(encoder).unwrap().risk;
    assert_ne!(all.old, old.old);
    let old_points: HashSet<[u32; 4]> = samples[..60].iter().map(|x| x.map(f32::to_bits)).collect();
    let made = views.0.lock().unwrap();
    assert!(made.iter().all(|made| old_points.contains(&made.partner)));
    assert_eq!(
        made.iter()
            .map(|made| made.sample)
            .collect::<HashSet<_>>()
            .len(),
        90
    );
}

/// Two pairs a step cost two passes; the exact risk is that of the first kind of views.
#[test]
fn both_kinds_of_views_are_trained_on_and_the_first_is_evaluated() {
    let (samples, increment) = (points(), increment());
    let run = |has_both: bool| {
        let method = info_nce(Sampling::All);
        let (trained, record) = if has_both {
            let views = Both::new(Jitter, Halfway::new());
            let trainer = Trainer::<TestAutodiff, _, _, _>::new(&samples, views, Stack, &increment)
                .settings(short());
            let outcome = trainer.update(&method, start()).unwrap();
            (outcome.trained, outcome.record)
        } else {
            let trainer =
                Trainer::<TestAutodiff, _, _, _>::new(&samples, Jitter, Stack, &increment)
                    .settings(short());
            let outcome = trainer.update(&method, start()).unwrap();
            (outcome.trained, outcome.record)
        };
        (icl_core::host_values(trained.weight.val()), record)
    };
    let ((simple, one), (summed, two)) = (run(false), run(true));
    assert_eq!(two.sample_passes, 2 * one.sample_passes);
    assert_eq!(one.evaluations[0].risk, two.evaluations[0].risk);
    assert_ne!(simple, summed);
    // The loss of a step is the sum of both, so it is larger.
    assert!(two.epoch_losses[0] > 1.5 * one.epoch_losses[0]);
}

#[test]
fn the_noise_of_both_views_is_for_nce_i_alone() {
    let settings = TrainingSettings {
        noise_set: NoiseSet::BothViews,
        ..short()
    };
    let (samples, increment) = (points(), increment());
    let trainer = Trainer::<TestAutodiff, _, _, _>::new(&samples, Jitter, Stack, &increment)
        .settings(settings);
    for method in [corrected(), published()] {
        let error = trainer.update(&method, start()).unwrap_err();
        assert_eq!(error.kind(), TrainErrorKind::Failed);
        assert!(
            error
                .to_string()
                .starts_with("noise set: found both, expected other")
        );
    }
    let method = icl_train::Method::new(Sampling::All, LossKind::InfoNce);
    let both = trainer.update(&method, start()).unwrap();
    let other = Trainer::<TestAutodiff, _, _, _>::new(&samples, Jitter, Stack, &increment)
        .settings(short())
        .update(&method, start())
        .unwrap();
    // The exact risk of the start is the same; the training differs.
    assert_eq!(
        both.record.evaluations[0].risk,
        other.record.evaluations[0].risk
    );
    assert_ne!(both.record.epoch_losses, other.record.epoch_losses);
}
