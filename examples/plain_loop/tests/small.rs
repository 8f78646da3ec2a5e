//! The loop runs, repeats its numbers, ends by its rule, and its update helps.

use std::process::Command;

fn run(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plain_loop"));
    let output = command.args(arguments).output().expect("a program");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_update_lowers_the_risk_of_new_data() {
    let text = run(&[]);
    let cell = |name: &str, at: usize| -> f64 {
        let line = text.lines().find(|line| line.starts_with(name));
        let cells: Vec<&str> = line.expect("an encoder").split_whitespace().collect();
        cells[at].parse().expect("a number")
    };
    // Mean and standard error over new samples, and the samples that passed.
    let (before, error, after) = (cell("θ₀", 4), cell("θ₀", 6), cell("updated", 4));
    assert!(after < before - 2.0 * error, "{text}");
    let most = 1000.0 * 900.0;
    let names = ["θ₀", "updated", "retrained"];
    assert!(names.iter().all(|name| cell(name, 7) < most), "{text}");
}

#[test]
fn equal_seeds_give_equal_numbers() {
    assert_eq!(run(&["2"]), run(&["2"]));
}
