//! Runs that are continued with more epochs or a larger budget than they were begun with.

use crate::checkpoint::{go_on, long};
use crate::toy::{corrected, points, train_on};
use icl_core::testing::to_vec;
use icl_meta::RateChoice;
use icl_train::{Budget, Method, StopRule, StoppedBy, TrainErrorKind, TrainingSettings};

/// The maximum number of epochs is no part of a run's identity: one that was interrupted, and one that has reached its
/// last epoch, resume with more of them.
#[test]
fn more_epochs_continue_a_run() {
    let method = corrected();
    let of = |epochs| TrainingSettings {
        epochs,
        stop: StopRule::Never,
        ..long()
    };
    let whole = train_on(&points(), &method, &of(9), 4).unwrap();
    for (first, n_steps) in [(6, 8), (6, u64::MAX)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let begun = go_on(&path, &method, &of(first), 4, n_steps);
        assert_eq!(begun.is_ok(), n_steps == u64::MAX);
        let more = go_on(&path, &method, &of(9), 4, u64::MAX).unwrap();
        assert_eq!(
            to_vec(&more.trained.weight.val()),
            to_vec(&whole.trained.weight.val())
        );
        assert_eq!(more.record.epoch_losses, whole.record.epoch_losses);
        assert_eq!(more.record.n_epochs(), 9);
    }
    // Fewer epochs than were begun are refused, and as many end the run.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    assert!(go_on(&path, &method, &of(9), 4, 39).is_err());
    let error = go_on(&path, &method, &of(6), 4, u64::MAX)
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Checkpoint);
    let message = "whose number of epochs begun is 7, expected at most 6";
    assert!(error.to_string().ends_with(message), "{error}");
    let shorter = go_on(&path, &method, &of(7), 4, u64::MAX).unwrap();
    assert_eq!(shorter.record.n_epochs(), 7);
    // Under a schedule that depends on the length, other epochs are another run.
    let cosine = Method {
        rate: RateChoice::Cosine,
        ..corrected()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    assert!(go_on(&path, &cosine, &of(6), 4, 8).is_err());
    let error = go_on(&path, &cosine, &of(9), 4, u64::MAX)
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind(), TrainErrorKind::Checkpoint);
    assert!(error.to_string().contains("epochs"), "{error}");
}

/// A run that has reached its budget continues with a larger one, whose course it takes from there; with the same
/// budget it is complete.
#[test]
fn a_larger_budget_continues_a_run() {
    let method = Method {
        rate: RateChoice::Linear,
        ..Method::icl()
    };
    let of = |budget| TrainingSettings {
        stop: StopRule::Never,
        budget: Some(Budget::Passes(budget)),
        epochs: 1000,
        ..long()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = |budget| {
        go_on(&path, &method, &of(budget), 4, u64::MAX)
            .unwrap()
            .record
    };
    let first = run(4000.0);
    assert_eq!(first.stopped_by, Some(StoppedBy::Budget));
    let same = run(4000.0);
    assert_eq!((same.n_steps, same.cost), (first.n_steps, first.cost));
    let more = run(8000.0);
    assert!(more.n_steps > first.n_steps);
    let charged = more.cost.charged();
    assert!(charged <= 8000.0 && charged > 7900.0, "{charged}");
    // The course: the rate falls to nothing and the share of old data grows to all, then from the middle of the larger
    // budget again. The epoch in which the first run ended is completed.
    let n = first.n_epochs();
    let [rates, shares] = [&more.learning_rates, &more.old_fractions];
    assert!(rates[n - 2] < 0.1 * rates[2], "{rates:?}");
    assert!(rates[n] > 2.0 * rates[n - 2] && *rates.last().unwrap() < 0.1 * rates[2]);
    assert!(shares[..n].is_sorted() && shares[n] < shares[n - 1] && shares[n..].is_sorted());
    assert!(
        shares[n - 1] > 0.9 && *shares.last().unwrap() > 0.9,
        "{shares:?}"
    );
}

/// The rule of the training loss counts epochs without a new minimum: an epoch counts once, wherever a run was ended
/// and continued.
#[test]
fn an_epoch_counts_once_for_the_rule_of_the_training_loss() {
    let of = |epochs| TrainingSettings {
        epochs,
        stop: StopRule::TrainingLoss,
        patience: 3,
        learning_rate: 0.3,
        ..long()
    };
    let whole = train_on(&points(), &corrected(), &of(30), 4)
        .unwrap()
        .record;
    assert_eq!(whole.stopped_by, Some(StoppedBy::TrainingLoss));
    for first in 1..whole.n_epochs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let begun = go_on(&path, &corrected(), &of(first), 4, u64::MAX).unwrap();
        assert_eq!(begun.record.stopped_by, Some(StoppedBy::Epochs));
        let more = go_on(&path, &corrected(), &of(30), 4, u64::MAX).unwrap();
        assert_eq!(more.record.epoch_losses, whole.epoch_losses, "{first}");
    }
}
