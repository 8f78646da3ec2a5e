//! The losses against values that an independent program computed from the printed formulas.

use burn::tensor::{DType, Tensor, TensorData};
use icl_core::testing::{TestBackend as B, assert_close, precisions, to_vec};
use icl_core::{
    Contrast, GrowthRatio, IncrementalInfoNceConfig, InfoNceConfig, NoiseLosses, Origin, Strategy,
    exact_nce_i, exact_risk,
};
use serde::Deserialize;
use std::collections::HashMap;

type Rows = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct Reference {
    explicit: Vec<Explicit>,
    in_batch: Vec<InBatch>,
}

#[derive(Deserialize)]
struct Explicit {
    temperature: f64,
    negatives: f64,
    alpha: f64,
    anchors: Rows,
    positives: Rows,
    old: Rows,
    new: Rows,
    expected: HashMap<String, Vec<f64>>,
}

#[derive(Deserialize)]
struct InBatch {
    temperature: f64,
    negatives: f64,
    n_old: usize,
    anchors: Rows,
    positives: Rows,
    expected: HashMap<String, Vec<f64>>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/losses.json")).expect("the reference parses")
}

fn tensor(rows: &Rows, dtype: DType) -> Tensor<B, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, (&Default::default(), dtype))
}

/// The precisions with their tolerances at a temperature. Double precision tests the formulas, single
/// precision their rounding: 1e-5, except at the temperature of 0.01, which multiplies the rounding of a
/// similarity by a hundred.
fn precisions_at(temperature: f64) -> Vec<(DType, f64)> {
    precisions(if temperature < 0.05 { 1e-4 } else { 1e-5 }, 1e-12)
}

#[test]
fn explicit_noise_gives_the_printed_formulas() {
    for case in reference().explicit {
        for (dtype, tolerance) in precisions_at(case.temperature) {
            let [a, p, o, n] =
                [&case.anchors, &case.positives, &case.old, &case.new].map(|x| tensor(x, dtype));
            let alpha = GrowthRatio::try_new(case.alpha).unwrap();
            let nce = InfoNceConfig::new()
                .with_temperature(case.temperature)
                .with_negatives(Some(case.negatives))
                .init();
            let nce_ii = IncrementalInfoNceConfig::new(case.negatives)
                .with_temperature(case.temperature)
                .init();
            let contrast =
                Contrast::explicit(a.clone(), p.clone(), o.clone(), n.clone(), case.temperature);
            let losses = NoiseLosses::new(&contrast, case.negatives, alpha);
            let check = |key: &str, actual: Tensor<B, 1>| {
                assert_close(&to_vec(&actual), &case.expected[key], tolerance);
            };
            check(
                "nce1_old",
                nce.forward_with_negatives(a.clone(), p.clone(), o.clone()),
            );
            check(
                "nce1_new",
                nce.forward_with_negatives(a.clone(), p.clone(), n.clone()),
            );
            check(
                "nce1_all",
                nce.forward_mixed(a.clone(), p.clone(), o.clone(), n.clone(), alpha),
            );
            check("nce2", nce_ii.forward_no_reduction(a, p, o, n, alpha));
            check("nce1_old", losses.old.clone());
            check("nce1_new", losses.new.clone());
            check("nce1_all", losses.all.clone());
            check("nce2", losses.nce_ii.clone());
            let log_ratio: Vec<f64> = case.expected["change_ratio"]
                .iter()
                .map(|r| r.ln())
                .collect();
            assert_close(&to_vec(&losses.log_change_ratio), &log_ratio, tolerance);
            if dtype == DType::F64 {
                check(
                    "change_ratio",
                    icl_core::change_ratio(&contrast, case.negatives),
                );
            }
            // Theorem 1, and Table 2 from it.
            let zeros = vec![0.0; case.anchors.len()];
            assert_close(
                &to_vec(&losses.bias(Strategy::Icl, Origin::Old)),
                &zeros,
                tolerance,
            );
            let minus = |x: &str, y: &str| -> Vec<f64> {
                case.expected[x]
                    .iter()
                    .zip(&case.expected[y])
                    .map(|(x, y)| x - y)
                    .collect()
            };
            assert_close(
                &to_vec(&losses.bias(Strategy::Inference, Origin::Old)),
                &minus("nce1_old", "nce1_all"),
                tolerance,
            );
            assert_close(
                &to_vec(&losses.bias(Strategy::FineTuning, Origin::New)),
                &minus("nce1_new", "nce1_all"),
                tolerance,
            );
        }
    }
}

