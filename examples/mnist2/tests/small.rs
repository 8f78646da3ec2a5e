//! That the example runs and learns with a small budget.

#[path = "../../learned.rs"]
mod learned;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mnist2");

#[test]
fn it_learns() {
    // A handful of steps need not bring the update below θ₀: after eight, the best encoder is still θ₀.
    let Some((text, _)) = learned::learned(PROGRAM, &["--epochs", "8", "--limit", "64"]) else {
        return;
    };
    assert!(
        text.starts_with("MNIST-1v7: 32 old images, 32 new ones"),
        "{text}"
    );
}
