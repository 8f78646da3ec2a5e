//! The state of a training run: one step, one evaluation, one checkpoint.

use std::time::Instant;

use burn::module::AutodiffModule;
use burn::optim::GradientsParams;
use burn::tensor::ElementConversion;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, SampleError, Seed};

use crate::average::WeightAverage;
use crate::batch_loss::BatchLoss;
use crate::checkpoint::digest;
use crate::counters::Counters;
use crate::evaluation::Evaluated;
use crate::inner_loop::{Adapted, InnerStep, adapt, first_order, second_order};
use crate::objective::Anchors;
use crate::optimizer::UpdateState;
use crate::prefetch::Prepared;
use crate::rate::{Pair, RatePolicy, Situation};
use crate::record::{Evaluation, TrainingRecord};
use crate::risk::Risk;
use crate::settle::settle;
use crate::{MetaOrder, Method, OptimizerChoice, Outcome, TrainError, parameter_change};

/// The two learning rates of a run; only meta-optimization has the second.
pub(crate) struct Rates<M, B: AutodiffBackend> {
    /// lr, or lr_q of Eq. 12.
    pub(crate) query: RatePolicy<M, B>,
    /// lr_s of Eq. 11.
    pub(crate) support: RatePolicy<M, B>,
}

/// The state of a run.
pub(crate) struct Run<'a, M: AutodiffModule<B>, B: AutodiffBackend, R> {
    pub(crate) root_seed: u64,
    pub(crate) loss: BatchLoss<'a, M>,
    pub(crate) update: UpdateState<M, B>,
    pub(crate) rates: Rates<M, B>,
    /// Where the run began.
    start: M,
    /// It is gone only within an update, which consumes a module and gives the next.
    pub(crate) encoder: Option<M>,
    pub(crate) average: WeightAverage<M>,
    pub(crate) counters: Counters,
    pub(crate) record: TrainingRecord<R>,
}

