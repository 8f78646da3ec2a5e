//! Files that follow from the experiences of a stream: its matrix, its tables and its page.

use std::path::Path;
use std::time::{Duration, Instant};

use icl_eval::{Better, TRANSFER_FORMULAS, Transfer, TransferMatrix};
use icl_report::{RunSettings, STREAM_SCHEMA, StreamControl, StreamMeasure, StreamRecord};
use serde::Serialize;

use crate::commands::stream::experience::ExperienceRecord;
use crate::commands::stream::folder::{
    DECISIONS, EXPERIENCES, LEDGER, MATRIX, REJECTED, StreamFolder,
};
use crate::commands::stream::options::Resolved;
use crate::commands::stream::source::Source;
use crate::commands::stream::strategy::{StrategyRun, write_json, write_lines};
use crate::files::encoder_work::REPORT;
use crate::files::whole;
use crate::files::work_place::CONFIG;
use crate::options::choice;
use crate::options::command_line::command_line;
use crate::process::failure::Failure;

/// Matrix of some cells.
type Cells = Vec<Vec<Option<f64>>>;

/// Smallest time between two writes of these files, as a multiple of the time that the last one took: they grow with
/// the stream, and writing them after each experience would take longer and longer.
const BETWEEN: u32 = 20;

/// Keeps the files up to date that follow from the experiences.
pub struct Summary<'a> {
    resolved: &'a Resolved,
    config: &'a str,
    /// State of the files as they were written last.
    written: Option<Written>,
}

struct Written {
    n_experiences: usize,
    rejected: Vec<Rejected>,
    at: Instant,
    took: Duration,
}

/// Line of the data that cannot be used.
#[derive(Debug, PartialEq, Serialize)]
struct Rejected {
    file: String,
    reason: String,
}

impl<'a> Summary<'a> {
    /// Creates a summary of which nothing has been written.
    pub fn new(resolved: &'a Resolved, config: &'a str) -> Self {
        Self {
            resolved,
            config,
            written: None,
        }
    }

    /// Writes the files if there is anything new: at once if `is_last`, and else when it is due.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn keep_up(
        &mut self,
        folder: &StreamFolder,
        source: &Source,
        records: &[ExperienceRecord],
        runs: &[StrategyRun<'_>],
        is_last: bool,
    ) -> Result<(), Failure> {
        let rejected = rejected(source);
        let is_due = match &self.written {
            None => true,
            Some(written) => {
                let is_new = written.n_experiences != records.len() || written.rejected != rejected;
                is_new && (is_last || written.at.elapsed() >= BETWEEN * written.took)
            }
        };
        if records.is_empty() || !is_due {
            return Ok(());
        }
        let begun = Instant::now();
        let record = record(self.resolved, source, records, runs)?;
        let made = folder.begin_summary()?;
        write(&made, self.config, &record, runs)?;
        if !rejected.is_empty() {
            write_lines(&made.join(REJECTED), &rejected)?;
        }
        folder.publish_summary(&made)?;
        self.written = Some(Written {
            n_experiences: records.len(),
            rejected,
            at: Instant::now(),
            took: begun.elapsed(),
        });
        Ok(())
    }
}

fn rejected(source: &Source) -> Vec<Rejected> {
    let Source::Watched(watched) = source else {
        return Vec::new();
    };
    let rejected = watched.rejected().map(|(file, reason)| Rejected {
        file: file.to_owned(),
        reason: reason.to_owned(),
    });
    rejected.collect()
}

