//! Accuracies of an encoder on the labels of held-out samples.

use crate::document::{Block, Column, Row, Table, TableCell};
use crate::record::{TaskAccuracy, TaskFeatures};
use crate::text::answer_words;
use crate::text::number::{accuracy, percent, plural, with_sign};

/// Two encoders that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    UntrainedAndTrained,
    BeforeAndAfter,
}

/// Writes the accuracies of encoders and raw features, and says whether one encoder is better than the other; nothing
/// without accuracies.
pub(crate) fn blocks(task: Option<&TaskAccuracy>, compared: Compared) -> Vec<Block> {
    let blocks = |task| {
        let sentence = Block::text(sentence(task, compared));
        [sentence, Block::Table(table(task, compared))]
    };
    task.into_iter().flat_map(blocks).collect()
}

fn sentence(task: &TaskAccuracy, compared: Compared) -> String {
    let points = |share: f64| with_sign(share, |share| percent(share).replace(" %", ""));
    let of = |name: &str, it: &TaskFeatures| {
        // The record has errors, of which fewer are better.
        let [low, high] = it.difference.interval;
        let [mean, low, high] = [-it.difference.mean, -high, -low].map(points);
        let answer = answer_words(it.difference.answer);
        format!("by {name} {answer}, {mean} points ({low} to {high})")
    };
    let encoders = match compared {
        Compared::UntrainedAndTrained => "the trained encoder, compared with an untrained one",
        Compared::BeforeAndAfter => "the updated encoder, compared with the one before",
    };
    format!(
        "Predicting the labels of {} from {}, {encoders}: {}; {}.",
        plural(task.n_held_out, "held-out sample"),
        plural(task.n_labelled, "labelled sample"),
        of("the nearest one", &task.nearest),
        of("a linear probe", &task.linear),
    )
}

fn table(task: &TaskAccuracy, compared: Compared) -> Table {
    let cell = |value: Option<f64>| match value {
        Some(value) => TableCell::number(value, accuracy),
        None => TableCell::Missing,
    };
    let row = |name: &'static str, of: fn(&TaskFeatures) -> Option<f64>| {
        Row::new(name, vec![cell(of(&task.nearest)), cell(of(&task.linear))])
    };
    let mut rows = match compared {
        Compared::UntrainedAndTrained => vec![row("trained encoder", |it| Some(it.after))],
        Compared::BeforeAndAfter => vec![
            row("encoder before", |it| Some(it.before)),
            row("encoder after", |it| Some(it.after)),
        ],
    };
    rows.push(row("untrained encoder", |it| Some(it.untrained)).floor());
    rows.push(row("raw features", |it| it.raw).floor());
    Table {
        corner: "accuracy, held-out".into(),
        columns: ["nearest labelled", "linear probe"].map(Column::new).into(),
        rows,
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
            sentence(&task, Compared::BeforeAndAfter),
            "Predicting the labels of 100 held-out samples from 50 labelled samples, the updated encoder, compared with the \
             one before: by the nearest one better, +20.0 points (+12.0 to +28.0); by a linear probe no clear difference, \
             0.0 points (0.0 to 0.0)."
        );
        let table = table(&task, Compared::BeforeAndAfter);
        assert_eq!((table.columns.len(), table.rows.len()), (2, 4));
    }
}
