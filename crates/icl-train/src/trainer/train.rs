//! The training of θ₀ and its updates.

use std::marker::PhantomData;

use burn::tensor::backend::AutodiffBackend;
use icl_core::{CollateFor, Increment, Samples, Seed, TrainableEncoder, Views};

use crate::error::{TrainError, no_thread, nothing_new};
use crate::evaluation::evaluated::{Evaluations, Risk};
use crate::identity::Identity;
use crate::method::{LossKind, Method, Sampling, Start};
use crate::negatives::NegativesForm;
use crate::optimizer::RunOptimizer;
use crate::progress::cost::PassCounter;
use crate::progress::step_report::PhaseClock;
use crate::progress::{Callbacks, Outcome};
use crate::step::batch_loss::BatchLoss;
use crate::step::contrastive::Contrastive;
use crate::step::copies::{own, with_statistics_of};
use crate::step::distillation::Teacher;
use crate::step::prefetch::prefetch;
use crate::step::run::Run;
use crate::step::saved::SavedRisk;
use crate::trainer::Trainer;
use crate::trainer::division::Division;

/// Name of the random stream of the first training.
const PRETRAINING: &str = "pretraining";

/// Name of the random stream of updates. All methods share it, so that they see the same order and the
/// same views.
const UPDATE: &str = "update";

