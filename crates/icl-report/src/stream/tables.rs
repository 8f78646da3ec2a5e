//! Tables of a stream.

use icl_train::{PairedDifference, Verdict};

use crate::document::{Column, Row, Table, TableCell};
use crate::record::{StreamMeasure, StreamRecord};
use crate::stop_reason::rule_name;
use crate::stream::charts::Series;
use crate::stream::headline::{by, in_words};
use crate::summary::stream::{StrategySummary, StreamSummary};
use crate::text::answer_words;
use crate::text::number::{accuracy, change, count, nats, percent, seconds};

/// Largest number of rows of a table: those of the last experiences.
pub(crate) const MOST_ROWS: usize = 60;

/// Number of first experiences on the first screen, where not all are there and no line counts verdicts.
const FIRST: usize = 1;
/// Number of last experiences on the first screen, where not all are there.
const LAST: usize = 2;

/// Returns the first experience that the tables show.
pub(crate) fn first_shown(n: usize) -> usize {
    n.saturating_sub(MOST_ROWS)
}

/// Makes the table of the experiences in four columns, with the means of the method and its controls below. Of many,
/// the first and the last are shown.
pub(crate) fn overview(record: &StreamRecord, summary: &StreamSummary, series: &Series) -> Table {
    let n = record.names.len();
    let last = record.risk.last();
    let row = |at: usize| {
        let of = &record.experiences[at];
        let cells = vec![
            optional(of.served_risk, nats),
            optional(of.risk, nats),
            optional(last.and_then(|row| *row.get(at)?), nats),
        ];
        Row::new(of.name.as_str(), cells)
    };
    // The line of verdicts takes the place of a row, so that the page still fits on a screen at the end of a stream.
    let has_verdicts = record.experiences.iter().any(|of| of.verdict.is_some());
    let first = FIRST - usize::from(has_verdicts);
    let n_left_out = match n > first + LAST + 1 {
        true => n - first - LAST,
        false => 0,
    };
    let mut rows: Vec<Row> = match n_left_out {
        0 => (0..n).map(row).collect(),
        _ => (0..first).map(row).collect(),
    };
    if n_left_out > 0 {
        let dots = || TableCell::Word("…".to_owned());
        let cells = std::iter::repeat_with(dots).take(3).collect();
        rows.push(Row::new(format!("… {n_left_out} more …"), cells));
        rows.extend((n - LAST..n).map(row));
    }
    let strategies = std::iter::once(&summary.own).chain(&summary.controls);
    rows.extend(strategies.enumerate().map(|(at, of)| {
        let means = [of.mean_served, of.mean_after, of.mean_risk];
        let cells = means.map(|mean| optional(mean, nats)).into();
        let head = format!("mean: {}", series.name(at));
        Row::new(head, cells).coloured(series.colour(at)).floor()
    }));
    Table {
        corner: "risk, nats".into(),
        columns: ["served", "after it", "at the end"].map(Column::new).into(),
        rows,
    }
}

/// Makes the table of the method and its controls at the end.
pub(crate) fn at_the_end(summary: &StreamSummary, series: &Series) -> Table {
    let row = |at: usize, of: &StrategySummary| {
        let gap = match at {
            0 => TableCell::Word("the method".to_owned()),
            _ => of
                .gap
                .map_or(TableCell::Missing, |gap| TableCell::Word(by(gap))),
        };
        let cells = vec![
            optional(of.mean_risk, nats),
            gap,
            optional(of.mean_accuracy, accuracy),
            TableCell::number(of.updates_cost, count),
        ];
        Row::new(series.name(at), cells).coloured(series.colour(at))
    };
    let strategies = std::iter::once(&summary.own).chain(&summary.controls);
    Table {
        corner: "after the last experience".into(),
        columns: vec![
            Column::new("mean risk, nats").priority(1),
            Column::new("the method is").priority(0),
            Column::new("mean accuracy").priority(3),
            Column::new("passes of the updates").priority(2),
        ],
        rows: strategies.enumerate().map(|(at, of)| row(at, of)).collect(),
    }
}

