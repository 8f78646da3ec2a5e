//! Accuracies on held-out samples, before and after an update.

use icl_train::Answer;

use crate::document::{Block, Column, Row, Table, TableCell};
use crate::record::{TaskAccuracy, TaskFeatures};
use crate::text::number::{accuracy, percent, plural, with_sign};

/// Writes the accuracies of encoders and raw features, and says whether the encoder after the update is better.
pub(super) fn blocks(task: &TaskAccuracy) -> Vec<Block> {
    vec![Block::text(sentence(task)), Block::Table(table(task))]
}

fn sentence(task: &TaskAccuracy) -> String {
    let of = |name: &str, it: &TaskFeatures| {
        let answer = match it.difference.answer {
            Answer::Better => "better",
            Answer::NoClearDifference => "no clear difference",
            Answer::Worse => "worse",
        };
        // The record has errors, of which fewer are better.
        let [low, high] = it.difference.interval;
        let [mean, low, high] =
            [-it.difference.mean, -high, -low].map(|share| with_sign(share, percent));
        format!("by the {name} {answer}, {mean} ({low} to {high})")
    };
    format!(
        "Classes of {} from {}: {}; {}.",
        plural(task.n_held_out, "held-out sample"),
        plural(task.n_labelled, "labelled one"),
        of("nearest labelled sample", &task.nearest),
        of("linear probe", &task.linear),
    )
}

fn table(task: &TaskAccuracy) -> Table {
    let rows: [(&str, fn(&TaskFeatures) -> Option<f64>); 4] = [
        ("encoder before", |it| Some(it.before)),
        ("encoder after", |it| Some(it.after)),
        ("untrained encoder", |it| Some(it.untrained)),
        ("raw features", |it| it.raw),
    ];
    let cell = |value: Option<f64>| match value {
        Some(value) => TableCell::number(value, accuracy),
        None => TableCell::Missing,
    };
    let row = |(name, of): (&'static str, fn(&TaskFeatures) -> Option<f64>)| {
        let row = Row::new(name, vec![cell(of(&task.nearest)), cell(of(&task.linear))]);
        match name.starts_with("encoder") {
            true => row,
            false => row.floor(),
        }
    };
    Table {
        corner: "accuracy, held-out".into(),
        columns: ["nearest labelled", "linear probe"].map(Column::new).into(),
        rows: rows.into_iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use icl_train::PairedDifference;

    use super::*;

    #[test]
    fn fewer_errors_are_better() {
        let errors = |wrong: usize| -> Vec<f64> {
            (0..100).map(|at| f64::from(u8::from(at < wrong))).collect()
        };
        let features = |before: usize, after: usize| TaskFeatures {
            before: 1.0 - before as f64 / 100.0,
            after: 1.0 - after as f64 / 100.0,
            untrained: 0.5,
            raw: None,
            difference: PairedDifference::of(&errors(before), &errors(after), 0.95).unwrap(),
        };
        let task = TaskAccuracy {
            n_labelled: 50,
            n_held_out: 100,
            nearest: features(30, 10),
            linear: features(10, 10),
        };
        assert_eq!(
            sentence(&task),
            "Classes of 100 held-out samples from 50 labelled ones: by the nearest labelled sample better, +20.0 % \
             (+12.0 % to +28.0 %); by the linear probe no clear difference, 0.0 % (0.0 % to 0.0 %)."
        );
        let table = table(&task);
        assert_eq!((table.columns.len(), table.rows.len()), (2, 4));
    }
}
