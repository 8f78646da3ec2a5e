//! The state of a training run, its steps and its evaluations.

use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, Seed, Stepped};

use crate::devices::replicas::check_replicas;
use crate::error::TrainError;
use crate::evaluation::evaluated::{Evaluate, Risk};
use crate::evaluation::stopping::StoppedBy;
use crate::method::{Method, MethodError};
use crate::negatives::NegativesSchedule;
use crate::optimizer::UpdateState;
use crate::progress::outcome::{Outcome, parameter_change};
use crate::progress::record::{Evaluation, TrainingRecord};
use crate::progress::step_report::{StepReport, StepSeconds};
use crate::progress::warnings::{Statistics, are_trained, far, first_not_finite, stale};
use crate::settings::TrainingSettings;
use crate::step::average::WeightAverage;
use crate::step::batch_loss::{BatchLoss, PartOf};
use crate::step::copies::own;
use crate::step::counters::{Counters, LastEvaluation};
use crate::step::prefetch::Prepared;
use crate::step::rule::{LossesOfStep, Rule};
use crate::step::step_gradient::Step;

/// State of a training run.
pub(crate) struct Run<'a, M: AutodiffModule<B> + 'a, B: AutodiffBackend, R> {
    pub(crate) root_seed: u64,
    pub(crate) settings: &'a TrainingSettings,
    pub(crate) loss: BatchLoss<'a, M, B>,
    pub(crate) update: UpdateState<M, B>,
    pub(crate) rule: Rule<'a, M, B>,
    /// Maximum number of steps of the run.
    max_steps: u64,
    /// Encoder at the start of the run, with statistics of its own.
    pub(crate) start: M,
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
    M: AutodiffModule<B, InnerModule: Encoder<B::InnerBackend>> + Encoder<B>,
    B: AutodiffBackend,
    R: Risk,
{
    /// Creates the state of a run of at most `n_steps` steps before its first step. `old_fraction` is the
    /// share of the old data in the first epoch.
    pub(crate) fn new(
        encoder: M,
        method: &Method,
        settings: &'a TrainingSettings,
        loss: BatchLoss<'a, M, B>,
        n_steps: u64,
        old_fraction: f64,
        root_seed: u64,
        seed: Seed,
    ) -> Result<Self, MethodError> {
        let device = encoder.devices().into_iter().next().unwrap_or_default();
        Ok(Self {
            root_seed,
            settings,
            update: UpdateState::new(settings.optimizer),
            rule: Rule::new(method, settings, n_steps, seed, &device)?,
            max_steps: n_steps,
            start: own(&encoder),
            average: WeightAverage::new(encoder.clone(), settings.average_decay),
            encoder: Some(encoder),
            best: None,
            counters: Counters::new(method.sampling, old_fraction),
            record: TrainingRecord::empty(),
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
        let first = measure(self.start.valid())?;
        let at = (self.record.n_steps, self.record.n_epochs());
        let evaluated = measure(trained.valid()).map_err(|error| error.at_step(at.0, at.1))?;
        let mut record = self.record;
        let n_views = (first.n_views + evaluated.n_views) as f64;
        record.cost.measuring += n_views * self.loss.passes.forward_share;
        record.seconds.evaluation += start.elapsed().as_secs_f64();
        Ok(Outcome {
            parameter_change: parameter_change::<B, _>(&self.start, &trained),
            trained,
            encoder: evaluated.encoder,
            first_risk: first.risk,
            risk: evaluated.risk,
            record,
        })
    }

    /// Takes one step of the optimizer.
    ///
    /// # Errors
    /// [`TrainError::NonFinite`] if a loss is NaN or infinite, [`TrainError::NothingToTrain`] if it depends
    /// on no parameter, [`TrainError::Group`] if a member has left.
    pub(crate) fn step(
        &mut self,
        prepared: Prepared<PartOf<M, B>>,
        seed: Seed,
    ) -> Result<StepReport, TrainError> {
        let step = self.record.n_steps;
        let settings = self.settings;
        let negatives = &settings.step_negatives;
        let at = (step, self.max_steps);
        let advice = &self.counters.negatives;
        let advised = (advice.peak, advice.stage);
        self.loss.contrastive.negatives = negatives.at(at, settings.negatives, advised);
        let encoder = self
            .encoder
            .take()
            .expect("an encoder outside of an update");
        let dropout = seed.child("dropout").at(step);
        let start = Instant::now();
        let gradient = self.loss.clock.start::<B>(&encoder);
        let at = Step {
            index: step,
            n_epochs: self.record.n_epochs(),
            root_seed: self.root_seed,
        };
        let Stepped {
            loss,
            gradients,
            rate,
            inner_rates,
            inner_move,
        } = match &mut self.rule {
            Rule::Plain(schedule) => {
                let (loss, gradients) = self.loss.gradient(&encoder, &prepared.batch, dropout)?;
                at.check("the training loss", loss, &gradients)?;
                Stepped::plain(loss, gradients, schedule.at(step))
            }
            Rule::Plugged(rule) => rule.step(
                &encoder,
                &LossesOfStep {
                    loss: &self.loss,
                    prepared: &prepared,
                    step: at,
                    seed: dropout,
                },
            )?,
        };
        let gradient_s = gradient.end();
        let update = self.loss.clock.start::<B>(&encoder);
        let encoder = self.update.step(rate, encoder, gradients);
        self.average.push(&encoder);
        check_replicas::<B, M>(self.loss.group, &encoder, step + 1)?;
        self.encoder = Some(encoder);
        let update_s = update.end();
        self.record.n_steps += 1;
        self.counters
            .add_step(loss, rate, self.loss.contrastive.negatives);
        self.counters.add_inner_loop(&inner_rates, inner_move);
        self.record.sample_passes += self.loss.passes.take(&mut self.record.cost);
        self.record.seconds.steps += start.elapsed().as_secs_f64();
        self.record.seconds.views += prepared.views_s;
        self.record.seconds.collation += prepared.collation_s;
        let forward = self.loss.clock.take_forward();
        Ok(StepReport {
            step: self.record.n_steps,
            loss,
            seconds: StepSeconds {
                views: prepared.views_s,
                transfer: prepared.collation_s,
                forward,
                backward: gradient_s - forward,
                update: update_s,
            },
        })
    }

    /// Evaluates the averaged encoder, adds the evaluation to the record, and keeps the encoder if its risk is the
    /// lowest and the stopping rule follows the risk. Returns the reason for which the stopping rule ends the run,
    /// if it does.
    ///
    /// # Errors
    /// [`TrainError`] if a sample cannot be read, or a parameter or the risk is not finite.
    pub(crate) fn evaluate(
        &mut self,
        evaluate: Evaluate<'_, M::InnerModule, R>,
    ) -> Result<Option<StoppedBy>, TrainError> {
        let start = Instant::now();
        self.check_parameters(self.average.get())?;
        let at = (self.record.n_steps, self.record.n_epochs());
        let evaluated = evaluate(self.average.get().valid());
        let evaluated = evaluated.map_err(|error| error.at_step(at.0, at.1))?;
        self.counters.negatives.take_in(
            &self.settings.step_negatives,
            (&evaluated.ranks, evaluated.n_old),
            evaluated.held_out.as_ref(),
        );
        self.warn(self.stale(&evaluated.encoder));
        let TrainingSettings {
            stop,
            patience,
            min_gain,
            ..
        } = *self.settings;
        let charged = self.record.cost.charged();
        let cost = evaluated.n_views as f64 * self.loss.passes.forward_share;
        let schedule = self.settings.step_negatives.schedule;
        match stop.needs_risk() || schedule == NegativesSchedule::Stagewise {
            true => self.record.cost.steering += cost,
            false => self.record.cost.measuring += cost,
        }
        let (risk, epoch) = (evaluated.risk, self.record.n_epochs());
        self.record.seconds.evaluation += start.elapsed().as_secs_f64();
        self.record.evaluations.push(Evaluation {
            epoch,
            sample_passes: self.record.sample_passes,
            charged_passes: charged,
            train_s: self.record.seconds.training(),
            risk: risk.clone(),
        });
        let n_steps = self.record.n_steps;
        let counters = &mut self.counters;
        counters.last = Some(LastEvaluation {
            risk: risk.all(),
            epoch,
            n_steps,
            charged: self.record.cost.charged(),
            cost,
        });
        let is_best = counters.balanced.push(risk.balanced()) == 0;
        if stop.needs_risk() && is_best {
            // The statistics of a clone would go on with the run.
            self.best = Some(own(self.average.get()));
            self.record.best_evaluation = Some(self.record.evaluations.len() - 1);
        }
        if stop.expects_gain() {
            counters.course.push(n_steps, charged, evaluated.losses);
        }
        let gain = stop.expected_gain(&counters.course, evaluated.n_old);
        self.record.expected_gain = gain;
        let is_small = gain.is_some_and(|gain| gain.is_below(min_gain));
        counters.n_small = if is_small { counters.n_small + 1 } else { 0 };
        let n_worse = counters.risks.push(risk.all());
        let small = (gain, counters.n_small, min_gain);
        Ok(stop.ends_by_risk((n_worse, patience), small))
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

    /// Returns the warning of statistics that `measured`, the average after its re-estimation, has unchanged from training.
    fn stale(&self, measured: &M::InnerModule) -> Option<String> {
        let is_trained = are_trained::<B, M>(&self.start);
        let [start, average] = [&self.start, self.average.get()]
            .map(|encoder| Statistics::of::<B, M>(encoder, &is_trained));
        let measured = Statistics::of::<B::InnerBackend, M::InnerModule>(measured, &is_trained);
        stale(&start, &average, &measured)
    }

    /// Adds a warning to the record, once.
    fn warn(&mut self, warning: Option<String>) {
        let known = &mut self.record.warnings;
        known.extend(warning.filter(|warning| !known.contains(warning)));
    }

    /// Checks that all parameters of an encoder are finite: the risk of one with infinite ones may be finite.
    fn check_parameters(&self, encoder: &M) -> Result<(), TrainError> {
        match first_not_finite::<B, M>(encoder) {
            None => Ok(()),
            Some(found) => Err(TrainError::NonFinite {
                what: "a parameter of the encoder",
                found,
                step: self.record.n_steps,
                epoch: self.record.n_epochs(),
                seed: self.root_seed,
                sample: None,
            }),
        }
    }
}
