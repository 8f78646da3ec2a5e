//! Answer of a comparison in one sentence.

use crate::summary::{MethodSummary, Verdict};
use crate::text::number::{count, factor, of_seeds, percent, plural, range_of_speed_up};

/// Says which method reaches the quality of retraining, and at which cost.
pub(crate) fn headline(verdict: &Verdict, methods: &[MethodSummary]) -> String {
    let of = |method: &String| methods.iter().find(|of| of.method == *method);
    match verdict {
        Verdict::NoTarget => {
            "Retraining was not run, so no method can be said to be as good as retraining.".to_owned()
        }
        Verdict::OnlyRetraining => {
            "Only retraining was run, so there is nothing to compare it with.".to_owned()
        }
        Verdict::AtStart { n, of } => format!(
            "Nothing to speed up: before the first step the old encoder already has the quality of \
             retraining in {}.",
            of_seeds(*n, *of)
        ),
        Verdict::TooNear => {
            "Nothing to speed up: the old encoder is nearer to the quality of retraining than three times \
             the noise of the measure, on old and on new data."
                .to_owned()
        }
        Verdict::Sooner { method, speed_up } => {
            of(method).map_or_else(String::new, |of| sooner(of, *speed_up, methods))
        }
        Verdict::NotSooner { method, speed_up } => format!(
            "No method reaches the quality of retraining sooner than retraining: the best, {method}, needs \
             {} its charged passes{}.",
            factor(1.0 / speed_up),
            of(method).map_or_else(String::new, afterwards)
        ),
        Verdict::NoSpeedUp { method } => format!(
            "{method} reaches the target{}, but retraining itself does not stay there, so no speed-up \
             can be given{}.",
            of(method).map_or_else(String::new, |of| format!(" in {}", arrivals(of))),
            of(method).map_or_else(String::new, afterwards)
        ),
        Verdict::NotReached {
            method,
            above_target,
        } if *above_target > 0.0 => format!(
            "No method reaches the quality of retraining: the nearest, {method}, ends {} above the \
             target.",
            percent(*above_target)
        ),
        Verdict::NotReached {
            method,
            above_target,
        } => format!(
            "No method stays at the quality of retraining for three evaluations: the nearest, {method}, \
             ends {} below the target.",
            percent(-above_target)
        ),
        Verdict::NotTrained { above_target } => format!(
            "No method but retraining was trained: the old encoder lies {} {} the target.",
            percent(above_target.abs()),
            if *above_target > 0.0 { "above" } else { "below" }
        ),
        Verdict::NotFinite => "No final exact risk is a finite number.".to_owned(),
    }
}

/// Says by how much the quickest method is quicker, and from which others it does not differ.
fn sooner(of: &MethodSummary, speed_up: f64, methods: &[MethodSummary]) -> String {
    let over = of.speed_up_in_passes.and_then(|over| {
        let range = range_of_speed_up(&over)?;
        Some(format!(" (median over {} seeds, {range})", over.n))
    });
    let meets = |other: &&MethodSummary| {
        let pair = of.speed_up_in_passes.zip(other.speed_up_in_passes);
        other.method != of.method && !other.is_reference() && pair.is_some_and(|(a, b)| a.meets(&b))
    };
    let others: Vec<&str> = methods
        .iter()
        .filter(meets)
        .map(|of| of.method.as_str())
        .collect();
    let first = match &others[..] {
        [] => format!(
            "{} reaches the quality of retraining in {} at the lowest cost:",
            of.method,
            arrivals(of)
        ),
        others => format!(
            "{} reaches the quality of retraining in {}, with no clear difference from {}:",
            of.method,
            arrivals(of),
            listed(others)
        ),
    };
    let passes = of.charged_to_target.and_then(|of| of.median);
    format!(
        "{first} {} charged passes, {} fewer than retraining{}{}.",
        passes.map_or_else(String::new, count),
        factor(speed_up),
        over.unwrap_or_default(),
        afterwards(of)
    )
}

/// Lists a few names, and counts many.
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] if names.len() <= 3 => format!("{} and {last}", others.join(", ")),
        names => plural(names.len(), "other method"),
    }
}

/// Says in how many seeds a method reached the target.
fn arrivals(of: &MethodSummary) -> String {
    of_seeds(of.n_reached, of.n_with_target)
}

