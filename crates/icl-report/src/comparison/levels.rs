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
pub(crate) const WORDS: &str = "The level of a share is the lowest exact risk over all data that retraining has \
     had by that share of its charged passes, in the same seed. Beside a method are its charged passes until it has \
     that level for the first time, and retraining's own cost of the level divided by them. A method that is \
     there before the first step is “at start”.";

/// Level of one seed: the risk in nats, and retraining's charged passes until it has it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    risk: f64,
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
        .filter(|record| record.method == REFERENCE && record.epochs > 0)
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
        let risks = retraining
            .iter()
            .map(|record| Some(level(record, *share)?.risk));
        [
            TableCell::of(Summary::of_present(risks), nats),
            TableCell::Missing,
        ]
    });
    let row = |of: &MethodRuns<'_>| {
        let cells = SHARES.iter().flat_map(|(share, _)| {
            let seeds = of.records.iter().filter_map(|record| {
                let level = of_seed(record.seed, *share)?;
                Some((level, first_at(record, level.risk)))
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
    rows.insert(0, Row::new("level, nats", risks.collect()));
    Some(Table {
        corner: "method".into(),
        columns: columns.collect(),
        rows,
    })
}

/// Returns the lowest risk that a run has had by a share of its whole charged passes, after the first step, and the
/// passes until then.
fn level(record: &RunRecord, share: f64) -> Option<Level> {
    let whole = passes(record.evaluations.last()?);
    let trained = record.evaluations.iter().filter(|of| of.epoch > 0);
    // A product of a share may lie a rounding below the cost that it stands for.
    let within = trained.filter(|of| passes(of) <= share * whole * (1.0 + 1e-9));
    within
        .map(|of| Level {
            risk: of.risk.all,
            passes: passes(of),
        })
        .filter(|level| level.risk.is_finite())
        .min_by(|a, b| a.risk.total_cmp(&b.risk))
}

/// Returns the charged passes until a run has at most this risk for the first time.
fn first_at(record: &RunRecord, risk: f64) -> Option<f64> {
    let mut evaluations = record.evaluations.iter();
    evaluations.find(|of| of.risk.all <= risk).map(passes)
}

/// Returns the charged passes of an evaluation; the sample passes in records of earlier versions.
fn passes(of: &Evaluation) -> f64 {
    of.charged_passes.unwrap_or(of.sample_passes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::runs;
    use crate::fixture::{comparison, record, risk, run};

    /// A run whose exact risk is evaluated after each 100 passes.
    fn falling(method: &str, risks: &[f64]) -> RunRecord {
        let mut record = run(method, 1, 1.0, 1.0, 0.0, risks.len() - 1);
        for (i, (of, all)) in record.evaluations.iter_mut().zip(risks).enumerate() {
            of.charged_passes = Some(100.0 * i as f64);
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
            ["6.000", "–", "5.000", "–", "3.500", "–", "2.000", "–"]
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
            .for_each(|of| of.evaluations[0].risk = risk(2.3, 1.0));
        let distances = Distances::of(&near).unwrap();
        assert!(!distances.is_clear());
        assert_eq!(levels(&records, &methods, &palette, Some(&distances)), None);
    }
}
