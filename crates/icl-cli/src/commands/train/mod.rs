//! `icl train`: trains a first encoder.

mod options;

use std::slice;

use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Samples, Seed};
use icl_data::{Found, Split};
use icl_models::DataOrigin;
use icl_report::{
    CommandOutcome, KeptNeighbours, RunSettings, TRAIN_SCHEMA, TrainRecord, TrainingCourse,
    TrainingSummary,
};
use icl_train::Trainer;

use crate::backend::{OnBackend, on_backend};
use crate::domain::Domain;
use crate::domain::data::{DataSet, absolute, tell_unlabelled};
use crate::domain::downstream::HeldOut;
use crate::domain::encoder_choice::{OnNewEncoder, with_new_encoder};
use crate::domain::encoder_file;
use crate::domain::encoder_file::TrainedOn;
use crate::domain::spread::{check_spread, embed};
use crate::domain::task_labels::{Part, TaskFile, labels_of_data};
use crate::files::encoder_work;
use crate::files::encoder_work::ENCODER;
use crate::files::whole;
use crate::files::work_folder::WorkFolder;
use crate::options::choice;
use crate::options::command_line::command_line;
use crate::options::evaluation::rule;
use crate::options::training::Training;
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::interrupt;
use crate::process::progress::{Display, notes};

pub use options::TrainOptions;

/// Trains an encoder on a data set, writes its folder and prints a table.
///
/// # Errors
/// If an option or the data cannot be used, the training fails, or it is interrupted.
pub fn train(mut options: TrainOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let resumed = encoder_work::resumed(options.execution.resumed())?;
    let training = options.resolve()?;
    let reading = slice::from_mut(&mut options.data.reading);
    let labels = TaskFile::open(options.task.task.as_deref(), reading)?;
    let work = Train {
        training: &training,
        options: &options,
        labels: labels.as_ref(),
        resumed,
    };
    with_new_encoder(&options.data, &options.encoder, &options.noise, work)
}

/// Training of a new encoder.
struct Train<'a> {
    training: &'a Training,
    options: &'a TrainOptions,
    /// File of labels, if there is one.
    labels: Option<&'a TaskFile>,
    resumed: Option<WorkFolder>,
}

impl OnNewEncoder for Train<'_> {
    type Output = ();

    fn run<D: Domain>(self, domain: &D, data: D::Data) -> Result<(), Failure> {
        let Self {
            training,
            options,
            labels,
            resumed,
        } = self;
        if labels.is_none() {
            tell_unlabelled(&data);
        }
        let samples: Vec<usize> = (0..data.n_samples()).collect();
        let whole_data = Part {
            name: "",
            samples: &samples,
            rows: Some(data.positions()),
        };
        let labels = match labels {
            Some(file) => Some(file.labels(&data, &[whole_data])?),
            None => labels_of_data(&data),
        };
        let increment = Increment::before(samples).map_err(|error| {
            Failure::input(anyhow::anyhow!(
                "data set {}: {error}",
                Found::new(data.name())
            ))
        })?;
        let seed = Seed::new(training.seed).child("data");
        let hold_out = &options.hold_out;
        let contents = data.contents()?;
        let source = DataOrigin::new("all", data.name(), contents.iter().copied());
        let named = absolute(std::slice::from_ref(&options.data.name))?;
        let sources = vec![source.with_sources(named)];
        let division = hold_out.divide(increment, || Ok(contents), seed)?;
        let refitted = domain.refitted(&data, &Split::Random, division.trained.old())?;
        let (refitted, data) = match refitted {
            Some((domain, refitted)) => {
                // Their memory is needed.
                drop(data);
                (Some(domain), refitted)
            }
            None => (None, data),
        };
        let (domain, data) = (refitted.as_ref().unwrap_or(domain), &data);
        let input = [
            ("checksum of the data", data.checksum()),
            (
                "checksum of the weights",
                whole::checksum(options.encoder.weights.as_deref())?,
            ),
            (
                "checksum of the labels",
                whole::checksum(options.task.task.as_deref())?,
            ),
        ];
        let config = toml::to_string(options).map_err(Failure::input)?;
        let destination = options.output.folder.destination("train");
        let work = encoder_work::begin(resumed, destination, &config, &input)?;
        let first = FirstTraining {
            training,
            domain,
            data,
            increment: &division.trained,
            held_out: division
                .held_out
                .as_ref()
                .zip(division.measured.as_ref())
                .map(Into::into),
            share: division.share,
            labels: labels.as_deref(),
            work: &work,
            options,
            sources,
            command: command_line("train", options)?,
        };
        let trained = on_backend(&training.backend, first).and_then(|record| {
            encoder_work::write_results(&work, &config, &record)?;
            if options.output.tensorboard {
                encoder_work::write_events(&work, &icl_report::training_scalars(&record))?;
            }
            let document = icl_report::training_document(&record)
                .map_err(|error| Failure::Other(error.into()))?;
            Ok((document, CommandOutcome::of_training(&record)))
        });
        let (document, outcome) = match trained {
            Ok(trained) => trained,
            Err(failure) => return Err(work.fail(failure, "train")),
        };
        let folder = work.publish(Some("train"))?;
        let document = (&document, options.output.folder.wide);
        options.output.json.print(outcome, document, None, &folder)
    }
}

