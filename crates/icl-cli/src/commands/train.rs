//! `icl train`: trains a first encoder.

use burn::tensor::backend::AutodiffBackend;
use clap::{Arg, Args};
use icl_core::{Increment, Samples, Seed};
use icl_data::{Found, Split};
use icl_report::{
    CommandOutcome, KeptNeighbours, RunSettings, TRAIN_SCHEMA, TrainRecord, TrainingCourse,
    TrainingSummary,
};
use icl_train::{Trainer, TrainingSettings};
use serde::Serialize;

use crate::backend::{OnBackend, on_backend};
use crate::domain::Domain;
use crate::domain::data::{DataSet, tell_unlabelled};
use crate::domain::encoder_choice::{OnNewEncoder, with_new_encoder};
use crate::domain::encoder_file;
use crate::domain::encoder_file::TrainedOn;
use crate::domain::spread::{check_spread, embed};
use crate::files::encoder_work;
use crate::files::encoder_work::ENCODER;
use crate::files::whole;
use crate::files::work_folder::WorkFolder;
use crate::options::choice;
use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::evaluation::{HoldOutOptions, rule};
use crate::options::execution::{DEFAULT_SEED, ExecutionOptions};
use crate::options::noise::NoiseOptions;
use crate::options::output::{EncoderOutputOptions, check_out};
use crate::options::training::{PretrainingOptions, Training};
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::interrupt;
use crate::process::progress::{Display, notes};

const DETAILS: &str = "\
It trains an encoder on all of the data (graphs: a GCN, images: a ResNet-18) and writes \
DIR/encoder.safetensors, DIR/record.json and DIR/config.toml. Ctrl-C saves the state; icl train --resume DIR \
continues.

A TOML file for --config holds the same options without the dashes: learning-rate = 0.003";

/// Options of `icl train`.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS, mut_args(refined))]
pub struct TrainOptions {
    #[command(flatten)]
    #[serde(flatten)]
    data: DataOptions,
    #[command(flatten)]
    #[serde(flatten)]
    encoder: EncoderOptions,
    #[command(flatten)]
    #[serde(flatten)]
    noise: NoiseOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pretraining: PretrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    hold_out: HoldOutOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub execution: ExecutionOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub output: EncoderOutputOptions,
}

/// Returns a shared option as this command takes it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "data" => option.required(true).default_value(None),
        "seed" => option.default_value(DEFAULT_SEED.to_string()),
        "out" => option.required(true),
        _ => option,
    }
}

impl TrainOptions {
    /// Fills in the defaults that depend on other options, and checks every value.
    fn resolve(&mut self) -> Result<Training, Failure> {
        self.data.check()?;
        self.hold_out.check()?;
        self.pretraining.training.check(false)?;
        check_out(self.output.folder.out.as_deref())?;
        self.execution.training(TrainingSettings {
            evaluation_samples: self.hold_out.evaluation_samples,
            ..self.pretraining.settings(None)
        })
    }
}

/// Trains an encoder on a data set, writes its folder and prints a table.
///
/// # Errors
/// If an option or the data cannot be used, the training fails, or it is interrupted.
pub fn train(mut options: TrainOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let resumed = encoder_work::resumed(options.execution.resumed())?;
    let training = options.resolve()?;
    let work = Train {
        training: &training,
        options: &options,
        resumed,
    };
    with_new_encoder(&options.data, &options.encoder, &options.noise, work)
}

/// Training of a new encoder.
struct Train<'a> {
    training: &'a Training,
    options: &'a TrainOptions,
    resumed: Option<WorkFolder>,
}

impl OnNewEncoder for Train<'_> {
    type Output = ();

    fn run<D: Domain>(self, domain: &D, data: &D::Data) -> Result<(), Failure> {
        let Self {
            training,
            options,
            resumed,
        } = self;
        tell_unlabelled(data);
        let samples = (0..data.n_samples()).collect();
        let increment = Increment::before(samples).map_err(|error| {
            Failure::input(anyhow::anyhow!(
                "data set {}: {error}",
                Found::new(data.name())
            ))
        })?;
        let seed = Seed::new(training.seed).child("data");
        let hold_out = &options.hold_out;
        let division = hold_out.divide(increment, || data.contents(), seed)?;
        let refitted = domain.refitted(data, &Split::Random, division.trained.old())?;
        let (domain, data) = match &refitted {
            Some((domain, data)) => (domain, data),
            None => (domain, data),
        };
        let input = [
            ("checksum of the data", data.checksum()),
            (
                "checksum of the weights",
                whole::checksum(options.encoder.weights.as_deref())?,
            ),
        ];
        let config = toml::to_string(options).map_err(Failure::input)?;
        let destination = options.output.folder.destination("train");
        let work = encoder_work::begin(resumed, destination, &config, &input)?;
        let task = Task {
            training,
            domain,
            data,
            increment: &division.trained,
            held_out: division.held_out.as_ref(),
            share: division.share,
            work: &work,
            options,
        };
        let trained = on_backend(&training.backend, task).and_then(|record| {
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

struct Task<'a, D: Domain> {
    training: &'a Training,
    domain: &'a D,
    data: &'a D::Data,
    increment: &'a Increment,
    /// Samples that are held out.
    held_out: Option<&'a Increment>,
    /// Share of all samples that is held out for good.
    share: f64,
    work: &'a WorkFolder,
    options: &'a TrainOptions,
}

impl<D: Domain> OnBackend for Task<'_, D> {
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
        let held_out = self
            .held_out
            .map(|held_out| evaluator.held_out_risk_old(&outcome.encoder, held_out))
            .transpose()
            .map_err(|error| causes.measurement(error))?;
        let old = self
            .increment
            .at_most(KeptNeighbours::MOST, Seed::new(*seed).child("neighbours"));
        let rows = embed::<D, _>(&evaluator, &outcome.encoder, old.old(), &causes)?;
        let of_data = (&rows, old.old());
        check_spread::<D, B>(&evaluator, self.domain, of_data, device, &causes)?;
        let path = self.work.results().join(ENCODER);
        let name = self.data.name();
        let optimizer = choice::name(&self.options.pretraining.training.step.optimizer);
        let trained_on = TrainedOn {
            data: name,
            hold_out: Some(self.share),
            passes_per_sample: Some(record.cost.charged() / n as f64),
        };
        encoder_file::save(&outcome.encoder, self.domain, trained_on, &path)?;
        Ok(TrainRecord {
            schema: TRAIN_SCHEMA,
            settings: RunSettings::of(*seed, settings, optimizer, backend),
            data: name.to_owned(),
            n,
            n_clipped: self.data.n_clipped(),
            untrained,
            trained,
            hold_out: Some(rule(self.share, None)),
            held_out_risk: held_out,
            n_held_out: self.held_out.map(|held_out| held_out.old().len()),
            seconds: record.seconds,
            training: TrainingSummary::of(&record, outcome.parameter_change),
            course: TrainingCourse::of(&record),
        })
    }
}
