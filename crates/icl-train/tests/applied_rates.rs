//! The learning rates in a record against those that were applied, by steps computed by hand.

use crate::toy::{
    Jitter, Stack, increment, info_nce, own_seed, points, published, settings, start, train_by,
    train_on, trainer,
};
use burn::tensor::Tensor;
use icl_core::testing::TestAutodiff;
use icl_core::{Collate, Increment, Seed, Views};
use icl_meta::RateChoice;
use icl_train::{Method, OptimizerChoice, Planner, Sampling, TrainingSettings, UpdateRule};

/// The recorded rate is the applied one for every source of the rate: the last step of a run is that
/// rate times the gradient, computed by hand.
#[test]
fn a_chosen_rate_is_the_applied_rate() {
    let samples = points();
    let increment = increment();
    for rate in [
        RateChoice::Fixed,
        RateChoice::Hypergradient,
        RateChoice::LearnedAsPublished,
        RateChoice::Learned,
    ] {
        let method = Method {
            rate,
            ..info_nce(Sampling::All)
        };
        // One step per epoch. The choices of `Learned` depend on the maximum number of steps, so its
        // first step is compared, and a later step of the others.
        let n_steps = if rate == RateChoice::Learned { 0 } else { 80 };
        let run = |epochs| {
            let settings = TrainingSettings {
                epochs,
                batch_size: 90,
                learning_rate: 0.2,
                ..settings()
            };
            train_by(UpdateRule::Sgd, &samples, &method, &settings, 3).unwrap()
        };
        let after = run(n_steps + 1);
        let before = match n_steps {
            0 => start().weight.val().inner(),
            n => run(n).encoder.weight.val(),
        };
        let seed = Seed::new(3).child("update");
        let settings = TrainingSettings {
            batch_size: 90,
            ..settings()
        };
        let planner = Planner::new(
            &info_nce(Sampling::All),
            &increment,
            &settings,
            seed.child("order"),
        );
        let plan = planner.epoch(n_steps, 1.0);
        let view = |which: u64| {
            let indices = plan.steps[0].batch.samples.iter();
            let views: Vec<[f32; 4]> = indices
                .map(|&i| {
                    let seed = seed.child("views").at(n_steps as u64);
                    let mut rng = seed.at(i as u64).at(which).rng();
                    Jitter.view(&samples[i], &mut rng)
                })
                .collect();
            Collate::<TestAutodiff, _, Tensor<TestAutodiff, 2>>::collate(
                &Stack,
                &views,
                &Default::default(),
            )
        };
        let weight = Tensor::<TestAutodiff, 2>::from_inner(before.clone()).require_grad();
        let loss = icl_core::InfoNceConfig::new()
            .with_negatives(Some(31.0))
            .init()
            .forward(
                view(0).matmul(weight.clone()),
                view(1).matmul(weight.clone()),
            );
        let gradient = weight.grad(&loss.backward()).unwrap();
        let applied = after.record.learning_rates[n_steps];
        let expected = before - gradient.clone() * applied;
        let difference = (after.encoder.weight.val() - expected)
            .abs()
            .max()
            .into_scalar();
        let step = (gradient * applied).abs().max().into_scalar();
        assert!(difference < 1e-3 * step, "{rate:?}: {difference} of {step}");
        if rate != RateChoice::Fixed {
            let distinct = after
                .record
                .learning_rates
                .windows(2)
                .filter(|p| p[0] != p[1]);
            assert!(distinct.count() > 60 || n_steps == 0, "{rate:?}");
            assert!(applied != 0.2, "{rate:?}");
        }
    }
}

/// Runs of a stream have the peaks of one cosine, which ends with the run.
#[test]
fn a_meta_decay_falls_with_the_steps_before() {
    let method = Method {
        rate: RateChoice::MetaDecay,
        ..info_nce(Sampling::All)
    };
    let mut steps_before = 0;
    for (epochs, n_warmup) in [(10, 1), (25, 3), (12, 2)] {
        // One step per epoch.
        let settings = TrainingSettings {
            epochs,
            batch_size: 90,
            learning_rate: 0.02,
            steps_before,
            ..settings()
        };
        let record = train_on(&points(), &method, &settings, 3).unwrap().record;
        let length = steps_before + epochs as u64 - n_warmup;
        let share = steps_before as f64 / length as f64;
        let peak = 0.01 * (1.0 + (std::f64::consts::PI * share).cos());
        let at = n_warmup as usize;
        for step in [at - 1, at] {
            assert!((record.learning_rates[step] - peak).abs() < 1e-12);
        }
        let share = 1.0 / (epochs - at) as f64;
        let next = peak * (1.0 + (std::f64::consts::PI * share).cos()) / 2.0;
        assert!((record.learning_rates[at + 1] - next).abs() < 1e-12);
        steps_before += record.n_steps;
    }
    assert_eq!(steps_before, 10 + 25 + 12);
}

