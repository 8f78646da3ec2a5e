//! `icl diagnose` on a random subset of the rows.

use super::verdict::data;
use super::{QUANTITIES, assert_close, diagnose, json};
use crate::support::{number, text};

#[test]
fn a_subset_estimates_what_all_rows_say() {
    let at = data([400, 300], [-0.7, 0.7]);
    let all = json(at.path(), "--evaluation-samples all");
    assert!(all["evaluation_samples"].is_null() && all["standard_error"].is_null());
    let found = json(at.path(), "--evaluation-samples 100 --per-sample");
    for (name, expected) in [("n_anchors", 400.0), ("n_old", 400.0), ("n_new", 300.0)] {
        assert_eq!(number(&found, name), expected, "{name}");
    }
    for name in ["alpha", "n_self_pairs", "n_without_own_row"] {
        assert_eq!(found[name], all[name], "{name}");
    }
    assert_eq!(number(&found, "n_compared"), 100.0);
    assert_eq!(text(&found, "update"), text(&all, "update"));
    let is_close = |name: &str, [found, all, error]: [f64; 3]| {
        assert!(error > 0.0, "{name}");
        assert!(
            (found - all).abs() < 4.0 * error,
            "{name}: {found} ± {error}, all {all}"
        );
    };
    for name in QUANTITIES {
        let [mean, expected] = [&found, &all].map(|of| number(&of["mean"], name));
        is_close(
            name,
            [mean, expected, number(&found["standard_error"], name)],
        );
    }
    for name in ["auc", "mu"] {
        let error = number(&found, &format!("{name}_standard_error"));
        is_close(name, [number(&found, name), number(&all, name), error]);
    }
    let predictions = |of: &serde_json::Value| of["right_predictions"].as_array().unwrap().clone();
    let (of_found, of_all) = (predictions(&found), predictions(&all));
    // The number of noise samples is that of all rows, of which a subset tells nothing.
    assert_eq!((of_found.len(), of_all.len()), (3, 4));
    for (found, all) in of_found.iter().zip(&of_all) {
        for name in ["measured", "gaussian"] {
            let error = number(found, &format!("{name}_standard_error"));
            is_close(name, [number(found, name), number(all, name), error]);
        }
    }
    let of_losses = number(&found, "mean.bias_inference");
    assert_close(number(&found, "bias_inference"), of_losses, "s");
    let per_sample = &found["per_sample"];
    let anchors = per_sample["anchor"].as_array().unwrap();
    assert_eq!(
        (anchors.len(), per_sample["nce2"].as_array().unwrap().len()),
        (100, 100)
    );
}

#[test]
fn more_samples_than_rows_are_all_rows() {
    let at = data([60, 50], [0.0, 0.5]);
    let all = diagnose(at.path(), "--evaluation-samples all --per-sample")
        .succeeded()
        .stdout;
    for flags in ["", "--evaluation-samples 60"] {
        let found = diagnose(at.path(), &format!("{flags} --per-sample")).succeeded();
        assert_eq!(found.stdout, all, "{flags}");
    }
    assert!(!all.contains('±'), "{all}");
}

#[test]
fn the_seed_draws_the_subset_and_the_terminal_says_so() {
    let at = data([60, 50], [0.0, 0.5]);
    let mut new_pairs =
        "--new-anchors n.npy --new-positives q.npy --evaluation-samples 40".to_owned();
    let found = diagnose(at.path(), &new_pairs).succeeded().stdout;
    assert_eq!(diagnose(at.path(), &new_pairs).succeeded().stdout, found);
    let line = "compared: 40 random anchors, 40 old and 40 new noise samples, 40 new anchors (--evaluation-samples 40); \
                ± is the standard error by this draw";
    assert!(found.lines().any(|it| it == line), "{found}");
    for start in ["bias of inference ", "AUC of positives against noise = "] {
        let line = found.lines().find(|it| it.starts_with(start));
        assert!(line.is_some_and(|it| it.contains(" ± 0.")), "{found}");
    }
    new_pairs.push_str(" --seed 1");
    assert_ne!(diagnose(at.path(), &new_pairs).succeeded().stdout, found);
    let per_sample = diagnose(at.path(), "--evaluation-samples 40 --per-sample").succeeded();
    assert!(
        per_sample
            .stdout
            .lines()
            .any(|it| it.trim().starts_with("± "))
    );
}

#[test]
fn wrong_numbers_are_refused() {
    let at = data([8, 8], [0.0, 0.0]);
    for found in ["0", "31"] {
        let message = format!("evaluation-samples: found {found}, expected at least 32, or all");
        diagnose(at.path(), &format!("--evaluation-samples {found}")).rejected(&message);
    }
    for found in ["-1", "half", "1.5", "4294967296"] {
        diagnose(at.path(), &format!("--evaluation-samples={found}"))
            .rejected_at_length("expected a whole number from 0 to 4294967295, or all");
    }
}
