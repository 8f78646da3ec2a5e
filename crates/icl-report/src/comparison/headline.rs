//! Answer of a comparison in one sentence.

use crate::comparison::distance::Distances;
use crate::comparison::runs::MethodRuns;
use crate::text::number::{count, factor, of_seeds, percent};

/// Smallest speed-up that counts as one.
const SAME: f64 = 1.05;

/// Says which method reaches the quality of retraining, and at which cost.
pub(crate) fn headline(methods: &[MethodRuns<'_>], distances: Option<&Distances>) -> String {
    let others: Vec<&MethodRuns<'_>> = methods.iter().filter(|of| !of.is_reference()).collect();
    if methods.iter().all(|of| of.n_with_target() == 0) {
        return "Retraining was not run, so no method can be said to be as good as retraining."
            .to_owned();
    }
    if others.is_empty() {
        return "Only retraining was run, so there is nothing to compare it with.".to_owned();
    }
    let at_start = others
        .iter()
        .map(|of| (of.n_at_start(), of.n_with_target()));
    if let Some((k, n)) = at_start.max().filter(|(k, n)| 2 * k > *n) {
        return format!(
            "Nothing to speed up: before the first step the old encoder already has the quality of \
             retraining in {}.",
            of_seeds(k, n)
        );
    }
    if distances.is_some_and(|of| !of.is_clear()) {
        return "Nothing to speed up: the old encoder is nearer to the quality of retraining than three times \
                the noise of the measure, on old and on new data."
            .to_owned();
    }
    let arrived: Vec<&MethodRuns<'_>> = others
        .into_iter()
        .filter(|of| median_passes(of).is_some())
        .collect();
    let speed_up = |of: &&MethodRuns<'_>| of.speed_up_in_passes?.median_ratio();
    let with_speed_up = arrived.iter().filter_map(|of| Some((*of, speed_up(of)?)));
    // Of equal speed-ups the first method's counts.
    let best =
        with_speed_up.fold(
            None,
            |best: Option<(&MethodRuns<'_>, f64)>, (of, value)| match best {
                Some(best) if best.1 >= value => Some(best),
                _ => Some((of, value)),
            },
        );
    match (best, arrived.first()) {
        (Some((of, value)), _) if value >= SAME => quickest(of, value),
        (Some((of, value)), _) => format!(
            "No method reaches the quality of retraining sooner than retraining: the best, {}, needs \
             {} its charged passes{}.",
            of.method,
            factor(1.0 / value),
            afterwards(of)
        ),
        (None, Some(of)) => format!(
            "{} reaches the target in {}, but retraining itself does not stay there, so no speed-up \
             can be given{}.",
            of.method,
            of_seeds(of.n_reached(), of.n_with_target()),
            afterwards(of)
        ),
        (None, None) => nearest(methods),
    }
}

/// Says by how much the quickest method is quicker.
fn quickest(of: &MethodRuns<'_>, value: f64) -> String {
    let n = of.speed_up_in_passes.map_or(0, |of| of.n);
    let over = match of.speed_up_in_passes.and_then(|of| of.range()) {
        Some(range) => format!(" (median over {n} seeds, {range})"),
        None => String::new(),
    };
    format!(
        "{} reaches the quality of retraining in {} with the fewest charged passes: {}, {} fewer than \
         retraining{over}{}.",
        of.method,
        of_seeds(of.n_reached(), of.n_with_target()),
        median_passes(of).map_or_else(String::new, count),
        factor(value),
        afterwards(of)
    )
}

/// Says how far the best method ended from the target, where none reached it in most seeds.
fn nearest(methods: &[MethodRuns<'_>]) -> String {
    let gap = |of: &MethodRuns<'_>| of.gap().and_then(|gap| gap.median);
    let others = methods.iter().filter(|of| !of.is_reference());
    let trained = others.clone().filter(|of| of.is_trained());
    let nearest = trained
        .filter_map(|of| Some((of.method, gap(of)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    match nearest {
        Some((method, gap)) if gap > 0.0 => format!(
            "No method reaches the quality of retraining: the nearest, {method}, ends {} above the \
             target.",
            percent(gap)
        ),
        Some((method, gap)) => format!(
            "No method stays at the quality of retraining for three evaluations: the nearest, {method}, \
             ends {} below the target.",
            percent(-gap)
        ),
        None => match others.filter_map(gap).next() {
            Some(gap) => format!(
                "No method but retraining was trained: the old encoder lies {} {} the target.",
                percent(gap.abs()),
                if gap > 0.0 { "above" } else { "below" }
            ),
            None => "No final exact risk is a finite number.".to_owned(),
        },
    }
}

fn median_passes(of: &MethodRuns<'_>) -> Option<f64> {
    of.to_target(|record| record.charged_to_target)?.median
}

/// Says in how many seeds a method did not keep the quality that it had reached.
fn afterwards(of: &MethodRuns<'_>) -> String {
    match of.n_left() {
        0 => String::new(),
        n => format!(
            ", but ends above the target in {}",
            of_seeds(n, of.n_with_target())
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::runs;
    use crate::fixture::{reaching, record, twenty_methods};
    use crate::record::RunRecord;

    type Reached = Option<(usize, u64, f64)>;

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
        headline(&runs::methods(&records), None)
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
            "warm reaches the quality of retraining in both seeds with the fewest charged passes: 1500, \
             7.5× fewer than retraining (median over 2 seeds, 5.0×–10.0×), but ends above the target in \
             1 of 2 seeds."
        );
        assert_eq!(
            beside_retraining(vec![reaching("warm", 1, QUICK, 1.9)]),
            "warm reaches the quality of retraining in the one seed with the fewest charged passes: 1000, \
             10.0× fewer than retraining."
        );
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
        assert!(headline(&runs::methods(&[alone]), None).starts_with("Retraining was not run"));
        let retraining = [reaching("retraining", 1, QUICK, 2.0)];
        assert!(headline(&runs::methods(&retraining), None).starts_with("Only retraining was run"));
        let lost = [
            reaching("retraining", 1, None, 2.0),
            reaching("warm", 1, QUICK, 1.9),
        ];
        assert!(headline(&runs::methods(&lost), None).contains("no speed-up can be given"));
    }

    #[test]
    fn twenty_methods_have_one_sentence() {
        let records = twenty_methods();
        let text = headline(&runs::methods(&records), None);
        assert!(text.ends_with('.') && !text.contains(". "), "{text}");
    }
}
