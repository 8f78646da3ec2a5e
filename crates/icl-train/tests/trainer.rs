//! The trainer on a small problem with a user's own encoder.

use crate::toy::{
    Jitter, Linear, Stack, corrected, distillation, increment, info_nce, points, published,
    settings, start, timeless, train_by, train_on, trainer,
};
use burn::module::AutodiffModule;
use icl_core::testing::{TestAutodiff, TestBackend};
use icl_core::{Collate, Encoder, Increment, Mode, Seed, Views};
use icl_meta::RateChoice;
use icl_train::parameter_change;
use icl_train::{
    MetaOrder, Method, OptimizerChoice, Planner, Sampling, StopRule, TrainErrorKind,
    TrainingSettings, UpdateRule,
};

fn every_method_kind() -> [Method; 8] {
    [
        info_nce(Sampling::All),
        info_nce(Sampling::New),
        info_nce(Sampling::Share(0.2)),
        info_nce(Sampling::Widening(Some(0.2))),
        info_nce(Sampling::Buffer),
        distillation(),
        published(),
        corrected(),
    ]
}

#[test]
fn every_objective_moves_the_parameters_and_repeats_itself() {
    let samples = points();
    for method in every_method_kind() {
        let run = |seed| train_on(&samples, &method, &settings(), seed).unwrap();
        let (first, again, other) = (run(1), run(1), run(2));
        let change = parameter_change::<TestAutodiff, _>(&start(), &first.trained);
        assert!(
            change.is_finite() && change > 1e-3,
            "{method} moved by {change}"
        );
        assert_eq!(timeless(first.record.clone()), timeless(again.record));
        assert_ne!(timeless(first.record.clone()), timeless(other.record));
        let record = first.record;
        assert_eq!(record.n_epochs(), 12);
        assert_eq!(record.evaluations.len(), 13);
        let passes = match method.sampling {
            // The teacher makes a second pass.
            Sampling::New if method == distillation() => 2 * 2 * 12 * 30,
            Sampling::New => 2 * 12 * 30,
            Sampling::Share(_) | Sampling::Buffer => 2 * 12 * 42,
            Sampling::Widening(_) => {
                let n_old = |fraction: &f64| (60.0 * fraction).round() as u64;
                record
                    .old_fractions
                    .iter()
                    .map(|f| 2 * (30 + n_old(f)))
                    .sum()
            }
            _ => 2 * 12 * 90,
        };
        assert_eq!(record.sample_passes, passes, "{method}");
        for evaluation in &record.evaluations {
            let risk = evaluation.risk;
            let (old, new) = (60.0 / 90.0, 30.0 / 90.0);
            assert!((risk.all - old * risk.old - new * risk.new).abs() < 1e-9);
            assert!((risk.old - risk.nce1_old - risk.nce2_old).abs() < 1e-5);
            assert!(risk.theorem1_residual < 1e-5);
        }
    }
}