/// Makes the table of forgetting and transfer, each next to its formula.
pub(crate) fn measures(record: &StreamRecord) -> Table {
    let row = |measure: &StreamMeasure| {
        let cells = vec![
            TableCell::Word(measure.formula.clone()),
            measured(measure, measure.risk, nats, " nats"),
            measured(measure, measure.accuracy, accuracy, ""),
            TableCell::Word(measure.source.clone()),
        ];
        Row::new(measure.name.as_str(), cells)
    };
    Table {
        corner: "measure".into(),
        columns: vec![
            Column::new("formula").priority(0),
            Column::new("risk, nats").priority(1),
            Column::new("accuracy").priority(2),
            Column::new("source"),
        ],
        rows: record.measures.iter().map(row).collect(),
    }
}

/// Writes a measure: a level as a number, a difference in words.
fn measured(
    measure: &StreamMeasure,
    value: Option<f64>,
    format: fn(f64) -> String,
    unit: &str,
) -> TableCell {
    let Some(value) = value.filter(|value| value.is_finite()) else {
        return TableCell::Missing;
    };
    // Forgetting counts what is worse, transfer what is better, for risks and for accuracies alike.
    match measure.name.as_str() {
        "bwt" | "fwt" => TableCell::Word(in_words(-value, format, unit)),
        name if name.starts_with("forgetting") => TableCell::Word(in_words(value, format, unit)),
        _ => TableCell::number(value, format),
    }
}

/// Makes the table of the last experiences.
pub(crate) fn experiences(record: &StreamRecord) -> Table {
    let later = record
        .experiences
        .iter()
        .zip(&record.untrained_risk)
        .enumerate();
    let shown = later.skip(first_shown(record.names.len()));
    let rows = shown.map(|(i, (of, untrained))| {
        let update = match (i, of.updated) {
            (0, true) => "first training",
            (_, true) => "updated",
            (_, false) if of.is_rejected => "rejected",
            (_, false) => "none",
        };
        let answer = |of_part: fn(&Verdict) -> &PairedDifference| {
            let words = of
                .verdict
                .as_ref()
                .map(|it| answer_words(of_part(it).answer));
            words.map_or(TableCell::Missing, |words| {
                TableCell::Word(words.to_owned())
            })
        };
        let cells = vec![
            of.arrived
                .clone()
                .map_or(TableCell::Missing, TableCell::Word),
            TableCell::number(of.n_samples as f64, count),
            TableCell::number(of.n_held_out as f64, count),
            TableCell::Word(update.to_owned()),
            TableCell::number(of.n_old as f64, count),
            TableCell::number(of.n_new as f64, count),
            optional(of.served_risk, nats),
            optional(of.risk, nats),
            optional(*untrained, nats),
            TableCell::number(of.training.epochs as f64, count),
            TableCell::number(of.training.charged_passes, count),
            of.training.stopped_by.map_or(TableCell::Missing, |rule| {
                TableCell::Word(rule_name(rule).to_owned())
            }),
            TableCell::number(of.training.parameter_change, change),
            TableCell::number(of.parameter_norm, nats),
            optional(of.effective_rank, nats),
            optional(of.neighbours_kept, percent),
            optional(of.cross_version_recall, percent),
            answer(|it| &it.old),
            answer(|it| &it.new),
            TableCell::number(of.training.train_s, seconds),
        ];
        Row::new(format!("{}. {}", i + 1, of.name), cells)
    });
    let mut columns = Column::group("", &["arrived"]);
    columns.extend(Column::group("samples", &["all", "held out"]));
    columns.extend(Column::group(
        "update",
        &["kind", "old samples", "new samples"],
    ));
    columns.extend(Column::group(
        "risk, nats",
        &["served", "afterwards", "untrained"],
    ));
    columns.extend(Column::group(
        "training",
        &["epochs", "charged passes", "ended by", "‖Δθ‖/‖θ‖"],
    ));
    columns.extend(Column::group(
        "encoder afterwards",
        &[
            "‖θ‖",
            "effective rank",
            "neighbours kept",
            "cross-version recall",
        ],
    ));
    columns.extend(Column::group("verdict", &["old data", "new data"]));
    columns.extend(Column::group("time", &["seconds"]));
    for (priority, at) in [3, 6, 10].into_iter().enumerate() {
        columns[at].priority = priority;
    }
    Table {
        corner: "experience".into(),
        columns,
        rows: rows.collect(),
    }
}

