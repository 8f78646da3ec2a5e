//! The table of all encoders, over the seeds.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl::core::ExactRisk;
use icl::prelude::*;
use icl::train::StoppedBy;

use crate::last_items::Quality;

/// Columns with their number of digits.
const COLUMNS: [(&str, usize); 11] = [
    ("passes", 0),
    ("epochs", 1),
    ("K", 1),
    ("before", 4),
    ("after", 4),
    ("old", 4),
    ("new", 4),
    ("HR@10 old", 3),
    ("nDCG@10 old", 4),
    ("HR@10 new", 3),
    ("nDCG@10 new", 4),
];

/// Line of an encoder, or of the ranking by popularity, with one seed.
#[derive(Debug)]
pub struct Row {
    name: String,
    /// Values of the columns; `None` where there is none.
    values: [Option<f64>; COLUMNS.len()],
    /// Whether the limit of epochs ended the training, not its own rule.
    is_cut: bool,
}

impl Row {
    /// Creates the line of a ranking.
    pub fn new(name: &str, risk: Option<ExactRisk>, [old, new]: [Quality; 2]) -> Self {
        let risk = |of: fn(&ExactRisk) -> f64| risk.as_ref().map(of);
        Self {
            name: name.to_owned(),
            values: [
                None,
                None,
                None,
                None,
                risk(|it| it.all),
                risk(|it| it.old),
                risk(|it| it.new),
                Some(old.hit_rate),
                Some(old.ndcg),
                Some(new.hit_rate),
                Some(new.ndcg),
            ],
            is_cut: false,
        }
    }

    /// Adds the cost of the training that the encoder comes from.
    pub fn after<M, B, R>(mut self, outcome: &Outcome<M, B, R>) -> Self
    where
        B: AutodiffBackend,
        M: AutodiffModule<B>,
    {
        let record = &outcome.record;
        self.values[0] = Some(record.cost.charged());
        self.values[1] = Some(record.n_epochs() as f64);
        self.values[2] = record.step_negatives.last().copied();
        self.is_cut = record.stopped_by == Some(StoppedBy::Epochs);
        self
    }

    /// Adds the exact risk of the encoder from which the training started.
    pub fn from(mut self, before: f64) -> Self {
        self.values[3] = Some(before);
        self
    }
}

/// Returns the table in Markdown, with mean and standard deviation over the seeds. Each seed has the same lines.
pub fn table(seeds: &[Vec<Row>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let mut text = line([vec!["encoder".to_owned()], names.collect()].concat());
    text += &format!("|---|{}\n", "--:|".repeat(COLUMNS.len()));
    for at in 0..seeds.first().map_or(0, Vec::len) {
        let rows: Vec<&Row> = seeds.iter().map(|rows| &rows[at]).collect();
        let mark = if rows.iter().any(|row| row.is_cut) {
            "*"
        } else {
            ""
        };
        let cell = |(column, (_, digits)): (usize, &(&str, usize))| {
            let values: Vec<f64> = rows.iter().filter_map(|row| row.values[column]).collect();
            spread(&values, *digits)
        };
        let cells = COLUMNS.iter().enumerate().map(cell).collect();
        text += &line([vec![format!("{}{mark}", rows[0].name)], cells].concat());
    }
    text
}

/// Writes mean ± standard deviation, or a single value without one.
fn spread(values: &[f64], digits: usize) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    match values {
        [] => "–".to_owned(),
        _ if mean.is_nan() => "–".to_owned(),
        [_] => format!("{mean:.digits$}"),
        _ => {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            format!(
                "{mean:.digits$} ± {:.digits$}",
                (squares / (n - 1.0)).sqrt()
            )
        }
    }
}
