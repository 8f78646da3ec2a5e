//! The cost of a run by purpose.

use icl_core::testing::TestAutodiff;
use icl_core::{Encoder, ExactRisk, Increment};
use icl_meta::RateChoice;
use icl_train::{
    Budget, Cost, MetaOrder, Method, Sampling, StopRule, StoppedBy, TrainingSettings, UpdateRule,
};

use crate::toy::{
    Linear, distillation, increment, info_nce, meta, points, published, settings, start, train_by,
    train_on, trainer,
};

const SHARE: f64 = <Linear<TestAutodiff> as Encoder<TestAutodiff>>::FORWARD_SHARE;

/// Returns the cost of three epochs, with an evaluation before each and after the last, and the number of
/// sample passes.
fn cost(method: &Method, changes: TrainingSettings) -> (Cost, f64) {
    let settings = TrainingSettings {
        epochs: 3,
        ..changes
    };
    let record = train_on(&points(), method, &settings, 1).unwrap().record;
    assert_eq!(record.stopped_by, Some(StoppedBy::Epochs));
    // An evaluation is charged to what comes after it.
    let charged: Vec<f64> = record
        .evaluations
        .iter()
        .map(|of| of.charged_passes)
        .collect();
    assert_eq!((charged.len(), charged[0]), (4, 0.0));
    assert!(charged.is_sorted() && charged[3] <= record.cost.charged());
    (record.cost, record.sample_passes as f64)
}

/// Views of an evaluation of 90 samples: the encoder has no statistics to re-estimate.
const EVALUATED: f64 = 2.0 * 90.0;

#[test]
fn evaluations_are_charged_where_they_decide() {
    let warm = info_nce(Sampling::All);
    let all_views = 3.0 * 2.0 * 90.0;
    let expected = Cost {
        training: all_views,
        // Four evaluations of the run, and one of its start and of its result each.
        measuring: 6.0 * EVALUATED * SHARE,
        ..Cost::default()
    };
    assert_eq!(cost(&warm, settings()), (expected, all_views));
    assert_eq!(expected.charged(), all_views);
    let stopping = TrainingSettings {
        stop: StopRule::ExactRisk,
        ..settings()
    };
    let expected = Cost {
        monitoring: 4.0 * EVALUATED * SHARE,
        measuring: 2.0 * EVALUATED * SHARE,
        ..expected
    };
    assert_eq!(cost(&warm, stopping), (expected, all_views));
    // The share of old data widens by a schedule.
    let (widening, _) = cost(&info_nce(Sampling::Widening(Some(0.2))), settings());
    assert_eq!(widening.monitoring, 0.0);
}

#[test]
fn a_teacher_passes_forward_only() {
    let (of, passes) = cost(&distillation(), settings());
    assert_eq!(of.training, passes / 2.0);
    assert_eq!(of.teacher, passes / 2.0 * SHARE);
}

#[test]
fn inner_steps_and_agents_have_their_own_purpose() {
    let (first, passes) = cost(&meta(published()), settings());
    assert_eq!(first.training + first.support, passes);
    assert!(first.training > 0.0 && first.support > 0.0);
    assert_eq!((first.agents, first.teacher), (0.0, 0.0));
    assert_eq!(first.measuring, 6.0 * EVALUATED * SHARE);
    // Two more gradients for each inner step.
    let second = TrainingSettings {
        meta_order: MetaOrder::Second,
        ..settings()
    };
    let (second, _) = cost(&meta(published()), second);
    assert_eq!(second.support, 3.0 * first.support);
    assert_eq!(second.training, first.training);
    let learned = Method {
        rate: RateChoice::Learned,
        ..info_nce(Sampling::All)
    };
    let (of, passes) = cost(&learned, settings());
    assert!(of.agents > 0.0);
    assert!((of.training + of.agents / SHARE - passes).abs() < 1e-9);
}

