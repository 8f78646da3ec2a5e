//! The one training loop.

use std::time::Instant;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::ElementConversion;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, ExactRisk, Mode, SampleError, Samples, Seed, Views};

use crate::average::WeightAverage;
use crate::evaluation::{Evaluated, Evaluator};
use crate::optimizer::UpdateState;
use crate::plan::EpochPlan;
use crate::prefetch::{Prepared, prefetch};
use crate::record::{Evaluation, Seconds, TrainingRecord};
use crate::settle::settle;
use crate::stopping::Descent;
use crate::{Noise, Objective, Problem, SettingsError, StopRule, TrainingSettings};

/// Why a training run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A setting cannot be.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A loss or a risk is NaN or infinite.
    #[error(
        "{what} is {found} at step {step} (epoch {epoch}, seed {seed}), expected a finite number"
    )]
    NonFinite {
        /// "the training loss" or "the exact risk".
        what: &'static str,
        /// The value.
        found: f64,
        /// The step, counted from 1 over the run.
        step: u64,
        /// The epoch, counted from 1.
        epoch: usize,
        /// The run's root seed.
        seed: u64,
    },
    /// No parameter of the encoder takes part in the loss.
    #[error("the encoder has no parameter that the loss depends on: nothing can be trained")]
    NothingToTrain,
    /// A sample could not be read.
    #[error("a sample could not be read: {0}")]
    Sample(#[source] SampleError),
}

/// Where a run stands, told after every epoch and evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Epochs trained.
    pub epoch: usize,
    /// The most epochs that there will be.
    pub n_epochs: usize,
    /// The last exact risk over all data, in nats.
    pub risk: f64,
}

