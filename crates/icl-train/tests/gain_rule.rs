//! The gain of a doubling in a plain loop, against sums over all evaluations, and against the trainer.

use icl_core::Seed;
use icl_train::{ExpectedGain, GainRule, Sampling, StopRule, StoppedBy, TrainingSettings};
use rand::RngExt;

use crate::toy::{info_nce, points, settings, train_on};

const N_OLD: usize = 5;
const MIN_GAIN: f64 = 0.02;

/// Evaluations whose losses fall towards 1, with noise: costs and losses of 8 samples, 5 of them old.
fn evaluations(seed: u64) -> Vec<(f64, Vec<f64>)> {
    let mut rng = Seed::new(seed).rng();
    let mut cost = 3.0;
    let evaluation = |_| {
        cost *= 1.0 + 0.3 * rng.random::<f64>();
        let loss = |_| 1.0 + (1.0 + rng.random::<f64>()) / cost.sqrt();
        (cost, (0..8).map(loss).collect())
    };
    (0..60).map(evaluation).collect()
}

/// The gain of a doubling from all evaluations so far, by a loop over samples and evaluations.
fn gain_of(evaluations: &[(f64, Vec<f64>)]) -> Option<ExpectedGain> {
    let last = evaluations.last()?.0;
    let mut means = [[0.0; 8]; 2];
    for (window, (from, to)) in [(last / 4.0, last / 2.0), (last / 2.0, last)]
        .into_iter()
        .enumerate()
    {
        let mut n = 0.0;
        for (cost, losses) in evaluations {
            if *cost > from && *cost <= to {
                n += 1.0;
                for (sum, loss) in means[window].iter_mut().zip(losses) {
                    *sum += loss;
                }
            }
        }
        if n == 0.0 {
            return None;
        }
        means[window].iter_mut().for_each(|sum| *sum /= n);
    }
    let (mut before, mut fall, mut variance) = (0.0, 0.0, 0.0);
    for part in [0..N_OLD, N_OLD..8] {
        let n = part.len() as f64;
        let falls: Vec<f64> = part.clone().map(|i| means[0][i] - means[1][i]).collect();
        let mean = falls.iter().sum::<f64>() / n;
        before += part.map(|i| means[0][i]).sum::<f64>() / n / 2.0;
        fall += mean / 2.0;
        let squares: f64 = falls.iter().map(|fall| (fall - mean) * (fall - mean)).sum();
        variance += squares / (n - 1.0) / n / 4.0;
    }
    Some(ExpectedGain {
        gain: fall / before,
        standard_error: variance.sqrt() / before,
    })
}

/// The number of evaluations in a row that must be small, and the first evaluation at which they are.
fn end_of(evaluations: &[(f64, Vec<f64>)]) -> Option<usize> {
    let mut n_small = 0;
    for at in 0..evaluations.len() {
        match gain_of(&evaluations[..=at]) {
            Some(gain) if gain.gain < MIN_GAIN => {
                n_small += 1;
                let needed = (2.0 * gain.standard_error / MIN_GAIN)
                    .ceil()
                    .clamp(2.0, 12.0);
                if n_small as f64 >= needed {
                    return Some(at);
                }
            }
            _ => n_small = 0,
        }
    }
    None
}

#[test]
fn the_end_is_that_of_a_plain_loop() {
    let ends = [1, 2, 3, 4].map(|seed| {
        let evaluations = evaluations(seed);
        let mut rule = GainRule::doubling(MIN_GAIN);
        let end = evaluations.iter().enumerate().find(|(at, (cost, losses))| {
            let stop = rule.push_losses(*cost, losses.clone(), N_OLD);
            let (found, expected) = (rule.gain(), gain_of(&evaluations[..=*at]));
            assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                assert!((found.gain - expected.gain).abs() < 1e-12);
                assert!((found.standard_error - expected.standard_error).abs() < 1e-12);
            }
            assert!(stop.is_none_or(|stop| stop == StoppedBy::Doubling));
            stop.is_some()
        });
        let end = end.map(|(at, _)| at);
        assert_eq!(end, end_of(&evaluations));
        end
    });
    assert!(
        ends.iter().all(Option::is_some) && ends[0] != ends[1],
        "{ends:?}"
    );
}