#[test]
fn the_rule_that_ended_a_run_is_recorded() {
    let ended = |stop| {
        let settings = TrainingSettings {
            stop,
            epochs: 200,
            patience: 1,
            ..settings()
        };
        let method = info_nce(Sampling::All);
        let record = train_on(&points(), &method, &settings, 1).unwrap().record;
        (record.stopped_by, record.n_epochs() < 200)
    };
    assert_eq!(
        ended(StopRule::ExactRisk),
        (Some(StoppedBy::ExactRisk), true)
    );
    assert_eq!(
        ended(StopRule::TrainingLoss),
        (Some(StoppedBy::TrainingLoss), true)
    );
    assert_eq!(ended(StopRule::Doubling), (Some(StoppedBy::Doubling), true));
    assert_eq!(ended(StopRule::Slope), (Some(StoppedBy::Slope), true));
    assert_eq!(ended(StopRule::Never), (Some(StoppedBy::Epochs), false));
}

/// Mean of the risk over old and over new samples.
fn balanced(risk: &ExactRisk) -> f64 {
    (risk.old + risk.new) / 2.0
}

#[test]
fn rules_that_follow_the_risk_return_the_best_encoder() {
    let outcome = |stop, learning_rate| {
        let settings = TrainingSettings {
            stop,
            learning_rate,
            // Between evaluations the risk jumps.
            evaluate_every: Some(2),
            ..settings()
        };
        // Steps of Muon have one length, which no risk makes longer: its runs do not diverge here.
        train_by(
            UpdateRule::Adam,
            &points(),
            &info_nce(Sampling::New),
            &settings,
            1,
        )
        .unwrap()
    };
    // On new data alone, at a high rate, the risk over old data rises: θ₀ is the best.
    for stop in [StopRule::Doubling, StopRule::Slope, StopRule::ExactRisk] {
        let best = outcome(stop, 1.0);
        let risks = best
            .record
            .evaluations
            .iter()
            .map(|one| balanced(&one.risk));
        let risks: Vec<f64> = risks.collect();
        let lowest = risks.iter().copied().fold(f64::INFINITY, f64::min);
        let at = best.record.best_evaluation.unwrap();
        assert_eq!(
            (risks[at], balanced(&best.risk)),
            (lowest, lowest),
            "{stop:?}"
        );
        assert!(at < risks.len() - 1, "{risks:?}");
    }
    let last = outcome(StopRule::Never, 1.0);
    let end = last.record.evaluations.last().unwrap();
    assert_eq!((last.risk, last.record.best_evaluation), (end.risk, None));
}

#[test]
fn an_update_that_only_harms_is_not_made() {
    let settings = TrainingSettings {
        learning_rate: 10.0,
        stop: StopRule::Doubling,
        ..settings()
    };
    let whole = TrainingSettings {
        epochs: 60,
        learning_rate: 0.02,
        ..settings.clone()
    };
    let trained = train_on(&points(), &info_nce(Sampling::All), &whole, 1).unwrap();
    let (samples, increment) = (points(), increment());
    let harmed = trainer(&samples, &increment, &settings, 1)
        .update(&info_nce(Sampling::New), trained.trained)
        .unwrap();
    assert_eq!(harmed.record.best_evaluation, Some(0));
    assert_eq!(harmed.parameter_change, 0.0);
}

#[test]
fn by_default_evaluations_cost_at_most_a_fifth() {
    let settings = |stop| TrainingSettings {
        epochs: 300,
        evaluate_every: None,
        patience: 1000,
        stop,
        ..settings()
    };
    let record = |stop| {
        let method = info_nce(Sampling::All);
        train_on(&points(), &method, &settings(stop), 1)
            .unwrap()
            .record
    };
    let long = record(StopRule::ExactRisk);
    assert!(long.evaluations.len() > 9, "{}", long.evaluations.len());
    // The last evaluation comes at the last epoch, due or not.
    let due = long.cost.monitoring - EVALUATED * SHARE;
    assert!(due <= long.cost.charged() / 5.0, "{:?}", long.cost);
    // The shortest run that the rule ends.
    let short = record(StopRule::Doubling);
    assert_eq!(short.stopped_by, Some(StoppedBy::Doubling));
    assert!(
        short.cost.monitoring <= short.cost.charged() / 5.0,
        "{:?}",
        short.cost
    );
}

