//! The state of a training run, its steps and its end.

use std::cell::OnceCell;
use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, RateChoice, Seed, Stepped, TrainableEncoder};

use crate::average::WeightAverage;
use crate::budget::PLACES;
use crate::devices::replicas::check_replicas;
use crate::error::{TrainError, not_finite};
use crate::evaluation::evaluated::{Evaluate, Risk};
use crate::evaluation::stopping::StopRule;
use crate::identity::Identity;
use crate::method::Method;
use crate::optimizer::rates::OwnRates;
use crate::optimizer::{BoxedOptimizer, clip_norm};
use crate::progress::outcome::{Outcome, parameter_change};
use crate::progress::record::TrainingRecord;
use crate::progress::step_report::{StepReport, StepSeconds};
use crate::progress::warnings::{Statistics, far, first_not_finite};
use crate::sampling::plan::Planner;
use crate::settings::TrainingSettings;
use crate::step::batch_loss::{BatchLoss, PartOf};
use crate::step::copies::{own, with_statistics_of};
use crate::step::counters::Counters;
use crate::step::prefetch::Prepared;
use crate::step::rule::{LossesOfStep, Rule};
use crate::step::step_gradient::Step;

/// State of a training run, with what it takes from the trainer.
pub(crate) struct Run<'a, M: AutodiffModule<B> + 'a, B: AutodiffBackend, R> {
    pub(crate) settings: &'a TrainingSettings,
    pub(crate) root_seed: u64,
    /// Seed of the run's random stream.
    pub(crate) seed: Seed,
    /// Facts that a checkpoint must share with the run.
    pub(crate) identity: Identity,
    pub(crate) planner: Planner<'a>,
    pub(crate) loss: BatchLoss<'a, M, B>,
    pub(crate) optimizer: BoxedOptimizer<'a, M, B>,
    pub(crate) rule: Rule<'a, M, B>,
    /// Maximum number of steps of the run.
    pub(super) max_steps: u64,
    /// Budget in full passes.
    pub(super) budget: Option<f64>,
    /// Encoder at the start of the run, with statistics of its own.
    pub(crate) start: M,
    /// Statistics of the copy of the encoder on which the first inner loop of this process worked, if there was one.
    pub(crate) copy_statistics: OnceCell<Statistics>,
    /// Current encoder; `None` only during an update, which consumes a module and returns the next.
    pub(crate) encoder: Option<M>,
    pub(crate) average: WeightAverage<M>,
    /// Averaged encoder of the lowest risk, if the stopping rule follows the risk and an evaluation has been made.
    pub(crate) best: Option<M>,
    pub(crate) counters: Counters,
    pub(crate) record: TrainingRecord<R>,
}

