//! The test of drift against an independent program (`scripts/reference/drift.py`), which goes through all orders of the
//! noise, and against what it promises: its rate of false alarms.

use icl_core::drift::{Drift, DriftData, DriftTest, DriftTestConfig, Verdict};
use icl_core::testing::assert_close;
use icl_core::{Error, GrowthRatio, HostRows, Rng, Seed};
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

fn rows(of: &Value) -> HostRows {
    let rows = of.as_array().unwrap();
    let values = rows.iter().flat_map(|row| row.as_array().unwrap());
    (values.map(|x| x.as_f64().unwrap()).collect(), 3)
}

fn reference_data(case: &Value) -> DriftData {
    let groups = case["groups"].as_array().unwrap();
    let pairs = |at: usize| [0, 1].map(|side| rows(&groups[at][side]));
    let data = DriftData::try_new(pairs(0), [rows(&case["old"]), rows(&case["new"])]).unwrap();
    match groups.len() {
        1 => data,
        _ => data.with_new_pairs(pairs(1)).unwrap(),
    }
}

#[test]
fn it_agrees_with_all_orders_of_the_noise() {
    let cases: Value = serde_json::from_str(include_str!("reference/drift.json")).unwrap();
    let n = 4000;
    for case in cases["cases"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let test = DriftTestConfig::new(number("temperature"), number("negatives"))
            .with_alpha(Some(GrowthRatio::try_new(number("alpha")).unwrap()))
            .with_relabellings(n)
            .try_init()
            .unwrap();
        let drift = test.measure(&reference_data(case)).unwrap();
        assert_eq!(drift.n_self_pairs() as f64, number("n_self_pairs"));
        for (at, found) in [Some(&drift.old), drift.new.as_ref()]
            .into_iter()
            .flatten()
            .enumerate()
        {
            let expected = |key: &str| case[key][at].as_f64().unwrap();
            assert_close(
                &[found.bias_inference],
                &[expected("bias_inference")],
                1e-12,
            );
            // Draws of the orders: within four standard errors.
            let error = (found.null.mean - expected("null_mean")).abs();
            assert!(
                error < 4.0 * expected("null_sd") / (n as f64).sqrt(),
                "{}",
                case["name"]
            );
            let share = expected("share_at_least");
            let error = (found.null.p_value - share).abs();
            let bound = 4.0 * (share * (1.0 - share) / n as f64).sqrt() + 1.0 / n as f64;
            assert!(
                error < bound,
                "{}: {} {share}",
                case["name"],
                found.null.p_value
            );
        }
    }
}

const D: usize = 5;

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

/// Old rows around minus a centre and new ones around it; the anchors are the old rows.
fn data(n_old: usize, n_new: usize, centre: f64, seed: u64) -> DriftData {
    let mut rng = Seed::new(seed).rng();
    let (old, new) = (
        draw(n_old, -centre, &mut rng),
        draw(n_new, centre, &mut rng),
    );
    DriftData::try_new([old.clone(), view(&old, &mut rng)], [old, new]).unwrap()
}

fn test(n_relabellings: usize, effect: f64) -> DriftTest {
    let config = DriftTestConfig::new(0.2, 31.0).with_relabellings(n_relabellings);
    config.with_effect(effect).try_init().unwrap()
}

/// Samples of one distribution, which are isotropic, the worst case for a null that holds the anchors fixed (13 % at
/// 30 and 300 rows): at most 5 % of 200 data sets are an alarm of either test, within the bounds that hold in 999 of 1000
/// cases for the binomial with p = 0.05.
#[test]
fn false_alarms_are_as_rare_as_promised() {
    let test = test(39, 0.0);
    for (n_old, n_new) in [(15, 75), (75, 15), (20, 20)] {
        let is_alarm = |seed: &u64| {
            let drift = test.measure(&data(n_old, n_new, 0.0, *seed)).unwrap();
            assert!(drift.old.bias_inference.abs() < 0.5);
            let is_other = drift.discrepancy.is_some_and(|it| it.p_adjusted <= 0.05);
            drift.verdict() == Verdict::Update || is_other
        };
        let n = (0..200).filter(is_alarm).count();
        assert!((1..=21).contains(&n), "{n_old} | {n_new}: {n} of 200");
    }
}

#[test]
fn anchors_that_are_no_noise_are_held_fixed() {
    let test = test(39, 0.0);
    let is_alarm = |seed: &u64| {
        let mut rng = Seed::new(*seed).rng();
        let anchors = draw(20, 0.0, &mut rng);
        let pairs = [anchors.clone(), view(&anchors, &mut rng)];
        let noise = [draw(20, 0.0, &mut rng), draw(60, 0.0, &mut rng)];
        let drift = test.measure(&DriftData::try_new(pairs, noise).unwrap());
        drift.unwrap().verdict() == Verdict::Update
    };
    // Fewer than 5 %: also without the closest row of the noise they have to see a drift.
    let n = (0..200).filter(is_alarm).count();
    assert!(n <= 21, "{n} of 200");
}

