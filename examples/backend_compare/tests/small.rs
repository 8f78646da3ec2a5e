//! That the example runs with a small budget.

use std::process::Command;

#[test]
fn it_sets_backends_side_by_side() {
    let program = env!("CARGO_BIN_EXE_backend_compare");
    let output = Command::new(program).args(["--epochs", "1"]).output();
    let output = output.expect("the example starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let row = text.lines().find(|line| line.trim().starts_with("flex"));
    assert!(
        row.is_some_and(|row| row.split_whitespace().nth(1) == Some("0")),
        "{text}"
    );
    if cfg!(feature = "tch") {
        assert!(text.contains("tch follows flex within"), "{text}");
    } else {
        assert!(
            text.contains("Only flex was run") || text.contains("follows flex"),
            "{text}"
        );
    }
}
