//! Record of a stream: one encoder, updated as increments arrive.

use icl_train::{Decision, Policy, Verdict};
use serde::{Deserialize, Serialize, Serializer};

use crate::record::shared::{RunSettings, TrainingSummary};
use crate::record::task::TaskAccuracy;

/// Version of [`StreamRecord`]'s schema. It grows when records of earlier versions can no longer be read.
pub const STREAM_SCHEMA: u32 = 1;

/// Matrix `[T, T]`: row i is the encoder after experience i, column j the held-out samples of experience j. A cell that
/// was not measured is `null`. In memory, rows may be shorter: cells beyond their end were not measured.
pub type Cells = Vec<Vec<Option<f64>>>;

/// Writes a matrix with rows of equal length.
fn square<S: Serializer>(cells: &Cells, serializer: S) -> Result<S::Ok, S::Error> {
    let rows = cells.iter().map(|row| Padded(row, cells.len()));
    serializer.collect_seq(rows)
}

/// Writes a matrix with rows of equal length, if there is one.
fn maybe_square<S: Serializer>(cells: &Option<Cells>, serializer: S) -> Result<S::Ok, S::Error> {
    match cells {
        Some(cells) => square(cells, serializer),
        None => serializer.serialize_none(),
    }
}

/// Row of a matrix, and the number of its cells.
struct Padded<'a>(&'a [Option<f64>], usize);

impl Serialize for Padded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let missing = std::iter::repeat_n(&None, self.1.saturating_sub(self.0.len()));
        serializer.collect_seq(self.0.iter().chain(missing))
    }
}

/// Record of a stream of T experiences so far, as `matrix.json` has it.
///
/// Risks are in nats; lower is better. Accuracies are shares; higher is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamRecord {
    /// Version of the schema, [`STREAM_SCHEMA`].
    pub schema: u32,
    /// Name of the data set, or of the manifest.
    pub data: String,
    /// Division of the data set into experiences; `null` for a manifest or a folder that is watched.
    pub split: Option<String>,
    /// Method of the updates.
    pub method: String,
    /// Old samples that are kept.
    pub keep: String,
    /// When to update, and what the updates may cost.
    #[serde(flatten)]
    pub policy: Policy,
    /// Settings.
    #[serde(flatten)]
    pub settings: RunSettings,
    /// Names of the experiences `[T]`.
    pub names: Vec<String>,
    /// Risks of the encoder on held-out samples `[T, T]`. The cell right of the diagonal is what was served: the risk
    /// of the encoder that was live when the data came.
    #[serde(serialize_with = "square")]
    pub risk: Cells,
    /// Accuracies of its embeddings by nearest neighbours `[T, T]`; `null` without classes.
    #[serde(serialize_with = "maybe_square")]
    pub accuracy: Option<Cells>,
    /// Risks of an untrained encoder `[T]`.
    pub untrained_risk: Vec<Option<f64>>,
    /// Accuracies of an untrained encoder `[T]`; `null` without classes.
    pub untrained_accuracy: Option<Vec<Option<f64>>>,
    /// Forgetting and transfer, each with its formula.
    pub measures: Vec<StreamMeasure>,
    /// The experiences `[T]`, as the lines of `stream.jsonl` have them.
    pub experiences: Vec<StreamedExperience>,
    /// Decisions on updates, as the lines of `decisions.jsonl` have them: one for each experience but the first.
    pub decisions: Vec<Decision>,
    /// Controls that go through the same stream.
    pub controls: Vec<StreamControl>,
}

/// Quantity of forgetting or transfer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamMeasure {
    /// Name.
    pub name: String,
    /// Formula, for a measure of which higher values are better; for a risk, differences have the opposite sign.
    pub formula: String,
    /// Publication or project.
    pub source: String,
    /// Value for the matrix of risks; `null` where a cell is missing.
    pub risk: Option<f64>,
    /// Value for the matrix of accuracies.
    pub accuracy: Option<f64>,
}