#[test]
fn halves_of_one_distribution_are_no_drift_and_a_shift_is_one() {
    let test = test(200, 0.05);
    let same = test.measure(&data(300, 300, 0.0, 7)).unwrap();
    assert!(same.old.bias_inference.abs() < 0.02, "{}", same.reason());
    assert_eq!(same.verdict(), Verdict::Keep, "{}", same.reason());
    assert_eq!(same.n_self_pairs(), 300);
    let small = test.measure(&data(12, 12, 0.0, 7)).unwrap();
    assert_eq!(small.verdict(), Verdict::Unclear, "{}", small.reason());
    let shifted = test.measure(&data(100, 100, 1.0, 7)).unwrap();
    assert_eq!(shifted.verdict(), Verdict::Update, "{}", shifted.reason());
    assert_eq!(shifted.old.null.p_value, 1.0 / 201.0);
    // The new rows are elsewhere than the old anchors.
    assert!(shifted.old.bias_inference > 0.1);
}

#[test]
fn new_anchors_see_a_small_increment_that_old_ones_cannot() {
    let mut rng = Seed::new(2).rng();
    let (old, new) = (draw(300, 0.0, &mut rng), draw(15, 3.0, &mut rng));
    let [of_old, of_new] = [&old, &new].map(|rows| view(rows, &mut rng));
    let data = DriftData::try_new([old.clone(), of_old], [old, new.clone()]).unwrap();
    let test = test(200, 0.05);
    // With α = 1/21 the bias of inference of old anchors is at most −log(1 − α) = 0.049 nats.
    let alone = test.measure(&data).unwrap();
    assert_eq!(alone.old.verdict(), Verdict::Keep);
    assert_eq!(alone.verdict(), Verdict::Unclear);
    let drift = test
        .measure(&data.with_new_pairs([new, of_new]).unwrap())
        .unwrap();
    assert_eq!(drift.old.bias_inference, alone.old.bias_inference);
    assert!(drift.new.as_ref().unwrap().bias_inference < -0.05);
    assert_eq!(drift.verdict(), Verdict::Update);
    let reason = drift.reason();
    assert!(reason.contains("inference of new anchors"), "{reason}");
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let data = data(40, 30, 0.5, 1);
    let config = || DriftTestConfig::new(0.2, 31.0);
    let measure = |n_threads| -> Drift {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build();
        let test = config().try_init().unwrap();
        threads.unwrap().install(|| test.measure(&data).unwrap())
    };
    assert_eq!(measure(1), measure(4));
    let other = config().with_seed(Seed::new(1)).try_init().unwrap();
    let other = other.measure(&data).unwrap();
    assert_ne!(other.old.null.q95, measure(1).old.null.q95);
    assert_eq!(other.old.bias_inference, measure(1).old.bias_inference);
}

#[test]
fn wrong_rows_and_settings_are_named() {
    let one = || (vec![1.0, 0.0], 2);
    let message = |anchors, positives, old, new| {
        let data = DriftData::try_new([anchors, positives], [old, new]);
        data.unwrap_err().to_string()
    };
    for (found, expected) in [
        (
            message(one(), one(), (vec![1.0], 1), one()),
            "old noise: found 1 columns, expected 2 columns as the anchors",
        ),
        (
            message(one(), one(), one(), (vec![], 2)),
            "new noise: found 0 values, expected whole rows of 2, at least one",
        ),
        (
            message(one(), (vec![1.0; 4], 2), one(), one()),
            "positives: found 2 rows, expected 1, one for each of the anchors",
        ),
        (
            message((vec![1.0, f64::NAN], 2), one(), one(), one()),
            "anchors: found NaN in row 0 (counted from 0), expected finite numbers",
        ),
    ] {
        assert_eq!(found, expected);
    }
    let data = DriftData::try_new([one(), one()], [one(), (vec![0.0, 1.0], 2)]).unwrap();
    let error = test(39, 0.0).measure(&data).unwrap_err();
    assert_eq!(
        error,
        Error::new(
            "anchor 0 (counted from 0)",
            "no old noise but rows equal to it or to its positive",
            "at least one other row"
        )
    );
    let config = DriftTestConfig::new(0.2, 31.0);
    for (config, found) in [
        (DriftTestConfig::new(0.0, 31.0), "temperature: found 0, "),
        (DriftTestConfig::new(0.2, -1.0), "negatives (K): found -1, "),
        (
            config.clone().with_effect(f64::NAN),
            "effect: found NaN nats, ",
        ),
        (
            config.with_relabellings(38),
            "relabellings: found 38, expected at least 39",
        ),
    ] {
        let message = config.try_init().unwrap_err().to_string();
        assert!(message.starts_with(found), "{message}");
    }
}