/// Returns the record of the experiences so far.
///
/// # Errors
/// If the matrix has a wrong shape.
pub fn record(
    resolved: &Resolved,
    source: &Source,
    records: &[ExperienceRecord],
    runs: &[StrategyRun<'_>],
) -> Result<StreamRecord, Failure> {
    let (options, training) = (&resolved.options, &resolved.training);
    let [own, controls @ ..] = runs else {
        unreachable!("the first strategy is that of the method");
    };
    let optimizer = choice::name(&options.pretraining.training.step.optimizer);
    let streamed = || records.iter().map(|it| &it.streamed);
    let untrained_risk: Vec<Option<f64>> =
        records.iter().map(|it| Some(it.untrained_risk)).collect();
    let untrained_accuracy: Vec<Option<f64>> =
        records.iter().map(|it| it.untrained_accuracy).collect();
    let n_samples: Vec<usize> = streamed().map(|it| it.n_samples).collect();
    let transfer = |better, rows: Cells, untrained: &[Option<f64>]| {
        let matrix = TransferMatrix::try_new(better, rows)
            .and_then(|matrix| matrix.with_untrained(untrained.to_vec()));
        let matrix = matrix.map_err(|error| Failure::Other(error.into()))?;
        let transfer = Transfer::new(&matrix, &n_samples);
        Ok::<(Cells, Transfer), Failure>((matrix.into_rows(), transfer))
    };
    let (risk, of_risk) = transfer(Better::Lower, own.state.matrix(), &untrained_risk)?;
    let (accuracy, of_accuracy) = match own.accuracies() {
        Some(rows) => {
            let (rows, transfer) = transfer(Better::Higher, rows, &untrained_accuracy)?;
            (Some(rows), transfer)
        }
        None => (None, Transfer::default()),
    };
    let measures = TRANSFER_FORMULAS.iter().map(|formula| StreamMeasure {
        name: formula.name.to_owned(),
        formula: formula.formula.to_owned(),
        source: formula.source.to_owned(),
        risk: (formula.value)(&of_risk),
        accuracy: (formula.value)(&of_accuracy),
    });
    let control = |run: &StrategyRun<'_>| {
        let of_control = run.state.matrix();
        StreamControl {
            method: run.strategy.name.clone(),
            gap: gaps(&risk, &of_control),
            risk: of_control,
            accuracy: run.accuracies(),
            charged_passes: run
                .state
                .experiences()
                .iter()
                .map(|it| it.cost.charged())
                .collect(),
        }
    };
    Ok(StreamRecord {
        schema: STREAM_SCHEMA,
        data: source.name(),
        split: options.source.split.as_ref().map(ToString::to_string),
        method: own.strategy.name.clone(),
        keep: own.strategy.keep.to_string(),
        policy: own.strategy.policy.clone(),
        settings: RunSettings::of(
            training.seed,
            &training.settings,
            optimizer,
            (&training.backend, &command_line("stream", options)?),
        ),
        names: streamed().map(|it| it.name.clone()).collect(),
        measures: measures.collect(),
        untrained_accuracy: accuracy.as_ref().map(|_| untrained_accuracy),
        untrained_risk,
        experiences: streamed().cloned().collect(),
        decisions: records
            .iter()
            .filter_map(|it| it.decision.clone())
            .collect(),
        controls: controls.iter().map(control).collect(),
        risk,
        accuracy,
    })
}

/// Returns, for each experience, the mean by which risks are above those of a control, over the held-out samples up
/// to it that were measured.
fn gaps(risk: &Cells, of_control: &Cells) -> Vec<Option<f64>> {
    let gap = |at: usize| {
        let pairs = risk[at][..=at].iter().zip(&of_control[at][..=at]);
        let gaps = pairs.filter_map(|(own, control)| Some((*own)? - (*control)?));
        let gaps: Vec<f64> = gaps.collect();
        (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64)
    };
    (0..risk.len()).map(gap).collect()
}

/// Line of the ledger.
#[derive(Serialize)]
struct Charge<'a> {
    strategy: &'a str,
    experience: &'a str,
    purpose: &'a str,
    passes: f64,
}

/// Writes the files that follow from the experiences into a folder in the making.
fn write(
    folder: &Path,
    config: &str,
    record: &StreamRecord,
    runs: &[StrategyRun<'_>],
) -> Result<(), Failure> {
    write_json(&folder.join(MATRIX), record)?;
    write_lines(&folder.join(EXPERIENCES), &record.experiences)?;
    write_lines(&folder.join(DECISIONS), &record.decisions)?;
    let charges: Vec<Charge<'_>> = runs.iter().flat_map(charges).collect();
    write_lines(&folder.join(LEDGER), &charges)?;
    let document =
        icl_report::stream_document(record).map_err(|error| Failure::Other(error.into()))?;
    whole::write(&folder.join(REPORT), document.html().as_bytes())?;
    whole::write(&folder.join(CONFIG), config.as_bytes())
}

/// Returns the cost of a strategy by experience and purpose.
fn charges<'r>(run: &'r StrategyRun<'_>) -> impl Iterator<Item = Charge<'r>> {
    run.state.experiences().iter().flat_map(move |experience| {
        let cost = &experience.cost;
        let purposes = [
            ("training", cost.training),
            ("teacher", cost.teacher),
            ("support", cost.support),
            ("agents", cost.agents),
            ("monitoring", cost.monitoring),
            ("statistics", cost.statistics),
            ("measuring", cost.measuring),
        ];
        let name = &experience.name;
        let used = purposes.into_iter().filter(|(_, passes)| *passes > 0.0);
        used.map(move |(purpose, passes)| Charge {
            strategy: &run.strategy.name,
            experience: name,
            purpose,
            passes,
        })
    })
}
