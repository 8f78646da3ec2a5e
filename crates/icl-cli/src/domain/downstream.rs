//! Comparison of encoders on held-out samples: by their losses, and by accuracies on labels.

use std::collections::BTreeSet;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{HeldOutRisk, Increment, Seed};
use icl_eval::{EvalErrorKind, Matrix, Task, TaskErrors};
use icl_report::{KeptNeighbours, TaskAccuracy, TaskFeatures};
use icl_train::{PairedDifference, Verdict};

use crate::domain::Domain;
use crate::domain::spread::{EvaluatorOf, embed};
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Number of labelled samples of each class.
const N_LABELS: usize = 5;
/// Largest number of classes: the linear probe has a row of weights for each.
const MOST_CLASSES: usize = 200;

/// An encoder before a training, if there is one, and after it.
type Encoders<'a, D, B> = (
    Option<&'a <D as Domain>::Encoder<<B as AutodiffBackend>::InnerBackend>>,
    &'a <D as Domain>::Encoder<<B as AutodiffBackend>::InnerBackend>,
);

/// Held-out samples on which encoders are compared, and the samples that were trained on.
pub struct HeldOut<'a, D: Domain> {
    pub domain: &'a D,
    pub data: &'a D::Data,
    /// Samples over which losses are compared.
    pub measured: &'a Increment,
    /// All held-out samples.
    pub all: &'a Increment,
    pub trained: &'a Increment,
    /// Label of each sample of the data, if it has one; `None` without labels.
    pub labels: Option<&'a [Option<usize>]>,
    pub seed: Seed,
}

/// Comparison of the encoders before and after an update on held-out samples; `None` without such samples.
#[derive(Default)]
pub struct HeldOutComparison {
    pub risks: Option<[HeldOutRisk; 2]>,
    pub verdict: Option<Verdict>,
    pub task: Option<TaskAccuracy>,
}

impl<D: Domain> HeldOut<'_, D> {
    /// Compares the encoders before and after an update.
    ///
    /// # Errors
    /// If a sample cannot be read, or a loss or a feature is not finite.
    pub fn compare<B: AutodiffBackend>(
        &self,
        evaluator: &EvaluatorOf<'_, '_, D, B::InnerBackend>,
        [before, after]: [&D::Encoder<B::InnerBackend>; 2],
        device: &B::Device,
        causes: &Causes<'_>,
    ) -> Result<HeldOutComparison, Failure> {
        let risk = |encoder| {
            let risk = evaluator.held_out_risk_with_losses(encoder, self.measured);
            risk.map_err(|error| causes.measurement(error))
        };
        let [(risk_before, of_before), (risk_after, of_after)] = [risk(before)?, risk(after)?];
        let verdict = Verdict::of(&of_before, &of_after, self.measured.old().len())?;
        Ok(HeldOutComparison {
            risks: Some([risk_before, risk_after]),
            verdict: Some(verdict),
            task: self.accuracy::<B>(evaluator, (Some(before), after), device, causes)?,
        })
    }

    /// Measures an encoder before and after a training, an untrained one and the raw features on the same samples.
    /// Without one before, the untrained one takes its place. `None` without labels; where they do not suffice, a note
    /// says so.
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
        let Some(labels) = self.labels else {
            return Ok(None);
        };
        let Some(task) = self.task(labels) else {
            return Ok(None);
        };
        let samples = task.samples();
        let errors = |features: &Matrix| match task.errors(features) {
            Ok(errors) => Ok(Some(errors)),
            Err(error) if error.kind() == EvalErrorKind::NotConverged => Ok(None),
            Err(error) => Err(causes.embeddings(error)),
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
        let (Some(before), Some(after), Some(untrained)) = (before, of(after)?, untrained) else {
            tell("note: no accuracies on labels: the linear probe did not converge");
            return Ok(None);
        };
        let raw = self.domain.features(self.data, &samples)?;
        let raw = raw.as_ref().map(errors).transpose()?.flatten();
        let features = |part: fn(&TaskErrors) -> &[f64]| -> Result<TaskFeatures, Failure> {
            let right =
                |of: &TaskErrors| 1.0 - part(of).iter().sum::<f64>() / part(of).len() as f64;
            Ok(TaskFeatures {
                before: right(&before),
                after: right(&after),
                untrained: right(&untrained),
                raw: raw.as_ref().map(right),
                difference: PairedDifference::of(part(&before), part(&after), Verdict::LEVEL)?,
            })
        };
        Ok(Some(TaskAccuracy {
            n_labelled: task.n_labelled(),
            n_held_out: task.n_held_out(),
            nearest: features(|of| &of.nearest)?,
            linear: features(|of| &of.linear)?,
        }))
    }

    /// Draws the labelled samples; `None`, and a note, where the labels do not suffice.
    fn task(&self, labels: &[Option<usize>]) -> Option<Task> {
        let labelled = |of: &Increment| -> Vec<usize> {
            let samples = of.all().into_iter();
            samples.filter(|&at| labels[at].is_some()).collect()
        };
        let [trained, held_out] = [self.trained, self.all].map(labelled);
        let classes: BTreeSet<Option<usize>> = trained.iter().map(|&at| labels[at]).collect();
        let measured = Increment::before(held_out.clone());
        let held_out = measured.map_or(held_out, |it| {
            it.at_most(KeptNeighbours::MOST, self.seed).all()
        });
        let task = match classes.len() {
            0..=MOST_CLASSES => Task::draw(labels, &trained, &held_out, N_LABELS, self.seed),
            _ => None,
        };
        if task.is_none() {
            tell(format_args!(
                "note: no accuracies on labels: found {} classes among the samples that are trained on and {} held-out \
                 samples with a label, expected 2 to {MOST_CLASSES} classes and at least 2 such samples",
                classes.len(),
                held_out.len()
            ));
        }
        task
    }
}
