//! Values of a quantity over the seeds, and how a table writes them.

use std::path::Path;

use anyhow::anyhow;
use icl_cli::parts::Failure;
use icl_report::{FloorAccuracies, ProtocolAccuracies, RunRecord, read_records, summary};
use icl_train::PairedDifference;

/// Accuracies of a record by a protocol.
pub type Protocol = fn(&RunRecord) -> Option<ProtocolAccuracies>;
/// Floor of an accuracy over all data.
pub type Floor = fn(&FloorAccuracies) -> Option<f64>;

/// Sign for a missing value.
pub const MISSING: &str = "–";

/// Reference method, with which all others are compared.
pub const REFERENCE: &str = "retraining";

/// Reads the records of `icl run` in a folder, at least one.
///
/// # Errors
/// If there are none, or they cannot be read.
pub fn records(folder: &Path) -> Result<Vec<RunRecord>, Failure> {
    let path = folder.join("record.jsonl");
    let records = read_records(&path).map_err(Failure::input)?;
    if records.is_empty() {
        return Err(lacks(&path.display().to_string(), "a record"));
    }
    Ok(records)
}

/// Returns the records of a method, one for each seed.
pub fn of_method<'a>(runs: &'a [RunRecord], method: &str) -> Vec<&'a RunRecord> {
    runs.iter().filter(|run| run.method == method).collect()
}

/// Returns the names of the methods, in the order of the records.
pub fn methods(runs: &[RunRecord]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.method.as_str()) {
            names.push(&run.method);
        }
    }
    names
}

/// Returns the error that records do not hold what a table needs.
pub fn lacks(what: &str, expected: &str) -> Failure {
    Failure::input(anyhow!("{what}: expected {expected}, found none"))
}

/// Returns the mean. NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    summary::mean(values).unwrap_or(f64::NAN)
}

/// Returns the sample standard deviation. NaN below two values.
fn deviation(values: &[f64]) -> f64 {
    summary::deviation(values).unwrap_or(f64::NAN)
}

/// Returns the median: for an even number of values the mean of the middle two. NaN without values.
fn median(values: &[f64]) -> f64 {
    summary::median(values).unwrap_or(f64::NAN)
}

/// Writes mean ± sample standard deviation; of one value, that value.
pub fn spread(values: &[f64], digits: usize) -> String {
    match values.len() {
        0 => MISSING.to_owned(),
        1 => format!("{:.digits$}", values[0]),
        _ => format!("{:.digits$} ± {:.digits$}", mean(values), deviation(values)),
    }
}

/// Writes the mean.
pub fn average(values: &[f64], digits: usize) -> String {
    match values {
        [] => MISSING.to_owned(),
        values => rounded(mean(values), digits),
    }
}

/// Writes mean ± half of its 95 % interval by Student's t; of one value, that value.
pub fn interval(values: &[f64], digits: usize) -> String {
    // A mean is a difference from 0. Without values, or with one that is not finite, there is none.
    let zeros = vec![0.0; values.len()];
    match (
        values,
        PairedDifference::of(&zeros, values, summary::CONFIDENCE),
    ) {
        ([one], _) => rounded(*one, digits),
        (_, Ok(of)) => {
            let half = (of.interval[1] - of.interval[0]) / 2.0;
            format!("{} ± {half:.digits$}", rounded(of.mean, digits))
        }
        (_, Err(_)) => MISSING.to_owned(),
    }
}

/// Writes a number with a minus sign, which a 0 does not have.
fn rounded(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|it| matches!(it, '0' | '.')) => zero.to_owned(),
        Some(size) => format!("−{size}"),
        None => text,
    }
}

/// Writes the median, with the least and the greatest value in brackets where they read differently.
pub fn with_range(values: &[f64], show: impl Fn(f64) -> String) -> String {
    let order = |a: &&f64, b: &&f64| a.total_cmp(b);
    let (least, greatest) = (values.iter().min_by(order), values.iter().max_by(order));
    let (Some(least), Some(greatest)) = (least, greatest) else {
        return MISSING.to_owned();
    };
    let (middle, least, greatest) = (show(median(values)), show(*least), show(*greatest));
    if least == greatest {
        middle
    } else {
        format!("{middle} [{least}–{greatest}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_summarised_as_usual() {
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 2.0]), 2.0);
        assert_eq!(spread(&[1.0, 3.0], 3), "2.000 ± 1.414");
        assert_eq!(spread(&[0.25], 1), "0.2");
        assert_eq!(spread(&[], 3), "–");
        assert_eq!(average(&[-1.0, -2.0], 1), "−1.5");
        assert_eq!(average(&[], 1), "–");
        // SciPy: t.interval(0.95, 4, 3, sem([1, 2, 3, 4, 5])) is (1.0367568, 4.9632432).
        let below = [-1.0, -2.0, -3.0, -4.0, -5.0];
        assert_eq!(interval(&below, 4), "−3.0000 ± 1.9632");
        assert_eq!(interval(&[-0.25], 2), "−0.25");
        assert_eq!(interval(&[-0.25], 0), "0");
        assert_eq!(interval(&[], 2), "–");
        assert_eq!(interval(&[1.0, f64::INFINITY], 2), "–");
        let shown = |values: &[f64]| with_range(values, |x| format!("{x:.1}"));
        assert_eq!(shown(&[1.0, 2.0, 4.0]), "2.0 [1.0–4.0]");
        assert_eq!(shown(&[1.01, 1.02]), "1.0");
    }
}
