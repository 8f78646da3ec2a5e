//! The cost at which each method has the quality that retraining has at shares of its own cost.

use icl_train::{Evaluation, REFERENCE};

use crate::chart::Palette;
use crate::comparison::distance::Distances;
use crate::comparison::runs::MethodRuns;
use crate::document::{Column, Row, Table, TableCell};
use crate::record::RunRecord;
use crate::speed_up::{Outcome, SpeedUp, cell};
use crate::summary::Summary;
use crate::text::number::{count, nats};

/// Shares of retraining's charged cost, with their names.
const SHARES: [(f64, &str); 4] = [
    (0.1, "at 10 % of retraining's cost"),
    (0.25, "at 25 %"),
    (0.5, "at 50 %"),
    (1.0, "at 100 %"),
];

/// Sentence above the table.
pub(crate) const WORDS: &str = "The level of a share is the exact risk over old and over new data of the best encoder that \
     retraining has had by that share of its charged passes, in the same seed: that of the lowest mean of the two. Beside a \
     method are its charged passes until it is at or below both for the first time, and retraining's own cost of the level divided by them. A method that is \
     there before the first step is “at start”.";

/// Level of one seed: the risks in nats, and retraining's charged passes until it has them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    old: f64,
    new: f64,
    passes: f64,
}

/// Makes the table of costs and speed-ups at the levels. Returns `None` without retraining, or where the old
/// encoder is not clearly below its quality, so that there is nothing to speed up.
pub(crate) fn levels(
    records: &[RunRecord],
    methods: &[MethodRuns<'_>],
    palette: &Palette,
    distances: Option<&Distances>,
) -> Option<Table> {
    if distances.is_some_and(|of| !of.is_clear()) {
        return None;
    }
    let retraining: Vec<&RunRecord> = records
        .iter()
        .filter(|record| record.method == REFERENCE && record.training.epochs > 0)
        .collect();
    if retraining.is_empty() {
        return None;
    }
    let of_seed = |seed: u64, share: f64| {
        let record = retraining.iter().find(|record| record.seed == seed)?;
        level(record, share)
    };
    let columns = SHARES
        .iter()
        .flat_map(|(_, name)| Column::group(*name, &["charged passes", "speed-up"]));
    let risks = SHARES.iter().flat_map(|(share, _)| {
        let of_seeds = || retraining.iter().map(|record| level(record, *share));
        let median = |risk: fn(Level) -> f64| {
            let risks = of_seeds().map(|of| of.map(risk));
            Summary::of_present(risks)?.median.map(nats)
        };
        let words = match (median(|of| of.old), median(|of| of.new)) {
            (Some(old), Some(new)) => TableCell::Word(format!("{old} / {new}")),
            _ => TableCell::Missing,
        };
        [words, TableCell::Missing]
    });
    let row = |of: &MethodRuns<'_>| {
        let cells = SHARES.iter().flat_map(|(share, _)| {
            let seeds = of.records.iter().filter_map(|record| {
                let level = of_seed(record.seed, *share)?;
                Some((level, first_at(record, level)))
            });
            let seeds: Vec<(Level, Option<f64>)> = seeds.collect();
            let passes = Summary::new(seeds.iter().map(|(_, passes)| *passes));
            let outcomes = seeds.iter().map(|(level, passes)| match passes {
                None => Outcome::Never,
                Some(0.0) => Outcome::AtStart,
                Some(passes) => Outcome::Ratio(level.passes / passes),
            });
            [
                TableCell::of(passes, count),
                cell(SpeedUp::over(outcomes).as_ref()),
            ]
        });
        Row::new(of.method, cells.collect()).coloured(palette.colour(of.method))
    };
    let mut rows: Vec<Row> = methods.iter().map(row).collect();
    rows.insert(0, Row::new("level, nats: old / new", risks.collect()));
    Some(Table {
        corner: "method".into(),
        columns: columns.collect(),
        rows,
    })
}

/// Returns the lowest risks that a run has had by a share of its whole charged passes, after the first step, and the
/// passes until then.
fn level(record: &RunRecord, share: f64) -> Option<Level> {
    let whole = record.course.evaluations.last()?.charged_passes;
    let trained = record
        .course
        .evaluations
        .iter()
        .filter(|of| of.sample_passes > 0);
    // A product of a share may lie a rounding below the cost that it stands for.
    let within = trained.filter(|of| of.charged_passes <= share * whole * (1.0 + 1e-9));
    within
        .map(|of| Level {
            old: of.risk.old,
            new: of.risk.new,
            passes: of.charged_passes,
        })
        .filter(|level| (level.old + level.new).is_finite())
        .min_by(|a, b| (a.old + a.new).total_cmp(&(b.old + b.new)))
}

/// Returns the charged passes until a run has at most the risks of this level for the first time.
fn first_at(record: &RunRecord, level: Level) -> Option<f64> {
    let mut evaluations = record.course.evaluations.iter();
    let is_there = |of: &&Evaluation| of.risk.old <= level.old && of.risk.new <= level.new;
    evaluations.find(is_there).map(|of| of.charged_passes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::runs;
    use crate::fixture::{comparison, record, risk, run};

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
        let methods = runs::methods(records);
        let palette = Palette::new(methods.iter().map(|of| of.method));
        levels(records, &methods, &palette, None)
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
        let methods = runs::methods(&records);
        let palette = Palette::new(methods.iter().map(|of| of.method));
        // θ₀ at retraining's plateau, with its noise.
        let mut near = comparison();
        near.iter_mut()
            .for_each(|of| of.course.evaluations[0].risk = risk(2.3, 1.0));
        let distances = Distances::of(&near).unwrap();
        assert!(!distances.is_clear());
        assert_eq!(levels(&records, &methods, &palette, Some(&distances)), None);
    }
}
