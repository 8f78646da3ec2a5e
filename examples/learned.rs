//! Runs an example and reads its table: for the examples' tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the folder of all data sets for tests.
pub fn data_dir() -> PathBuf {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    std::env::var_os("ICL_DATA_DIR").map_or_else(|| shared.into(), PathBuf::from)
}

/// Runs the program with these arguments on the data in a folder.
pub fn run(program: &str, arguments: &[&str], data_dir: &Path) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env("ICL_DATA_DIR", data_dir);
    let output = command.output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}

/// Runs the program and returns its standard output, and by how much the update lowered the exact risk of θ₀, in nats.
/// Returns `None`, with a line on the standard error, if the data are not there.
///
/// # Panics
/// Unless each training has moved the parameters and ended below the exact risk of the untrained encoder, there are
/// floors next to the accuracies, and the last line compares with retraining.
pub fn learned(program: &str, arguments: &[&str]) -> Option<(String, f64)> {
    let output = run(program, arguments, &data_dir());
    let message = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) && message.contains("found nothing, expected") {
        eprintln!("SKIPPED: {message}");
        return None;
    }
    assert!(output.status.success(), "{message}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let cells = |name: &str| -> Vec<f64> {
        let line = text
            .lines()
            .find(|line| line.split_whitespace().next() == Some(name))
            .unwrap_or_else(|| panic!("no line of `{name}` in\n{text}"));
        let cells = line.split_whitespace().skip(1);
        cells.map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()
    };
    let untrained = cells("untrained")[0];
    for name in ["θ₀", "updated", "retrained"] {
        let [all, old, new, passes, _, change, accuracy] = cells(name)[..] else {
            panic!("expected 7 cells of `{name}` in\n{text}");
        };
        assert!(
            all < untrained,
            "{name}: the exact risk did not fall\n{text}"
        );
        assert!(old.min(new) <= all && all <= old.max(new), "{name}\n{text}");
        assert!(
            passes > 0.0 && change > 0.0,
            "{name}: nothing moved\n{text}"
        );
        assert!((0.0..=1.0).contains(&accuracy), "{name}\n{text}");
    }
    assert!(text.contains("floors of the accuracy: raw "), "{text}");
    let last = text.lines().last().unwrap_or_default();
    assert!(
        last.contains("plateau") && last.contains("etraining"),
        "{text}"
    );
    let fell = cells("θ₀")[0] - cells("updated")[0];
    Some((text, fell))
}