/// What a run ends with.
#[derive(Debug, Clone)]
pub struct Outcome<M: AutodiffModule<B>, B: AutodiffBackend, R = ExactRisk> {
    /// The encoder at the end of training, its parameters averaged as the settings say: what a
    /// further training run starts from.
    ///
    /// Start from this one, not from a clone of `encoder`: Burn forgets in such a clone which
    /// parameters are to be trained.
    pub trained: M,
    /// The same for use: without gradients, its statistics re-estimated. Its risk is that of the
    /// last evaluation.
    pub encoder: M::InnerModule,
    /// What happened.
    pub record: TrainingRecord<R>,
}

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
        settle(&encoder);
        let seed = Seed::new(self.seed).child(stream);
        // The encoder draws from generators of its own; this is for layers that do not.
        B::seed(&self.device, seed.child("backend").value());
        std::thread::scope(|scope| {
            let device = self.device.clone();
            let batches =
                prefetch::<B, S, V, C>(scope, self.problem, objective, self.settings, seed, device);
            let mut run = Run::<M, B, R> {
                trainer_seed: self.seed,
                settings: self.settings,
                update: UpdateState::new(self.settings.optimizer),
                average: WeightAverage::new(encoder.clone(), self.settings.average_decay),
                encoder: Some(encoder),
                record: TrainingRecord {
                    evaluations: Vec::new(),
                    epoch_losses: Vec::new(),
                    epoch_ends_s: Vec::new(),
                    n_steps: 0,
                    sample_passes: 0,
                    seconds: Seconds::default(),
                },
            };
            let n_steps = self.steps_per_epoch(objective);
            let mut next_evaluation = 0;
            let mut risk = Descent::default();
            let mut loss = Descent::default();
            loop {
                let epoch = run.record.n_epochs();
                let by_loss = epoch > 0
                    && loss.push(run.record.epoch_losses[epoch - 1]) >= self.settings.patience
                    && self.settings.stop == StopRule::TrainingLoss;
                let is_last = by_loss || epoch == self.settings.epochs;
                if is_last || epoch == next_evaluation {
                    let (evaluated, found) = run.evaluate(evaluate, value)?;
                    next_evaluation = self.settings.next_evaluation(epoch, n_steps);
                    progress(Progress {
                        epoch,
                        n_epochs: self.settings.epochs,
                        risk: found,
                    });
                    let by_risk = risk.push(found) >= self.settings.patience
                        && self.settings.stop == StopRule::ExactRisk;
                    if is_last || by_risk {
                        return Ok(Outcome {
                            trained: run.average.get().clone(),
                            encoder: evaluated,
                            record: run.record,
                        });
                    }
                }
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

/// The state of a run.
struct Run<'a, M: AutodiffModule<B>, B: AutodiffBackend, R> {
    trainer_seed: u64,
    settings: &'a TrainingSettings,
    update: UpdateState<M, B>,
    /// It is gone only within an update, which consumes a module and gives the next.
    encoder: Option<M>,
    average: WeightAverage<M>,
    record: TrainingRecord<R>,
}

impl<M: AutodiffModule<B>, B: AutodiffBackend, R> Run<'_, M, B, R> {
    fn take(&mut self) -> M {
        self.encoder
            .take()
            .expect("an encoder outside of an update")
    }

    /// One step; the loss in nats.
    fn step<S, V, C>(
        &mut self,
        prepared: Prepared<M::Batch>,
        objective: Objective,
        problem: &Problem<'_, S, V, C>,
        seed: Seed,
    ) -> Result<f64, TrainError>
    where
        M: Encoder<B>,
    {
        let start = Instant::now();
        let n = prepared.n_samples;
        let mut rng = seed.child("dropout").at(self.record.n_steps).rng();
        let encoder = self.take();
        let embeddings = encoder.encode(prepared.batch, Mode::Training(&mut rng));
        let alpha = problem.increment.growth_ratio();
        let anchors = embeddings.clone().narrow(0, 0, n);
        let positives = embeddings.narrow(0, n, n);
        let loss = objective.loss(anchors, positives, prepared.n_old, alpha, self.settings);
        let gradients = GradientsParams::from_grads(loss.backward(), &encoder);
        if gradients.is_empty() {
            return Err(TrainError::NothingToTrain);
        }
        let loss = loss.into_scalar().elem::<f64>();
        self.record.n_steps += 1;
        self.check("the training loss", loss, prepared.epoch + 1)?;
        let encoder = self
            .update
            .step(self.settings.learning_rate, encoder, gradients);
        self.average.push(&encoder);
        self.encoder = Some(encoder);
        self.record.sample_passes += 2 * n as u64;
        self.record.seconds.steps += start.elapsed().as_secs_f64();
        self.record.seconds.views += prepared.views_s;
        self.record.seconds.collation += prepared.collation_s;
        Ok(loss)
    }

    /// Evaluates the encoder as it is now; the evaluated encoder and the value of its risk.
    fn evaluate(
        &mut self,
        evaluate: &dyn Fn(M::InnerModule) -> Result<Evaluated<M::InnerModule, R>, SampleError>,
        value: fn(&R) -> f64,
    ) -> Result<(M::InnerModule, f64), TrainError> {
        let start = Instant::now();
        let evaluated = evaluate(self.average.get().valid()).map_err(TrainError::Sample)?;
        let found = value(&evaluated.risk);
        let epoch = self.record.n_epochs();
        self.record.seconds.evaluation += start.elapsed().as_secs_f64();
        self.record.evaluations.push(Evaluation {
            epoch,
            sample_passes: self.record.sample_passes,
            train_s: self.record.seconds.training(),
            risk: evaluated.risk,
        });
        self.check("the exact risk", found, epoch)?;
        Ok((evaluated.encoder, found))
    }

    fn check(&self, what: &'static str, found: f64, epoch: usize) -> Result<(), TrainError> {
        if found.is_finite() {
            return Ok(());
        }
        Err(TrainError::NonFinite {
            what,
            found,
            step: self.record.n_steps,
            epoch,
            seed: self.trainer_seed,
        })
    }
}
