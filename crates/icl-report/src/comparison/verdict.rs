//! One plain sentence or two on each method, made from its numbers.

use crate::number::{MISSING, count, factor, nats, percent, plural, seconds};
use crate::{MethodSummary, Summary};
use icl_train::REFERENCE;

/// A factor this close to 1 is no difference.
const SAME: f64 = 0.05;

/// Whether a method reached the quality of retraining, and how soon. Plain text without the
/// method's name.
pub fn verdict(summary: &MethodSummary) -> String {
    let trains = summary.epochs.is_some_and(|epochs| epochs.max > Some(0.0));
    if summary.n_with_target == 0 {
        without_target(summary, trains)
    } else if summary.method == REFERENCE {
        of_yardstick(summary)
    } else if !trains {
        of_inference(summary)
    } else if summary.n_reached == 0 {
        of_never(summary)
    } else {
        of_arrival(summary)
    }
}

fn without_target(summary: &MethodSummary, trains: bool) -> String {
    let (from, to) = (median(&summary.start_risk.all), median(&summary.risk.all));
    let moved = if trains {
        format!(
            "The exact risk went from {} to {} nats",
            show(from, nats),
            show(to, nats)
        )
    } else {
        format!(
            "Trains nothing: the exact risk stays at {} nats",
            show(to, nats)
        )
    };
    format!("{moved}; retraining was not run, so there is no target to reach.")
}

fn of_yardstick(summary: &MethodSummary) -> String {
    let n = summary.n_with_target;
    let epochs = median(&summary.epochs_to_target);
    match (summary.n_reached, epochs) {
        (0, _) => "The yardstick, but it never stayed under the target that its own plateau sets: \
                   its risk swings too much for a factor to be given."
            .to_owned(),
        (reached, Some(_)) => format!(
            "The yardstick: it reached its own plateau + 1 % after {} epochs, {} passes and {} s{}.",
            show(epochs, count),
            show(median(&summary.passes_to_target), count),
            show(median(&summary.time_to_target_s), seconds),
            match (n, reached) {
                (1, _) => String::new(),
                (n, reached) if reached == n => format!(" (medians over {n} seeds)"),
                (n, reached) => format!(
                    " (medians over {n} seeds, of which {} never stayed there)",
                    n - reached
                ),
            }
        ),
        (reached, None) => format!(
            "The yardstick, but it stayed under the target that its own plateau sets in {} only.",
            of_seeds(reached, n)
        ),
    }
}

fn of_inference(summary: &MethodSummary) -> String {
    let n = summary.n_with_target;
    let gap = gap(summary);
    match summary.n_reached {
        0 => format!(
            "Trains nothing: θ₀ misses the quality of retraining in {}; it lies {gap}.",
            of_seeds(n, n)
        ),
        reached if reached == n => format!(
            "Trains nothing: θ₀ already has the quality of retraining in {}, so there is nothing to \
             catch up with and a speed-up is meaningless.",
            of_seeds(n, n)
        ),
        reached => format!(
            "Trains nothing: θ₀ already has the quality of retraining in {}, where a speed-up is \
             meaningless, and misses it in the others; it lies {gap}.",
            of_seeds(reached, n)
        ),
    }
}

fn of_never(summary: &MethodSummary) -> String {
    let n = summary.n_with_target;
    let seeds = if n == 1 {
        String::new()
    } else {
        format!(" in any of {n} seeds")
    };
    let and = match summary.gap.and_then(|gap| gap.median) {
        Some(gap) if gap <= 0.0 => ", though not for three evaluations in a row",
        _ => "",
    };
    format!(
        "Never reached the quality of retraining{seeds}; it ended {}{and}.",
        gap(summary)
    )
}

