//! Views of hidden noise: partners, sides, settings.

use std::collections::HashMap;

use icl_core::testing::{TestBackend, to_vec};
use icl_core::{Augment, Encoder, Mode, Rng, Side, Views};
use icl_models::HiddenViews;

use super::{
    Batch, Sample, both, collate, gaussian, hidden_views, mixtures, mixup, sample, small, view,
};

#[test]
fn partners_are_the_other_samples_equally_often_and_never_the_sample() {
    const N: usize = 5;
    const BATCHES: u64 = 2000;
    let mut counts = HashMap::new();
    for seed in 0..BATCHES {
        let batch: Batch<TestBackend> = collate(&both(mixup(0.5), N, seed));
        for (view, (source, partner, _)) in mixtures(&batch).into_iter().enumerate() {
            assert_ne!(source, partner);
            assert_eq!(source, view % N);
            *counts.entry((view, partner)).or_insert(0.0) += 1.0;
        }
    }
    assert_eq!(counts.len(), 2 * N * (N - 1));
    let share = 1.0 / (N - 1) as f64;
    let deviation = (BATCHES as f64 * share * (1.0 - share)).sqrt();
    for (key, count) in counts {
        let distance: f64 = count - BATCHES as f64 * share;
        assert!(distance.abs() < 5.0 * deviation, "{key:?}: {count}");
    }
}

#[test]
fn partners_are_on_the_side_of_the_view() {
    for seed in 0..50 {
        // Samples 0 to 2 have first views, 2 to 4 second views, and 9 a plain one.
        let mut views: Vec<_> = (0..3)
            .map(|at| view(mixup(0.5), at, Side::First, seed))
            .collect();
        views.push(hidden_views(mixup(0.5)).plain(&sample(9)));
        views.extend((2..5).map(|at| view(mixup(0.5), at, Side::Second, seed)));
        let batch: Batch<TestBackend> = collate(&views);
        assert_eq!(batch.inner.dims(), [6, 3]);
        let mixtures = mixtures(&batch);
        assert!(mixtures[..3].iter().all(|(_, partner, _)| *partner < 3));
        assert_eq!(mixtures[3], (3, 3, 1.0));
        // Row 2 is sample 2, which both sides share.
        assert_eq!(mixtures[4].0, 2);
        assert!(
            mixtures[4..]
                .iter()
                .all(|(_, partner, _)| [2, 4, 5].contains(partner))
        );
    }
}

#[test]
#[should_panic(
    expected = "hidden mixup: found 1 sample on a side of the batch, expected at least 2"
)]
fn a_sample_without_another_is_misuse() {
    collate::<TestBackend>(&both(mixup(0.5), 1, 3));
}

#[test]
#[should_panic(expected = "the views of a batch must have the same hidden noise")]
fn two_kinds_of_noise_are_misuse() {
    let mut views = both(gaussian(0.5), 3, 3);
    views[4] = view(mixup(0.5), 1, Side::Second, 3);
    collate::<TestBackend>(&views);
}

#[test]
fn plain_views_need_no_partner_and_gaussian_noise_none() {
    for noise in [mixup(0.5), gaussian(0.5)] {
        let plain: Batch<TestBackend> = collate(&[hidden_views(noise).plain(&sample(1))]);
        assert_eq!(small::<TestBackend>().embed(plain).dims(), [1, 6]);
    }
    let batch: Batch<TestBackend> = collate(&both(gaussian(0.5), 1, 3));
    let encoded = small::<TestBackend>().encode(batch, Mode::Evaluation);
    // One row does not deviate.
    let encoded = to_vec(&encoded);
    assert_eq!(encoded[..4], encoded[4..]);
}

#[test]
fn wrong_deviations_are_rejected() {
    for found in [-0.1, f64::NAN, f64::INFINITY] {
        let views = Augment::new(|x: &Sample, _: &mut Rng| *x);
        let error = HiddenViews::try_new(views, gaussian(found)).unwrap_err();
        let expected =
            format!("hidden noise: found σ = {found}, expected a finite number of at least 0");
        assert_eq!(error.to_string(), expected);
    }
}
