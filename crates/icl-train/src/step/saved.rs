//! The state of a run in a checkpoint.

use std::path::Path;
use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, Error, ExactRisk, Group};
use serde::{Deserialize, Serialize};

use crate::checkpoint::file::{of_state, other_run, read_bytes, state_of};
use crate::checkpoint::write_checkpoint;
use crate::error::{TrainError, TrainErrorKind};
use crate::evaluation::evaluated::Risk;
use crate::evaluation::stopping::StoppedBy;
use crate::identity::Identity;
use crate::progress::{Callbacks, TrainingRecord};
use crate::sampling::plan::Planner;
use crate::step::copies::own;
use crate::step::counters::Counters;
use crate::step::run::Run;
use icl_core::module_bytes::{Bytes, SavedTensors, load_module, save_module, unfit};

/// Everything on which the rest of a run depends besides its identity. The order of the data, the views
/// and all other random draws are functions of the seed and of the numbers of steps and epochs.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedRun<R> {
    /// Moving average of the parameters, unless the run has ended by a rule and `best` is its result.
    average: Option<Bytes>,
    n_averaged: u64,
    /// Encoder of the lowest risk, if one is kept.
    best: Option<Bytes>,
    /// State that only further steps need: `None` when the run has ended by a rule.
    stepping: Option<Stepping>,
    counters: Counters,
    record: TrainingRecord<R>,
}

/// Risk whose runs can be saved. Both functions are written for each risk, so that they are compiled with this crate:
/// generic ones would be compiled again with every program, which takes seconds.
pub(crate) trait SavedRisk: Risk {
    /// Writes a checkpoint.
    fn write(path: &Path, identity: &Identity, run: &SavedRun<Self>) -> Result<(), TrainError>;

    /// Reads the bytes of a checkpoint. `path` is for messages.
    fn read(bytes: &[u8], path: &Path, identity: &Identity) -> Result<SavedRun<Self>, TrainError>;
}

macro_rules! saved_risk {
    ($risk:ty) => {
        impl SavedRisk for $risk {
            fn write(
                path: &Path,
                identity: &Identity,
                run: &SavedRun<Self>,
            ) -> Result<(), TrainError> {
                write_checkpoint(path, identity, run)
            }

            fn read(
                bytes: &[u8],
                path: &Path,
                identity: &Identity,
            ) -> Result<SavedRun<Self>, TrainError> {
                state_of(bytes, path, identity)
            }
        }
    };
}

saved_risk!(f64);
saved_risk!(ExactRisk);

/// State that the next step needs.
#[derive(Serialize, Deserialize)]
struct Stepping {
    encoder: Bytes,
    optimizer: Bytes,
    /// State of the rule of the steps, if it has one.
    rule: Option<Bytes>,
}

impl<M, B, R> Run<'_, M, B, R>
where
    M: AutodiffModule<B> + Encoder<B>,
    B: AutodiffBackend,
    R: SavedRisk,
{
    /// Saves the state of the run between two steps if there is a checkpoint, by the first member of a group.
    pub(crate) fn save(&self, callbacks: &mut Callbacks<'_>) -> Result<(), TrainError> {
        let Some(path) = callbacks.checkpoint() else {
            return Ok(());
        };
        let start = Instant::now();
        let failed = |error: Error| error.with_kind(TrainErrorKind::Failed);
        let bytes = |module: &M| save_module::<B, _>(module).map_err(failed);
        let has_ended = self.counters.is_complete;
        // A run that cannot continue keeps its result alone, a small part of the whole state.
        let needs_average = !has_ended || self.best.is_none() || may_go_on(&self.record);
        let average = needs_average.then(|| bytes(self.average.get()));
        let stepping = || -> Result<Stepping, TrainError> {
            let encoder = self.encoder.as_ref().expect("an encoder between two steps");
            Ok(Stepping {
                encoder: bytes(encoder)?,
                optimizer: self.optimizer.save().map_err(failed)?,
                rule: self.rule.save().map_err(|error| {
                    let failed = TrainError::message(&error).with_kind(TrainErrorKind::Failed);
                    failed.with_source(error)
                })?,
            })
        };
        let state = SavedRun {
            average: average.transpose()?,
            n_averaged: self.average.n_steps(),
            best: self.best.as_ref().map(bytes).transpose()?,
            stepping: (!has_ended || may_go_on(&self.record))
                .then(stepping)
                .transpose()?,
            counters: self.counters.clone(),
            record: self.record.clone(),
        };
        if self.loss.group.rank() == 0 {
            R::write(path, &self.identity, &state)?;
        }
        callbacks.saved(start.elapsed());
        Ok(())
    }

    /// Restores the saved state of the run, or returns it unchanged if the file does not exist.
    pub(crate) fn restored(self, path: &Path) -> Result<Self, TrainError> {
        let Some(bytes) = bytes_for_all(self.loss.group, path)? else {
            return Ok(self);
        };
        let saved = R::read(&bytes, path, &self.identity)?;
        let n_begun = saved.record.n_epochs() + usize::from(saved.counters.n_steps > 0);
        if n_begun > self.settings.epochs {
            let field = "number of epochs begun";
            let expected = format!("at most {}", self.settings.epochs);
            return Err(other_run(path, field, n_begun, expected));
        }
        let checked = saved.check(&self.planner);
        let restored = checked.and_then(|()| saved.into_run(self));
        restored.map_err(|unfit| of_state(path, unfit))
    }
}