fn of_arrival(summary: &MethodSummary) -> String {
    let n = summary.n_with_target;
    let (reached, at_start) = (summary.n_reached, summary.n_at_start);
    let mut text = if at_start == reached {
        format!(
            "θ₀ was at the target before the first step in {}, so a speed-up is meaningless{}.",
            of_seeds(at_start, n),
            match n - reached {
                0 => "",
                1 => "; the other seed never reached it",
                _ => "; the others never reached it",
            }
        )
    } else {
        let start = match at_start {
            0 => String::new(),
            _ => format!(
                "; in {at_start} of them θ₀ was there before the first step, where a speed-up is meaningless"
            ),
        };
        format!(
            "Reached the quality of retraining in {}{start}. {}",
            of_seeds(reached, n),
            speed(summary)
        )
    };
    if summary.n_left > 0 {
        text.push_str(&match (summary.n_left, n) {
            (_, 1) => " It did not keep it: it ended above the target.".to_owned(),
            (left, n) => {
                format!(" In {left} of {n} seeds it did not keep it and ended above the target.")
            }
        });
    }
    text
}

/// How soon against retraining, over the seeds in which both had a way to go and arrived.
fn speed(summary: &MethodSummary) -> String {
    let (Some(passes), Some(time)) = (summary.relative_passes, summary.relative_time) else {
        return "Retraining itself did not stay under the target there, so no factor can be given."
            .to_owned();
    };
    let over = match (time.n, summary.n_with_target) {
        (_, 1) => String::new(),
        (n, all) if n == all => format!(" (medians over {n} seeds)"),
        (1, _) => " (in the one seed where both had a way to go and arrived)".to_owned(),
        (n, _) => format!(" (medians over the {n} seeds where both had a way to go and arrived)"),
    };
    format!(
        "It got there {} in sample passes and {} in seconds than retraining did{over}.",
        versus(passes.median),
        versus(time.median)
    )
}

/// A cost relative to retraining's in words.
fn versus(relative: Option<f64>) -> String {
    match relative {
        None => MISSING.to_owned(),
        Some(x) if (x - 1.0).abs() <= SAME => "no sooner or later".to_owned(),
        Some(x) if x < 1.0 => format!("{} sooner", factor(1.0 / x)),
        Some(x) => format!("{} later", factor(x)),
    }
}

/// Where the final risk lies from the target.
fn gap(summary: &MethodSummary) -> String {
    let median_word = if summary.n_with_target > 1 {
        " (median)"
    } else {
        ""
    };
    match median(&summary.gap) {
        None => "at an unknown distance from the target".to_owned(),
        Some(gap) => {
            let side = if gap > 0.0 { "above" } else { "below" };
            format!("{} {side} the target{median_word}", percent(gap.abs()))
        }
    }
}

/// `all 3 seeds`, `2 of 3 seeds`, `the one seed`.
fn of_seeds(k: usize, n: usize) -> String {
    match (k, n) {
        (_, 1) => "the one seed".to_owned(),
        (2, 2) => "both seeds".to_owned(),
        (k, n) if k == n => format!("all {n} seeds"),
        (k, n) => format!("{k} of {}", plural(n, "seed")),
    }
}

fn median(summary: &Option<Summary>) -> Option<f64> {
    summary.and_then(|summary| summary.median)
}