impl<B, S, V, C, O> Trainer<'_, B, S, V, C, O>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Trains a fresh encoder on the old data X by NCE-I (Eq. 1) under the noise distribution p(X). The
    /// result is θ₀, from which updates start.
    ///
    /// Evaluations compute the exact risk over the old data alone.
    ///
    /// # Errors
    /// [`TrainError`] if a setting is out of its range, the increment refers to a sample that the data
    /// set does not contain, a sample cannot be read, the encoder has no parameter to train or does not return one row
    /// for each view, a loss, a risk or a parameter is not finite, all embeddings are zero or the same, or members of a
    /// group differ.
    pub fn pretrain<M>(&self, encoder: M) -> Result<Outcome<M, B, f64>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
        O: RunOptimizer<M, B>,
    {
        self.pretrain_with(encoder, &mut Callbacks::new())
    }

    /// Trains as [`pretrain`](Self::pretrain) does, with callbacks and checkpoints.
    ///
    /// # Errors
    /// As [`pretrain`](Self::pretrain), and [`TrainError`] if a checkpoint cannot be written or belongs
    /// to another run, or the callbacks stop the run.
    pub fn pretrain_with<M>(
        &self,
        encoder: M,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B, f64>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
        O: RunOptimizer<M, B>,
    {
        if self.has_several_devices() {
            return self.on_devices(
                (encoder, None),
                callbacks,
                |member, (encoder, _), callbacks| member.pretrain_with(encoder, callbacks),
            );
        }
        self.settings.check()?;
        self.settings.check_negatives()?;
        self.problem().check()?;
        self.check_validation(false)?;
        let Division { trained, held_out } = self.division()?;
        let held_out = held_out.map(|it| it.without_new());
        let evaluations = Evaluations {
            monitor: &|encoder, at| {
                let monitor = self.monitor_evaluator(&trained).at(at);
                let evaluated = monitor.evaluate_old(encoder)?;
                monitor.with_held_out(evaluated, held_out.as_ref())
            },
            measure: &|encoder, at| self.evaluator().at(at).evaluate_old(encoder),
            first_bad: &|encoder, samples| self.evaluator().first_bad(encoder, samples),
        };
        let method = Method {
            rate: self.settings.pretraining_rate,
            ..Method::new(Sampling::Old, LossKind::InfoNce)
        };
        self.check_catalogue(encoder.has_catalogue(), &method)?;
        let encoder = own(&encoder).with_frozen_statistics(false);
        let run = (&method, &*trained, PRETRAINING);
        let identity = self.check_members(run, &encoder, callbacks)?;
        self.check_data(|by| Ok(by.evaluate_old(encoder.valid())?.risk))?;
        let loss = (LossKind::InfoNce, None);
        let run = self.begin(run, encoder, loss, identity, callbacks.follows_steps())?;
        self.train(run, &evaluations, callbacks)
    }

    /// Updates an encoder that was trained on the old data by a method that starts from it, with evaluations of the
    /// exact risk over X′. A method without a loss evaluates the encoder once and returns it unchanged.
    ///
    /// # Errors
    /// [`TrainError`] as for [`pretrain`](Self::pretrain), and if
    ///
    /// - the method starts from another encoder than the trained one, as retraining does: [`update_with`](Self::update_with) takes a
    ///   fresh encoder;
    /// - the increment has no new samples;
    /// - the method's choices do not fit each other ([`Method::check`]), or
    ///   [`NoiseSet::BothViews`](crate::NoiseSet::BothViews) is set for a loss that separates old noise from new.
    pub fn update<M>(&self, method: &Method, trained: M) -> Result<Outcome<M, B>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
        O: RunOptimizer<M, B>,
    {
        self.update_with(method, trained, None, &mut Callbacks::new())
    }

    /// Updates as [`update`](Self::update) does, by any method, with callbacks and checkpoints. `fresh` is an encoder
    /// of the same architecture with random parameters, which some starts need
    /// ([`Start::needs_fresh`](crate::Start::needs_fresh)): from scratch it is trained in the place of `trained`.
    ///
    /// # Errors
    /// As [`update`](Self::update), and [`TrainError`] if the start needs `fresh` and there is none, or it
    /// cannot be blended with the trained encoder, a checkpoint cannot be written or belongs to another run, or the
    /// callbacks stop the run.
    pub fn update_with<M>(
        &self,
        method: &Method,
        trained: M,
        fresh: Option<M>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
        O: RunOptimizer<M, B>,
    {
        if self.has_several_devices() {
            return self.on_devices(
                (trained, fresh),
                callbacks,
                |member, (trained, fresh), callbacks| {
                    member.update_with(method, trained, fresh, callbacks)
                },
            );
        }
        self.settings.check()?;
        self.settings.check_negatives()?;
        self.problem().check()?;
        self.check_validation(true)?;
        if self.increment.new_data().is_empty() {
            return Err(nothing_new());
        }
        self.check_noise_set(method)?;
        method.check()?;
        let fresh = fresh.as_ref().map(own);
        let encoder = method.start.encoder::<B, M>(own(&trained), fresh)?;
        self.check_catalogue(encoder.has_catalogue(), method)?;
        let measuring = self.evaluator();
        let division = self.division()?;
        let (increment, held_out) = (division.trained, division.held_out);
        let evaluations = Evaluations {
            monitor: &|encoder, at| {
                let monitor = self.monitor_evaluator(&increment).at(at);
                let evaluated = monitor.evaluate(encoder)?;
                monitor.with_held_out(evaluated, held_out.as_ref())
            },
            measure: &|encoder, at| self.evaluator().at(at).evaluate(encoder),
            first_bad: &|encoder, samples| {
                // The statistics of a teacher hold samples that are not in the batch.
                let found = measuring.first_bad(encoder, samples)?;
                found.map_or_else(
                    || measuring.first_bad_of_statistics(encoder),
                    |at| Ok(Some(at)),
                )
            },
        };
        let run = (method, &*increment, UPDATE);
        let identity = self.check_members(run, &encoder, callbacks)?;
        self.check_data(|by| Ok(by.evaluate(encoder.valid())?.risk.all))?;
        let Some(loss) = method.loss else {
            let evaluated = (evaluations.monitor)(encoder.valid(), (0, 0))?;
            let measured = (evaluations.measure)(encoder.valid(), (0, 0))?;
            let cost = match method.start {
                // To keep θ₀ is to use it as it is.
                Start::Trained => 0.0,
                _ => measured.n_statistics_views as f64 * M::FORWARD_SHARE,
            };
            let encoder = with_statistics_of(encoder, &measured.encoder);
            return Ok(Outcome::untrained(encoder, evaluated.risk, measured, cost));
        };
        // The teacher is the first encoder after re-estimation of its statistics.
        let teacher = match loss.distillation {
            true => {
                let (encoder, n_views) = measuring.with_statistics(encoder.valid())?;
                Some(Teacher {
                    encoder,
                    n_views,
                    weight: self.settings.distillation_weight,
                    distance: self.settings.distillation_distance,
                })
            }
            false => None,
        };
        let loss = (loss.kind, teacher);
        let run = self.begin(run, encoder, loss, identity, callbacks.follows_steps())?;
        self.train(run, &evaluations, callbacks)
    }

    /// Creates the state of a run before its first step.
    fn begin<'r, M, R>(
        &'r self,
        (method, increment, stream): (&Method, &'r Increment, &'static str),
        encoder: M,
        (kind, teacher): (LossKind, Option<Teacher<M::InnerModule>>),
        identity: Identity,
        is_timed: bool,
    ) -> Result<Run<'r, M, B, R>, TrainError>
    where
        M: TrainableEncoder<B> + 'r,
        R: Risk,
        O: RunOptimizer<M, B>,
    {
        let settings = &self.settings;
        let loss = BatchLoss {
            contrastive: Contrastive {
                kind,
                temperature: settings.temperature,
                negatives: settings.negatives,
                is_drawn: settings.step_negatives.form == NegativesForm::Drawn,
                noise_set: settings.noise_set,
                alpha: increment.growth_ratio(),
            },
            teacher,
            passes: PassCounter::new(M::FORWARD_SHARE),
            clock: PhaseClock::new(is_timed),
            group: self.group,
            backend: PhantomData,
        };
        let seeds = (self.seed, Seed::new(self.seed).child(stream));
        let optimizer = self.optimizer.begin(settings.weight_decay)?;
        Run::new(
            encoder,
            (method, increment),
            settings,
            (loss, optimizer, self.own_rates()),
            seeds,
            identity,
        )
    }

    /// Trains an encoder until the run ends, from the checkpoint of the callbacks if there is one.
    fn train<M, R>(
        &self,
        mut run: Run<'_, M, B, R>,
        evaluations: &Evaluations<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B, R>, TrainError>
    where
        M: TrainableEncoder<B>,
        C: CollateFor<B, V::View, M>,
        R: SavedRisk,
    {
        if let Some(path) = callbacks.checkpoint() {
            run = run.restored(path)?;
            run.check_first_risk(path, evaluations.monitor)?;
        }
        if !run.counters.is_complete {
            std::thread::scope(|scope| {
                let batches = prefetch::<B, S, V, C, _, _>(
                    scope,
                    self.problem(),
                    run.seed.child("views"),
                    self.devices[0].clone(),
                    run.loss.teacher.is_some(),
                    callbacks.follows_steps(),
                )
                .map_err(no_thread)?;
                run.epochs(&batches, evaluations, callbacks)
            })?;
            run.complete();
            run.save(callbacks)?;
        }
        run.end_last_epoch(callbacks);
        callbacks.tell(run.progress(0, true));
        run.end(evaluations.measure)
    }
}
