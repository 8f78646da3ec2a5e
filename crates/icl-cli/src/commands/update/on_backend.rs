//! The update on one backend.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Seed};
use icl_eval::Matrix;
use icl_models::DataOrigin;
use icl_report::{
    KeptNeighbours, RunSettings, TrainingCourse, TrainingSummary, UPDATE_SCHEMA, UpdateFacts,
    UpdateRecord,
};
use icl_train::{
    Outcome, RateChoice, Sampling, Start, StopRule, StoppedBy, Trainer, TrainingSettings,
    UpdateRule, parameter_change,
};

use crate::backend::OnBackend;
use crate::commands::update::budget::Retraining;
use crate::commands::update::options::Resolved;
use crate::domain::Domain;
use crate::domain::collation::Collated;
use crate::domain::data::DataSet;
use crate::domain::downstream::{HeldOut, HeldOutComparison};
use crate::domain::encoder_file;
use crate::domain::encoder_file::{EncoderFile, TrainedOn};
use crate::domain::recall::{neighbours_kept, stored_recall};
use crate::domain::spread::{EvaluatorOf, check_spread, embed};
use crate::files::encoder_work;
use crate::files::encoder_work::{ENCODER, REJECTED};
use crate::files::whole;
use crate::files::work_folder::WorkFolder;
use crate::options::choice;
use crate::options::evaluation::rule;
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::group::{group, is_silent};
use crate::process::progress::{Display, ended};
use crate::process::terminal::tell;

/// Update of an encoder by a method.
pub struct Update<'a, D: Domain> {
    pub resolved: &'a Resolved,
    pub from: &'a EncoderFile<D>,
    /// Configuration of the updated encoder: that of the file, grown to the data.
    pub domain: &'a D,
    /// Old and new data, as the encoder's file describes them.
    pub sources: Vec<DataOrigin>,
    /// Command line of the update.
    pub command: String,
    /// Old and new data, joined.
    pub data: &'a D::Data,
    pub increment: &'a Increment,
    /// Old and new samples that are held out: all, and those over which risks are computed.
    pub held_out: Option<[&'a Increment; 2]>,
    /// Share of all samples that is held out for good.
    pub share: f64,
    /// Labels of the samples, if there are any.
    pub labels: Option<&'a [Option<usize>]>,
    pub work: &'a WorkFolder,
}

/// Encoder after the update.
struct Updated<'a, D: Domain, B: AutodiffBackend> {
    encoder: &'a D::Encoder<B::InnerBackend>,
    /// Its embeddings of these samples.
    embedded: (&'a Matrix, &'a [usize]),
    /// Whether it is the one that was given, with all of its parameters.
    is_kept: bool,
    /// Whether the encoder that came in is kept instead, since this one is worse.
    is_rejected: bool,
    /// Charged cost of the training, in full passes.
    passes: f64,
}

impl<D: Domain> OnBackend for Update<'_, D> {
    type Output = UpdateRecord;

    /// Updates the encoder, measures it before and after, and writes it.
    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<UpdateRecord, Failure> {
        let device = &devices[0];
        let (training, method) = (&self.resolved.training, &self.resolved.method);
        let (settings, domain) = (&training.settings, self.domain);
        let group = group();
        let trainer = |settings| {
            Trainer::<B, _, _, _>::new(self.data, domain.views(), domain.collate(), self.increment)
                .settings(settings)
                .update_rule(self.resolved.options.training.step.optimizer)
                .seed(training.seed)
                .devices(devices.iter().cloned())
                .group(&*group)
        };
        let init = Seed::new(training.seed).child("init");
        // What is new begins as in the initial encoder of `icl train` with this seed.
        let given = domain.grow(self.from.encoder::<B>(device)?, init.child("old"));
        let fresh = || domain.fresh::<B>(init.child("scratch"), device);
        let fresh = method.start.needs_fresh().then(fresh).transpose()?;
        let causes = Causes {
            settings,
            method: Some(method),
            file: Some(self.from.stored.path()),
        };
        let retraining = Retraining::predict(
            self.from.passes_per_sample(),
            settings.epochs,
            self.increment.n_samples(),
        );
        let budget = match method.loss {
            None => None,
            Some(_) => retraining.within(
                self.resolved.budget,
                (settings, &causes),
                self.work,
                |settings, callbacks| {
                    let trainer = trainer(settings);
                    let timed =
                        trainer.update_with(method, given.clone(), fresh.clone(), callbacks)?;
                    Ok(timed.record.cost)
                },
            )?,
        };
        let trainer = trainer(TrainingSettings {
            budget,
            ..settings.clone()
        });
        let outcome = self.train(&trainer, given.clone(), fresh, &causes)?;
        let record = outcome.record;
        let evaluator = trainer.evaluator();
        // θ₀ exactly as it was given: its statistics are its own.
        let theta_0 = given.valid();
        let before = evaluator.risk_as_given(&theta_0)?;
        // From θ₀, also where the method has started from scratch.
        let change = parameter_change::<B, _>(&given, &outcome.trained);
        let has_grown = !domain.tensors().eq(self.from.domain.tensors());
        let has_statistics = self.resolved.method.start == Start::Statistics;
        // The file is then written as it came in, byte for byte.
        let is_kept = change == 0.0 && !has_grown && !has_statistics;
        let (encoder, after) = match is_kept {
            true => (theta_0.clone(), before),
            false => (outcome.encoder, outcome.risk),
        };
        let held_out = match self.held_out {
            None => HeldOutComparison::default(),
            Some([all, measured]) => HeldOut {
                domain,
                data: self.data,
                measured,
                all,
                trained: self.increment,
                labels: self.labels,
                seed: Seed::new(training.seed).child("task"),
            }
            .compare::<B>(&evaluator, [&theta_0, &encoder], device, &causes)?,
        };
        let is_worse = held_out.verdict.is_some_and(|it| it.is_worse());
        let is_rejected = is_worse && !self.resolved.options.verdict.accept;
        let seed = Seed::new(training.seed).child("neighbours");
        let old = self.increment.without_new();
        let old = old.at_most(KeptNeighbours::MOST, seed);
        let old_before = embed::<D, _>(&evaluator, &theta_0, old.old(), &causes)?;
        let old_after = embed::<D, _>(&evaluator, &encoder, old.old(), &causes)?;
        let updated = Updated::<D, B> {
            encoder: &encoder,
            embedded: (&old_after, old.old()),
            is_kept,
            is_rejected,
            passes: record.cost.charged(),
        };
        self.write(&updated, &evaluator, device, &causes)?;
        let name = |at: usize| self.sources[at].name.clone();
        let optimizer = choice::name(&self.resolved.options.training.step.optimizer);
        let risk_after = held_out.risks.map(|[_, after]| after);
        Ok(UpdateRecord {
            schema: UPDATE_SCHEMA,
            method: method.name.clone(),
            settings: RunSettings::of(
                training.seed,
                settings,
                optimizer,
                (&training.backend, &self.command),
            ),
            from: self.resolved.from.clone(),
            old_data: name(0),
            new_data: name(1),
            n_old_kept: self
                .resolved
                .old_sample
                .as_ref()
                .map(|_| self.increment.old().len()),
            n_clipped: self.data.n_clipped(),
            before,
            after,
            hold_out: Some(rule(self.share, self.from.hold_out())),
            held_out_before: held_out.risks.map(|[before, _]| before),
            verdict: held_out.verdict,
            is_rejected,
            retraining_passes: retraining.known_passes(),
            task: held_out.task,
            neighbours_kept: neighbours_kept(&old_before, &old_after)?,
            update: UpdateFacts::of(
                &record,
                self.increment,
                risk_after.zip(self.held_out.map(|[_, measured]| measured)),
                stored_recall(&old_after, &old_before)?,
            ),
            training: TrainingSummary::of(&record, change),
            course: TrainingCourse::of(&record),
        })
    }
}