impl<'a, M, B, R> Run<'a, M, B, R>
where
    M: AutodiffModule<B> + Encoder<B>,
    B: AutodiffBackend,
    R: Risk,
{
    /// A run that has done nothing yet, of at most `n_steps` steps, whose epochs hold this share of
    /// the old data at first.
    pub(crate) fn new(
        encoder: M,
        method: &Method,
        loss: BatchLoss<'a, M>,
        n_steps: u64,
        old_fraction: f64,
        root_seed: u64,
        seed: Seed,
    ) -> Self {
        settle(&encoder);
        let settings = loss.settings;
        let device = encoder.devices().into_iter().next().unwrap_or_default();
        let policy = |base, name| {
            let seed = seed.child("agent").child(name);
            RatePolicy::new(method.rate, base, n_steps, seed, &device)
        };
        Self {
            root_seed,
            update: UpdateState::new(settings.optimizer),
            rates: Rates {
                query: policy(settings.learning_rate, "query"),
                support: match method.optimizer {
                    OptimizerChoice::Plain => RatePolicy::Fixed(settings.support_learning_rate),
                    OptimizerChoice::Meta => {
                        policy(settings.support_learning_rate, "support").for_inner_steps()
                    }
                },
            },
            start: encoder.clone(),
            average: WeightAverage::new(encoder.clone(), settings.average_decay),
            encoder: Some(encoder),
            counters: Counters::new(loss.objective, old_fraction),
            record: TrainingRecord::empty(),
            loss,
        }
    }

    /// The end of the run, `encoder` being what its last evaluation gave.
    pub(crate) fn end(self, encoder: M::InnerModule) -> Outcome<M, B, R> {
        let trained = self.average.get().clone();
        Outcome {
            parameter_change: parameter_change::<B, _>(&self.start, &trained),
            trained,
            encoder,
            record: self.record,
        }
    }

    /// The checksum of the first encoder.
    pub(crate) fn start_digest(&self) -> u32 {
        digest::<B, M>(&self.start)
    }

    /// One step.
    pub(crate) fn step(
        &mut self,
        prepared: Prepared<M::Batch>,
        seed: Seed,
    ) -> Result<(), TrainError> {
        let start = Instant::now();
        let step = self.record.n_steps;
        let encoder = self
            .encoder
            .take()
            .expect("an encoder outside of an update");
        // The encoder draws from generators of its own; this is for layers that do not.
        if let Some(device) = encoder.devices().first() {
            B::seed(device, seed.child("backend").at(step).value());
        }
        let dropout = seed.child("dropout").at(step);
        let (loss, gradients) = if prepared.support.is_empty() {
            self.plain_gradient(&encoder, &prepared, dropout, step)?
        } else {
            self.meta_gradient(&encoder, &prepared, dropout, step)?
        };
        let rate = self.counters.query_rate;
        let encoder = self.update.step(rate, encoder, gradients);
        self.average.push(&encoder);
        self.encoder = Some(encoder);
        self.record.n_steps += 1;
        self.counters.add_step(loss, rate);
        self.record.sample_passes += self.loss.sample_passes.take();
        self.record.seconds.steps += start.elapsed().as_secs_f64();
        self.record.seconds.views += prepared.views_s;
        self.record.seconds.collation += prepared.collation_s;
        Ok(())
    }

    /// The loss of a batch at the encoder and its gradient there (Eq. 10).
    fn plain_gradient(
        &mut self,
        encoder: &M,
        prepared: &Prepared<M::Batch>,
        dropout: Seed,
        step: u64,
    ) -> Result<(f64, GradientsParams), TrainError> {
        let loss_at = |encoder: &M| {
            let batch = &prepared.batch;
            self.loss.at::<B>(encoder, batch, Anchors::All, dropout)
        };
        let loss = loss_at(encoder);
        let gradients = GradientsParams::from_grads(loss.backward(), encoder);
        let loss = loss.into_scalar().elem::<f64>();
        let earlier = self.rates.query.earlier(step).map(without_graph::<B, M>);
        let before = earlier.map(|earlier| loss_at(&earlier).into_scalar().elem::<f64>());
        self.choose(encoder, loss, before, &gradients, step)?;
        Ok((loss, gradients))
    }

    /// The query's loss at the adapted encoder and the gradient that goes to the encoder (Eq. 12).
    fn meta_gradient(
        &mut self,
        encoder: &M,
        prepared: &Prepared<M::Batch>,
        dropout: Seed,
        step: u64,
    ) -> Result<(f64, GradientsParams), TrainError> {
        let n_inner = prepared.support.len();
        let support_loss = |encoder: &M, inner: usize| {
            let (batch, seed) = (&prepared.support[inner], dropout.at(inner as u64));
            self.loss.at::<B>(encoder, batch, Anchors::Old, seed)
        };
        let query_loss = |encoder: &M| {
            let seed = dropout.at(n_inner as u64);
            self.loss
                .at::<B>(encoder, &prepared.batch, Anchors::New, seed)
        };
        let scalar = |loss: burn::tensor::Tensor<B, 1>| loss.into_scalar().elem::<f64>();
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
        let adapted = adapt::<B, M, _>(encoder, n_inner, &support_loss, &mut choose)?;
        let (loss, gradients) = match self.loss.settings.meta_order {
            MetaOrder::First => first_order::<B, M>(&adapted, &query_loss),
            MetaOrder::Second => second_order::<B, M>(&adapted, &support_loss, &query_loss),
        };
        if let Some((last, _)) = adapted.trail.last() {
            let policy = &mut self.rates.support;
            policy.after_adaptation(last, &adapted.encoder, &gradients);
        }
        // What the inner steps did for the query, for the agent's next act.
        self.counters.support_pair = self.rates.support.is_due(step + 1).then(|| Pair {
            before: scalar(query_loss(&without_graph(encoder))),
            after: loss,
        });
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
            pair: before.map(|before| Pair {
                before,
                after: loss,
            }),
            encoder,
            gradients,
        });
        Ok(())
    }

    /// Evaluates the encoder as it is now and writes it down; the evaluated encoder and its risk.
    pub(crate) fn evaluate(
        &mut self,
        evaluate: &dyn Fn(M::InnerModule) -> Result<Evaluated<M::InnerModule, R>, SampleError>,
    ) -> Result<(M::InnerModule, R), TrainError> {
        let start = Instant::now();
        let evaluated = evaluate(self.average.get().valid()).map_err(TrainError::Sample)?;
        let risk = evaluated.risk.clone();
        let epoch = self.record.n_epochs();
        self.record.seconds.evaluation += start.elapsed().as_secs_f64();
        self.record.evaluations.push(Evaluation {
            epoch,
            sample_passes: self.record.sample_passes,
            train_s: self.record.seconds.training(),
            risk: evaluated.risk,
        });
        if !risk.all().is_finite() {
            return Err(TrainError::NonFinite {
                what: "the exact risk",
                found: risk.all(),
                step: self.record.n_steps,
                epoch,
                seed: self.root_seed,
            });
        }
        Ok((evaluated.encoder, risk))
    }
}

/// A copy that records nothing for a backward pass: one that never comes would never free it.
fn without_graph<B: AutodiffBackend, M: AutodiffModule<B>>(encoder: &M) -> M {
    encoder.clone().no_grad()
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