/// Experience that a stream has gone through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamedExperience {
    /// Name.
    pub name: String,
    /// Moment of its arrival, as the manifest has it.
    pub arrived: Option<String>,
    /// Number of its samples, held-out ones included.
    pub n_samples: usize,
    /// Number of its held-out samples.
    pub n_held_out: usize,
    /// Number of values outside the range of the encoder's own data that were clipped in it; 0 in older records.
    #[serde(default)]
    pub n_clipped: usize,
    /// Whether the encoder that is served changed after it, by an update (or, for the first, a training).
    pub updated: bool,
    /// Whether there was an update after it that was rejected, since it is worse: the encoder that was served stays,
    /// and the samples wait for the next update. The numbers, the verdict and the training of an update are then those
    /// of the rejected one. `false` in older records.
    #[serde(default)]
    pub is_rejected: bool,
    /// Number of old samples that the update had, N; 0 without one.
    pub n_old: usize,
    /// Number of new samples that the update had, ΔN: those that were pending; 0 without one.
    pub n_new: usize,
    /// Risk on its held-out samples of the encoder that was live when it came; `null` for the first.
    pub served_risk: Option<f64>,
    /// Risk on its held-out samples afterwards.
    pub risk: Option<f64>,
    /// Verdict on the update by held-out samples: old ones are those of the experiences before; `null` without an
    /// update, where fewer than two samples of a kind are held out, or in older records.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Accuracies on the labels of the held-out samples so far, before and after the update; `null` without an update
    /// or labels, and in older records.
    #[serde(default)]
    pub task: Option<TaskAccuracy>,
    /// Euclidean norm ‖θ‖ of the trained parameters afterwards.
    pub parameter_norm: f64,
    /// Effective rank of the embeddings of held-out samples of the first experience afterwards (RankMe).
    pub effective_rank: Option<f64>,
    /// Share of the nearest neighbours of held-out samples that are the same as before this experience; `null` where
    /// there are too few samples, or for the first.
    pub neighbours_kept: Option<f64>,
    /// The same share, compared with the encoder after the first experience.
    pub neighbours_kept_of_first: Option<f64>,
    /// Share of held-out samples whose embedding by the encoder before is nearest, among the embeddings by the encoder
    /// afterwards, to that of the same sample; `null` as for `neighbours_kept`.
    pub cross_version_recall: Option<f64>,
    /// Length and cost of the training, also of one that was rejected; all is 0 without one, but for the costs of a
    /// decision and of measurements.
    #[serde(flatten)]
    pub training: TrainingSummary,
}

/// Encoder that goes through the same stream as a reference. It keeps all old samples and has no budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamControl {
    /// Method, or `never` for the first encoder without updates.
    pub method: String,
    /// Risks `[T, T]`.
    #[serde(serialize_with = "square")]
    pub risk: Cells,
    /// Accuracies `[T, T]`.
    #[serde(serialize_with = "maybe_square")]
    pub accuracy: Option<Cells>,
    /// Charged cost of each experience, in full passes `[T]`: like `charged_passes` of the experiences, not cumulated.
    pub charged_passes: Vec<f64>,
    /// Mean over the experiences so far of the method's risk less this control's, after each experience `[T]`: above 0,
    /// the method is worse. Over the held-out samples that were measured; `null` where none were.
    pub gap: Vec<Option<f64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_written_as_long_ones() {
        let mut record = crate::fixture::stream(3);
        record.risk = vec![vec![Some(1.0)], vec![None, Some(2.5)], vec![Some(0.5); 3]];
        let written = serde_json::to_value(&record).unwrap();
        let expected = serde_json::json!([[1.0, null, null], [null, 2.5, null], [0.5, 0.5, 0.5]]);
        assert_eq!(written["risk"], expected);
        assert_eq!(written["accuracy"][0].as_array().unwrap().len(), 3);
        let read: StreamRecord = serde_json::from_value(written).unwrap();
        assert_eq!(read.risk[0], [Some(1.0), None, None]);
    }
}
