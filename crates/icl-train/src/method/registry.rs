//! The registry: every method by name.

use crate::{Method, Noise, Objective, OptimizerChoice, Start};
use icl_meta::RateChoice;

/// The method whose quality is the target of all others.
pub const YARDSTICK: &str = "retraining";

/// The method that a user gets who asks for none.
pub const DEFAULT: &str = "icl";

/// The share of the old data that `warm-sub` sees in an epoch, and `icl` at first.
const FRESH_FRACTION: f64 = 0.2;

/// All methods, in the order in which they are shown.
pub fn methods() -> Vec<Method> {
    use OptimizerChoice::{Meta, Plain};
    use RateChoice::{Cosine, Fixed, Hypergradient, Learned, LearnedAsPublished};
    let all = Objective::InfoNce(Noise::All);
    let fraction = Objective::InfoNce(Noise::Fraction(FRESH_FRACTION));
    let new = Objective::InfoNce(Noise::New);
    let buffer = Objective::InfoNce(Noise::Replay);
    let distillation = Objective::Distillation;
    let widening = Objective::InfoNce(Noise::Widening(FRESH_FRACTION));
    let (published, corrected) = (Objective::Published, Objective::Corrected);
    let updates = [
        ("warm", all, Plain, Fixed),
        ("warm-sub", fraction, Plain, Fixed),
        ("fine-tuning", new, Plain, Fixed),
        ("replay", buffer, Plain, Fixed),
        ("distillation", distillation, Plain, Fixed),
        ("icl-published", published, Meta, LearnedAsPublished),
        ("icl-published-wo-lrl", published, Meta, Fixed),
        ("icl-published-wo-m", published, Plain, LearnedAsPublished),
        ("icl-published-wo-m-lrl", published, Plain, Fixed),
        ("icl-corrected", corrected, Meta, Learned),
        ("icl-corrected-wo-lrl", corrected, Meta, Fixed),
        ("icl-corrected-wo-m", corrected, Plain, Learned),
        ("icl-corrected-wo-m-lrl", corrected, Plain, Fixed),
        (DEFAULT, widening, Plain, Fixed),
        ("warm-cosine", all, Plain, Cosine),
        ("warm-hypergradient", all, Plain, Hypergradient),
        ("warm-lrl-published", all, Plain, LearnedAsPublished),
        ("warm-lrl", all, Plain, Learned),
    ];
    let updates = updates.map(|(name, objective, optimizer, rate)| Method {
        name,
        start: Start::Trained,
        objective: Some(objective),
        optimizer,
        rate,
    });
    let inference = Method {
        name: "inference",
        objective: None,
        ..Method::of(all)
    };
    let retraining = Method {
        name: YARDSTICK,
        start: Start::Scratch,
        ..Method::of(all)
    };
    [inference, retraining].into_iter().chain(updates).collect()
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
