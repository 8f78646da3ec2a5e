//! The test of drift on a random subset of the rows: what it estimates, its standard errors against the spread over
//! many subsets, what it knows of all rows, and its rate of false alarms.

use std::convert::Infallible;

use icl_core::drift::{
    AnchorDrift, AnchorTerms, Drift, DriftData, DriftTestConfig, Estimate, Verdict,
};
use icl_core::negatives::Rank;
use icl_core::{HostRows, Rng, Seed};
use rand_distr::{Distribution, StandardNormal};

const D: usize = 4;
const NEGATIVES: f64 = 31.0;

/// Gaussian rows around a centre on the first axis.
fn draw(n: usize, centre: f64, rng: &mut Rng) -> HostRows {
    let mut value = |at: usize| -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        if at.is_multiple_of(D) { z + centre } else { z }
    };
    ((0..n * D).map(&mut value).collect(), D)
}

fn view(of: &HostRows, rng: &mut Rng) -> HostRows {
    let mut moved = |x: &f64| {
        let z: f64 = StandardNormal.sample(rng);
        x + 0.4 * z
    };
    (of.0.iter().map(&mut moved).collect(), D)
}

/// Old and new rows with a shift between them; the anchors are the old rows.
fn data([n_old, n_new]: [usize; 2], shift: f64, seed: u64) -> DriftData {
    let mut rng = Seed::new(seed).rng();
    let (old, new) = (draw(n_old, 0.0, &mut rng), draw(n_new, shift, &mut rng));
    DriftData::try_new([old.clone(), view(&old, &mut rng)], [old, new]).unwrap()
}

fn measure(data: &DriftData, samples: Option<usize>, seed: u64) -> Drift {
    let config = DriftTestConfig::new(0.2, NEGATIVES)
        .with_relabellings(39)
        .with_samples(samples)
        .with_seed(Seed::new(seed));
    config.try_init().unwrap().measure(data).unwrap()
}

/// NCE-I under old and under new noise, the bias of inference, and the AUC and P(B; 4).
fn figures(of: &AnchorDrift) -> Vec<Estimate> {
    let loss =
        |positive: f64, log_noise: f64| (1.0 + NEGATIVES * (log_noise - positive).exp()).ln();
    let losses = |terms: &[AnchorTerms]| {
        let old = terms.iter().map(|it| loss(it.positive, it.log_noise_old));
        let new = terms.iter().map(|it| loss(it.positive, it.log_noise_new));
        Ok::<_, Infallible>(vec![old.collect(), new.collect()])
    };
    let Ok(mut found) = of.estimates(losses);
    found.push(Estimate {
        of_anchors: Vec::new(),
        mean: of.bias_inference,
        standard_error: of.standard_error,
    });
    found.push(of.estimate_of_rank(Rank::auc));
    found.push(of.estimate_of_rank(|rank| rank.right(4).unwrap()));
    found
}

/// The means over 400 subsets are those of all rows within four standard errors, and their spread is the standard
/// error. That counts chance twice which anchors and noise share, so that it may be up to 1.3 times as large; the
/// standard deviation of 400 values is known to 4 %, so that less than 0.88 of it would be too small.
#[test]
fn estimates_are_those_of_all_rows_and_spread_as_they_say() {
    // All of the new rows are compared in the second case, and all anchors have their own rows in the noise.
    for (n, samples) in [([400, 150], 64), ([300, 40], 50)] {
        // New anchors take the place of the two-sample test, which is slow.
        let few = draw(4, 1.0, &mut Seed::new(6).rng());
        let data = data(n, 1.0, 3).with_new_pairs([few.clone(), few]).unwrap();
        let all = figures(&measure(&data, None, 0).old);
        assert!(all.iter().all(|it| it.standard_error == 0.0));
        let n_subsets = 400;
        let found: Vec<Vec<Estimate>> = (0..n_subsets)
            .map(|seed| figures(&measure(&data, Some(samples), seed).old))
            .collect();
        for (at, all) in all.iter().enumerate() {
            let of = |value: &dyn Fn(&Estimate) -> f64| {
                found.iter().map(|of| value(&of[at])).sum::<f64>() / n_subsets as f64
            };
            let mean = of(&|it| it.mean);
            let spread = of(&|it| (it.mean - mean).powi(2)).sqrt();
            let error = of(&|it| it.standard_error.powi(2)).sqrt();
            let off = (mean - all.mean).abs() / (spread / (n_subsets as f64).sqrt());
            assert!(off < 4.0, "{n:?} {at}: {mean} {} ± {spread}", all.mean);
            let ratio = error / spread;
            assert!((0.88..1.3).contains(&ratio), "{n:?} {at}: {error} {spread}");
        }
    }
}

