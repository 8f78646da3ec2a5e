//! That the example runs and learns with a small budget.

#[path = "../../learned.rs"]
mod learned;

const PROGRAM: &str = env!("CARGO_BIN_EXE_imagenet2");

#[test]
fn it_learns() {
    // A handful of steps need not bring the update below θ₀.
    let Some((text, _)) =
        learned::learned(PROGRAM, &["--epochs", "3", "--limit", "64", "--size", "32"])
    else {
        return;
    };
    assert!(
        text.starts_with("train: 32 old images, 32 new ones"),
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
