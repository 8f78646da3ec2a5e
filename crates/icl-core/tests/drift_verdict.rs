//! What the test of drift may say: its joint level, anchors and noise that do not fit each other, and new data without
//! positives.

use icl_core::drift::{Discrepancy, Drift, DriftData, DriftTestConfig, Verdict};
use icl_core::testing::assert_close;
use icl_core::{HostRows, Rng, Seed};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

const D: usize = 16;

/// Gaussian rows, moved by `shift` standard deviations on the first four axes.
fn draw(n: usize, shift: f64, rng: &mut Rng) -> HostRows {
    let mut value = |at: usize| -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        if at % D < 4 { z + shift } else { z }
    };
    ((0..n * D).map(&mut value).collect(), D)
}

/// Random views of rows.
fn view(of: &HostRows, rng: &mut Rng) -> HostRows {
    let mut moved = |x: &f64| {
        let z: f64 = StandardNormal.sample(rng);
        x + 0.3 * z
    };
    (of.0.iter().map(&mut moved).collect(), D)
}

fn both(first: &HostRows, second: &HostRows) -> HostRows {
    ([&first.0[..], &second.0].concat(), D)
}

fn measure(data: &DriftData, n_relabellings: usize, effect: f64) -> Drift {
    let config = DriftTestConfig::new(0.1, 31.0)
        .with_relabellings(n_relabellings)
        .with_effect(effect);
    config.try_init().unwrap().measure(data).unwrap()
}

/// Anchors that are the rows of the noise, with a view of each as its positive.
fn data(noise: [HostRows; 2], with_new_pairs: bool, rng: &mut Rng) -> DriftData {
    let [of_old, of_new] = noise.each_ref().map(|rows| [rows.clone(), view(rows, rng)]);
    let data = DriftData::try_new(of_old, noise).unwrap();
    match with_new_pairs {
        true => data.with_new_pairs(of_new).unwrap(),
        false => data,
    }
}

/// The bound holds in 999 of 1000 cases for the binomial of 400 with p = 0.05. It is 15 of 400 in both cases, without the
/// correction 27 and 29.
#[test]
fn the_joint_level_of_both_tests_is_5_percent() {
    for with_new_pairs in [true, false] {
        let (mut n_alarms, mut n_uncorrected) = (0, 0);
        for seed in 0..400 {
            let mut rng = Seed::new(seed).rng();
            let noise = [draw(20, 0.0, &mut rng), draw(30, 0.0, &mut rng)];
            let drift = measure(&data(noise, with_new_pairs, &mut rng), 79, 0.0);
            let is_other = drift.discrepancy.is_some_and(|it| it.p_adjusted <= 0.05);
            n_alarms += usize::from(drift.verdict() == Verdict::Update || is_other);
            let p_values = [
                Some(drift.old.null.p_value),
                drift.new.map(|it| it.null.p_value),
                drift.discrepancy.map(|it| it.p_value),
            ];
            n_uncorrected += usize::from(p_values.iter().flatten().any(|p| *p <= 0.05));
        }
        assert!((5..=34).contains(&n_alarms), "{with_new_pairs}: {n_alarms}");
        assert!(
            n_uncorrected > n_alarms,
            "{with_new_pairs}: {n_uncorrected}"
        );
    }
}