#[test]
fn in_batch_noise_leaves_the_anchor_itself_out() {
    for case in reference().in_batch {
        for (dtype, tolerance) in precisions_at(case.temperature) {
            let (a, p) = (tensor(&case.anchors, dtype), tensor(&case.positives, dtype));
            let config = InfoNceConfig::new()
                .with_temperature(case.temperature)
                .with_negatives(Some(case.negatives));
            let check = |key: &str, actual: Tensor<B, 1>| {
                assert_close(&to_vec(&actual), &case.expected[key], tolerance);
            };
            check(
                "nce1_batch",
                config.init().forward_no_reduction(a.clone(), p.clone()),
            );
            let symmetric = config.with_symmetric(true).init();
            check(
                "nce1_symmetric",
                symmetric.forward_no_reduction(a.clone(), p.clone()),
            );
            let contrast = Contrast::in_batch(a.clone(), p.clone(), case.n_old, case.temperature);
            let alpha = GrowthRatio::from_counts(case.n_old, case.anchors.len() - case.n_old);
            let losses = NoiseLosses::new(&contrast, case.negatives, alpha);
            let bias = losses.clone();
            check("all", losses.all);
            check("old_noise", losses.old);
            check("nce2", losses.nce_ii);

            let risk = exact_risk(
                a.clone(),
                p.clone(),
                case.n_old,
                case.temperature,
                case.negatives,
            );
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let (old, new) = case.expected["all"].split_at(case.n_old);
            let close = |actual, expected| assert_close(&[actual], &[expected], tolerance);
            close(risk.all, mean(&case.expected["all"]));
            close(risk.old, mean(old));
            close(risk.new, mean(new));
            close(
                risk.nce1_old,
                mean(&case.expected["old_noise"][..case.n_old]),
            );
            close(risk.nce2_old, mean(&case.expected["nce2"][..case.n_old]));
            close(risk.bound, risk.nce1_old * alpha.value());
            let minus = |x: &str, y: &str| -> Vec<f64> {
                let pairs = case.expected[x].iter().zip(&case.expected[y]);
                pairs.map(|(x, y)| x - y).collect()
            };
            close(
                risk.change_ratio_old,
                mean(&case.expected["ratio"][..case.n_old]),
            );
            close(
                risk.bias_inference_old,
                mean(&minus("old_noise", "all")[..case.n_old]),
            );
            close(risk.bias_inference_new, -mean(new));
            close(
                risk.bias_fine_tuning_new,
                mean(&minus("new_noise", "all")[case.n_old..]),
            );
            let zeros = vec![0.0; case.anchors.len()];
            for (strategy, part) in [
                (Strategy::Retraining, Origin::Old),
                (Strategy::Retraining, Origin::New),
                (Strategy::Icl, Origin::New),
            ] {
                assert_eq!(to_vec(&bias.bias(strategy, part)), zeros);
            }
            assert_close(
                &to_vec(&bias.bias(Strategy::FineTuning, Origin::Old)),
                &minus("old_noise", "all"),
                tolerance,
            );
            close(
                exact_nce_i(a, p, case.temperature, case.negatives),
                mean(&case.expected["nce1_batch"]),
            );
        }
    }
}

/// The exact risk of more rows and columns than one chunk holds, against a double loop.
#[test]
fn the_exact_risk_does_not_depend_on_chunks() {
    let (n_old, n, d, temperature, negatives) = (2100, 2700, 3, 0.2, 31.0);
    let mut rng = icl_core::Seed::new(5).rng();
    let mut draw = |_| {
        use rand::RngExt;
        (0..d)
            .map(|_| rng.random::<f64>() - 0.4)
            .collect::<Vec<f64>>()
    };
    let anchors: Rows = (0..n).map(&mut draw).collect();
    let positives: Rows = (0..n).map(&mut draw).collect();
    let f = |a: &[f64], b: &[f64]| {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt() / temperature).exp()
    };
    let alpha = (n - n_old) as f64 / n as f64;
    let mut sum = [0.0; 2];
    for i in 0..n {
        let mut noise = [0.0; 2];
        for j in (0..n).filter(|&j| j != i) {
            noise[usize::from(j >= n_old)] += f(&anchors[i], &positives[j]);
        }
        let is_new = usize::from(i >= n_old);
        let e_old = noise[0] / (n_old - (1 - is_new)) as f64;
        let e_new = noise[1] / (n - n_old - is_new) as f64;
        let positive = f(&anchors[i], &positives[i]);
        let noise = (1.0 - alpha) * e_old + alpha * e_new;
        sum[is_new] -= (positive / (positive + negatives * noise)).ln();
    }
    for (dtype, tolerance) in precisions(1e-5, 1e-11) {
        let risk = exact_risk(
            tensor(&anchors, dtype),
            tensor(&positives, dtype),
            n_old,
            temperature,
            negatives,
        );
        assert_close(
            &[risk.all, risk.old, risk.new],
            &[
                (sum[0] + sum[1]) / n as f64,
                sum[0] / n_old as f64,
                sum[1] / (n - n_old) as f64,
            ],
            tolerance,
        );
        assert!(risk.theorem1_residual < tolerance);
    }
}