#[test]
fn a_subset_of_all_rows_is_all_rows() {
    let data = data([60, 40], 0.5, 1);
    assert_eq!(measure(&data, Some(60), 5), measure(&data, None, 5));
    let drawn = measure(&data, Some(50), 5);
    assert_eq!(drawn, measure(&data, Some(50), 5));
    assert_ne!(drawn.old.anchors, measure(&data, Some(50), 6).old.anchors);
    assert_eq!((drawn.old.anchors.len(), drawn.old.terms.len()), (50, 50));
    assert!(drawn.old.standard_error > 0.0 && drawn.old.is_of_subset());
}

/// Self-pairs, own rows and repeated samples are those of all rows, whatever is drawn.
#[test]
fn what_equals_an_anchor_is_found_among_all_rows() {
    let mut rng = Seed::new(8).rng();
    let old = draw(100, 0.0, &mut rng);
    // The first 30 anchors are no rows of the noise; of the last five each has two.
    let anchors = (
        [&draw(30, 0.0, &mut rng).0[..], &old.0[30 * D..]].concat(),
        D,
    );
    let repeated = ([&old.0[..], &old.0[95 * D..]].concat(), D);
    let positives = view(&anchors, &mut rng);
    let noise = [repeated, draw(300, 0.0, &mut rng)];
    let data = DriftData::try_new([anchors, positives], noise).unwrap();
    let all = measure(&data, None, 0).old;
    assert_eq!(
        (all.n_anchors, all.n_unpaired, all.n_repeated),
        (100, 30, 5)
    );
    assert_eq!(all.n_self_pairs, 65 + 2 * 5);
    for seed in 0..20 {
        let drawn = measure(&data, Some(40), seed).old;
        assert_eq!(
            (
                drawn.n_anchors,
                drawn.n_unpaired,
                drawn.n_repeated,
                drawn.n_self_pairs
            ),
            (
                all.n_anchors,
                all.n_unpaired,
                all.n_repeated,
                all.n_self_pairs
            )
        );
        // Only an anchor without any row of its own may have its sample in the noise in other numbers.
        for (anchor, terms) in drawn.anchors.iter().zip(&drawn.terms) {
            assert_eq!(terms.log_noise_without_closest.is_some(), *anchor < 30);
        }
    }
    // An anchor that is all of the old noise is an error, whether or not it is drawn.
    let one = ([1.0, 0.0, 0.0, 0.0].to_vec(), D);
    let anchors = ([&draw(99, 0.0, &mut rng).0[..], &one.0].concat(), D);
    let pairs = [anchors.clone(), view(&anchors, &mut rng)];
    let data = DriftData::try_new(pairs, [one, draw(50, 0.0, &mut rng)]).unwrap();
    let config = DriftTestConfig::new(0.2, NEGATIVES).with_samples(Some(32));
    let error = config.try_init().unwrap().measure(&data).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("anchor 99 (counted from 0): found no old noise")
    );
}

/// As many anchors have their own rows in the subset as chance will. Rows of one distribution, the bound of 200 as in
/// `drift.rs`.
#[test]
fn a_subset_has_as_few_false_alarms() {
    let is_alarm = |seed: &u64| {
        let config = DriftTestConfig::new(0.2, NEGATIVES)
            .with_relabellings(39)
            .with_effect(0.0)
            .with_samples(Some(32));
        let drift = config
            .try_init()
            .unwrap()
            .measure(&data([60, 80], 0.0, *seed));
        drift.unwrap().old.null.p_value <= 0.05
    };
    let n = (0..200).filter(is_alarm).count();
    assert!((1..=21).contains(&n), "{n} of 200");
}

#[test]
fn a_drift_of_many_rows_is_seen_in_a_subset() {
    let data = data([600, 600], 2.0, 2);
    let (all, drawn) = (measure(&data, None, 0), measure(&data, Some(100), 0));
    assert_eq!(
        (all.verdict(), drawn.verdict()),
        (Verdict::Update, Verdict::Update)
    );
    let off = (drawn.old.bias_inference - all.old.bias_inference).abs();
    assert!(off < 4.0 * drawn.old.standard_error, "{off}");
}

#[test]
fn too_few_rows_are_refused() {
    let config = DriftTestConfig::new(0.2, NEGATIVES);
    let error = config
        .clone()
        .with_samples(Some(31))
        .try_init()
        .unwrap_err();
    let expected = "evaluation-samples: found 31, expected at least 32, or all";
    assert_eq!(error.to_string(), expected);
    // All but one of 10,000 old rows are the anchor: a small subset holds no other one.
    let mut rng = Seed::new(4).rng();
    let one = draw(1, 0.0, &mut rng);
    let old = ([one.0.repeat(9999), draw(1, 0.0, &mut rng).0].concat(), D);
    let pairs = [one.clone(), view(&one, &mut rng)];
    let data = DriftData::try_new(pairs, [old, draw(40, 0.0, &mut rng)]).unwrap();
    let error = config
        .with_samples(Some(32))
        .try_init()
        .unwrap()
        .measure(&data)
        .unwrap_err();
    let expected = "anchor 0 (counted from 0): found 0 drawn rows of old noise that differ from it and from its \
                    positive, expected at least 2, in two groups of the jackknife: compare more rows, or all";
    assert_eq!(error.to_string(), expected);
}
