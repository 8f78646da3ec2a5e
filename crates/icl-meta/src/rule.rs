//! The rule of a trainer's steps: an inner loop before the gradient, and learning rates that follow the run.

use std::cell::RefCell;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::Error;
use icl_core::module_bytes::{Bytes, load_state, save_state, unfit};
use icl_core::{Purpose, SampleError, StepLosses, StepRule, Stepped};
use serde::{Deserialize, Serialize};

use crate::inner_loop::{Adapted, InnerStep, adapt, first_order, relative_move, second_order};
use crate::rate::{Pair, PolicyState, RatePolicy, Situation};

/// Rule of steps whose learning rate a policy chooses. A step applies the plain gradient, or the gradient at the end of
/// an inner loop.
pub struct MetaRule<M, B: AutodiffBackend> {
    /// Policy of lr, or of lr_q (Eq. 12) with an inner loop.
    rate: RatePolicy<M, B>,
    inner: Option<InnerLoop<M, B>>,
}

/// Inner loop of each step.
struct InnerLoop<M, B: AutodiffBackend> {
    /// Policy of lr_s (Eq. 11).
    rate: RatePolicy<M, B>,
    /// Losses of a query before and after the inner steps, for the next act of their agent.
    pair: Option<Pair>,
    is_second_order: bool,
}

/// Saved state of a rule.
#[derive(Serialize, Deserialize)]
struct Saved {
    rate: PolicyState,
    inner: Option<(PolicyState, Option<Pair>)>,
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> MetaRule<M, B> {
    /// Creates a rule that applies the plain gradient at the rate of a policy.
    pub fn new(rate: RatePolicy<M, B>) -> Self {
        Self { rate, inner: None }
    }

    /// Puts an inner loop before each gradient (Eq. 11, 12). `rate` is the policy of its steps. With `is_second_order`
    /// the gradient includes the derivative of the inner loop.
    pub fn with_inner_loop(self, rate: RatePolicy<M, B>, is_second_order: bool) -> Self {
        let inner = InnerLoop {
            rate: rate.for_inner_steps(),
            pair: None,
            is_second_order,
        };
        Self {
            inner: Some(inner),
            ..self
        }
    }

    /// Chooses the learning rate of a gradient. `before` is the loss of the batch at the policy's last act.
    fn choose(
        &mut self,
        (index, encoder): (u64, &M),
        (before, loss): (Option<f64>, f64),
        gradients: &GradientsParams,
    ) -> f64 {
        self.rate.choose(&Situation {
            step: index,
            acts: self.rate.is_due(index),
            loss,
            pair: before.and_then(|before| Pair::of(before, loss)),
            encoder,
            gradients,
        })
    }
}

impl<M: AutodiffModule<B>, B: AutodiffBackend, E> StepRule<M, B, E> for MetaRule<M, B> {
    fn step(&mut self, encoder: &M, losses: &dyn StepLosses<M, B, E>) -> Result<Stepped, E> {
        let index = losses.index();
        let Some(inner) = &mut self.inner else {
            let (loss, gradients) = losses.gradient(encoder)?;
            let earlier = self.rate.earlier(index);
            let before = earlier.map(|earlier| losses.query_value(earlier));
            let rate = self.choose((index, encoder), (before.transpose()?, loss), &gradients);
            return Ok(Stepped::plain(loss, gradients, rate));
        };
        let (adapted, loss, gradients) = inner.gradient(encoder, losses)?;
        let inner_rates: Vec<f64> = adapted.trail.iter().map(|(_, rate)| *rate).collect();
        let earlier = self.rate.earlier(index);
        let before = earlier.map(|earlier| adapted_value(earlier, &inner_rates, losses));
        let before = before.transpose()?;
        losses.check("the training loss", loss, &gradients)?;
        Ok(Stepped {
            rate: self.choose((index, encoder), (before, loss), &gradients),
            loss,
            gradients,
            inner_rates,
            inner_move: Some(relative_move::<B, M>(encoder, &adapted.encoder)),
        })
    }

    fn save(&self) -> Result<Bytes, SampleError> {
        let inner = self.inner.as_ref();
        let inner = inner.map(|inner| Ok::<_, SampleError>((inner.rate.state()?, inner.pair)));
        Ok(save_state(&Saved {
            rate: self.rate.state()?,
            inner: inner.transpose()?,
        })?)
    }