struct FirstTraining<'a, D: Domain> {
    training: &'a Training,
    domain: &'a D,
    data: &'a D::Data,
    increment: &'a Increment,
    /// Samples that are held out: all, and those over which risks are computed.
    held_out: Option<[&'a Increment; 2]>,
    /// Share of all samples that is held out for good.
    share: f64,
    /// Labels of the samples, if there are any.
    labels: Option<&'a [Option<usize>]>,
    work: &'a WorkFolder,
    options: &'a TrainOptions,
    /// Data, as the encoder's file describes them.
    sources: Vec<DataOrigin>,
    /// Command line of the training.
    command: String,
}

impl<D: Domain> OnBackend for FirstTraining<'_, D> {
    type Output = TrainRecord;

    /// Trains the encoder and writes it.
    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<TrainRecord, Failure> {
        let Training {
            seed,
            settings,
            backend,
            ..
        } = self.training;
        let device = &devices[0];
        let group = group();
        let views = self.domain.views();
        let trainer =
            Trainer::<B, _, _, _>::new(self.data, views, self.domain.collate(), self.increment)
                .settings(settings.clone())
                .update_rule(self.options.pretraining.training.step.optimizer)
                .seed(*seed)
                .devices(devices.iter().cloned())
                .group(&*group);
        // The initial encoder is that of θ₀ in `icl run`.
        let init = Seed::new(*seed).child("init").child("old");
        let untrained = self.domain.fresh::<B>(init, device)?;
        let display = Display::new(1, settings.epochs as u64);
        display.begin("training");
        let mut callbacks = encoder_work::callbacks(self.work, &display);
        let causes = Causes {
            settings,
            method: None,
            file: self.options.encoder.weights.as_deref(),
        };
        let outcome = trainer
            .pretrain_with(untrained, &mut callbacks)
            .map_err(|error| causes.training(error))?;
        let record = outcome.record;
        let (untrained, trained) = (outcome.first_risk, outcome.risk);
        let n = self.increment.old().len();
        display.end(&format!(
            "{} epochs on {n} {}, {:.2} s, exact risk {trained:.4} nats{}",
            record.n_epochs(),
            <D::Data as DataSet>::SAMPLES,
            record.seconds.training(),
            notes(&record),
        ));
        display.finish();
        let evaluator = trainer.evaluator();
        let (mut held_out, mut task) = (None, None);
        if let Some([all, measured]) = self.held_out {
            let risk = evaluator.held_out_risk_old(&outcome.encoder, measured);
            held_out = Some(risk.map_err(|error| causes.measurement(error))?);
            let samples = HeldOut {
                domain: self.domain,
                data: self.data,
                measured,
                all,
                trained: self.increment,
                labels: self.labels,
                seed: Seed::new(*seed).child("task"),
            };
            let encoders = (None, &outcome.encoder);
            task = samples.accuracy::<B>(&evaluator, encoders, device, &causes)?;
        }
        let old = self
            .increment
            .at_most(KeptNeighbours::MOST, Seed::new(*seed).child("neighbours"));
        let rows = embed::<D, _>(&evaluator, &outcome.encoder, old.old(), &causes)?;
        let of_data = (&rows, old.old());
        check_spread::<D, B>(&evaluator, self.domain, of_data, device, &causes)?;
        let path = self.work.results().join(ENCODER);
        let name = self.data.name();
        let optimizer = choice::name(&self.options.pretraining.training.step.optimizer);
        let passes = record.cost.charged();
        let trained_on = TrainedOn {
            data: name,
            classes: &self.data.class_names(),
            settings,
            origin: &encoder_file::origin(&self.command, *seed, passes, self.sources),
            parents: &[],
            hold_out: Some(self.share),
            passes_per_sample: Some(passes / n as f64),
        };
        encoder_file::save(&outcome.encoder, self.domain, trained_on, &path)?;
        Ok(TrainRecord {
            schema: TRAIN_SCHEMA,
            settings: RunSettings::of(*seed, settings, optimizer, (backend, &self.command)),
            data: name.to_owned(),
            n,
            n_clipped: self.data.n_clipped(),
            untrained,
            trained,
            hold_out: Some(rule(self.share, None)),
            held_out_risk: held_out,
            n_held_out: self.held_out.map(|[_, measured]| measured.old().len()),
            task,
            seconds: record.seconds,
            training: TrainingSummary::of(&record, outcome.parameter_change),
            course: TrainingCourse::of(&record),
        })
    }
}
