//! The example lowers the risk, and two runs print the same.

use std::process::Command;

/// Returns what the program prints.
fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_learner"))
        .args(arguments)
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the metrics of the epochs.
fn rows(text: &str) -> Vec<[f64; 3]> {
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<f64> = line.split_whitespace().flat_map(str::parse).collect();
        cells.get(1..)?.try_into().ok()
    });
    rows.collect()
}

#[test]
fn it_learns_and_stops() {
    let text = run(&[]);
    let rows = rows(&text);
    let (first, last) = (rows.first(), rows.last());
    let (Some([first, auc_first, _]), Some([last, auc_last, ratio])) = (first, last) else {
        panic!("no metrics in\n{text}");
    };
    assert!(last + 1.0 < *first, "the risk did not fall\n{text}");
    assert!(
        auc_first < auc_last && *auc_last < 1.0 && *ratio > 0.0,
        "{text}"
    );
    let checkpoint = format!("exact risk of the checkpoint: {last:.4} nats");
    assert!(text.contains(&checkpoint), "{text}");
    assert!(rows.len() < 60, "{text}");
    let ended = format!("ended after {} of at most 60 epochs", rows.len());
    assert!(text.contains(&ended), "{text}");
}

#[test]
fn it_does_the_same_twice() {
    let arguments = ["--epochs", "3", "--seed", "5"];
    let text = run(&arguments);
    assert_eq!(rows(&text).len(), 3, "{text}");
    assert_eq!(text, run(&arguments));
}
