//! Accuracies of a first encoder over the number of negatives and the form of the loss.

use std::path::Path;

use icl_cli::parts::Failure;
use icl_report::RunRecord;

use super::markdown::table;
use super::seeds::{Floor, MISSING, Protocol, lacks, records, spread};

/// Numbers of negatives.
const NUMBERS: [i32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Forms of the loss: the mean over all negatives with weight K, or K that are drawn.
const FORMS: [&str; 2] = ["weighted", "drawn"];

/// Protocols in the order of the columns.
const PROTOCOLS: [Protocol; 3] = [|run| run.few_labels, |run| run.knn, |run| run.linear_probe];

/// Floors by their names.
const FLOORS: [(&str, Floor); 3] = [
    ("untrained", |floors| floors.untrained.all),
    ("raw", |floors| floors.raw.all),
    ("majority", |floors| floors.majority.all),
];

/// Returns the table of the runs `NAME-FORM-K` in a folder; those that are not there are left out.
///
/// # Errors
/// If a record cannot be read or lacks an accuracy, or there is none.
pub fn table_of(folder: &Path, name: &str, share: f64) -> Result<String, Failure> {
    let mut rows = Vec::new();
    let mut last = Vec::new();
    for k in NUMBERS {
        for form in FORMS {
            let folder = folder.join(format!("{name}-{form}-{k}"));
            if !folder.exists() {
                continue;
            }
            let runs = records(&folder)?;
            let mut row = vec![k.to_string(), form.to_owned()];
            row.push(format!("{:.3}", (1.0 - share).powi(k)));
            row.push(format!("{:.3}", 1.0 / f64::from(k + 1)));
            row.push(over_seeds(&runs, |run| run.start.auc_all)?);
            for protocol in PROTOCOLS {
                row.push(over_seeds(&runs, |run| protocol(run)?.accuracy.all)?);
            }
            rows.push(row);
            last = runs;
        }
    }
    if last.is_empty() {
        return Err(lacks(
            &folder.display().to_string(),
            &format!("folders {name}-FORM-K"),
        ));
    }
    for (floor, of) in FLOORS {
        let mut row = vec![MISSING.to_owned(), format!("floor: {floor}")];
        row.extend(vec![MISSING.to_owned(); 3]);
        for protocol in PROTOCOLS {
            let value = over_seeds(&last, |run| of(&protocol(run)?.floors));
            row.push(value.unwrap_or_else(|_| MISSING.to_owned()));
        }
        rows.push(row);
    }
    let head = [
        "K",
        "form",
        "a reliable label: (1 − Σp²)^K",
        "chance: 1/(K + 1)",
        "AUC of pairs",
        "5 labels a class",
        "neighbours",
        "linear",
    ];
    Ok(table(&head, "--:", &rows))
}

/// Returns the mean over the seeds, all of which must have the value.
fn over_seeds(
    runs: &[RunRecord],
    value: impl Fn(&RunRecord) -> Option<f64>,
) -> Result<String, Failure> {
    let values: Option<Vec<f64>> = runs.iter().map(value).collect();
    let values =
        values.ok_or_else(|| lacks(&runs[0].data, "accuracies by few-labels, knn and linear"))?;
    Ok(spread(&values, 3))
}