impl<'a, M, B, R> Run<'a, M, B, R>
where
    M: TrainableEncoder<B>,
    B: AutodiffBackend,
    R: Risk,
{
    /// Creates the state of a run before its first step.
    ///
    /// # Errors
    /// [`TrainError`] if the method cannot train with so many shards, or needs a feature that this build is without.
    pub(crate) fn new(
        encoder: M,
        (method, increment): (&Method, &'a Increment),
        settings: &'a TrainingSettings,
        (loss, optimizer, rates): (BatchLoss<'a, M, B>, BoxedOptimizer<'a, M, B>, OwnRates<B>),
        (root_seed, seed): (u64, Seed),
        identity: Identity,
    ) -> Result<Self, TrainError> {
        method.check_shards(settings.n_shards(loss.group.size()))?;
        let planner = Planner::new(method, increment, settings, seed.child("order"));
        let fraction = planner.sampler.share(0.0);
        // Epochs with all of the old data have the most steps.
        let widest = match method.sampling.is_widening() {
            true => 1.0,
            false => fraction,
        };
        let n_steps = planner.epoch(0, widest).steps.len();
        let max_steps = (settings.epochs as u64).saturating_mul(n_steps as u64);
        let n_samples = planner.sampler.n_samples();
        let budget = settings.budget.map(|budget| budget.passes(n_samples));
        // Where the rule may end the run at any time, a linear rate would fall towards an end that does not come.
        let is_open = method.rate == RateChoice::Linear && settings.stop != StopRule::Never;
        let n_places = match budget {
            Some(_) => PLACES,
            None if is_open => u64::MAX,
            None => max_steps,
        };
        let device = encoder.devices().into_iter().next().unwrap_or_default();
        let mut record = TrainingRecord::empty();
        let of_statistics = loss.teacher.as_ref().map_or(0, |teacher| teacher.n_views);
        record.cost.teacher = of_statistics as f64 * M::FORWARD_SHARE;
        Ok(Self {
            settings,
            root_seed,
            seed,
            identity,
            planner,
            optimizer,
            rule: Rule::new(method, rates, settings, n_places, seed, &device)?,
            max_steps,
            budget,
            start: own(&encoder),
            copy_statistics: OnceCell::new(),
            average: settings.average(encoder.clone()),
            encoder: Some(encoder),
            best: None,
            counters: Counters::new(fraction, settings.stop.by_gain(settings.min_gain)),
            record,
            loss,
        })
    }

    /// Ends the run with the encoder of the lowest risk, or the last one. `measure` evaluates it and the first one.
    ///
    /// # Errors
    /// [`TrainError`] if a sample cannot be read, or a parameter or the risk is not finite.
    pub(crate) fn end(
        self,
        measure: Evaluate<'_, M::InnerModule, R>,
    ) -> Result<Outcome<M, B, R>, TrainError> {
        let start = Instant::now();
        let trained = self.best.as_ref().unwrap_or(self.average.get()).clone();
        self.check_parameters(&trained)?;
        let first = measure(self.start.valid(), (0, 0))?;
        let at = (self.record.n_steps, self.record.n_epochs());
        let evaluated = measure(trained.valid(), at)?;
        let mut record = self.record;
        let share = self.loss.passes.forward_share;
        record.cost.statistics += evaluated.n_statistics_views as f64 * share;
        let n_views = first.n_views + evaluated.n_views - evaluated.n_statistics_views;
        record.cost.measuring += n_views as f64 * share;
        record.seconds.evaluation += start.elapsed().as_secs_f64();
        Ok(Outcome {
            parameter_change: parameter_change::<B, _>(&self.start, &trained),
            trained: with_statistics_of(trained, &evaluated.encoder),
            encoder: evaluated.encoder,
            first_risk: first.risk,
            risk: evaluated.risk,
            record,
        })
    }

    /// Takes one step of the optimizer.
    ///
    /// # Errors
    /// [`TrainError`] if a loss is NaN or infinite, or depends on no parameter, or a member has left.
    pub(crate) fn step(
        &mut self,
        prepared: Prepared<PartOf<M, B>>,
    ) -> Result<StepReport, TrainError> {
        let start = Instant::now();
        let index = self.record.n_steps;
        let seed = self.seed.child("dropout").at(index);
        let place = self.place(index);
        self.loss.contrastive.negatives = self.negatives(place);
        let encoder = self.encoder.take();
        let encoder = encoder.expect("an encoder outside of an update");
        let at = Step {
            index,
            n_epochs: self.record.n_epochs(),
            root_seed: self.root_seed,
        };
        let phase = self.loss.clock.start::<B>(&encoder);
        let mut stepped = match &mut self.rule {
            Rule::Plain(rates) => {
                let (loss, gradients) = self.loss.gradient(&encoder, &prepared.batch, seed)?;
                at.check("the training loss", loss, &gradients)?;
                Stepped::plain(loss, gradients, rates.next(index, place))
            }
            Rule::Plugged(rule) => {
                let of_copy = &self.copy_statistics;
                let losses = LossesOfStep::new(&self.loss, &prepared, at, seed, of_copy);
                rule.step(&encoder, &losses)?
            }
        };
        let gradient_s = phase.end();
        let phase = self.loss.clock.start::<B>(&encoder);
        let gradients = std::mem::take(&mut stepped.gradients);
        let gradients = match self.settings.clip_norm {
            Some(max_norm) => clip_norm::<B, M>(&encoder, gradients, max_norm),
            None => gradients,
        };
        stepped.rate = self.settings.warmed_up(stepped.rate, index);
        let encoder = self.optimizer.step(stepped.rate, encoder, gradients);
        // Burn keeps a new running statistic for its thread alone until one of these calls merges it, and the next step
        // may be on another thread.
        drop(encoder.valid());
        self.average.push(&encoder);
        check_replicas::<B, M>(self.loss.group, &encoder, index + 1)?;
        self.encoder = Some(encoder);
        let update_s = phase.end();
        let forward = self.loss.clock.take_forward();
        let seconds = StepSeconds {
            views: prepared.views_s,
            transfer: prepared.collation_s,
            forward,
            backward: gradient_s - forward,
            update: update_s,
        };
        self.add_step(&stepped, seconds, start);
        Ok(StepReport {
            step: self.record.n_steps,
            loss: stepped.loss,
            seconds,
        })
    }

    /// Returns the number of negatives K of a step.
    fn negatives(&self, place: u64) -> f64 {
        let advice = &self.counters.negatives;
        let n_places = self.budget.map_or(self.max_steps, |_| PLACES);
        let (at, advised) = ((place, n_places), (advice.peak, advice.stage));
        let negatives = &self.settings.step_negatives;
        negatives.at(at, self.settings.negatives, advised)
    }

    /// Adds a step that began at `start` to the record.
    fn add_step(&mut self, stepped: &Stepped, seconds: StepSeconds, start: Instant) {
        let record = &mut self.record;
        record.n_steps += 1;
        let before = record.cost.charged();
        record.sample_passes += self.loss.passes.take(&mut record.cost);
        let step = record.cost.charged() - before;
        self.counters.largest_step = self.counters.largest_step.max(step);
        record.seconds.steps += start.elapsed().as_secs_f64();
        record.seconds.views += seconds.views;
        record.seconds.collation += seconds.transfer;
        self.counters
            .add_step(stepped, self.loss.contrastive.negatives);
    }

    /// Completes the run: no step follows.
    pub(crate) fn complete(&mut self) {
        // The best encoder may be an early one; what went wrong, the last one shows.
        self.warn(far(parameter_change::<B, _>(
            &self.start,
            self.average.get(),
        )));
        self.counters.is_complete = true;
    }

    /// Adds a warning to the record, once.
    pub(super) fn warn(&mut self, warning: Option<String>) {
        let known = &mut self.record.warnings;
        known.extend(warning.filter(|warning| !known.contains(warning)));
    }

    /// Checks that all parameters of an encoder are finite: the risk of one with infinite ones may be finite.
    pub(super) fn check_parameters(&self, encoder: &M) -> Result<(), TrainError> {
        match first_not_finite::<B, M>(encoder) {
            None => Ok(()),
            Some(found) => {
                let at = (self.record.n_steps, self.record.n_epochs());
                let what = "a parameter of the encoder";
                Err(not_finite(what, found, at, self.root_seed, None))
            }
        }
    }
}