/// Inner steps and an outer step by hand: the applied lr_s and lr_q are the recorded ones.
#[test]
fn a_meta_step_is_equations_11_and_12() {
    let samples = points();
    // With an agent there is one inner step, so that the recorded mean rate is its rate.
    for (n_old, rate) in [
        (60, RateChoice::Fixed),
        (30, RateChoice::LearnedAsPublished),
    ] {
        let increment = Increment::try_new((0..n_old).collect(), (60..90).collect()).unwrap();
        let method = Method {
            optimizer: OptimizerChoice::Meta(None),
            rate,
            ..published()
        };
        let settings = TrainingSettings {
            epochs: 1,
            // One query of all 30 new points, and support batches of 30 old ones.
            batch_size: 60,
            learning_rate: 0.2,
            support_learning_rate: 0.5,
            ..settings()
        };
        let trainer = trainer(&samples, &increment, &settings, 3).update_rule(UpdateRule::Sgd);
        let outcome = trainer.update(&method, start()).unwrap();
        let seed = Seed::new(3).child("update");
        let order = seed.child("order");
        let planner = Planner::new(&method, &increment, &settings, order);
        let plan = planner.epoch(0, 1.0);
        assert_eq!(
            (plan.steps.len(), plan.steps[0].support.len()),
            (1, n_old / 30)
        );
        let contrast = |batch: &icl_train::BatchPlan, weight: &Tensor<TestAutodiff, 2>| {
            let view = |which: u64| {
                let indices = batch.samples.iter().zip(&batch.repetitions);
                let views: Vec<[f32; 4]> = indices
                    .map(|(&i, &repetition)| {
                        let own = own_seed(seed.child("views").at(0), i, repetition);
                        Jitter.view(&samples[i], &mut own.at(which).rng())
                    })
                    .collect();
                let views: Tensor<TestAutodiff, 2> = Stack.collate(&views, &Default::default());
                views.matmul(weight.clone())
            };
            icl_core::Contrast::in_batch(view(0), view(1), batch.n_old, 0.1)
        };
        let alpha = increment.growth_ratio();
        let leaf = |weight| Tensor::<TestAutodiff, 2>::from_inner(weight).require_grad();
        let mut fast = start().weight.val().inner();
        let rates = &outcome.record.support_learning_rates;
        for batch in &plan.steps[0].support {
            let weight = leaf(fast.clone());
            let contrast = contrast(batch, &weight);
            let log_r = icl_core::log_change_ratio(&contrast, 31.0);
            let loss = icl_core::nce_ii(log_r, alpha)
                .narrow(0, 0, batch.n_old)
                .mean();
            let gradient = weight.grad(&loss.backward()).unwrap();
            fast = fast - gradient * rates[0];
        }
        let query = &plan.steps[0].batch;
        let weight = leaf(fast);
        let contrast = contrast(query, &weight);
        let noise = icl_core::log_mixed_noise(
            contrast.log_noise_old.clone(),
            contrast.log_noise_new.clone(),
            alpha,
        );
        let n_new = query.samples.len() - query.n_old;
        let losses = icl_core::nce_i(contrast.positive.clone(), noise, 31.0);
        let loss = losses.narrow(0, query.n_old, n_new).mean();
        let gradient = weight.grad(&loss.backward()).unwrap();
        let step = gradient * outcome.record.learning_rates[0];
        let moved = start().weight.val().inner() - outcome.encoder.weight.val();
        let length = step.clone().abs().max().into_scalar();
        let difference = (moved - step).abs().max().into_scalar();
        assert!(
            difference < 1e-3 * length,
            "{rate:?}: {difference} of {length}"
        );
        let loss = loss.into_scalar();
        assert!((f64::from(loss) - outcome.record.epoch_losses[0]).abs() < 1e-4);
    }
}