fn show(value: Option<f64>, format: fn(f64) -> String) -> String {
    value.map_or(MISSING.to_owned(), format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunRecord;
    use crate::fixture::record;
    use crate::summarize;

    /// One seed of a method against retraining's 100 epochs, 10,000 passes and 10 s.
    fn reaching(method: &str, seed: u64, at: Option<(usize, u64, f64)>, end: f64) -> RunRecord {
        let mut record = record(method, seed);
        record.target = Some(2.0);
        record.epochs_to_target = at.map(|(epochs, _, _)| epochs);
        record.passes_to_target = at.map(|(_, passes, _)| passes);
        record.time_to_target_s = at.map(|(_, _, seconds)| seconds);
        record.risk.all = end;
        record
    }

    fn verdict_on(ours: Vec<RunRecord>) -> String {
        let mut records: Vec<_> = ours
            .iter()
            .map(|r| reaching("retraining", r.seed, Some((100, 10_000, 10.0)), 1.99))
            .collect();
        let method = ours[0].method.clone();
        records.extend(ours);
        let summaries = summarize(&records);
        verdict(summaries.iter().find(|s| s.method == method).unwrap())
    }

    #[test]
    fn arrival_is_told_in_factors() {
        let quick = Some((10, 1_000, 4.0));
        assert_eq!(
            verdict_on(vec![
                reaching("warm", 1, quick, 1.9),
                reaching("warm", 2, quick, 1.9)
            ]),
            "Reached the quality of retraining in both seeds. It got there 10× sooner in sample \
             passes and 2.5× sooner in seconds than retraining did (medians over 2 seeds)."
        );
        assert_eq!(
            verdict_on(vec![reaching("warm", 1, Some((100, 10_200, 15.0)), 2.1)]),
            "Reached the quality of retraining in the one seed. It got there no sooner or later \
             in sample passes and 1.5× later in seconds than retraining did. It did not keep it: it \
             ended above the target."
        );
    }

    #[test]
    fn a_part_of_the_seeds_is_said_to_be_a_part() {
        let text = verdict_on(vec![
            reaching("warm", 1, Some((10, 1_000, 4.0)), 1.9),
            reaching("warm", 2, Some((0, 0, 0.0)), 1.9),
            reaching("warm", 3, None, 2.2),
        ]);
        assert_eq!(
            text,
            "Reached the quality of retraining in 2 of 3 seeds; in 1 of them θ₀ was there before the \
             first step, where a speed-up is meaningless. It got there 10× sooner in sample passes \
             and 2.5× sooner in seconds than retraining did (in the one seed where both had a way to \
             go and arrived)."
        );
    }

    #[test]
    fn at_the_start_there_is_no_speed_up() {
        let there = Some((0, 0, 0.0));
        assert_eq!(
            verdict_on(vec![reaching("warm", 1, there, 1.9)]),
            "θ₀ was at the target before the first step in the one seed, so a speed-up is meaningless."
        );
        assert!(
            verdict_on(vec![
                reaching("warm", 1, there, 1.9),
                reaching("warm", 2, None, 3.0)
            ])
            .ends_with(
                "in 1 of 2 seeds, so a speed-up is meaningless; the other seed never reached it."
            )
        );
    }

    #[test]
    fn never_is_said_with_the_distance() {
        assert_eq!(
            verdict_on((1..=3).map(|s| reaching("warm", s, None, 2.1)).collect()),
            "Never reached the quality of retraining in any of 3 seeds; it ended 5.0 % above the \
             target (median)."
        );
        assert_eq!(
            verdict_on(vec![reaching("warm", 1, None, 1.9)]),
            "Never reached the quality of retraining; it ended 5.0 % below the target, though not \
             for three evaluations in a row."
        );
    }

    #[test]
    fn inference_trains_nothing() {
        let still = |at, end| {
            let mut record = reaching("inference", 1, at, end);
            record.epochs = 0;
            record
        };
        assert_eq!(
            verdict_on(vec![still(None, 2.2)]),
            "Trains nothing: θ₀ misses the quality of retraining in the one seed; it lies 10.0 % \
             above the target."
        );
        assert!(verdict_on(vec![still(Some((0, 0, 0.0)), 1.9)]).contains("meaningless"));
    }

    #[test]
    fn without_retraining_there_is_no_target() {
        let mut alone = record("warm", 1);
        alone.target = None;
        alone.start.all = 3.0;
        alone.risk.all = 2.5;
        assert_eq!(
            verdict(&summarize(&[alone])[0]),
            "The exact risk went from 3.000 to 2.500 nats; retraining was not run, so there is no \
             target to reach."
        );
    }

    #[test]
    fn a_yardstick_may_miss_its_own_target() {
        let own = |at| reaching("retraining", 1, at, 2.0);
        assert!(verdict(&summarize(&[own(None)])[0]).contains("never stayed"));
        assert_eq!(
            verdict(&summarize(&[own(Some((10, 1_000, 4.0)))])[0]),
            "The yardstick: it reached its own plateau + 1 % after 10 epochs, 1000 passes and 4.00 s."
        );
        let warm = reaching("warm", 1, Some((1, 10, 0.1)), 1.9);
        let summaries = summarize(&[own(None), warm]);
        assert!(verdict(&summaries[1]).contains("no factor can be given"));
    }
}