/// All combinations of optimizer and rate, with the losses that they support.
#[test]
fn every_optimizer_and_rate_moves_the_parameters_and_repeats_itself() {
    let samples = points();
    let rates = [
        RateChoice::Fixed,
        RateChoice::Cosine,
        RateChoice::WarmupCosine,
        RateChoice::MetaDecay,
        RateChoice::Hypergradient,
        RateChoice::LearnedAsPublished,
        RateChoice::Learned,
    ];
    for loss in [published(), corrected()] {
        for optimizer in [OptimizerChoice::Plain, OptimizerChoice::Meta(None)] {
            for rate in rates {
                let method = Method {
                    optimizer,
                    rate,
                    ..loss.clone()
                };
                let run = || train_on(&samples, &method, &settings(), 1).unwrap();
                let (first, again) = (run(), run());
                assert!(first.parameter_change > 1e-3, "{method:?}");
                assert_eq!(timeless(first.record.clone()), timeless(again.record));
                let record = first.record;
                assert_eq!(record.learning_rates.len(), 12);
                let n_support = match optimizer {
                    OptimizerChoice::Plain => 0,
                    OptimizerChoice::Meta(_) => 12,
                };
                assert_eq!(record.support_learning_rates.len(), n_support);
                for rates in [&record.learning_rates, &record.support_learning_rates] {
                    let varies = rates.windows(2).any(|pair| pair[0] != pair[1]);
                    assert_eq!(
                        varies,
                        rate != RateChoice::Fixed && !rates.is_empty(),
                        "{method:?}"
                    );
                    assert!(
                        rates.iter().all(|rate| (1e-8..=0.1).contains(rate)),
                        "{rates:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn meta_optimization_needs_support_and_query() {
    let method = Method {
        optimizer: OptimizerChoice::Meta(None),
        ..info_nce(Sampling::All)
    };
    let error = train_on(&points(), &method, &settings(), 1).unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Invalid);
    let expected = "found meta-optimization with a loss that does not separate old data from new, expected \
                    loss=published or loss=corrected (Eq. 9)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn without_new_data_there_is_only_a_first_encoder() {
    let increment = Increment::before((0..60).collect()).unwrap();
    let (samples, settings) = (points(), settings());
    let trainer = trainer(&samples, &increment, &settings, 1);
    let first = trainer.pretrain(start()).unwrap();
    assert!(first.parameter_change > 1e-3);
    let method = info_nce(Sampling::All);
    let error = trainer.update(&method, start());
    let error = error.map(drop).unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::NothingNew);
}

#[test]
fn inference_is_one_evaluation() {
    let method = Method {
        loss: None,
        ..corrected()
    };
    let outcome = train_on(&points(), &method, &settings(), 1).unwrap();
    assert_eq!(outcome.parameter_change, 0.0);
    assert_eq!(outcome.record.evaluations.len(), 1);
    assert_eq!(outcome.record.n_steps, 0);
}

/// Without weight, distillation would be fine-tuning; with a large weight, the encoder stays near its
/// start.
#[test]
fn distillation_holds_the_encoder_back() {
    let moved = |method: &Method, weight| {
        let settings = TrainingSettings {
            distillation_weight: weight,
            ..settings()
        };
        train_on(&points(), method, &settings, 1)
            .unwrap()
            .parameter_change
    };
    let free = moved(&info_nce(Sampling::New), 1.0);
    let held = [1e-9, 10.0, 1000.0].map(|weight| moved(&distillation(), weight));
    assert!((held[0] - free).abs() < 1e-3 * free, "{held:?}, {free}");
    assert!(held[0] > held[1] && held[1] > held[2], "{held:?}");
}

#[test]
fn training_on_the_risk_lowers_the_risk() {
    let samples = points();
    for method in [info_nce(Sampling::All), corrected()] {
        let record = train_on(&samples, &method, &settings(), 1).unwrap().record;
        let (first, last) = (&record.evaluations[0], record.evaluations.last().unwrap());
        assert!(
            last.risk.all < first.risk.all - 0.02,
            "{} to {}",
            first.risk.all,
            last.risk.all
        );
    }
}

/// One step by hand, θ − rate·∇L, on the batch of the plan.
#[test]
fn a_step_of_gradient_descent_is_one() {
    let samples = points();
    let settings = TrainingSettings {
        epochs: 1,
        batch_size: 90,
        learning_rate: 0.5,
        ..settings()
    };
    let all = info_nce(Sampling::All);
    let outcome = train_by(UpdateRule::Sgd, &samples, &all, &settings, 3).unwrap();
    let seed = Seed::new(3).child("update");
    let increment = increment();
    let order = seed.child("order");
    let all = info_nce(Sampling::All);
    let plan = Planner::new(&all, &increment, &settings, order).epoch(0, 1.0);
    assert_eq!(plan.steps.len(), 1);
    let view = |which: u64| {
        let views: Vec<[f32; 4]> = plan.steps[0]
            .batch
            .samples
            .iter()
            .map(|&i| {
                let mut rng = seed.child("views").at(0).at(i as u64).at(which).rng();
                Jitter.view(&samples[i], &mut rng)
            })
            .collect();
        Collate::<TestAutodiff, _, burn::tensor::Tensor<TestAutodiff, 2>>::collate(
            &Stack,
            &views,
            &Default::default(),
        )
    };
    let start = start();
    let loss = icl_core::InfoNceConfig::new()
        .with_negatives(Some(31.0))
        .init()
        .forward(
            start.encode(view(0), Mode::Evaluation),
            start.encode(view(1), Mode::Evaluation),
        );
    let gradient = start.weight.val().grad(&loss.backward()).unwrap();
    let expected = start.weight.val().inner() - gradient * 0.5;
    let difference = (outcome.encoder.weight.val() - expected).abs().max();
    assert!(difference.into_scalar() < 1e-6);
    assert!(outcome.record.epoch_losses.len() == 1 && outcome.record.n_steps == 1);
}

/// The second order changes the gradient, and costs two more gradients for each inner step.
#[test]
fn the_second_order_is_another_gradient() {
    let method = Method {
        optimizer: OptimizerChoice::Meta(None),
        ..corrected()
    };
    let run = |meta_order| {
        let settings = TrainingSettings {
            meta_order,
            support_learning_rate: 0.5,
            ..settings()
        };
        train_on(&points(), &method, &settings, 1).unwrap()
    };
    let [first, second] = [MetaOrder::First, MetaOrder::Second].map(run);
    assert!(second.parameter_change > 1e-3);
    let difference = first.encoder.weight.val() - second.encoder.weight.val();
    assert!(difference.abs().max().into_scalar() > 1e-3);
    // 4 steps per epoch of 2 support batches and a query of at most 16 points; each support batch makes
    // two more passes.
    let n_support = 2 * 16 * 2 * 4 * 12;
    assert_eq!(
        second.record.sample_passes - first.record.sample_passes,
        2 * n_support
    );
}

#[test]
fn the_fixed_views_do_not_depend_on_the_method() {
    let samples = points();
    let at_start = |method: &Method| {
        let outcome = train_on(&samples, method, &settings(), 5).unwrap();
        outcome.record.evaluations[0].risk
    };
    for method in every_method_kind() {
        assert_eq!(at_start(&method), at_start(&corrected()));
    }
}

#[test]
fn stopping_rules_stop() {
    let samples = points();
    let stopped = |stop, learning_rate| {
        let settings = TrainingSettings {
            epochs: 400,
            patience: 3,
            stop,
            learning_rate,
            ..settings()
        };
        train_on(&samples, &corrected(), &settings, 1)
            .unwrap()
            .record
    };
    // With a rate of nearly 0 the risk is constant, but the losses are noisy.
    let by_risk = stopped(StopRule::ExactRisk, 1e-30);
    assert_eq!(by_risk.n_epochs(), 3);
    let by_loss = stopped(StopRule::TrainingLoss, 3e-3);
    let lowest = by_loss.lowest_loss_epoch(3).unwrap();
    assert_eq!(by_loss.n_epochs(), lowest + 3);
    assert!(by_loss.n_epochs() < 400);
}

#[test]
fn the_average_is_what_is_evaluated_and_handed_out() {
    let samples = points();
    let settings = TrainingSettings {
        average_decay: Some(0.9),
        ..settings()
    };
    let outcome = train_on(&samples, &corrected(), &settings, 1).unwrap();
    // Without the average the same steps end at other parameters.
    let last = TrainingSettings {
        average_decay: Some(0.0),
        ..settings.clone()
    };
    let last = train_on(&samples, &corrected(), &last, 1).unwrap();
    assert_eq!(outcome.record.epoch_losses, last.record.epoch_losses);
    let difference = outcome.encoder.weight.val() - last.encoder.weight.val();
    assert!(difference.abs().max().into_scalar() > 1e-4);
    let increment = increment();
    let trainer = trainer(&samples, &increment, &settings, 1);
    let trained: Linear<TestBackend> = outcome.trained.valid();
    assert_eq!(
        trained.weight.val().into_data(),
        outcome.encoder.weight.val().into_data()
    );
    let evaluated = trainer.evaluator().evaluate(outcome.encoder).unwrap();
    assert_eq!(
        Some(evaluated.risk),
        outcome.record.evaluations.last().map(|last| last.risk)
    );
}
