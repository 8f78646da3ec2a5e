//! Accuracies on the classes of held-out samples, before and after an update.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Seed};
use icl_eval::{Matrix, Task, TaskErrors};
use icl_report::{KeptNeighbours, TaskAccuracy, TaskFeatures};
use icl_train::{PairedDifference, Verdict};

use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::domain::spread::{EvaluatorOf, embed};
use crate::process::causes::Causes;
use crate::process::failure::Failure;

/// Number of labelled samples of each class.
const N_LABELS: usize = 5;

/// Samples of a task: those that were trained on, of which some are labelled, and those that were held out.
pub struct TaskSamples<'a, D: Domain> {
    pub domain: &'a D,
    pub data: &'a D::Data,
    pub increment: &'a Increment,
    pub held_out: &'a Increment,
    pub seed: Seed,
}

impl<D: Domain> TaskSamples<'_, D> {
    /// Measures the encoder before and after, an untrained one and the raw features on the same samples; `None` where the
    /// samples have no classes, or too few of them.
    ///
    /// # Errors
    /// If a sample cannot be read, or features are not finite.
    pub fn accuracy<B: AutodiffBackend>(
        &self,
        evaluator: &EvaluatorOf<'_, '_, D, B::InnerBackend>,
        [before, after]: [&D::Encoder<B::InnerBackend>; 2],
        device: &B::Device,
        causes: &Causes<'_>,
    ) -> Result<Option<TaskAccuracy>, Failure> {
        if !self.data.has_labels() {
            return Ok(None);
        }
        let held_out = self.held_out.at_most(KeptNeighbours::MOST, self.seed);
        let (labels, trained) = (self.data.labels(), self.increment.all());
        let Some(task) = Task::draw(&labels, &trained, &held_out.all(), N_LABELS, self.seed) else {
            return Ok(None);
        };
        let samples = task.samples();
        let errors = |features: &Matrix| {
            let errors = task.errors(features);
            errors.map_err(|error| causes.embeddings(error))
        };
        let of = |encoder: &D::Encoder<B::InnerBackend>| {
            errors(&embed::<D, _>(evaluator, encoder, &samples, causes)?)
        };
        let untrained = self
            .domain
            .fresh::<B>(self.seed.child("untrained"), device)?;
        let (untrained, _) = evaluator
            .with_statistics(untrained.valid())
            .map_err(|error| causes.measurement(error))?;
        let raw = self.domain.features(self.data)?;
        let raw = raw.map(|all| errors(&all.select(&samples))).transpose()?;
        let all = [of(before)?, of(after)?, of(&untrained)?];
        let features = |part: fn(&TaskErrors) -> &[f64]| -> Result<TaskFeatures, Failure> {
            let right =
                |of: &TaskErrors| 1.0 - part(of).iter().sum::<f64>() / part(of).len() as f64;
            let [before, after, untrained] = &all;
            Ok(TaskFeatures {
                before: right(before),
                after: right(after),
                untrained: right(untrained),
                raw: raw.as_ref().map(right),
                difference: PairedDifference::of(part(before), part(after), Verdict::LEVEL)?,
            })
        };
        Ok(Some(TaskAccuracy {
            n_labelled: task.n_labelled(),
            n_held_out: samples.len() - task.n_labelled(),
            nearest: features(|of| &of.nearest)?,
            linear: features(|of| &of.linear)?,
        }))
    }
}
