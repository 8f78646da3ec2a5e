//! Document of the training of a first encoder.

use crate::chart::{AxisScale, Figure, Legend, Line, LineChart, Palette};
use crate::course::{Course, sections};
use crate::document::{Block, Column, Document, Row, Table, TableCell};
use crate::error::{ReportError, check_schema};
use crate::record::{TRAIN_SCHEMA, TrainRecord};
use crate::stop_reason::stop_reason;
use crate::summary::change::Change;
use crate::task::{self, Compared};
use crate::text::number::{MISSING, change, count, nats, percent, plural, seconds};

/// Makes the document of a first encoder's training.
///
/// It begins with the change of the exact risk in one sentence and its chart; tables follow. The same
/// record gives the same document.
///
/// # Errors
/// If the record is of another [`TRAIN_SCHEMA`].
pub fn training_document(record: &TrainRecord) -> Result<Document, ReportError> {
    check_schema(1, record.schema, TRAIN_SCHEMA)?;
    let facts = format!(
        "{} · {}",
        plural(record.n, "sample"),
        record.settings.words()
    );
    let mut blocks = vec![Block::Headline(headline(record).into())];
    blocks.extend(risk(record).map(Block::Figure));
    blocks.extend([
        Block::Table(untrained_and_trained(record)),
        Block::text(format!(
            "{}: {}, {} sample passes, {} s of training. ‖Δθ‖/‖θ‖ = {}.",
            plural(record.n, "sample"),
            plural(record.training.epochs, "epoch"),
            count(record.course.sample_passes as f64),
            seconds(record.training.train_s),
            change(record.training.parameter_change),
        )),
    ]);
    blocks.extend(held_out(record).map(Block::text));
    blocks.extend(task::blocks(
        record.task.as_ref(),
        Compared::UntrainedAndTrained,
    ));
    blocks.extend(stop_reason(record.training.stopped_by, &record.course).map(Block::text));
    let course = Course::of(&record.data, record.data.clone(), &record.course);
    blocks.extend(sections(&[course], &Palette::new([record.data.as_str()])));
    blocks.push(Block::Details(
        "Where the time went".into(),
        vec![Block::Table(times(record))],
    ));
    let title = format!("{}: a first encoder", record.data);
    Ok(Document::new(title, facts, blocks).made_by(record.settings.made_by.words()))
}

fn headline(record: &TrainRecord) -> String {
    let (from, to) = (record.untrained, record.trained);
    if !(from.is_finite() && to.is_finite()) {
        return "The exact risk is not a finite number: do not use this encoder.".to_owned();
    }
    let change = Change {
        before: from,
        after: to,
    };
    let change = change
        .share()
        .map_or_else(|| MISSING.to_owned(), |share| percent(share.abs()));
    let [before, after] = [from, to].map(nats);
    if before == after {
        return format!("Training left the exact risk at {after} nats.");
    }
    let (word, advice) = match to < from {
        true => ("lowered", ""),
        false => ("raised", ": do not use this encoder"),
    };
    format!(
        "Training {word} the exact risk by {change} from {before} nats to {after} nats{advice}."
    )
}

/// Writes the risk over the held-out samples; `None` without such samples.
fn held_out(record: &TrainRecord) -> Option<String> {
    let risk = record.held_out_risk?;
    Some(format!(
        "Held-out risk, over {} that no training has seen: {} nats (standard error {}).",
        plural(record.n_held_out?, "sample"),
        nats(risk.mean.all?),
        nats(risk.standard_error.all?),
    ))
}

/// Draws the exact risk over the training; `None` if it was measured less than twice.
fn risk(record: &TrainRecord) -> Option<Figure> {
    let palette = Palette::new([record.data.as_str()]);
    let point = |evaluation: &icl_train::Evaluation<f64>| {
        (evaluation.sample_passes as f64, evaluation.risk)
    };
    let points = record.course.evaluations.iter().map(point).collect();
    let passes = "sample passes (logarithmic, 0 at the left)";
    let chart = LineChart::new(
        "Exact risk against sample passes",
        (passes, AxisScale::FromZero),
        ("exact risk, nats (logarithmic)", AxisScale::Logarithmic),
        vec![Line::new(
            record.data.as_str(),
            palette.colour(&record.data),
            points,
        )],
    );
    (record.course.evaluations.len() > 1)
        .then(|| Figure::new("Lower is better.", Legend::default(), vec![chart.svg()]))
}

fn untrained_and_trained(record: &TrainRecord) -> Table {
    let cells = vec![
        TableCell::number(record.untrained, nats),
        TableCell::number(record.trained, nats),
    ];
    Table {
        corner: "exact risk, nats".into(),
        columns: ["untrained", "trained"].map(Column::new).into(),
        rows: vec![Row::new(record.data.as_str(), cells)],
    }
}

fn times(record: &TrainRecord) -> Table {
    let of = record.seconds;
    let times = [
        ("steps", of.steps),
        ("waiting for batches", of.wait),
        ("evaluation", of.evaluation),
        ("views", of.views),
        ("collation", of.collation),
    ];
    let row = |(name, value): (&str, f64)| Row::new(name, vec![TableCell::number(value, seconds)]);
    Table {
        corner: "part of the training".into(),
        columns: vec![Column::new("seconds")],
        rows: times.into_iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_sound, first, row};

    #[test]
    fn it_says_what_the_record_says() {
        let document = training_document(&first()).unwrap();
        let page = document.html();
        assert_sound(&page);
        assert_eq!(row(&page, "TOYS"), ["3.500", "2.250"]);
        let terminal = document.terminal(80, false);
        for words in [
            "Training lowered the exact risk by 35.7 % from 3.500 nats to 2.250 nats.\n",
            "120 samples: 2 epochs, 480 sample passes, 0.25 s of training. ‖Δθ‖/‖θ‖ = 0.420.\n",
            "--wide shows 1 table more.",
        ] {
            assert!(terminal.contains(words), "{words} is missing in {terminal}");
        }
        assert!(document.markdown().contains("| TOYS | 3.500 | 2.250 |"));
    }

    #[test]
    fn what_is_no_number_is_a_dash() {
        let mut evil = first();
        evil.data = "\u{1b}[31m<b>".to_owned();
        evil.trained = f64::NAN;
        evil.course.evaluations.truncate(1);
        let document = training_document(&evil).unwrap();
        assert_sound(&document.html());
        let terminal = document.terminal(80, true);
        assert!(!terminal.contains('\u{1b}') && !terminal.contains("NaN"));
        assert!(terminal.contains("not a finite number"));
        let mut worse = first();
        worse.trained = 4.0;
        assert!(headline(&worse).contains("raised the exact risk by 14.3 %"));
        worse.schema = 9;
        let error = training_document(&worse).unwrap_err().to_string();
        assert!(
            error.starts_with("record 1 has schema 9, expected "),
            "{error}"
        );
    }
}