#[test]
fn an_evaluation_costs_the_same_for_more_samples() {
    let evaluated = |n_samples: usize| {
        let few = points();
        let samples: Vec<[f32; 4]> = (0..n_samples).map(|at| few[at % few.len()]).collect();
        let n_old = 2 * n_samples / 3;
        let increment = Increment::try_new((0..n_old).collect(), (n_old..n_samples).collect());
        let settings = TrainingSettings {
            epochs: 1,
            stop: StopRule::ExactRisk,
            monitor_samples: 30,
            evaluation_samples: 60,
            ..settings()
        };
        let increment = increment.unwrap();
        let outcome = trainer(&samples, &increment, &settings, 1)
            .update(&info_nce(Sampling::All), start())
            .unwrap();
        let record = outcome.record;
        let n_evaluations = record.evaluations.len();
        (record.cost.monitoring, record.cost.measuring, n_evaluations)
    };
    // Both views of each sample of the samples evaluated.
    let expected = (2.0 * 2.0 * 30.0 * SHARE, 2.0 * 2.0 * 60.0 * SHARE, 2);
    assert_eq!(evaluated(90), expected);
    assert_eq!(evaluated(900), expected);
}

/// A run ends before the step that would exceed its budget, within an epoch, too; an evaluation at the end that is charged
/// is within it.
#[test]
fn a_budget_ends_a_run() {
    let limited = |budget, stop| TrainingSettings {
        epochs: 50,
        stop,
        patience: 1000,
        budget: Some(Budget::Passes(budget)),
        evaluate_every: Some(1000),
        ..settings()
    };
    let spent = |budget| {
        let settings = limited(budget, StopRule::Never);
        let record = train_on(&points(), &Method::icl(), &settings, 1)
            .unwrap()
            .record;
        assert_eq!(record.stopped_by, Some(StoppedBy::Budget));
        let charged = record.cost.charged();
        let of_step = 2.0 * settings.batch_size as f64;
        assert!(charged <= budget && charged + of_step > budget, "{charged}");
        record.cost.training
    };
    let [small, large] = [700.0, 1400.0].map(spent);
    assert!(small < large);
    // Evaluations that decide take their part of the budget.
    let deciding = limited(1400.0, StopRule::ExactRisk);
    let cost = train_on(&points(), &Method::icl(), &deciding, 1)
        .unwrap()
        .record
        .cost;
    assert!(cost.monitoring > 0.0 && cost.training < large && cost.charged() <= 1400.0);
    // Wherever an evaluation falls.
    for budget in (700..1400).step_by(31).map(f64::from) {
        let often = TrainingSettings {
            evaluate_every: Some(1),
            ..limited(budget, StopRule::ExactRisk)
        };
        let run = train_on(&points(), &Method::icl(), &often, 1).unwrap();
        let charged = run.record.cost.charged();
        assert!(charged <= budget, "{charged} of {budget}");
    }
    // A tenth of retraining with 20 passes for each of the 90 samples.
    let of_retraining = Budget::OfRetraining {
        share: 0.1,
        passes_per_sample: 20.0,
    };
    assert_eq!(of_retraining.passes(points().len()), 180.0);
    // Each run takes a step, whatever its budget is.
    let settings = TrainingSettings {
        budget: Some(Budget::Passes(1e-3)),
        ..settings()
    };
    let record = train_on(&points(), &Method::icl(), &settings, 1)
        .unwrap()
        .record;
    assert_eq!(
        (record.n_steps, record.stopped_by),
        (1, Some(StoppedBy::Budget))
    );
}