/// With means alone the gain is the same, and two evaluations in a row are enough.
#[test]
fn means_alone_have_no_standard_error() {
    let evaluations = evaluations(1);
    let [mut of_losses, mut of_means] = [(); 2].map(|()| GainRule::doubling(MIN_GAIN));
    let mut ends = [None; 2];
    for (at, (cost, losses)) in evaluations.iter().enumerate() {
        let (old, new) = losses.split_at(N_OLD);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let risk = (mean(old) + mean(new)) / 2.0;
        let stops = [
            of_losses.push_losses(*cost, losses.clone(), N_OLD),
            of_means.push(*cost, risk),
        ];
        if let (Some(of_losses), Some(of_means)) = (of_losses.gain(), of_means.gain()) {
            assert!((of_losses.gain - of_means.gain).abs() < 1e-12);
            assert!(of_losses.standard_error > 0.0 && of_means.standard_error.is_nan());
        }
        for (end, stop) in ends.iter_mut().zip(stops) {
            *end = end.or(stop.map(|_| at));
        }
    }
    assert!(ends[1].unwrap() <= ends[0].unwrap(), "{ends:?}");
}

#[test]
fn a_rule_that_is_read_back_decides_alike() {
    for rule in [GainRule::doubling(MIN_GAIN), GainRule::slope(MIN_GAIN)] {
        let evaluations = evaluations(2);
        let mut whole = rule.clone();
        let mut resumed = rule;
        for (cost, losses) in evaluations {
            let text = serde_json::to_string(&resumed).unwrap();
            resumed = serde_json::from_str(&text).unwrap();
            let stop = whole.push_losses(cost, losses.clone(), N_OLD);
            assert_eq!(resumed.push_losses(cost, losses, N_OLD), stop);
            assert_eq!(resumed.gain(), whole.gain());
        }
    }
}

/// The trainer ends at the evaluation at which the rule ends a plain loop with the same risks.
#[test]
fn the_trainer_ends_by_the_same_rule() {
    for (stop, mut rule) in [
        (StopRule::Doubling, GainRule::doubling(MIN_GAIN)),
        (StopRule::Slope, GainRule::slope(MIN_GAIN)),
    ] {
        let settings = TrainingSettings {
            epochs: 400,
            stop,
            min_gain: MIN_GAIN,
            ..settings()
        };
        let record = train_on(&points(), &info_nce(Sampling::All), &settings, 1)
            .unwrap()
            .record;
        let n_steps = record.n_steps as usize / record.n_epochs();
        let mut last = None;
        for evaluation in &record.evaluations {
            // The trainer leaves out the first 64 steps.
            if evaluation.epoch * n_steps >= 64 {
                let risk = (evaluation.risk.old + evaluation.risk.new) / 2.0;
                last = rule.push(evaluation.charged_passes, risk);
            }
        }
        let expected = record.expected_gain.unwrap();
        assert!((rule.gain().unwrap().gain - expected.gain).abs() < 1e-9);
        assert_eq!(last, record.stopped_by, "ended after {}", record.n_epochs());
        assert!(record.n_epochs() < 400);
    }
}

#[test]
#[should_panic(expected = "the losses of the same samples")]
fn other_samples_are_refused() {
    let mut rule = GainRule::doubling(MIN_GAIN);
    rule.push_losses(1.0, vec![1.0; 8], N_OLD);
    rule.push(2.0, 1.0);
}

#[test]
#[should_panic(expected = "found a minimum gain of -1")]
fn a_minimum_gain_below_0_is_refused() {
    let _ = GainRule::doubling(-1.0);
}

/// A risk that is not finite never ends a training, whatever the gains around it are.
#[test]
fn risks_that_are_not_finite_end_nothing() {
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let mut rule = GainRule::doubling(0.05);
        let costs = [1.0, 2.0, 2.2, 2.4, 2.6];
        let ends = costs.map(|cost| rule.push(cost, if cost > 1.0 { bad } else { 1.0 }));
        assert_eq!(ends, [None; 5], "{bad}");
    }
}
