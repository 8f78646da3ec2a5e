//! The one training loop.

use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, SampleError, Samples, Seed, Views};

use crate::evaluation::{Evaluated, Evaluator};
use crate::plan::EpochPlan;
use crate::prefetch::prefetch;
use crate::run::Run;
use crate::stopping::Descent;
use crate::{Noise, Objective, Outcome, Problem, Progress, StopRule, TrainError, TrainingSettings};

/// Trains an encoder on a problem.
#[derive(Debug)]
pub struct Trainer<'a, B: AutodiffBackend, S, V, C> {
    /// The data.
    pub problem: Problem<'a, S, V, C>,
    /// The settings.
    pub settings: &'a TrainingSettings,
    /// The run's root seed: order, views, dropout and evaluation have streams of their own.
    pub seed: u64,
    /// Where to train.
    pub device: B::Device,
}

impl<B, S, V, C> Trainer<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<B, View = V::View> + Collate<B::InnerBackend, View = V::View>,
{
    /// The evaluator of this run: its fixed views are those of the root seed, the same for every
    /// method.
    pub fn evaluator(&self) -> Evaluator<'_, B::InnerBackend, S, V, C> {
        Evaluator {
            problem: self.problem,
            seed: Seed::new(self.seed).child("evaluation"),
            temperature: self.settings.temperature,
            negatives: self.settings.negatives,
            device: self.device.clone(),
        }
    }

    /// Trains a fresh encoder on the old data by NCE-I under p(X), stopped by the exact risk over
    /// the old data: this is θ₀.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn pretrain<M>(
        &self,
        encoder: M,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome<M, B, f64>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = <C as Collate<B>>::Batch>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = <C as Collate<B::InnerBackend>>::Batch>,
    {
        let evaluator = self.evaluator();
        let evaluate = |encoder| evaluator.evaluate_old(encoder);
        let objective = Objective::InfoNce(Noise::Old);
        self.run(
            objective,
            encoder,
            "pretraining",
            &evaluate,
            |risk| *risk,
            progress,
        )
    }

    /// Trains an encoder by an objective, watched by the exact risk over X′. `stream` names the
    /// run's randomness: methods of one name see one order and one set of views.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn train<M>(
        &self,
        objective: Objective,
        encoder: M,
        stream: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome<M, B>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = <C as Collate<B>>::Batch>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = <C as Collate<B::InnerBackend>>::Batch>,
    {
        let evaluator = self.evaluator();
        let evaluate = |encoder| evaluator.evaluate(encoder);
        self.run(
            objective,
            encoder,
            stream,
            &evaluate,
            |risk| risk.all,
            progress,
        )
    }

    /// Every epoch of an objective has as many steps.
    fn steps_per_epoch(&self, objective: Objective) -> usize {
        let (increment, batch_size) = (self.problem.increment, self.settings.batch_size);
        let plan = EpochPlan::new(objective, increment, batch_size, Seed::new(self.seed), 0);
        plan.steps.len()
    }

    fn run<M, R>(
        &self,
        objective: Objective,
        encoder: M,
        stream: &str,
        evaluate: &dyn Fn(M::InnerModule) -> Result<Evaluated<M::InnerModule, R>, SampleError>,
        value: fn(&R) -> f64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome<M, B, R>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = <C as Collate<B>>::Batch>,
    {
        self.settings.check()?;
        self.problem.check()?;
        let seed = Seed::new(self.seed).child(stream);
        // The encoder draws from generators of its own; this is for layers that do not.
        B::seed(&self.device, seed.child("backend").value());
        std::thread::scope(|scope| {
            let device = self.device.clone();
            let batches =
                prefetch::<B, S, V, C>(scope, self.problem, objective, self.settings, seed, device);
            let mut run = Run::new(encoder, self.settings, self.seed);
            let n_steps = self.steps_per_epoch(objective);
            let mut next_evaluation = 0;
            let patience = self.settings.patience;
            let (mut risks, mut losses) = (Descent::default(), Descent::default());
            let mut risk = f64::NAN;
            loop {
                let epoch = run.record.n_epochs();
                let n_worse = run
                    .record
                    .epoch_losses
                    .last()
                    .map_or(0, |&loss| losses.push(loss));
                let by_loss = self.settings.stop == StopRule::TrainingLoss && n_worse >= patience;
                let is_last = by_loss || epoch == self.settings.epochs;
                if is_last || epoch == next_evaluation {
                    let evaluated;
                    (evaluated, risk) = run.evaluate(evaluate, value)?;
                    next_evaluation = self.settings.next_evaluation(epoch, n_steps);
                    let n_worse = risks.push(risk);
                    let by_risk = self.settings.stop == StopRule::ExactRisk && n_worse >= patience;
                    if is_last || by_risk {
                        return Ok(run.end(evaluated));
                    }
                }
                progress(Progress {
                    epoch,
                    n_epochs: self.settings.epochs,
                    risk,
                });
                let mut sum = 0.0;
                for _ in 0..n_steps {
                    let wait = Instant::now();
                    let prepared = batches
                        .recv()
                        .expect("the thread that prepares batches ends with the last epoch");
                    let prepared = prepared.map_err(TrainError::Sample)?;
                    run.record.seconds.wait += wait.elapsed().as_secs_f64();
                    sum += run.step(prepared, objective, &self.problem, seed)?;
                }
                run.record.epoch_losses.push(sum / n_steps as f64);
                run.record.epoch_ends_s.push(run.record.seconds.training());
            }
        })
    }
}
