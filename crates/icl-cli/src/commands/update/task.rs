//! The update on one backend.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Seed};
use icl_eval::{EvalError, EvalErrorKind, Matrix, NeighboursKeptConfig};
use icl_report::{
    KeptNeighbours, RunSettings, TrainingCourse, TrainingSummary, UPDATE_SCHEMA, UpdateFacts,
    UpdateRecord,
};
use icl_train::{
    RateChoice, Sampling, Start, StopRule, StoppedBy, Trainer, TrainingSettings, Verdict,
    parameter_change,
};

use crate::backend::OnBackend;
use crate::commands::update::budget::Retraining;
use crate::commands::update::options::Resolved;
use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::domain::downstream::TaskSamples;
use crate::domain::encoder_file;
use crate::domain::encoder_file::{EncoderFile, TrainedOn};
use crate::domain::recall::stored_recall;
use crate::domain::spread::{check_spread, embed};
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
    /// Names of the old and of the new data set.
    pub names: [&'a str; 2],
    /// Old and new data, joined.
    pub data: &'a D::Data,
    pub increment: &'a Increment,
    /// Old and new samples that are held out.
    pub held_out: Option<&'a Increment>,
    /// Share of all samples that is held out for good.
    pub share: f64,
    /// Labels of the samples, if there are any.
    pub labels: Option<&'a [Option<usize>]>,
    pub work: &'a WorkFolder,
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
        let n_samples = self.increment.all().len();
        let passes_per_sample = self.from.passes_per_sample();
        let retraining = Retraining::predict(passes_per_sample, settings.epochs, n_samples);
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
        let display = Display::new(1, settings.epochs as u64);
        display.begin(&method.name);
        let mut callbacks = encoder_work::callbacks(self.work, &display);
        let outcome = trainer
            .update_with(method, given.clone(), fresh, &mut callbacks)
            .map_err(|error| causes.training(error))?;
        let record = outcome.record;
        let follows_budget = matches!(method.sampling, Sampling::Widening(_))
            || !matches!(method.rate, RateChoice::Fixed)
            || settings.stop != StopRule::Never;
        if follows_budget && self.resolved.options.more.is_some() {
            tell(
                "note: the passes so far followed the course of the smaller budget, with an evaluation at its end: an \
                 update that has this budget from the start ends elsewhere",
            );
        }
        if record.stopped_by == Some(StoppedBy::Budget) && !is_silent() {
            encoder_work::keep_state(self.work)?;
        }
        if method.loss.is_some() {
            let ended = ended(&record, outcome.risk.all);
            display.end(&format!("{}: {ended}", method.name));
        }
        display.finish();
        let evaluator = trainer.evaluator();
        // θ₀ exactly as it was given: its statistics are its own.
        let theta_0 = given.valid();
        let before = evaluator.risk_as_given(&theta_0)?;
        // From θ₀, also where the method has started from scratch.
        let change = parameter_change::<B, _>(&given, &outcome.trained);
        let has_grown = !domain.tensors().eq(self.from.domain.tensors());
        let is_kept = change == 0.0 && !has_grown;
        let (encoder, after) = match is_kept {
            true => (theta_0.clone(), before),
            false => (outcome.encoder, outcome.risk),
        };
        let (mut held_out, mut verdict, mut task) = (None, None, None);
        if let Some(samples) = self.held_out {
            let risk = |encoder| {
                let risk = evaluator.held_out_risk_with_losses(encoder, samples);
                risk.map_err(|error| causes.measurement(error))
            };
            let [(before, of_before), (after, of_after)] = [risk(&theta_0)?, risk(&encoder)?];
            held_out = Some([before, after]);
            verdict = Some(Verdict::of(&of_before, &of_after, samples.old().len())?);
            if let Some(labels) = self.labels {
                let samples = TaskSamples {
                    domain,
                    data: self.data,
                    labels,
                    increment: self.increment,
                    held_out: samples,
                    seed: Seed::new(training.seed).child("task"),
                };
                let before = Some(&theta_0);
                task = samples.accuracy::<B>(&evaluator, (before, &encoder), device, &causes)?;
            }
        }
        let is_worse = verdict.is_some_and(|it| it.is_worse());
        let is_rejected = is_worse && !self.resolved.options.verdict.accept;
        let seed = Seed::new(training.seed).child("neighbours");
        let old = self.increment.without_new();
        let old = old.at_most(KeptNeighbours::MOST, seed);
        let old_before = embed::<D, _>(&evaluator, &theta_0, old.old(), &causes)?;
        let old_after = embed::<D, _>(&evaluator, &encoder, old.old(), &causes)?;
        let path = |name| self.work.results().join(name);
        if is_kept || is_rejected {
            whole::write(&path(ENCODER), self.from.stored.bytes())?;
        }
        if !is_kept {
            let of_data = (&old_after, old.old());
            check_spread::<D, B>(&evaluator, domain, of_data, device, &causes)?;
            // What θ₀ has seen, its update has seen.
            let seen_by_none = match method.start {
                Start::Scratch => Some(self.share),
                _ => self.from.hold_out().map(|before| before.min(self.share)),
            };
            let name = if is_rejected { REJECTED } else { ENCODER };
            let trained_on = TrainedOn {
                data: self.data.name(),
                hold_out: seen_by_none,
                passes_per_sample: match method.start {
                    Start::Scratch => Some(record.cost.charged() / n_samples as f64),
                    _ => passes_per_sample,
                },
            };
            encoder_file::save(&encoder, domain, trained_on, &path(name))?;
        }
        let [old_data, new_data] = self.names.map(ToOwned::to_owned);
        let optimizer = choice::name(&self.resolved.options.training.step.optimizer);
        Ok(UpdateRecord {
            schema: UPDATE_SCHEMA,
            method: method.name.clone(),
            settings: RunSettings::of(training.seed, settings, optimizer, &training.backend),
            from: self.resolved.from.clone(),
            old_data,
            new_data,
            n_clipped: self.data.n_clipped(),
            before,
            after,
            hold_out: Some(rule(self.share, self.from.hold_out())),
            held_out_before: held_out.map(|[before, _]| before),
            verdict,
            is_rejected,
            retraining_passes: retraining.known_passes(),
            task,
            neighbours_kept: neighbours_kept(&old_before, &old_after)?,
            update: UpdateFacts::of(
                &record,
                self.increment,
                held_out.map(|[_, after]| after).zip(self.held_out),
                stored_recall(&old_after, &old_before)?,
            ),
            training: TrainingSummary::of(&record, change),
            course: TrainingCourse::of(&record),
        })
    }
}

/// Returns the share of neighbours that are kept; `None` for too few samples.
fn neighbours_kept(before: &Matrix, after: &Matrix) -> Result<Option<KeptNeighbours>, Failure> {
    let measure = NeighboursKeptConfig::default()
        .try_init()
        .map_err(failure)?;
    match measure.share(before, after) {
        Ok(share) => Ok(Some(KeptNeighbours {
            k: measure.k(),
            share,
        })),
        Err(error) if error.kind() == EvalErrorKind::TooFew => Ok(None),
        Err(error) => Err(failure(error)),
    }
}

fn failure(error: EvalError) -> Failure {
    Failure::Other(error.into())
}
