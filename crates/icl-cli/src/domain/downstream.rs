//! Accuracies of an encoder on the labels of held-out samples.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Seed};
use icl_eval::{Matrix, Task, TaskErrors};
use icl_report::{KeptNeighbours, TaskAccuracy, TaskFeatures};
use icl_train::{PairedDifference, Verdict};

use crate::domain::Domain;
use crate::domain::spread::{EvaluatorOf, embed};
use crate::process::causes::Causes;
use crate::process::failure::Failure;

/// Number of labelled samples of each class.
const N_LABELS: usize = 5;

/// An encoder before a training, if there is one, and after it.
type Encoders<'a, D, B> = (
    Option<&'a <D as Domain>::Encoder<<B as AutodiffBackend>::InnerBackend>>,
    &'a <D as Domain>::Encoder<<B as AutodiffBackend>::InnerBackend>,
);

/// Samples of a task: those that were trained on, of which some are labelled, and those that were held out.
pub struct TaskSamples<'a, D: Domain> {
    pub domain: &'a D,
    pub data: &'a D::Data,
    /// Label of each sample of the data, if it has one.
    pub labels: &'a [Option<usize>],
    pub increment: &'a Increment,
    pub held_out: &'a Increment,
    pub seed: Seed,
}

impl<D: Domain> TaskSamples<'_, D> {
    /// Measures an encoder before and after a training, an untrained one and the raw features on the same samples.
    /// Without one before, the untrained one takes its place. `None` where too few samples have a label.
    ///
    /// # Errors
    /// If a sample cannot be read, or features are not finite.
    pub fn accuracy<B: AutodiffBackend>(
        &self,
        evaluator: &EvaluatorOf<'_, '_, D, B::InnerBackend>,
        (before, after): Encoders<'_, D, B>,
        device: &B::Device,
        causes: &Causes<'_>,
    ) -> Result<Option<TaskAccuracy>, Failure> {
        let held_out = self.held_out.at_most(KeptNeighbours::MOST, self.seed);
        let [trained, held_out] = [self.increment, &held_out].map(Increment::all);
        let Some(task) = Task::draw(self.labels, &trained, &held_out, N_LABELS, self.seed) else {
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
        let seed = self.seed.child("untrained");
        let untrained = self.domain.fresh::<B>(seed, device)?.valid();
        let (untrained, _) = evaluator
            .with_statistics(untrained)
            .map_err(|error| causes.measurement(error))?;
        let untrained = of(&untrained)?;
        let before = before.map_or_else(|| Ok(untrained.clone()), of)?;
        let all = [before, of(after)?, untrained];
        let raw = self.domain.features(self.data)?;
        let raw = raw.map(|all| errors(&all.select(&samples))).transpose()?;
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
            n_held_out: task.n_held_out(),
            nearest: features(|of| &of.nearest)?,
            linear: features(|of| &of.linear)?,
        }))
    }
}
