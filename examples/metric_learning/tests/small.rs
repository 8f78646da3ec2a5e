//! The example repeats its numbers, and its update helps.

use std::process::Command;

fn run(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metric_learning"));
    let output = command.args(arguments).output().expect("a program");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_update_lowers_the_risk_of_new_classes() {
    let text = run(&["8"]);
    let cell = |name: &str, at: usize| -> f64 {
        let line = text.lines().find(|line| line.starts_with(name));
        let cells: Vec<&str> = line.expect("an encoder").split_whitespace().collect();
        cells[at].parse().expect("a number")
    };
    // Mean and standard error over new samples, and the accuracy of both parts.
    let (before, error, after) = (cell("θ₀", 4), cell("θ₀", 6), cell("updated", 4));
    assert!(after < before - 2.0 * error, "{text}");
    assert!(cell("updated", 8) > cell("θ₀", 8), "{text}");
    let lines = ["untrained", "θ₀", "updated", "retrained"];
    // The bound holds for the average over partners alone.
    let floor = text.split_once("averaged over partners, no risk is below ");
    let (_, floor) = floor.expect("a sentence");
    let floors: Vec<f64> = floor.split_whitespace().flat_map(str::parse).collect();
    assert_eq!(floors.len(), 2, "{text}");
    for name in lines {
        let risks = [cell(name, 1), cell(name, 4)];
        assert!(risks[0] > floors[0] && risks[1] > floors[1], "{text}");
        assert!((0.5..=1.0).contains(&cell(name, 7)), "{text}");
    }
    assert!(cell("pixels", 1) > 0.5, "{text}");
}

#[test]
fn equal_seeds_give_equal_numbers() {
    assert_eq!(run(&["2"]), run(&["2"]));
}
