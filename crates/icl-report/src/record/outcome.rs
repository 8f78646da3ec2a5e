//! The outcome of a command, as one JSON object on standard output.

use icl_core::ByOrigin;
use icl_train::Verdict;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::record::comparison::RunRecord;
use crate::record::shared::TrainingSummary;
use crate::record::stream::StreamRecord;
use crate::record::task::TaskAccuracy;
use crate::record::training::TrainRecord;
use crate::record::update::UpdateRecord;

/// Name and version of the schema of a [`CommandOutcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OutcomeSchema {
    /// Name, `icl-outcome`.
    pub name: &'static str,
    /// Version. It grows when a key changes its meaning or goes.
    pub version: u32,
}

/// Outcome of `icl train`, `icl update`, `icl stream`, `icl run` or `icl align`: the object that they print with
/// `--json`.
///
/// All have the same keys. What a command does not have is `null`, or an empty list. Risks are in nats.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandOutcome {
    /// Schema.
    pub schema: OutcomeSchema,
    /// Name of the command.
    pub command: &'static str,
    /// Folder of what was written.
    pub folder: String,
    /// Names of the files and folders there that the command wrote.
    pub files: Vec<String>,
    /// Verdict on the updated encoder by held-out samples.
    pub verdict: Option<Verdict>,
    /// Cost of all trainings together.
    pub cost: Option<OutcomeCost>,
    /// Risks of the one encoder that was trained.
    pub risks: Option<OutcomeRisks>,
    /// Accuracies on the labels of held-out samples.
    pub task: Option<TaskAccuracy>,
    /// Parts of the command: methods of a comparison with their seeds, experiences of a stream.
    pub runs: Vec<OutcomeRun>,
    /// Exit code.
    pub exit: u8,
    /// Further keys of the command.
    #[serde(flatten)]
    pub further: Map<String, Value>,
}

/// Cost of training.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct OutcomeCost {
    /// Charged cost in full passes.
    pub charged_passes: f64,
    /// Seconds of training, evaluations not counted.
    pub train_s: f64,
}

/// Risks before and after, each over all, old and new samples; `null` where it was not measured.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct OutcomeRisks {
    /// Exact risk before, over training samples.
    pub before: ByOrigin<Option<f64>>,
    /// Exact risk after, over the same samples.
    pub after: ByOrigin<Option<f64>>,
    /// Risk before over held-out samples.
    pub held_out_before: ByOrigin<Option<f64>>,
    /// Risk after over held-out samples.
    pub held_out_after: ByOrigin<Option<f64>>,
}

/// Part of a command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutcomeRun {
    /// Name of the method, or of the experience.
    pub name: String,
    /// Seed of the method; `null` for an experience.
    pub seed: Option<u64>,
    /// Cost.
    pub cost: OutcomeCost,
    /// Risks.
    pub risks: OutcomeRisks,
}

impl From<&TrainingSummary> for OutcomeCost {
    fn from(training: &TrainingSummary) -> Self {
        Self {
            charged_passes: training.charged_passes,
            train_s: training.train_s,
        }
    }
}

/// Returns a quantity of old samples alone.
fn of_old(value: Option<f64>) -> ByOrigin<Option<f64>> {
    ByOrigin {
        all: value,
        old: value,
        new: None,
    }
}

impl CommandOutcome {
    /// Creates the outcome of a command that has written nothing yet.
    pub fn of(command: &'static str) -> Self {
        Self {
            schema: OutcomeSchema {
                name: "icl-outcome",
                version: 1,
            },
            command,
            folder: String::new(),
            files: Vec::new(),
            verdict: None,
            cost: None,
            risks: None,
            task: None,
            runs: Vec::new(),
            exit: 0,
            further: Map::new(),
        }
    }

    /// Returns the outcome of the training of a first encoder; before is the untrained one.
    pub fn of_training(record: &TrainRecord) -> Self {
        let held_out = record.held_out_risk.map(|risk| risk.mean);
        Self {
            cost: Some((&record.training).into()),
            risks: Some(OutcomeRisks {
                before: of_old(Some(record.untrained)),
                after: of_old(Some(record.trained)),
                held_out_after: held_out.unwrap_or_default(),
                ..OutcomeRisks::default()
            }),
            task: record.task,
            ..Self::of("train")
        }
    }

    /// Returns the outcome of an update; after is the updated encoder, also where it is rejected.
    pub fn of_update(record: &UpdateRecord, exit: u8) -> Self {
        let held_out = |risk: Option<icl_core::HeldOutRisk>| {
            risk.map_or_else(ByOrigin::default, |risk| risk.mean.map(Some))
        };
        Self {
            verdict: record.verdict,
            task: record.task,
            cost: Some((&record.training).into()),
            risks: Some(OutcomeRisks {
                before: record.before.by_origin().map(Some),
                after: record.after.by_origin().map(Some),
                held_out_before: held_out(record.held_out_before),
                held_out_after: held_out(record.update.held_out_risk),
            }),
            exit,
            ..Self::of("update")
        }
    }

    /// Returns the outcome of a comparison of methods.
    pub fn of_comparison(records: &[RunRecord]) -> Self {
        let run = |record: &RunRecord| OutcomeRun {
            name: record.method.clone(),
            seed: Some(record.seed),
            cost: (&record.training).into(),
            risks: OutcomeRisks {
                before: record.start.by_origin().map(Some),
                after: record.risk.map(Some),
                held_out_after: record
                    .update
                    .held_out_risk
                    .map_or_else(ByOrigin::default, |risk| risk.mean.map(Some)),
                ..OutcomeRisks::default()
            },
        };
        Self::of("run").with_runs(records.iter().map(run).collect())
    }

    /// Returns the outcome of a stream: its experiences, with the risks on the held-out samples of each, and the
    /// verdict on the last one.
    pub fn of_stream(record: &StreamRecord, exit: u8) -> Self {
        let experiences = record.experiences.iter().map(|it| OutcomeRun {
            name: it.name.clone(),
            seed: None,
            cost: (&it.training).into(),
            risks: OutcomeRisks {
                held_out_before: of_new(it.served_risk),
                held_out_after: of_new(it.risk),
                ..OutcomeRisks::default()
            },
        });
        let last = record.experiences.last();
        Self {
            verdict: last.and_then(|it| it.verdict),
            task: last.and_then(|it| it.task),
            exit,
            ..Self::of("stream").with_runs(experiences.collect())
        }
    }

    fn with_runs(self, runs: Vec<OutcomeRun>) -> Self {
        let cost = runs
            .iter()
            .fold(OutcomeCost::default(), |sum, run| OutcomeCost {
                charged_passes: sum.charged_passes + run.cost.charged_passes,
                train_s: sum.train_s + run.cost.train_s,
            });
        Self {
            cost: Some(cost),
            runs,
            ..self
        }
    }
}

/// Returns a quantity of the samples that have arrived.
fn of_new(value: Option<f64>) -> ByOrigin<Option<f64>> {
    ByOrigin {
        new: value,
        ..ByOrigin::default()
    }
}
