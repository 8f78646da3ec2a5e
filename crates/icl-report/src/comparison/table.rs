//! The table of a comparison on the terminal.

use comfy_table::{Cell, CellAlignment, Table, presets};

use crate::RunRecord;
use crate::comparison::aggregate::{
    Parts, has_all_accuracies, summarize, summarize_floors, target,
};
use crate::comparison::wording;
use crate::document::html::printable;
use crate::number::{MISSING, Spread, accuracy, change, count, nats, plural, seconds};
use crate::{MethodSummary, Summary};

const HEADER: [&str; 9] = [
    "method",
    "time to\ntarget",
    "epochs\nto target",
    "passes\nto target",
    "exact risk, nats\nall/old/new",
    "L^I,X(old)\nstart → end",
    "L^II\n(old)",
    "accuracy\nall/old/new",
    "‖Δθ‖/‖θ‖",
];

/// The comparison in short, 120 to 160 columns wide: medians over the seeds, `[min–max]` where the
/// seeds differ, "never" where the target was not reached. Below it the accuracies' floors and the
/// target.
pub fn terminal_table(records: &[RunRecord]) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_header(HEADER);
    for summary in summarize(records) {
        table.add_row(row(&summary).map(Cell::new_owned));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut lines = vec![table.trim_fmt(), floors_line(records), target_line(records)];
    if !has_all_accuracies(records) {
        lines.push(format!("{MISSING}: {}", wording::ONE_CLASS));
    }
    lines.join("\n") + "\n"
}

fn row(summary: &MethodSummary) -> [String; 9] {
    [
        printable(&summary.method),
        two_lines(summary.time_to_target_s, seconds, " s"),
        two_lines(summary.epochs_to_target, count, ""),
        two_lines(summary.passes_to_target, count, ""),
        triple(&summary.risk, nats),
        format!(
            "{} → {}",
            median(summary.start_nce1_old, nats),
            median(summary.nce1_old, nats)
        ),
        median(summary.nce2_old, nats),
        triple(&summary.accuracy, accuracy),
        median(summary.parameter_change, change),
    ]
}

fn two_lines(summary: Option<Summary>, format: fn(f64) -> String, unit: &str) -> String {
    let Spread { median, spread } = Spread::new(summary.as_ref(), format, unit);
    match spread {
        Some(spread) => format!("{median}\n{spread}"),
        None => median,
    }
}

fn median(summary: Option<Summary>, format: fn(f64) -> String) -> String {
    Spread::new(summary.as_ref(), format, "").median
}

fn triple(parts: &Parts<Option<Summary>>, format: fn(f64) -> String) -> String {
    parts.as_array().map(|part| median(*part, format)).join("/")
}

fn floors_line(records: &[RunRecord]) -> String {
    let floors = summarize_floors(records);
    let named = floors
        .named()
        .map(|(name, parts)| format!("{name} {}", triple(parts, accuracy)));
    format!("Floors of the accuracy all/old/new: {}.", named.join(" · "))
}

fn target_line(records: &[RunRecord]) -> String {
    match target(records) {
        None => wording::NO_TARGET.to_owned(),
        Some(target) => format!(
            "Target: {}: {} nats{}.",
            wording::TARGET,
            median(Some(target), nats),
            match target.n {
                1 => String::new(),
                n => format!(" (median over {})", plural(n, "seed")),
            }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccuracyParts;
    use crate::fixture::{comparison, record};

    #[test]
    fn it_fits_a_terminal_and_holds_every_method() {
        let text = terminal_table(&comparison());
        let width = text.lines().take(10).map(|line| line.chars().count()).max();
        assert!(
            width.is_some_and(|width| (100..=160).contains(&width)),
            "{width:?}"
        );
        for name in ["inference", "warm-sub", "icl-published-wo-m-lrl", "never"] {
            assert!(text.contains(name), "{name} is missing in\n{text}");
        }
        assert!(
            text.contains("Floors of the accuracy all/old/new: majority 0.660/0.670/0.640 · size")
        );
        assert!(text.contains("2.300 nats (median over 3 seeds)"));
        assert_eq!(text, terminal_table(&comparison()));
    }

    #[test]
    fn a_minority_that_never_came_is_shown() {
        let mut records = [1, 2, 3].map(|seed| record("warm", seed));
        for (record, time) in records.iter_mut().zip([Some(0.28), Some(0.31), None]) {
            record.time_to_target_s = time;
        }
        let text = terminal_table(&records);
        assert!(text.contains("0.31 s"), "{text}");
        assert!(text.contains("[0.28–never]"), "{text}");
    }

    #[test]
    fn what_is_absent_is_a_dash() {
        let mut alone = record("warm\u{1b}[31m", 1);
        alone.target = None;
        alone.accuracy = AccuracyParts {
            all: None,
            old: None,
            new: None,
        };
        let text = terminal_table(&[alone]);
        assert!(text.contains("–/–/–"), "{text}");
        assert!(text.contains("single class"), "{text}");
        assert!(text.contains("No target"), "{text}");
        assert!(!text.contains("NaN") && !text.contains("None") && !text.contains("never"));
        assert!(!text.contains('\u{1b}'));
        assert!(terminal_table(&[]).contains("method"));
    }
}
