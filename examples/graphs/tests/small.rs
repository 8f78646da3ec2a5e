//! The example runs and learns with a small budget.

#[path = "../../learned.rs"]
mod learned;

use std::path::Path;

const PROGRAM: &str = env!("CARGO_BIN_EXE_graphs");

#[test]
fn it_learns() {
    for (arguments, beginning) in [
        ("--epochs 8", "PROTEINS: 556 old graphs, 557 new ones"),
        (
            "--data REDDIT-BINARY --split random --epochs 1",
            "REDDIT-BINARY: 1000 old graphs, 1000 new ones",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        if let Some((text, fell)) = learned::learned(PROGRAM, &arguments) {
            assert!(fell > 0.0, "the update did not help\n{text}");
            assert!(text.starts_with(beginning), "{text}");
        }
    }
}

#[test]
fn absent_data_are_named() {
    for (data, words) in [
        (
            "no/such/place",
            "no/such/place: found nothing, expected a data set, or",
        ),
        (
            "proteins",
            "empty/graphs/PROTEINS.zip: found nothing, expected the data set PROTEINS; `icl fetch PROTEINS` downloads it",
        ),
    ] {
        let output = learned::run(PROGRAM, &["--data", data], Path::new("empty"));
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.starts_with(words), "{message}");
    }
}