/// Says in how many seeds a method did not keep the quality that it had reached.
fn afterwards(of: &MethodSummary) -> String {
    match of.n_left {
        0 => String::new(),
        n => format!(
            ", but ends above the target in {}",
            of_seeds(n, of.n_with_target)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{reaching, record, twenty_methods};
    use crate::record::RunRecord;
    use crate::summary::{Comparison, verdict};

    type Reached = Option<(usize, u64, f64)>;

    /// The headline, whatever the distance of the old encoder.
    fn of(records: &[RunRecord]) -> String {
        let methods = Comparison::of(records).unwrap().methods;
        headline(&verdict(&methods, None), &methods)
    }

    /// The headline of runs next to retraining's 100 epochs, 10,000 passes and 10 s.
    fn beside_retraining(ours: Vec<RunRecord>) -> String {
        let retraining = |seed| reaching("retraining", seed, Some((100, 10_000, 10.0)), 1.99);
        let mut records: Vec<RunRecord> = Vec::new();
        for record in &ours {
            if records.iter().all(|of| of.seed != record.seed) {
                records.push(retraining(record.seed));
            }
        }
        records.extend(ours);
        of(&records)
    }

    const QUICK: Reached = Some((10, 1_000, 4.0));

    #[test]
    fn the_cheapest_method_is_named() {
        assert_eq!(
            beside_retraining(vec![
                reaching("slow", 1, Some((50, 5_000, 9.0)), 1.9),
                reaching("warm", 1, QUICK, 1.9),
                reaching("slow", 2, Some((50, 5_000, 9.0)), 1.9),
                reaching("warm", 2, Some((10, 2_000, 4.0)), 2.1),
            ]),
            "warm reaches the quality of retraining in both seeds at the lowest cost: 1500 \
             charged passes, 7.5× fewer than retraining (median over 2 seeds, 5.0×–10.0×), but ends above the target \
             in 1 of 2 seeds."
        );
        assert_eq!(
            beside_retraining(vec![reaching("warm", 1, QUICK, 1.9)]),
            "warm reaches the quality of retraining in the one seed at the lowest cost: 1000 \
             charged passes, 10.0× fewer than retraining."
        );
    }

    #[test]
    fn methods_within_the_spread_of_the_seeds_are_named_together() {
        let text = beside_retraining(vec![
            reaching("warm", 1, QUICK, 1.9),
            reaching("icl", 1, Some((20, 2_000, 5.0)), 1.9),
            reaching("warm", 2, Some((10, 2_000, 4.0)), 1.9),
            reaching("icl", 2, Some((10, 1_250, 4.0)), 1.9),
        ]);
        let words = "warm reaches the quality of retraining in both seeds, with no clear difference from icl: 1500 \
                     charged passes";
        assert!(text.starts_with(words), "{text}");
    }

    #[test]
    fn a_method_that_is_not_sooner_is_no_answer() {
        assert_eq!(
            beside_retraining(vec![reaching("warm", 1, Some((100, 15_000, 15.0)), 1.9)]),
            "No method reaches the quality of retraining sooner than retraining: the best, warm, needs \
             1.5× its charged passes."
        );
    }

    #[test]
    fn at_the_start_there_is_nothing_to_speed_up() {
        let there = Some((0, 0, 0.0));
        assert_eq!(
            beside_retraining(vec![
                reaching("warm", 1, there, 1.9),
                reaching("warm", 2, there, 1.9),
                reaching("warm", 3, None, 3.0)
            ]),
            "Nothing to speed up: before the first step the old encoder already has the quality of \
             retraining in 2 of 3 seeds."
        );
    }

    #[test]
    fn never_is_said_with_the_distance() {
        let ours = |end| {
            (1..=3)
                .map(|seed| reaching("warm", seed, None, end))
                .collect()
        };
        assert_eq!(
            beside_retraining(ours(2.1)),
            "No method reaches the quality of retraining: the nearest, warm, ends 5.0 % above the target."
        );
        assert!(beside_retraining(ours(1.9)).contains("5.0 % below the target"));
        assert!(beside_retraining(ours(f64::NAN)).contains("finite"));
        let mut still = reaching("inference", 1, None, 2.2);
        still.training.epochs = 0;
        assert_eq!(
            beside_retraining(vec![still]),
            "No method but retraining was trained: the old encoder lies 10.0 % above the target."
        );
    }

    #[test]
    fn without_retraining_there_is_no_answer() {
        let mut alone = record("warm", 1);
        alone.target = None;
        assert!(of(&[alone]).starts_with("Retraining was not run"));
        let retraining = [reaching("retraining", 1, QUICK, 2.0)];
        assert!(of(&retraining).starts_with("Only retraining was run"));
        let lost = [
            reaching("retraining", 1, None, 2.0),
            reaching("warm", 1, QUICK, 1.9),
        ];
        assert!(of(&lost).contains("no speed-up can be given"));
    }

    #[test]
    fn twenty_methods_have_one_sentence() {
        let records = twenty_methods();
        let text = of(&records);
        assert!(text.ends_with('.') && !text.contains(". "), "{text}");
    }
}