/// Anchors whose samples are in the noise in other numbers are an alarm by their similarity to themselves.
#[test]
fn other_numbers_of_the_same_samples_are_no_drift() {
    let rounded = |of: &HostRows| (of.0.iter().map(|x| f64::from(*x as f32)).collect(), D);
    for (kind, n_known) in [("views", 60), ("rounded", 60), ("views of a third", 20)] {
        for with_new_pairs in [false, true] {
            let mut n_alarms = 0;
            for seed in 0..100 {
                let mut rng = Seed::new(seed).rng();
                let mut pairs_and_noise = || {
                    let known = draw(n_known, 0.0, &mut rng);
                    let samples = both(&known, &draw(60 - n_known, 0.0, &mut rng));
                    let anchors = match kind {
                        "rounded" => rounded(&samples),
                        _ => view(&samples, &mut rng),
                    };
                    let others = draw(60 - n_known, 0.0, &mut rng);
                    ([anchors, view(&samples, &mut rng)], both(&others, &known))
                };
                let ((old, of_old), (new, of_new)) = (pairs_and_noise(), pairs_and_noise());
                let data = DriftData::try_new(old, [of_old, of_new]).unwrap();
                let data = match with_new_pairs {
                    true => data.with_new_pairs(new).unwrap(),
                    false => data,
                };
                let drift = measure(&data, 79, 0.05);
                assert_eq!(drift.old.n_unpaired, 60);
                let (s, q95) = (drift.old.bias_inference, drift.old.null.q95);
                n_alarms += usize::from(s.abs() > 0.05 && s.abs() > q95);
                let [low, high] = drift.old.bias_range;
                assert!(low < s && high == s);
                let verdict = drift.verdict();
                assert_eq!(verdict, Verdict::Unclear, "{kind}: {}", drift.reason());
                if n_known == 60 {
                    let reason = drift.reason();
                    assert!(
                        reason.contains("no row of their own in the noise"),
                        "{reason}"
                    );
                }
            }
            // What the statistic alone would say.
            assert!(n_known < 60 || n_alarms == 100, "{kind}: {n_alarms}");
        }
    }
}

/// Anchors that are not in the noise at all are distinguished from it by enough rows.
#[test]
fn other_samples_than_those_of_the_noise_can_tell() {
    let mut rng = Seed::new(4).rng();
    for (shift, verdict) in [(0.0, Verdict::Keep), (3.0, Verdict::Update)] {
        let anchors = draw(200, 0.0, &mut rng);
        let pairs = [view(&anchors, &mut rng), view(&anchors, &mut rng)];
        let new = draw(100, shift, &mut rng);
        let pairs_of_new = [view(&new, &mut rng), new];
        let noise = [draw(800, 0.0, &mut rng), draw(800, shift, &mut rng)];
        let data = DriftData::try_new(pairs, noise).unwrap();
        let data = data.with_new_pairs(pairs_of_new).unwrap();
        let drift = measure(&data, 79, 0.05);
        assert_eq!(drift.verdict(), verdict, "{}", drift.reason());
        assert_eq!((drift.old.n_unpaired, drift.discrepancy), (200, None));
    }
}

/// The relabellings assume independent rows; two rows of one sample are not.
#[test]
fn several_rows_of_a_sample_cannot_tell() {
    for seed in 0..20 {
        let mut rng = Seed::new(seed).rng();
        let samples = draw(20, 0.0, &mut rng);
        let [first, second] = [0, 1].map(|_| view(&samples, &mut rng));
        let new = draw(20, 0.0, &mut rng);
        let both_views = both(&first, &second);
        let pairs = [first.clone(), second.clone()];
        let in_both_directions = [both_views.clone(), both(&second, &first)];
        let equal = both(&first, &first);
        for (pairs, old) in [
            (pairs.clone(), both_views.clone()),
            (in_both_directions, both_views),
            (pairs.clone(), equal.clone()),
        ] {
            let n = pairs[0].0.len() / D;
            let data = DriftData::try_new(pairs, [old, new.clone()]).unwrap();
            let drift = measure(&data, 79, 0.0);
            assert_eq!((drift.old.n_repeated, drift.old.n_unpaired), (n, 0));
            assert_eq!(drift.verdict(), Verdict::Unclear);
            let reason = drift.reason();
            assert!(
                reason.contains("have more than one row of their own"),
                "{reason}"
            );
        }
        // What new anchors find in the old noise is of no more use.
        let of_new = [new.clone(), view(&new, &mut rng)];
        let data = DriftData::try_new(pairs, [equal, draw(20, 3.0, &mut rng)]).unwrap();
        let drift = measure(&data.with_new_pairs(of_new).unwrap(), 79, 0.0);
        assert_eq!(drift.verdict(), Verdict::Unclear);
        assert!(drift.reason().contains("of 20 old anchors have more"));
    }
}

