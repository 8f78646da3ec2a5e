//! The cost of a run by purpose.

use icl_core::Encoder;
use icl_core::testing::TestAutodiff;
use icl_meta::RateChoice;
use icl_train::{Cost, MetaOrder, Method, Sampling, StopRule, StoppedBy, TrainingSettings};

use crate::toy::{Linear, distillation, info_nce, meta, points, published, settings, train_on};

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
        .filter_map(|of| of.charged_passes)
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
        measuring: 4.0 * EVALUATED * SHARE,
        ..Cost::default()
    };
    assert_eq!(cost(&warm, settings()), (expected, all_views));
    assert_eq!(expected.charged(), all_views);
    let stopping = TrainingSettings {
        stop: StopRule::ExactRisk,
        ..settings()
    };
    let expected = Cost {
        steering: expected.measuring,
        measuring: 0.0,
        ..expected
    };
    assert_eq!(cost(&warm, stopping), (expected, all_views));
    let (widening, _) = cost(&info_nce(Sampling::Widening(0.2)), settings());
    assert_eq!(
        (widening.steering, widening.measuring),
        (expected.steering, 0.0)
    );
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
    assert_eq!((first.agents, first.teacher, first.pilot), (0.0, 0.0, 0.0));
    // In the first step of each epoch the gradient at θ of a query of 7 new samples and 8 old ones.
    let evaluated = 4.0 * EVALUATED * SHARE;
    let unmeasured = TrainingSettings {
        measures_query_cosine: false,
        ..settings()
    };
    let (unmeasured, same) = cost(&meta(published()), unmeasured);
    assert_eq!((unmeasured.measuring, same), (evaluated, passes));
    assert_eq!(unmeasured.charged(), first.charged());
    assert_eq!(first.measuring, evaluated + 3.0 * 2.0 * 15.0);
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
    assert_eq!(ended(StopRule::Never), (Some(StoppedBy::Epochs), false));
}