/// Makes the table of the last decisions, each with its reason.
pub(crate) fn decisions(record: &StreamRecord) -> Table {
    let later = record.decisions.iter().enumerate();
    let shown = later.skip(first_shown(record.decisions.len()));
    let rows = shown.map(|(i, of)| {
        let word = if of.update { "update" } else { "wait" };
        let cells = vec![
            TableCell::Word(word.to_owned()),
            TableCell::Word(of.reason.clone()),
            TableCell::number(of.n_experiences as f64, count),
            TableCell::number(of.n_samples as f64, count),
            optional(of.statistic, nats),
            optional(of.null_mean, nats),
            optional(of.null_q95, nats),
            TableCell::number(of.regret, nats),
        ];
        Row::new(format!("{}. {}", i + 2, of.experience), cells)
    });
    let mut columns = vec![
        Column::new("decision").priority(0),
        Column::new("reason").priority(1),
    ];
    columns.extend(Column::group("pending", &["experiences", "samples"]));
    columns.extend(Column::group(
        "bias of inference, nats",
        &[
            "measured",
            "mean of its size without drift",
            "95 % quantile",
        ],
    ));
    columns.extend(Column::group("so far", &["regret, nats"]));
    columns[2].priority = 2;
    Table {
        corner: "experience".into(),
        columns,
        rows: rows.collect(),
    }
}

fn optional(value: Option<f64>, format: fn(f64) -> String) -> TableCell {
    value.map_or(TableCell::Missing, |value| TableCell::number(value, format))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::stream;

    fn measure(name: &str, risk: f64, accuracy: f64) -> [String; 2] {
        let measure = StreamMeasure {
            name: name.to_owned(),
            formula: "f".to_owned(),
            source: "s".to_owned(),
            risk: Some(risk),
            accuracy: Some(accuracy),
        };
        let record = crate::record::StreamRecord {
            measures: vec![measure],
            ..stream(1)
        };
        let table = measures(&record);
        [1, 2].map(|at| table.rows[0].cells[at].main().to_owned())
    }

    #[test]
    fn differences_are_told_in_words_and_levels_as_numbers() {
        assert_eq!(measure("in_domain", 2.5, 0.75), ["2.500", "0.750"]);
        assert_eq!(
            measure("bwt", 0.02, -0.03),
            ["better by 0.020 nats", "worse by 0.030"]
        );
        assert_eq!(
            measure("fwt", -0.5, 0.0),
            ["worse by 0.500 nats", "the same"]
        );
        for name in ["forgetting_first", "forgetting_max"] {
            assert_eq!(
                measure(name, 0.02, -0.03),
                ["worse by 0.020 nats", "better by 0.030"]
            );
        }
        assert_eq!(measure("bwt", f64::NAN, f64::INFINITY), ["–", "–"]);
    }

    #[test]
    fn the_first_screen_leaves_out_the_middle() {
        let table = |n| {
            let record = stream(n);
            let table = overview(&record, &StreamSummary::of(&record), &Series::new(&record));
            let heads = table.rows.iter().map(|row| row.head.plain());
            (table.columns.len(), heads.collect::<Vec<_>>())
        };
        let means = ["mean: warm", "mean: retraining", "mean: never"];
        let (n_columns, heads) = table(4);
        assert_eq!((n_columns, heads.len()), (3, 4 + means.len()));
        let (_, heads) = table(30);
        let shown = ["day 1", "… 27 more …", "day 29", "day 30"];
        assert_eq!(heads[..4], shown);
        assert_eq!(heads[4..], means);
    }

    #[test]
    fn the_last_experiences_are_shown() {
        let long = stream(MOST_ROWS + 7);
        let table = experiences(&long);
        assert_eq!(table.rows.len(), MOST_ROWS);
        assert_eq!(table.rows[0].head.plain(), "8. day 8");
        assert_eq!(decisions(&long).rows.len(), MOST_ROWS);
        let last = decisions(&long).rows.pop().unwrap();
        assert_eq!(last.head.plain(), format!("{0}. day {0}", MOST_ROWS + 7));
        for row in experiences(&stream(5)).rows {
            assert_eq!(row.cells.len(), table.columns.len());
        }
        assert_eq!(first_shown(MOST_ROWS), 0);
    }
}
