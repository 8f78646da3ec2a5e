//! The rule of a step: the plain gradient at a scheduled rate, or one that takes its place.

use std::cell::OnceCell;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::Error;
use icl_core::module_bytes::{Bytes, unfit};
use icl_core::{Purpose, SampleError, Seed, StepLosses, StepRule, TrainableEncoder};

use crate::error::TrainError;
use crate::method::Method;
use crate::optimizer::rates::{OwnRates, Rates};
use crate::progress::warnings::{Statistics, are_trained};
use crate::settings::TrainingSettings;
use crate::step::batch_loss::{BatchLoss, PartOf, value_of};
use crate::step::contrastive::Anchors;
use crate::step::copies::without_graph;
use crate::step::prefetch::Prepared;
use crate::step::step_gradient::Step;

/// Rule of the steps of a run.
pub(crate) enum Rule<'a, M: 'a, B: AutodiffBackend> {
    /// The gradient of the batch is applied at the next rate of a schedule.
    Plain(Box<dyn Rates<B>>),
    /// One from outside of this crate finds gradient and rate.
    Plugged(Box<dyn StepRule<M, B, TrainError> + 'a>),
}

impl<'a, M: AutodiffModule<B> + 'a, B: AutodiffBackend> Rule<'a, M, B> {
    /// Creates the rule of a method's steps, in a run of at most `n_steps` places, with the learning rates of the trainer
    /// if it has any.
    /// `seed` initialises the agents of learned rates.
    ///
    /// # Errors
    /// [`TrainError`] if the method needs the feature `meta`, and this build is without it, or its own rate follows
    /// the run and the trainer has rates, too.
    pub(crate) fn new(
        method: &Method,
        rates: OwnRates<B>,
        settings: &TrainingSettings,
        n_steps: u64,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self, TrainError> {
        let schedule = method.rate.schedule(settings.learning_rate, n_steps);
        match (schedule, rates) {
            (Some(schedule), rates) if !method.optimizer.is_meta() => {
                let schedule = || Box::new(schedule.after_steps(settings.steps_before));
                Ok(Self::Plain(rates.unwrap_or_else(|| schedule())))
            }
            (_, Some(rates)) => Err(TrainError::new(
                "rate",
                format!("{rates:?} with {method}"),
                "a method whose rate is a function of the step",
            )),
            (_, None) => plugged(method, settings, n_steps, seed, device).map(Self::Plugged),
        }
    }

    /// Returns the state of the rule, if it has one.
    ///
    /// # Errors
    /// If it cannot be serialised.
    pub(crate) fn save(&self) -> Result<Option<Bytes>, SampleError> {
        match self {
            Self::Plain(rates) => Ok(rates.save()?),
            Self::Plugged(rule) => rule.save().map(Some),
        }
    }

    /// Restores a saved state. `like` is an encoder of the run's kind.
    ///
    /// # Errors
    /// If the state belongs to another rule or encoder.
    pub(crate) fn load(
        &mut self,
        saved: Option<Bytes>,
        like: &M,
        device: &B::Device,
    ) -> Result<(), Error> {
        match (self, saved) {
            (Self::Plain(rates), saved) => rates.load(saved, device),
            (Self::Plugged(rule), Some(saved)) => rule.load(saved, like, device),
            _ => Err(unfit()),
        }
    }
}

/// Returns the rule of meta-optimization or of a rate that follows the run.
#[cfg(feature = "meta")]
fn plugged<'a, M: AutodiffModule<B> + 'a, B: AutodiffBackend>(
    method: &Method,
    settings: &TrainingSettings,
    n_steps: u64,
    seed: Seed,
    device: &B::Device,
) -> Result<Box<dyn StepRule<M, B, TrainError> + 'a>, TrainError> {
    let policy = |base, name| {
        let seed = seed.child("agent").child(name);
        icl_meta::RatePolicy::new(method.rate, base, n_steps, seed, device)
            .after_steps(settings.steps_before)
    };
    let rule = icl_meta::MetaRule::new(policy(settings.learning_rate, "query"));
    Ok(Box::new(
        match method.optimizer.order(settings.meta_order) {
            None => rule,
            Some(order) => {
                let inner = policy(settings.support_learning_rate, "support");
                rule.with_inner_loop(inner, order == crate::method::MetaOrder::Second)
            }
        },
    ))
}

