//! `icl train`: makes a first encoder.

use icl_core::{Increment, Samples, Seed};
use icl_data::Found;
use icl_models::Stem;
use icl_report::{TRAIN_SCHEMA, TrainRecord};
use icl_train::{Trainer, TrainingSettings};

use crate::backend::{OnBackend, TrainingBackend, on_backend};
use crate::domain::data::Data;
use crate::domain::encoder_file;
use crate::domain::{Domain, Graphs, Images};
use crate::files::checksum;
use crate::files::encoder_work;
use crate::files::encoder_work::ENCODER;
use crate::files::work_folder::WorkFolder;
use crate::options::images::{Classes, EncoderChoice, Selection};
use crate::options::training::{Training, TrainingOptions, given, training_options};
use crate::options::values;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::Display;
use crate::process::terminal::print;

training_options! {
    /// Every option of `icl train`: as flags, and under the same names in the TOML file.
    pub struct TrainOptions {
        /// An embedded data set (MUTAG, MNIST-1v7, MNIST-1v7-test), or the path of one: a TU data set (a zip or
        /// a folder), an IDX file, a CIFAR file or folder, a folder of class folders with images
        #[arg(long)]
        pub data: String,
        /// Of images: only these classes, as 1,7
        #[arg(long, value_name = "NAMES")]
        pub classes: Classes,
        /// Of images: at most N, as evenly of each class as can be
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        pub limit: usize,
        /// Of images: leave out those that cannot be decoded [default: false]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        #[serde(alias = "skip_broken")]
        pub skip_broken: bool,
        /// Of images: the side of a view in pixels [default: that of IDX and CIFAR
        /// images themselves, 224 for folders]
        #[arg(long, value_name = "P", allow_negative_numbers = true)]
        #[serde(alias = "image_size")]
        pub image_size: usize,
        /// Of images: how the encoder begins: small (3x3, for small images) or standard (7x7 with
        /// stride 2, then pooling) [default: small up to 32 pixels and
        /// without --weights]
        #[arg(long, value_name = "STEM", value_parser = values::named::<Stem>)]
        pub stem: Stem,
        /// Of images: the width of a projection head on the encoder [default: none]
        #[arg(long, value_name = "D", allow_negative_numbers = true)]
        pub projection: usize,
        /// Of images: the probability that a view is blurred [default: 0]
        #[arg(long, value_name = "P", allow_negative_numbers = true)]
        pub blur: f64,
        /// Of images: torchvision's weights of a ResNet-18 to begin with
        #[arg(long, value_name = "FILE.pth|FILE.safetensors")]
        pub weights: std::path::PathBuf,
    }
}

impl TrainOptions {
    fn selection(&self) -> Selection {
        Selection {
            classes: self.classes.clone(),
            limit: self.limit,
            skip_broken: self.skip_broken.unwrap_or(false),
        }
    }

    fn encoder(&self) -> EncoderChoice {
        EncoderChoice {
            image_size: self.image_size,
            stem: self.stem,
            projection: self.projection,
            blur: self.blur,
            weights: self.weights.clone(),
        }
    }
}

/// Trains an encoder on a data set, writes its folder and prints a table.
///
/// # Errors
/// If an option or the data cannot be used, the training fails, or somebody interrupts it.
pub fn train(options: TrainOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let (mut options, resumed) = encoder_work::options(options)?;
    let training = options.fill(TrainingSettings::default())?;
    let name = given("data", "a data set, a zip or a folder", &options.data)?;
    values::check_data("data", &name)?;
    let choice = options.encoder();
    match Data::read(&name, &options.selection())? {
        Data::Graphs(data) => {
            choice.check_unused(&name)?;
            train_on(&Graphs::of(&data), &data, &training, &options, resumed)
        }
        Data::Images(data) => {
            let domain = Images::of(&data, &choice)?;
            train_on(&domain, &data, &training, &options, resumed)
        }
    }
}

fn train_on<D: Domain>(
    domain: &D,
    data: &D::Data,
    training: &Training,
    options: &TrainOptions,
    resumed: Option<WorkFolder>,
) -> Result<(), Failure> {
    let samples = (0..data.n_samples()).collect();
    let increment = Increment::before(samples).map_err(|error| {
        Failure::input(anyhow::anyhow!(
            "data set {}: {error}",
            Found::new(D::name(data))
        ))
    })?;
    let input = [
        ("checksum of the data", D::checksum(data)),
        (
            "checksum of the weights",
            checksum::of_file(options.weights.as_deref())?,
        ),
    ];
    let work = encoder_work::folder(resumed, training, options, &input)?;
    let task = Task {
        training,
        domain,
        data,
        increment: &increment,
        work: &work,
    };
    let trained = on_backend(&training.backend, task).and_then(|record| {
        encoder_work::write_results(&work, options, &record)?;
        icl_report::training_document(&record).map_err(|error| Failure::Other(error.into()))
    });
    let document = match trained {
        Ok(document) => document,
        Err(failure) => return Err(work.fail(failure, "train")),
    };
    let folder = work.publish()?;
    let text = document.terminal(icl_report::DEFAULT_WIDTH, false);
    print(format_args!("{text}\nwritten to {}", folder.display()))
}

struct Task<'a, D: Domain> {
    training: &'a Training,
    domain: &'a D,
    data: &'a D::Data,
    increment: &'a Increment,
    work: &'a WorkFolder,
}

impl<D: Domain> OnBackend for Task<'_, D> {
    type Output = TrainRecord;

    /// Trains, and writes the encoder.
    fn run<B: TrainingBackend>(self, device: B::Device) -> Result<TrainRecord, Failure> {
        let Training {
            seed,
            settings,
            backend,
            ..
        } = self.training;
        let views = self.domain.views();
        let trainer = Trainer::<B, _, _, _>::new(self.data, views, D::COLLATE, self.increment)
            .settings(settings.clone())
            .seed(*seed)
            .device(device.clone());
        // The same encoder as θ₀ of `icl run` begins as.
        let init = Seed::new(*seed).child("init").child("old");
        let untrained = self.domain.fresh::<B>(init, &device)?;
        let display = Display::new(1, settings.epochs as u64);
        display.begin("training");
        let mut callbacks = encoder_work::callbacks(self.work, &display);
        let outcome = trainer
            .pretrain_with(untrained, &mut callbacks)
            .map_err(Failure::training)?;
        let record = outcome.record;
        let mut risks = record.evaluations.iter().map(|evaluation| evaluation.risk);
        let (untrained, trained) = (risks.clone().next(), risks.next_back());
        let trained = trained.unwrap_or(f64::NAN);
        let n = self.increment.old().len();
        display.end(&format!(
            "{} epochs on {n} {}, {:.2} s, exact risk {trained:.4} nats",
            record.n_epochs(),
            D::SAMPLES,
            record.seconds.training(),
        ));
        display.finish();
        let path = self.work.results().join(ENCODER);
        let name = D::name(self.data);
        encoder_file::save(&outcome.encoder, self.domain, name, &path)?;
        Ok(TrainRecord {
            schema: TRAIN_SCHEMA,
            seed: *seed,
            data: name.to_owned(),
            n,
            temperature: settings.temperature,
            negatives: settings.negatives,
            backend: backend.clone(),
            epochs: record.n_epochs(),
            sample_passes: record.sample_passes,
            train_s: record.seconds.training(),
            untrained: untrained.unwrap_or(f64::NAN),
            trained,
            parameter_change: outcome.parameter_change,
            seconds: record.seconds,
            evaluations: record.evaluations,
            epoch_losses: record.epoch_losses,
        })
    }
}
