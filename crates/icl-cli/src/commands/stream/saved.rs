//! The encoder of a strategy in its file, with the experiences that it was trained on.

use std::path::Path;

use burn::tensor::backend::AutodiffBackend;
use icl_models::{DataOrigin, StoredEncoder};
use icl_train::StreamState;

use crate::commands::stream::arrived::Arrived;
use crate::commands::stream::experience::CurrentExperience;
use crate::commands::stream::strategy::StrategyRun;
use crate::domain::data::DataSet;
use crate::domain::encoder_file;
use crate::domain::encoder_file::{EncoderFile, TrainedOn};
use crate::domain::{Codec, Domain};
use crate::options::command_line::command_line;
use crate::process::failure::Failure;

impl<D: Domain, B: AutodiffBackend> CurrentExperience<'_, D, B> {
    /// Whether the configuration of the encoder is that of a file: features that rest on statistics of the data may
    /// have been estimated since.
    pub(super) fn is_as_in(&self, file: &EncoderFile<D>) -> Result<bool, Failure> {
        let [own, given] = [&*self.gathered.domain, &file.domain].map(Codec::describe);
        Ok(own.map_err(Failure::input)? == given.map_err(Failure::input)?)
    }

    /// Writes the encoder after a training, with the encoder before it as its parent.
    pub(super) fn save(
        &self,
        run: &StrategyRun<'_>,
        (encoder, state): (&D::Encoder<B::InnerBackend>, &StreamState),
        path: &Path,
    ) -> Result<(), Failure> {
        let parents = match (self.at, self.from) {
            (0, None) => Vec::new(),
            (0, Some(from)) => from.stored.lineage().map_err(Failure::input)?,
            _ => {
                let before = StoredEncoder::open(&run.encoder);
                let lineage = before.and_then(|it| it.lineage());
                lineage.map_err(Failure::input)?
            }
        };
        let share = self.resolved.options.course.measured.share();
        // What the first encoder has seen, its updates have seen.
        let hold_out = match self.from {
            None => Some(share),
            Some(from) => from.hold_out().map(|before| before.min(share)),
        };
        let passes_per_sample = match self.from {
            Some(from) => from.passes_per_sample(),
            // The encoders of the stream go back to the training of its first experience.
            None => state.experiences().first().map(|first| {
                let n_trained = first.n_samples - first.held_out.len();
                first.cost.charged() / n_trained as f64
            }),
        };
        let training = &self.resolved.training;
        let cost = state
            .experiences()
            .last()
            .map_or(0.0, |it| it.cost.charged());
        let command = command_line("stream", &self.resolved.options)?;
        let trained_on = TrainedOn {
            data: self.gathered.data.name(),
            classes: &self.gathered.data.class_names(),
            settings: &training.settings,
            origin: &encoder_file::origin(&command, training.seed, cost, self.sources(run)),
            parents: &parents,
            hold_out,
            passes_per_sample,
        };
        encoder_file::save(encoder, &*self.gathered.domain, trained_on, path).map(drop)
    }

    /// Returns the data of the training of this experience: those before, and its own with those that waited.
    fn sources(&self, run: &StrategyRun<'_>) -> Vec<DataOrigin> {
        let experiences = &self.gathered.experiences[..=self.at];
        let contents = |of: &[Arrived]| {
            let contents = of.iter().flat_map(|it| it.contents.iter().copied());
            contents.collect::<Vec<u64>>()
        };
        let part = |part: &str, of: &[Arrived]| {
            let (first, last) = (of.first()?, of.last()?);
            let name = match of.len() {
                1 => first.name.clone(),
                _ => format!("{} to {}", first.name, last.name),
            };
            Some(DataOrigin::new(part, &name, contents(of)))
        };
        let [n_waiting, _] = run.state.memory().n_waiting();
        let (old, new) = experiences.split_at(self.at.saturating_sub(n_waiting));
        let part_of_new = if old.is_empty() { "all" } else { "new" };
        let parts = [part("old", old), part(part_of_new, new)];
        parts.into_iter().flatten().collect()
    }
}
