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
    let is_named = |line: &&str| {
        let mut cells = line.split('|').skip(1);
        cells.next().map(|cell| cell.trim().trim_end_matches('*')) == Some(name)
    };
    let line = text.lines().find(is_named);
    let line = line.unwrap_or_else(|| panic!("no line of `{name}` in\n{text}"));
    let cells = line.trim_end_matches('|').split('|').skip(2);
    let mean = |cell: &str| cell.split('±').next().unwrap_or("").trim().parse();
    cells.map(|cell| mean(cell).unwrap_or(f64::NAN)).collect()
}

#[test]
fn updates_learn() {
    let text = demo(&["--epochs", "6"]);
    let untrained = cells(&text, "untrained");
    for name in ["θ₀", "warm", "fine-tuning", "icl", "retraining"] {
        let [passes, _, k, before, after, old, new, ref qualities @ ..] = cells(&text, name)[..]
        else {
            panic!("expected 11 cells of `{name}` in\n{text}");
        };
        assert!(passes > 0.0 && k == 31.0, "{name}\n{text}");
        assert!(after < untrained[4], "{name}: no fall of the risk\n{text}");
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
    assert!(warm[6] < first[6], "{text}");
    assert!(warm[9] > untrained[9], "{text}");
    assert_eq!(cells(&text, "popularity").len(), 11);
}

#[test]
fn the_number_of_negatives_follows_its_schedule() {
    let text = demo(&[
        "--epochs",
        "1",
        "--methods",
        "icl",
        "--schedules",
        "ans,stagewise",
    ]);
    assert_eq!(cells(&text, "θ₀")[2], 31.0, "{text}");
    for name in ["icl, ans", "icl, stagewise"] {
        assert!((1.0..31.0).contains(&cells(&text, name)[2]), "{text}");
    }
}

/// The table of two seeds has their means.
#[test]
fn seeds_are_averaged() {
    let arguments = |seeds| ["--epochs", "1", "--methods", "warm", "--seeds", seeds];
    let (one, two) = (demo(&arguments("1")), demo(&arguments("2")));
    assert_eq!(one.matches('±').count(), 0, "{one}");
    let line = two
        .lines()
        .find(|line| line.starts_with("| warm"))
        .unwrap_or("");
    assert_eq!(line.matches('±').count(), 11, "{two}");
    assert_ne!(cells(&one, "warm")[4], cells(&two, "warm")[4], "{two}");
}

#[test]
fn absent_data_are_named() {
    let output = run(&["no/such/place.inter"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("no/such/place.inter"), "{message}");
}