/// Refuses a method that this build cannot train.
#[cfg(not(feature = "meta"))]
fn plugged<'a, M: AutodiffModule<B> + 'a, B: AutodiffBackend>(
    method: &Method,
    _: &TrainingSettings,
    _: u64,
    _: Seed,
    _: &B::Device,
) -> Result<Box<dyn StepRule<M, B, TrainError> + 'a>, TrainError> {
    let (axis, found) = match method.optimizer.is_meta() {
        true => ("optimizer", method.optimizer.to_string()),
        false => ("rate", method.rate.to_string()),
    };
    let expected =
        "a choice that needs no cargo feature, or icl-train or icl with the feature `meta`";
    Err(TrainError::new(axis, found, expected))
}

/// Losses of one step, for its rule.
pub(crate) struct LossesOfStep<'r, 'a, M, B>
where
    M: TrainableEncoder<B>,
    B: AutodiffBackend,
{
    loss: &'r BatchLoss<'a, M, B>,
    prepared: &'r Prepared<PartOf<M, B>>,
    step: Step,
    seed: Seed,
    copy_statistics: &'r OnceCell<Statistics>,
}

impl<M, B> StepLosses<M, B, TrainError> for LossesOfStep<'_, '_, M, B>
where
    M: TrainableEncoder<B>,
    B: AutodiffBackend,
{
    fn index(&self) -> u64 {
        self.step.index
    }

    fn n_support(&self) -> usize {
        self.prepared.support.len()
    }

    fn support(
        &self,
        encoder: &M,
        inner: usize,
        purpose: Purpose,
    ) -> Result<Tensor<B, 1>, TrainError> {
        self.loss.passes.begin(purpose);
        let (batch, seed) = (&self.prepared.support[inner], self.seed.at(inner as u64));
        self.loss.at(encoder, batch, Anchors::Old, seed)
    }

    fn query(&self, encoder: &M) -> Result<Tensor<B, 1>, TrainError> {
        self.loss.passes.begin(Purpose::Training);
        let loss = self.of_batch(encoder)?;
        self.copy_statistics.get_or_init(|| {
            // Burn keeps new running statistics for each thread until `valid` joins them.
            Statistics::of::<B::InnerBackend, _>(&encoder.valid(), &are_trained::<B, M>(encoder))
        });
        Ok(loss)
    }

    fn query_value(&self, encoder: &M) -> Result<f64, TrainError> {
        let encoder = without_graph::<B, M>(encoder);
        self.loss.passes.begin_forward(Purpose::Agents);
        self.of_batch(&encoder).map(value_of)
    }

    fn gradient(&self, encoder: &M) -> Result<(f64, GradientsParams), TrainError> {
        let batch = &self.prepared.batch;
        let (loss, gradients) = self.loss.gradient(encoder, batch, self.seed)?;
        self.check("the training loss", loss, &gradients)?;
        Ok((loss, gradients))
    }

    fn check(
        &self,
        what: &'static str,
        loss: f64,
        gradients: &GradientsParams,
    ) -> Result<(), TrainError> {
        self.step.check(what, loss, gradients)
    }
}

impl<'r, 'a, M, B> LossesOfStep<'r, 'a, M, B>
where
    M: TrainableEncoder<B>,
    B: AutodiffBackend,
{
    /// Creates the losses of prepared batches. `seed` decides the encoder's randomness; the first query after an inner
    /// loop sets `copy_statistics`.
    pub(crate) fn new(
        loss: &'r BatchLoss<'a, M, B>,
        prepared: &'r Prepared<PartOf<M, B>>,
        step: Step,
        seed: Seed,
        copy_statistics: &'r OnceCell<Statistics>,
    ) -> Self {
        Self {
            loss,
            prepared,
            step,
            seed,
            copy_statistics,
        }
    }

    /// Computes the loss of the batch, after those of the support batches if there are any.
    fn of_batch(&self, encoder: &M) -> Result<Tensor<B, 1>, TrainError> {
        let batch = &self.prepared.batch;
        match self.n_support() {
            0 => self.loss.at(encoder, batch, Anchors::All, self.seed),
            n => {
                let seed = self.seed.at(n as u64);
                self.loss.at(encoder, batch, Anchors::New, seed)
            }
        }
    }
}