    fn load(&mut self, saved: Bytes, like: &M, device: &B::Device) -> Result<(), Error> {
        let Saved { rate, inner } = load_state(&saved)?;
        self.rate.restore(rate, like, device)?;
        match (&mut self.inner, inner) {
            (None, None) => Ok(()),
            (Some(own), Some((rate, pair))) => {
                own.pair = pair;
                own.rate.restore(rate, like, device)
            }
            _ => Err(unfit()),
        }
    }
}

impl<M: AutodiffModule<B>, B: AutodiffBackend> InnerLoop<M, B> {
    /// Computes the loss of the query at the adapted encoder and the gradient that is applied to the encoder (Eq. 12),
    /// and chooses the learning rates of the inner steps.
    fn gradient<E>(
        &mut self,
        encoder: &M,
        losses: &dyn StepLosses<M, B, E>,
    ) -> Result<(Adapted<M>, f64, GradientsParams), E> {
        let index = losses.index();
        let losses = Unfailing::new(encoder, losses);
        let is_due = self.rate.is_due(index);
        let mut pair = self.pair.take().filter(|_| is_due);
        let policy = &mut self.rate;
        let mut choose = |inner: InnerStep<'_, M>| {
            losses.check()?;
            let (loss, gradients) = (inner.loss, inner.gradients);
            losses.of.check("the support loss", loss, gradients)?;
            Ok(policy.choose(&Situation {
                step: index,
                acts: is_due && inner.step == 0,
                loss,
                pair: pair.take(),
                encoder: inner.encoder,
                gradients,
            }))
        };
        let support = |encoder: &M, inner: usize| losses.support(encoder, inner, Purpose::Support);
        let adapted = adapt::<B, M, _>(encoder, losses.of.n_support(), &support, &mut choose)?;
        let query = |encoder: &M| losses.or_constant(losses.of.query(encoder));
        let (loss, gradients) = first_order::<B, M>(&adapted, &query);
        losses.check()?;
        if let Some((last, _)) = adapted.trail.last() {
            let policy = &mut self.rate;
            policy.after_adaptation(last, &adapted.encoder, &gradients);
        }
        let gradients = match self.is_second_order {
            false => gradients,
            true => second_order::<B, M>(&adapted, &support, gradients),
        };
        losses.check()?;
        // The effect of the inner steps on the query, as the reward of their agent at its next act.
        let is_due_next = self.rate.is_due(index + 1);
        let unadapted = is_due_next.then(|| losses.of.query_value(encoder));
        let unadapted = unadapted.transpose()?;
        self.pair = unadapted.and_then(|before| Pair::of(before, loss));
        Ok((adapted, loss, gradients))
    }
}

/// Computes the loss of the query after the inner loop of an earlier encoder, with the learning rates of the current
/// one.
fn adapted_value<M: AutodiffModule<B>, B: AutodiffBackend, E>(
    earlier: &M,
    rates: &[f64],
    losses: &dyn StepLosses<M, B, E>,
) -> Result<f64, E> {
    let losses = Unfailing::new(earlier, losses);
    let support = |encoder: &M, inner: usize| losses.support(encoder, inner, Purpose::Agents);
    let mut again = |inner: InnerStep<'_, M>| Ok::<_, E>(rates[inner.step]);
    let adapted = adapt::<B, M, _>(earlier, rates.len(), &support, &mut again)?;
    losses.check()?;
    losses.of.query_value(&adapted.encoder)
}

/// Losses without errors, as the inner loop expects them: a loss that fails is a constant, and [`check`](Self::check)
/// returns its error afterwards.
struct Unfailing<'a, M, B: AutodiffBackend, E> {
    of: &'a dyn StepLosses<M, B, E>,
    device: B::Device,
    failure: RefCell<Option<E>>,
}

impl<'a, M: AutodiffModule<B>, B: AutodiffBackend, E> Unfailing<'a, M, B, E> {
    fn new(encoder: &M, of: &'a dyn StepLosses<M, B, E>) -> Self {
        Self {
            of,
            device: encoder.devices().into_iter().next().unwrap_or_default(),
            failure: RefCell::new(None),
        }
    }

    fn support(&self, encoder: &M, inner: usize, purpose: Purpose) -> Tensor<B, 1> {
        self.or_constant(self.of.support(encoder, inner, purpose))
    }

    fn or_constant(&self, loss: Result<Tensor<B, 1>, E>) -> Tensor<B, 1> {
        loss.unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            // Burn starts a backward pass only at a tensor with a gradient.
            Tensor::zeros([1], &self.device).require_grad()
        })
    }

    /// Returns the first failure, if there was one.
    fn check(&self) -> Result<(), E> {
        self.failure.take().map_or(Ok(()), Err)
    }
}
