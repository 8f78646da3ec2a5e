//! The gradient of a step and its learning rate.

use std::cell::RefCell;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, Seed};
use icl_meta::{
    Adapted, InnerStep, Pair, RatePolicy, Situation, adapt, first_order, relative_move,
    second_order,
};

use crate::error::TrainError;
use crate::method::MetaOrder;
use crate::method::loss::Anchors;
use crate::progress::cost::Purpose;
use crate::step::batch_loss::{BatchLoss, PartOf, value_of};
use crate::step::copies::without_graph;
use crate::step::counters::Counters;
use crate::step::prefetch::Prepared;

/// Learning-rate policies of a run.
pub(crate) struct Rates<M, B: AutodiffBackend> {
    /// Policy of lr, or of lr_q (Eq. 12) under meta-optimization.
    pub(crate) query: RatePolicy<M, B>,
    /// Policy of lr_s (Eq. 11), which only meta-optimization uses.
    pub(crate) support: RatePolicy<M, B>,
}

/// Facts about the current step, for policies and error messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Index of the step in the run, counted from 0.
    pub(crate) index: u64,
    /// Number of epochs before that of the step.
    pub(crate) n_epochs: usize,
    /// Root seed of the run.
    pub(crate) root_seed: u64,
    /// Seed of the encoder's randomness in the step.
    pub(crate) dropout: Seed,
}

/// Parts of a run that the gradient of a step needs.
pub(crate) struct GradientOf<'r, 'a, M: AutodiffModule<B>, B: AutodiffBackend> {
    pub(crate) loss: &'r BatchLoss<'a, M, B>,
    pub(crate) rates: &'r mut Rates<M, B>,
    pub(crate) counters: &'r mut Counters,
    /// Order of the derivative under meta-optimization.
    pub(crate) meta_order: MetaOrder,
    pub(crate) step: Step,
}

