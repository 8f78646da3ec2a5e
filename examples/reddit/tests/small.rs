//! That the example runs and learns with a small budget.

#[path = "../../learned.rs"]
mod learned;

const PROGRAM: &str = env!("CARGO_BIN_EXE_reddit");

#[test]
fn it_learns() {
    let Some((text, fell)) = learned::learned(PROGRAM, &["--epochs", "1"]) else {
        return;
    };
    assert!(fell > 0.0, "the update did not help\n{text}");
    assert!(
        text.starts_with("REDDIT-BINARY: 1000 old graphs, 1000 new ones"),
        "{text}"
    );
}

#[test]
fn absent_data_are_named() {
    let output = learned::run(PROGRAM, &["--data", "no/such/place"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.starts_with("no/such/place: found nothing, expected"),
        "{message}"
    );
    assert!(message.contains("--data"), "{message}");
}
