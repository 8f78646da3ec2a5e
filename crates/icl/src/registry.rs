//! The registry: every method by name.

use icl_meta::{Method, Noise, Objective, OptimizerChoice, RateChoice, Start};

/// The method whose quality is the target of all others.
pub const YARDSTICK: &str = "retraining";

/// The share of the old data that `warm-sub` sees in an epoch.
const FRESH_FRACTION: f64 = 0.2;

/// All methods, in the order in which they are shown.
pub fn methods() -> Vec<Method> {
    let plain = |name, start, objective| Method {
        name,
        start,
        objective,
        optimizer: OptimizerChoice::Plain,
        rate: RateChoice::Fixed,
    };
    let all = Some(Objective::InfoNce(Noise::All));
    let fraction = Some(Objective::InfoNce(Noise::Fraction(FRESH_FRACTION)));
    let new = Some(Objective::InfoNce(Noise::New));
    vec![
        plain("inference", Start::Trained, None),
        plain(YARDSTICK, Start::Scratch, all),
        plain("warm", Start::Trained, all),
        plain("warm-sub", Start::Trained, fraction),
        plain("fine-tuning", Start::Trained, new),
        plain(
            "icl-published-wo-m-lrl",
            Start::Trained,
            Some(Objective::Published),
        ),
        plain("icl-corrected", Start::Trained, Some(Objective::Corrected)),
    ]
}

/// The method of this name.
pub fn method(name: &str) -> Option<Method> {
    methods().into_iter().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = methods().iter().map(|method| method.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), methods().len());
        assert_eq!(method("warm").unwrap().name, "warm");
        assert!(method("no-such-method").is_none());
    }
}
