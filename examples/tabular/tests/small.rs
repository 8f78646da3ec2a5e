//! The example runs and learns with a small budget.

#[path = "../../learned.rs"]
mod learned;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tabular");

#[test]
fn it_learns() {
    let Some((text, fell)) = learned::learned(PROGRAM, &["3"]) else {
        return;
    };
    assert!(fell > 0.0, "the update did not help\n{text}");
}
