//! The state of a training run: one step, one evaluation.

use std::time::Instant;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::ElementConversion;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, Mode, SampleError, Seed};

use crate::average::WeightAverage;
use crate::evaluation::Evaluated;
use crate::optimizer::UpdateState;
use crate::prefetch::Prepared;
use crate::record::{Evaluation, TrainingRecord};
use crate::settle::settle;
use crate::{Objective, Outcome, Problem, TrainError, TrainingSettings};

/// The state of a run.
pub(crate) struct Run<'a, M: AutodiffModule<B>, B: AutodiffBackend, R> {
    root_seed: u64,
    settings: &'a TrainingSettings,
    update: UpdateState<M, B>,
    /// It is gone only within an update, which consumes a module and gives the next.
    encoder: Option<M>,
    average: WeightAverage<M>,
    pub(crate) record: TrainingRecord<R>,
}

impl<'a, M: AutodiffModule<B>, B: AutodiffBackend, R> Run<'a, M, B, R> {
    /// A run that has done nothing yet.
    pub(crate) fn new(encoder: M, settings: &'a TrainingSettings, root_seed: u64) -> Self {
        settle(&encoder);
        Self {
            root_seed,
            settings,
            update: UpdateState::new(settings.optimizer),
            average: WeightAverage::new(encoder.clone(), settings.average_decay),
            encoder: Some(encoder),
            record: TrainingRecord::empty(),
        }
    }

    /// The end of the run, `encoder` being what its last evaluation gave.
    pub(crate) fn end(self, encoder: M::InnerModule) -> Outcome<M, B, R> {
        Outcome {
            trained: self.average.get().clone(),
            encoder,
            record: self.record,
        }
    }

    fn take(&mut self) -> M {
        self.encoder
            .take()
            .expect("an encoder outside of an update")
    }

    /// One step; the loss in nats.
    pub(crate) fn step<S, V, C>(
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
    pub(crate) fn evaluate(
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
            seed: self.root_seed,
        })
    }
}
