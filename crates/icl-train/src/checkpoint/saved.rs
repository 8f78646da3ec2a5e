//! A run in a checkpoint.

use std::path::Path;
use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::Encoder;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Identity;
use crate::evaluation::risk::Risk;
use crate::noise_queue::old_queue::{OldQueue, SavedQueue};
use crate::progress::record::TrainingRecord;
use crate::step::average::WeightAverage;
use crate::step::counters::Counters;
use crate::step::run::Run;
use crate::{Callbacks, CheckpointError, TrainError, read_checkpoint, write_checkpoint};
use icl_core::module_bytes::{Bytes, Unfit, load_module, save_module};
use icl_meta::PolicyState;

/// Everything that the rest of a run depends on beside its identity. The order of the data, the views
/// and all other draws are functions of the seed and of the counts of steps and epochs.
#[derive(Serialize, Deserialize)]
struct SavedRun<R> {
    encoder: Bytes,
    average: Bytes,
    n_averaged: u64,
    optimizer: Bytes,
    query: PolicyState,
    support: PolicyState,
    counters: Counters,
    record: TrainingRecord<R>,
    /// Where the run has one.
    old_queue: Option<SavedQueue>,
}

impl<'a, M, B, R> Run<'a, M, B, R>
where
    M: AutodiffModule<B> + Encoder<B>,
    B: AutodiffBackend,
    R: Risk,
{
    /// Writes the run as it is between two steps.
    pub(crate) fn save(
        &self,
        path: &Path,
        identity: &Identity,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<(), TrainError> {
        let start = Instant::now();
        let encoder = self
            .encoder
            .as_ref()
            .expect("an encoder outside of an update");
        let state = SavedRun {
            encoder: save_module::<B, _>(encoder).map_err(CheckpointError::from)?,
            average: save_module::<B, _>(self.average.get()).map_err(CheckpointError::from)?,
            n_averaged: self.average.n_steps(),
            optimizer: self.update.save().map_err(CheckpointError::from)?,
            query: self.rates.query.state()?,
            support: self.rates.support.state()?,
            counters: self.counters.clone(),
            record: self.record.clone(),
            old_queue: self.loss.queue.as_ref().map(OldQueue::save),
        };
        write_checkpoint(path, identity, &state)?;
        callbacks.saved(start.elapsed());
        Ok(())
    }

    /// The run as it was saved, or as it is if there is no file.
    pub(crate) fn resumed(self, path: &Path, identity: &Identity) -> Result<Self, TrainError> {
        let Some(saved) = read_checkpoint::<SavedRun<R>>(path, identity)? else {
            return Ok(self);
        };
        let unfit = |Unfit| CheckpointError::Contents {
            path: path.to_owned(),
        };
        Ok(self.taking_up(saved).map_err(unfit)?)
    }

    fn taking_up(mut self, saved: SavedRun<R>) -> Result<Self, Unfit> {
        let like = self
            .encoder
            .take()
            .expect("an encoder outside of an update");
        let device = like.devices().into_iter().next().unwrap_or_default();
        let average = load_module::<B, M>(like.clone(), saved.average, &device)?;
        let decay = self.loss.settings.average_decay;
        self.average = WeightAverage::resume(average, decay, saved.n_averaged);
        self.update = self.update.load(saved.optimizer, &device)?;
        self.rates.query = self.rates.query.restore(saved.query, &like, &device)?;
        self.rates.support = self.rates.support.restore(saved.support, &like, &device)?;
        self.encoder = Some(load_module::<B, M>(like, saved.encoder, &device)?);
        self.counters = saved.counters;
        self.record = saved.record;
        self.loss.queue = match (self.loss.queue.take(), saved.old_queue) {
            (Some(queue), Some(saved)) => Some(queue.load(saved, &device)?),
            (None, None) => None,
            _ => return Err(Unfit),
        };
        Ok(self)
    }
}