/// Returns whether a run that has ended may resume: with more epochs or a larger budget, but not against its rule.
fn may_go_on<R>(record: &TrainingRecord<R>) -> bool {
    [Some(StoppedBy::Epochs), Some(StoppedBy::Budget)].contains(&record.stopped_by)
}

/// Returns the bytes of a checkpoint that the first member reads, at all members.
fn bytes_for_all(group: &dyn Group, path: &Path) -> Result<Option<Vec<u8>>, TrainError> {
    let bytes = match group.rank() {
        0 => read_bytes(path)?,
        _ => None,
    };
    if !group.any(bytes.is_some())? {
        return Ok(None);
    }
    let mut bytes = bytes.unwrap_or_default();
    group.broadcast(0, &mut bytes)?;
    Ok(Some(bytes))
}

impl<R: Risk> SavedRun<R> {
    /// Checks the numbers by which a run counts: they lead to places in lists.
    fn check(&self, planner: &Planner<'_>) -> Result<(), Error> {
        let Self {
            counters, record, ..
        } = self;
        let fraction = counters.fraction();
        let per_epoch = [
            record.epoch_ends_s.len(),
            record.learning_rates.len(),
            record.step_negatives.len(),
            record.old_fractions.len(),
        ];
        let best = record.best_evaluation;
        let is_whole = per_epoch.iter().all(|&n| n == record.n_epochs())
            && best.is_none_or(|best| best < record.evaluations.len())
            && (0.0..=1.0).contains(&fraction)
            && (counters.n_steps == 0
                || counters.n_steps <= planner.epoch(record.n_epochs(), fraction).steps.len());
        match is_whole {
            true => Ok(()),
            false => Err(unfit()),
        }
    }

    /// Returns the run with this state.
    fn into_run<'a, M, B>(self, mut run: Run<'a, M, B, R>) -> Result<Run<'a, M, B, R>, Error>
    where
        M: AutodiffModule<B> + Encoder<B>,
        B: AutodiffBackend,
    {
        let like = run.encoder.take().expect("an encoder between two steps");
        let device = like.devices().into_iter().next().unwrap_or_default();
        // A module that is loaded keeps its running statistics in the place of those of `like`.
        let load = |like, bytes| load_module::<B, M>(like, bytes, &device);
        if let Some(average) = self.average {
            let average = load(like.clone(), average)?;
            run.average = run.settings.average(average).after_steps(self.n_averaged);
        }
        let best = self.best.map(|best| load(own(&like), best));
        run.best = best.transpose()?;
        run.counters = self.counters;
        run.record = self.record;
        let has_room = run.settings.epochs > run.record.n_epochs() && !run.is_spent();
        if run.counters.is_complete && may_go_on(&run.record) && has_room {
            run.counters.is_complete = false;
            run.record.stopped_by = None;
        }
        match self.stepping {
            Some(stepping) if !run.counters.is_complete => stepping.into_run(run, like, &device),
            None if !run.counters.is_complete => Err(unfit()),
            _ => Ok(run),
        }
    }
}

impl Stepping {
    /// Returns the run with this state. `like` is an encoder of the run's kind.
    fn into_run<'a, M, B, R>(
        self,
        mut run: Run<'a, M, B, R>,
        like: M,
        device: &B::Device,
    ) -> Result<Run<'a, M, B, R>, Error>
    where
        M: AutodiffModule<B> + Encoder<B>,
        B: AutodiffBackend,
        R: Risk,
    {
        let parameters = SavedTensors::read(&self.encoder)?;
        run.optimizer.load(self.optimizer, &parameters, device)?;
        run.rule.load(self.rule, &like, device)?;
        run.encoder = Some(load_module::<B, M>(like, self.encoder, device)?);
        Ok(run)
    }
}
