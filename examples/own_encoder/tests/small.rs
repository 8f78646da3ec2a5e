//! That the example runs and learns with a small budget.

#[path = "../../learned.rs"]
mod learned;

const PROGRAM: &str = env!("CARGO_BIN_EXE_own_encoder");

#[test]
fn it_learns() {
    let Some((text, fell)) = learned::learned(PROGRAM, &["--epochs", "6"]) else {
        return;
    };
    assert!(fell > 0.0, "the update did not help\n{text}");
    assert!(text.starts_with("an encoder of 3312 values"), "{text}");
}
