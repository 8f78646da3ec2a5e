//! Runs of the example with a small budget.

use std::process::{Command, Output};

/// Runs the program with these arguments.
fn run(arguments: &[&str]) -> Output {
    let program = Command::new(env!("CARGO_BIN_EXE_recommend"))
        .args(arguments)
        .output();
    program.expect("the program starts")
}

/// Returns the table of synthetic users.
fn demo(arguments: &[&str]) -> String {
    let output = run(&[&["--demo"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the numbers of a line; NaN where there is none.
fn cells(text: &str, name: &str) -> Vec<f64> {
    let line = text
        .lines()
        .find(|line| line.split_whitespace().next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("no line of `{name}` in\n{text}"));
    let cells = line.split_whitespace().skip(1);
    cells.map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()
}

#[test]
fn updates_learn() {
    let text = demo(&["--epochs", "6"]);
    let untrained = cells(&text, "untrained");
    for name in ["θ₀", "warm", "fine-tuning", "icl", "retraining"] {
        let [passes, k, before, after, old, new, ref qualities @ ..] = cells(&text, name)[..]
        else {
            panic!("expected 10 cells of `{name}` in\n{text}");
        };
        assert!(passes > 0.0 && k == 31.0, "{name}\n{text}");
        assert!(after < untrained[3], "{name}: no fall of the risk\n{text}");
        assert!(
            old.min(new) <= after && after <= old.max(new),
            "{name}\n{text}"
        );
        assert!(
            before.is_nan() == (name == "θ₀") && qualities.len() == 4,
            "{name}\n{text}"
        );
        let is_share = |it: &f64| (0.0..=1.0).contains(it);
        assert!(qualities.iter().all(is_share), "{name}\n{text}");
    }
    // New data have a taste that most old data lack.
    let [first, warm] = ["θ₀", "warm"].map(|name| cells(&text, name));
    assert!(warm[5] < first[5], "{text}");
    assert!(warm[8] > untrained[8], "{text}");
    assert_eq!(cells(&text, "popularity").len(), 10);
}

#[test]
fn the_number_of_negatives_follows_its_schedule() {
    for schedule in ["ans", "stagewise"] {
        let arguments = ["--epochs", "1", "--methods", "icl", "--schedule", schedule];
        let text = demo(&arguments);
        assert_eq!(cells(&text, "θ₀")[1], 31.0, "{text}");
        assert!((1.0..31.0).contains(&cells(&text, "icl")[1]), "{text}");
    }
}

#[test]
fn absent_data_are_named() {
    let output = run(&["no/such/place.inter"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("no/such/place.inter"), "{message}");
}
