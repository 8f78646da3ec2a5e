//! The gradient of a step, and the learning rate that it is applied with.

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{ElementConversion, Tensor};
use icl_core::{Encoder, Seed};

use crate::evaluation::risk::Risk;
use crate::method::loss::Anchors;
use crate::progress::record::TrainingRecord;
use crate::step::prefetch::Prepared;
use crate::step::run::Run;
use crate::{MetaOrder, TrainError};
use icl_meta::{Adapted, InnerStep, adapt, first_order, owned, second_order};
use icl_meta::{Pair, Situation};

impl<M, B, R> Run<'_, M, B, R>
where
    M: AutodiffModule<B> + Encoder<B>,
    B: AutodiffBackend,
    R: Risk,
{
    /// The loss of a batch at the encoder and its gradient there (Eq. 10).
    pub(crate) fn plain_gradient(
        &mut self,
        encoder: &M,
        prepared: &Prepared<M::Batch>,
        dropout: Seed,
        step: u64,
    ) -> Result<(f64, GradientsParams), TrainError> {
        let batch = &prepared.batch;
        let loss = self.loss.of_step(encoder, batch, Anchors::All, dropout);
        let gradients = GradientsParams::from_grads(loss.backward(), encoder);
        let loss = loss.into_scalar().elem::<f64>();
        let earlier = self.rates.query.earlier(step).map(without_graph::<B, M>);
        let before = earlier.map(|earlier| {
            let loss = self.loss.at(&earlier, batch, Anchors::All, dropout);
            loss.into_scalar().elem::<f64>()
        });
        self.choose(encoder, loss, before, &gradients, step)?;
        Ok((loss, gradients))
    }

    /// The query's loss at the adapted encoder and the gradient that goes to the encoder (Eq. 12).
    pub(crate) fn meta_gradient(
        &mut self,
        encoder: &M,
        prepared: &Prepared<M::Batch>,
        dropout: Seed,
        step: u64,
    ) -> Result<(f64, GradientsParams), TrainError> {
        let n_inner = prepared.support.len();
        let (support, query) = (&prepared.support, &prepared.batch);
        let seed = |inner: usize| dropout.at(inner as u64);
        let support_step = |encoder: &M, inner: usize| {
            let batch = &support[inner];
            self.loss.of_step(encoder, batch, Anchors::Old, seed(inner))
        };
        let support_loss = |encoder: &M, inner: usize| {
            let batch = &support[inner];
            self.loss.at(encoder, batch, Anchors::Old, seed(inner))
        };
        let query_step = |encoder: &M| {
            self.loss
                .of_step(encoder, query, Anchors::New, seed(n_inner))
        };
        let query_loss = |encoder: &M| self.loss.at(encoder, query, Anchors::New, seed(n_inner));
        let scalar = |loss: Tensor<B, 1>| loss.into_scalar().elem::<f64>();
        let is_due = self.rates.support.is_due(step);
        let mut pair = self.counters.support_pair.take().filter(|_| is_due);
        let (policy, record, root_seed) = (&mut self.rates.support, &self.record, self.root_seed);
        let counters = &mut self.counters;
        let mut choose = |inner: InnerStep<'_, M>| {
            check(record, root_seed, "the support loss", inner.loss)?;
            let rate = policy.choose(&Situation {
                step,
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
        if let Some((last, _)) = adapted.trail.last() {
            let policy = &mut self.rates.support;
            policy.after_adaptation(last, &adapted.encoder, &gradients);
        }
        let gradients = match self.meta_order {
            MetaOrder::First => gradients,
            MetaOrder::Second => second_order::<B, M>(&adapted, &support_loss, gradients),
        };
        // What the inner steps did for the query, for the agent's next act.
        let is_due_next = self.rates.support.is_due(step + 1);
        let unadapted = is_due_next.then(|| scalar(query_loss(&without_graph(encoder))));
        self.counters.support_pair = unadapted.and_then(|before| Pair::of(before, loss));
        let before = self.rates.query.earlier(step).map(|earlier| {
            let rates: Vec<f64> = adapted.trail.iter().map(|(_, rate)| *rate).collect();
            let mut again = |inner: InnerStep<'_, M>| Ok::<_, TrainError>(rates[inner.step]);
            adapt::<B, M, _>(earlier, n_inner, &support_loss, &mut again)
                .map(|Adapted { encoder, .. }| scalar(query_loss(&without_graph(&encoder))))
        });
        let before = before.transpose()?;
        self.choose(encoder, loss, before, &gradients, step)?;
        Ok((loss, gradients))
    }

    /// Chooses the rate of the update, once the loss is known to be one.
    fn choose(
        &mut self,
        encoder: &M,
        loss: f64,
        before: Option<f64>,
        gradients: &GradientsParams,
        step: u64,
    ) -> Result<(), TrainError> {
        if gradients.is_empty() {
            return Err(TrainError::NothingToTrain);
        }
        check(&self.record, self.root_seed, "the training loss", loss)?;
        self.counters.query_rate = self.rates.query.choose(&Situation {
            step,
            acts: self.rates.query.is_due(step),
            loss,
            pair: before.and_then(|before| Pair::of(before, loss)),
            encoder,
            gradients,
        });
        Ok(())
    }
}

/// A copy to look at a loss with. It records nothing for a backward pass, since one that never comes
/// would never free it, and has normalisation statistics of its own.
pub(crate) fn without_graph<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    owned(encoder).no_grad()
}

/// That the loss of the step which is being taken is a number.
fn check<R>(
    record: &TrainingRecord<R>,
    seed: u64,
    what: &'static str,
    found: f64,
) -> Result<(), TrainError> {
    if found.is_finite() {
        return Ok(());
    }
    Err(TrainError::NonFinite {
        what,
        found,
        step: record.n_steps + 1,
        epoch: record.n_epochs() + 1,
        seed,
    })
}