impl<M, B> GradientOf<'_, '_, M, B>
where
    M: AutodiffModule<B, InnerModule: Encoder<B::InnerBackend>> + Encoder<B>,
    B: AutodiffBackend,
{
    /// Computes the loss of a batch and its gradient (Eq. 10), and chooses the learning rate.
    pub(crate) fn plain_gradient(
        &mut self,
        encoder: &M,
        prepared: &Prepared<PartOf<M, B>>,
    ) -> Result<(f64, GradientsParams), TrainError> {
        let Step { index, dropout, .. } = self.step;
        let batch = &prepared.batch;
        let passes = &self.loss.passes;
        passes.begin(Purpose::Training);
        let (loss, gradients) = match batch.is_whole {
            true => {
                let loss = self.loss.at(encoder, batch, Anchors::All, dropout)?;
                let gradients = GradientsParams::from_grads(loss.backward(), encoder);
                (value_of(loss), gradients)
            }
            false => {
                let loss = self.loss;
                loss.sharded_gradient(encoder, batch, dropout)?
            }
        };
        let earlier = self.rates.query.earlier(index).map(without_graph::<B, M>);
        let before = earlier.map(|earlier| {
            passes.begin_forward(Purpose::Agents);
            let loss = self.loss.at(&earlier, batch, Anchors::All, dropout);
            loss.map(value_of)
        });
        let before = before.transpose()?;
        self.choose(encoder, loss, before, &gradients)?;
        Ok((loss, gradients))
    }

    /// Computes the loss of the query at the adapted encoder and the gradient that is applied to the
    /// encoder (Eq. 12), and chooses the learning rates.
    pub(crate) fn meta_gradient(
        &mut self,
        encoder: &M,
        prepared: &Prepared<PartOf<M, B>>,
    ) -> Result<(f64, GradientsParams), TrainError> {
        let Step { index, dropout, .. } = self.step;
        let n_inner = prepared.support.len();
        let (support, query) = (&prepared.support, &prepared.batch);
        let passes = &self.loss.passes;
        let seed = |inner: usize| dropout.at(inner as u64);
        // The inner loop takes losses that cannot fail: after a failure they are constants, and `check` ends the step.
        let failure = RefCell::new(None);
        let device = encoder.devices().into_iter().next().unwrap_or_default();
        let or_constant = |loss: Result<Tensor<B, 1>, TrainError>| {
            loss.unwrap_or_else(|error| {
                failure.borrow_mut().get_or_insert(error);
                // Burn goes backward from tensors with a gradient alone.
                Tensor::zeros([1], &device).require_grad()
            })
        };
        let check = || failure.take().map_or(Ok(()), Err);
        let support_loss = |encoder: &M, inner: usize| {
            let batch = &support[inner];
            or_constant(self.loss.at(encoder, batch, Anchors::Old, seed(inner)))
        };
        let support_step = |encoder: &M, inner: usize| {
            passes.begin(Purpose::Support);
            support_loss(encoder, inner)
        };
        let query_loss =
            |encoder: &M| or_constant(self.loss.at(encoder, query, Anchors::New, seed(n_inner)));
        let query_step = |encoder: &M| {
            passes.begin(Purpose::Training);
            query_loss(encoder)
        };
        let is_due = self.rates.support.is_due(index);
        let mut pair = self.counters.support_pair.take().filter(|_| is_due);
        let (policy, step) = (&mut self.rates.support, self.step);
        let counters = &mut *self.counters;
        let mut choose = |inner: InnerStep<'_, M>| {
            check()?;
            step.check("the support loss", inner.loss)?;
            let rate = policy.choose(&Situation {
                step: index,
                acts: is_due && inner.step == 0,
                loss: inner.loss,
                pair: pair.take(),
                encoder: inner.encoder,
                gradients: inner.gradients,
            });
            counters.add_support_rate(rate);
            Ok::<_, TrainError>(rate)
        };
        let adapted = adapt::<B, M, _>(encoder, n_inner, &support_step, &mut choose)?;
        let (loss, gradients) = first_order::<B, M>(&adapted, &query_step);
        check()?;
        if let Some((last, _)) = adapted.trail.last() {
            let policy = &mut self.rates.support;
            policy.after_adaptation(last, &adapted.encoder, &gradients);
        }
        self.counters
            .add_adaptation(relative_move::<B, M>(encoder, &adapted.encoder));
        let gradients = match self.meta_order {
            MetaOrder::First => gradients,
            MetaOrder::Second => {
                passes.begin(Purpose::Support);
                second_order::<B, M>(&adapted, &support_loss, gradients)
            }
        };
        // The effect of the inner steps on the query, for the next act of their agent.
        let is_due_next = self.rates.support.is_due(index + 1);
        let unadapted = is_due_next.then(|| {
            passes.begin_forward(Purpose::Agents);
            value_of(query_loss(&without_graph(encoder)))
        });
        self.counters.support_pair = unadapted.and_then(|before| Pair::of(before, loss));
        let before = self.rates.query.earlier(index).map(|earlier| {
            let rates: Vec<f64> = adapted.trail.iter().map(|(_, rate)| *rate).collect();
            let mut again = |inner: InnerStep<'_, M>| Ok::<_, TrainError>(rates[inner.step]);
            passes.begin(Purpose::Agents);
            let adapted = adapt::<B, M, _>(earlier, n_inner, &support_loss, &mut again);
            passes.begin_forward(Purpose::Agents);
            adapted.map(|Adapted { encoder, .. }| value_of(query_loss(&without_graph(&encoder))))
        });
        let before = before.transpose()?;
        check()?;
        self.choose(encoder, loss, before, &gradients)?;
        Ok((loss, gradients))
    }

    /// Checks the loss and chooses the learning rate of the update.
    fn choose(
        &mut self,
        encoder: &M,
        loss: f64,
        before: Option<f64>,
        gradients: &GradientsParams,
    ) -> Result<(), TrainError> {
        let index = self.step.index;
        if gradients.is_empty() {
            return Err(TrainError::NothingToTrain);
        }
        self.step.check("the training loss", loss)?;
        self.counters.query_rate = self.rates.query.choose(&Situation {
            step: index,
            acts: self.rates.query.is_due(index),
            loss,
            pair: before.and_then(|before| Pair::of(before, loss)),
            encoder,
            gradients,
        });
        Ok(())
    }
}

impl Step {
    /// Checks that a loss of the step is finite.
    fn check(self, what: &'static str, found: f64) -> Result<(), TrainError> {
        if found.is_finite() {
            return Ok(());
        }
        Err(TrainError::NonFinite {
            what,
            found,
            step: self.index + 1,
            epoch: self.n_epochs + 1,
            seed: self.root_seed,
            // The loop that knows the samples looks for it.
            sample: None,
        })
    }
}