impl<D: Domain> Update<'_, D> {
    /// Trains with a bar, and keeps the state of a training that its budget has ended.
    fn train<B: AutodiffBackend>(
        &self,
        trainer: &Trainer<'_, B, D::Data, &D::Views, Collated<D::Collate>, UpdateRule>,
        given: D::Trained<B>,
        fresh: Option<D::Trained<B>>,
        causes: &Causes<'_>,
    ) -> Result<Outcome<D::Trained<B>, B>, Failure> {
        let (method, settings) = (&self.resolved.method, &self.resolved.training.settings);
        let display = Display::new(1, settings.epochs as u64);
        display.begin(&method.name);
        let mut callbacks = encoder_work::callbacks(self.work, &display);
        let outcome = trainer
            .update_with(method, given, fresh, &mut callbacks)
            .map_err(|error| causes.training(error))?;
        drop(callbacks);
        let follows_budget = matches!(method.sampling, Sampling::Widening(_))
            || !matches!(method.rate, RateChoice::Fixed)
            || settings.stop != StopRule::Never;
        if follows_budget && self.resolved.options.more.is_some() {
            tell(
                "note: the passes so far followed the course of the smaller budget, with an evaluation at its end: an \
                 update that has this budget from the start gives another encoder",
            );
        }
        if outcome.record.stopped_by == Some(StoppedBy::Budget) && !is_silent() {
            encoder_work::keep_state(self.work)?;
        }
        if method.loss.is_some() {
            let ended = ended(&outcome.record, outcome.risk.all);
            display.end(&format!("{}: {ended}", method.name));
        }
        display.finish();
        Ok(outcome)
    }

    /// Writes the encoder to use, and the updated one where it is rejected.
    fn write<B: AutodiffBackend>(
        &self,
        updated: &Updated<'_, D, B>,
        evaluator: &EvaluatorOf<'_, '_, D, B::InnerBackend>,
        device: &B::Device,
        causes: &Causes<'_>,
    ) -> Result<(), Failure> {
        let path = |name| self.work.results().join(name);
        if updated.is_kept || updated.is_rejected {
            whole::write(&path(ENCODER), self.from.stored.bytes())?;
        }
        if updated.is_kept {
            return Ok(());
        }
        check_spread::<D, B>(evaluator, self.domain, updated.embedded, device, causes)?;
        let (hold_out, passes_per_sample) = match self.resolved.method.start {
            Start::Scratch => {
                let passes = updated.passes / self.increment.n_samples() as f64;
                (Some(self.share), Some(passes))
            }
            // What θ₀ has seen, its update has seen.
            _ => {
                let before = self.from.hold_out();
                let hold_out = before.map(|before| before.min(self.share));
                (hold_out, self.from.passes_per_sample())
            }
        };
        let training = &self.resolved.training;
        let trained_on = TrainedOn {
            data: &format!("{}+{}", self.sources[0].name, self.sources[1].name),
            classes: &self.data.class_names(),
            settings: &training.settings,
            origin: &encoder_file::origin(
                &self.command,
                training.seed,
                updated.passes,
                self.sources.clone(),
            ),
            parents: &self.from.stored.lineage().map_err(Failure::input)?,
            hold_out,
            passes_per_sample,
        };
        let name = match updated.is_rejected {
            true => REJECTED,
            false => ENCODER,
        };
        encoder_file::save(updated.encoder, self.domain, trained_on, &path(name)).map(drop)
    }
}
