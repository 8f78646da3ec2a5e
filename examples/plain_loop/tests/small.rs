//! The loop runs and its update helps with a small budget.

use std::process::Command;

#[test]
fn the_update_lowers_the_risk_of_new_data() {
    let program = env!("CARGO_BIN_EXE_plain_loop");
    let run = || {
        Command::new(program)
            .arg("12")
            .output()
            .expect("a program that runs")
    };
    let output = run();
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        output.stdout,
        run().stdout,
        "the same seeds, the same numbers"
    );
    // Mean and standard error over new samples.
    let new = |name: &str| -> [f64; 2] {
        let line = text.lines().find(|line| line.starts_with(name));
        let cells: Vec<&str> = line
            .expect("a line of each encoder")
            .split_whitespace()
            .collect();
        [4, 6].map(|at| cells[at].parse().expect("a number"))
    };
    let ([before, error], [after, _]) = (new("θ₀"), new("updated"));
    assert!(after < before - 2.0 * error, "{text}");
}