/// Samples with few possible values are equal by chance: in both origins, or, with a drift, in one of them.
#[test]
fn equal_samples_are_not_several_rows_of_one() {
    for (n_values, first_new) in [(12, 0), (12, 12), (60, 60)] {
        let mut rng = Seed::new(6).rng();
        let values = draw(2 * n_values, 0.0, &mut rng);
        let mut rows = |n: usize, first: usize| -> HostRows {
            let rows = (0..n).flat_map(|_| {
                let row = first + rng.random_range(0..n_values);
                values.0[row * D..][..D].iter().copied()
            });
            (rows.collect(), D)
        };
        let (old, new, positives) = (rows(120, 0), rows(90, first_new), rows(120, 0));
        for noise in [&old, &positives] {
            let pairs = [old.clone(), positives.clone()];
            let data = DriftData::try_new(pairs, [noise.clone(), new.clone()]).unwrap();
            let n = measure(&data, 39, 0.05).old.n_repeated;
            assert!(n <= 12, "{n_values} {first_new}: {n} of 120");
        }
    }
}

/// Old anchors do not see new data elsewhere: their bias of inference is small, whatever it costs on new data.
#[test]
fn new_data_without_positives_are_no_reason_to_keep() {
    let mut rng = Seed::new(3).rng();
    let noise = [draw(300, 0.0, &mut rng), draw(300, 2.5, &mut rng)];
    let drift = measure(&data(noise.clone(), false, &mut rng), 200, 0.05);
    assert_eq!(drift.old.verdict(), Verdict::Keep, "{}", drift.reason());
    assert_eq!(drift.verdict(), Verdict::Unclear);
    assert_eq!(drift.discrepancy.unwrap().p_value, 1.0 / 201.0);
    assert!(
        drift
            .reason()
            .contains("old and new embeddings differ (MMD²"),
        "{}",
        drift.reason()
    );
    let drift = measure(&data(noise, true, &mut rng), 200, 0.05);
    assert_eq!(drift.verdict(), Verdict::Update, "{}", drift.reason());
    assert_eq!(drift.discrepancy, None);
    // At most one alarm in 20 is expected, five in 20 in one of 400 cases.
    let mut n_kept = 0;
    for _ in 0..20 {
        let noise = [draw(300, 0.0, &mut rng), draw(300, 0.0, &mut rng)];
        let drift = measure(&data(noise, false, &mut rng), 200, 0.05);
        if drift.verdict() == Verdict::Keep {
            n_kept += 1;
            assert!(drift.reason().contains("do not differ either"));
        }
    }
    assert!(n_kept >= 16, "{n_kept}");
}

fn discrepancy(old: HostRows, new: HostRows, n_relabellings: usize) -> Discrepancy {
    let anchor = || (vec![1.0; old.1], old.1);
    let data = DriftData::try_new([anchor(), anchor()], [old.clone(), new]).unwrap();
    measure(&data, n_relabellings, 0.05).discrepancy.unwrap()
}

/// `scripts/reference/discrepancy.py`, which goes through all divisions.
#[test]
fn the_discrepancy_is_that_of_plain_loops() {
    let cases: Value = serde_json::from_str(include_str!("reference/discrepancy.json")).unwrap();
    let n = 4000;
    for case in cases["cases"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let [old, new] = ["old", "new"].map(|key| -> HostRows {
            let rows = case[key].as_array().unwrap().iter();
            let values = rows.flat_map(|row| row.as_array().unwrap());
            (values.map(|x| x.as_f64().unwrap()).collect(), 3)
        });
        let found = discrepancy(old.clone(), new.clone(), n);
        let expected = [number("mmd2"), number("bandwidth")];
        assert_close(&[found.mmd2, found.bandwidth], &expected, 1e-12);
        assert_eq!(
            (found.n_old, found.n_new),
            (old.0.len() / 3, new.0.len() / 3)
        );
        // Draws of the divisions: within four standard errors.
        let share = number("share_at_least");
        let bound = 4.0 * (share * (1.0 - share) / n as f64).sqrt() + 1.0 / n as f64;
        assert!(
            (found.p_value - share).abs() < bound,
            "{}: {}",
            case["name"],
            found.p_value
        );
    }
}

#[test]
fn many_rows_are_compared_by_a_sample() {
    let mut rng = Seed::new(9).rng();
    let (old, new) = (draw(1100, 0.0, &mut rng), draw(70, 1.0, &mut rng));
    let measure = |n_threads| {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build();
        let threads = threads.unwrap();
        threads.install(|| discrepancy(old.clone(), new.clone(), 79))
    };
    let found = measure(1);
    assert_eq!((found.n_old, found.n_new), (1000, 70));
    assert_eq!((found.n_relabellings, found.p_value), (79, 1.0 / 80.0));
    assert_eq!(found, measure(3));
}
