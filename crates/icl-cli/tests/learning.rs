//! That learning happens, from end to end, on the embedded data.

use crate::support::{icl, number, records, split, text};
use tempfile::tempdir;

/// Whether accuracy rises says nothing on a data set of this size; the exact risk is what training
/// is after.
#[test]
fn training_lowers_the_exact_risk() {
    let at = tempdir().unwrap();
    let line =
        "run --method retraining --method icl-corrected-wo-m-lrl --seed 0 --epochs 60 --out out";
    icl(at.path(), &split(line)).succeeded();
    let records = records(&at.path().join("out"));
    for record in &records {
        let [start, end] = ["start.all", "end.all"].map(|path| number(record, path));
        assert!(
            end < start,
            "{}: from {start} to {end} nats",
            text(record, "method")
        );
        assert!(number(record, "parameter_change") > 0.01);
    }
    let [retraining, corrected] = &records[..] else {
        panic!("expected two records, found {}", records.len())
    };
    assert_eq!(text(retraining, "method"), "retraining");
    // Retraining starts from an untrained encoder: both methods end well below it.
    let untrained = number(retraining, "start.all");
    for record in [retraining, corrected] {
        let end = number(record, "end.all");
        assert!(
            end < 0.9 * untrained,
            "{}: {end} nats, {untrained} untrained",
            text(record, "method")
        );
    }
    // Its loss fell, too, over the first epochs to the last.
    let losses: Vec<f64> = retraining["epoch_losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| loss.as_f64().unwrap())
        .collect();
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
    assert!(mean(&losses[losses.len() - 5..]) < mean(&losses[..5]));
    // What θ₀ had learned is a head start.
    assert!(number(corrected, "start.all") < untrained);
}
