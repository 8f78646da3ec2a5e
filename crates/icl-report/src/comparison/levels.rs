//! The cost at which each method has the quality that retraining has at shares of its own cost.

use crate::chart::Palette;
use crate::document::{Column, Row, Table, TableCell};
use crate::summary::{Comparison, Level, Summary};
use crate::text::number::{count, nats, rounded};

/// Sentence above the table.
pub(crate) const WORDS: &str = "The level of a share is the exact risk over old and over new data of the best encoder that \
     retraining has had by that share of its charged passes, in the same seed: that of the lowest mean of the two. The \
     row of a method has its charged passes until it is at or below both for the first time, and retraining's own cost \
     of the level divided by them. A method that is there before the first step is “at start”.";

/// Makes the table of costs and speed-ups at the levels. Returns `None` without levels.
pub(crate) fn levels(comparison: &Comparison, palette: &Palette) -> Option<Table> {
    let levels = &comparison.levels;
    let columns = levels.iter().enumerate().flat_map(|(i, level)| {
        let of = if i == 0 { " of retraining's cost" } else { "" };
        let name = format!("at {} %{of}", rounded(100.0 * level.share, 0));
        Column::group(name, &["charged passes", "speed-up"])
    });
    let risks = levels
        .iter()
        .flat_map(|level| [risks(level), TableCell::Missing]);
    let mut rows = vec![Row::new("level, nats: old / new", risks.collect())];
    rows.extend(comparison.methods.iter().enumerate().map(|(i, of)| {
        let cells = levels.iter().flat_map(|level| {
            let cost = &level.costs[i];
            [
                TableCell::of(cost.charged_passes, count),
                TableCell::of_speed_up(cost.speed_up),
            ]
        });
        Row::new(of.method.as_str(), cells.collect()).coloured(palette.colour(&of.method))
    }));
    (!levels.is_empty()).then(|| Table {
        corner: "method".into(),
        columns: columns.collect(),
        rows,
    })
}

fn risks(level: &Level) -> TableCell {
    let median = |of: Option<Summary>| of?.median.map(nats);
    match (median(level.old), median(level.new)) {
        (Some(old), Some(new)) => TableCell::Word(format!("{old} / {new}")),
        _ => TableCell::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_train::REFERENCE;

    use crate::fixture::{comparison, record, risk, run};
    use crate::record::RunRecord;
    use crate::summary::{self, Distances};

    /// A run whose exact risk is evaluated after each 100 passes.
    fn falling(method: &str, risks: &[f64]) -> RunRecord {
        let mut record = run(method, 1, 1.0, 1.0, 0.0, risks.len() - 1);
        for (i, (of, all)) in record.course.evaluations.iter_mut().zip(risks).enumerate() {
            of.charged_passes = 100.0 * i as f64;
            of.risk = risk(*all, 1.0);
        }
        record
    }

    fn table(records: &[RunRecord]) -> Option<Table> {
        with_distances(records, None)
    }

    /// Makes the table as if the old encoder had these distances from the target.
    fn with_distances(records: &[RunRecord], distances: Option<&Distances>) -> Option<Table> {
        let mut comparison = Comparison::of(records).unwrap();
        comparison.levels = summary::levels(records, &comparison.methods, distances);
        let palette = Palette::new(comparison.methods.iter().map(|of| of.method.as_str()));
        levels(&comparison, &palette)
    }

    fn cells(table: &Table, row: usize) -> Vec<String> {
        table.rows[row]
            .cells
            .iter()
            .map(TableCell::in_line)
            .collect()
    }

    #[test]
    fn costs_and_ratios_by_hand() {
        let records = [
            falling(
                REFERENCE,
                &[9.0, 6.0, 5.0, 5.5, 4.0, 3.5, 3.0, 3.2, 3.1, 2.9, 2.0],
            ),
            falling("warm", &[5.5, 4.5, 2.8]),
            falling("inference", &[5.8]),
        ];
        let table = table(&records).unwrap();
        assert_eq!(
            cells(&table, 0),
            [
                "5.900 / 6.100",
                "–",
                "4.900 / 5.100",
                "–",
                "3.400 / 3.600",
                "–",
                "1.900 / 2.100",
                "–"
            ]
        );
        assert_eq!(
            cells(&table, 1),
            ["100", "1.0×", "200", "1.0×", "500", "1.0×", "1000", "1.0×"]
        );
        assert_eq!(
            cells(&table, 2),
            [
                "0", "at start", "100", "2.0×", "200", "2.5×", "never", "never"
            ]
        );
        assert_eq!(
            cells(&table, 3),
            [
                "0", "at start", "never", "never", "never", "never", "never", "never"
            ]
        );
    }

    /// On large data a run may end within its first epoch.
    #[test]
    fn evaluations_within_the_first_epoch_count() {
        let mut records = [
            falling(REFERENCE, &[9.0, 6.0, 5.0]),
            falling("warm", &[8.0, 4.0]),
        ];
        let whole = table(&records).unwrap();
        for record in &mut records {
            for evaluation in &mut record.course.evaluations {
                evaluation.epoch = 0;
            }
        }
        assert_eq!(table(&records).unwrap(), whole);
    }

    #[test]
    fn without_retraining_there_are_no_levels() {
        assert_eq!(table(&[record("warm", 1)]), None);
        let records = comparison();
        assert!(table(&records).is_some());
        // θ₀ at retraining's plateau, with its noise.
        let mut near = comparison();
        near.iter_mut()
            .for_each(|of| of.course.evaluations[0].risk = risk(2.3, 1.0));
        let distances = Distances::of(&near).unwrap();
        assert!(!distances.is_clear);
        assert_eq!(with_distances(&records, Some(&distances)), None);
    }
}
