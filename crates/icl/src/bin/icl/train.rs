//! `icl train`: makes a first encoder.

use burn::tensor::backend::AutodiffBackend;
use icl::core::{Increment, Seed};
use icl::data::{Found, GraphCollate, GraphDataset, GraphViewsConfig};
use icl::meta::{Problem, Trainer, TrainingSettings};
use icl::models::{GcnConfig, GraphBackend};
use icl::{TRAIN_SCHEMA, TrainRecord};

use crate::backend::{OnBackend, on_backend};
use crate::checksum::checksum;
use crate::encoder_work::{self, ENCODER};
use crate::failure::Failure;
use crate::run::{Display, read_data};
use crate::streams::print;
use crate::training_options::{Training, TrainingOptions, given, training_options};
use crate::work_folder::WorkFolder;
use crate::{encoder_file, interrupt, option_values};

training_options! {
    /// Every option of `icl train`: as flags, and under the same names in the TOML file.
    pub struct TrainOptions {
        /// An embedded data set (MUTAG), or the path of a TU data set: a zip or a folder
        #[arg(long)]
        pub data: String,
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
    let data = given("data", "a data set, a zip or a folder", &options.data)?;
    option_values::check_data("data", &data)?;
    let data = read_data(&data)?;
    let samples = (0..data.graphs().len()).collect();
    let increment = Increment::before(samples).map_err(|error| {
        Failure::input(anyhow::anyhow!(
            "data set {}: {error}",
            Found::new(data.name())
        ))
    })?;
    let input = [("checksum of the data", checksum(&data))];
    let work = encoder_work::folder(resumed, &training, &options, &input)?;
    let task = Task {
        training: &training,
        data: &data,
        increment: &increment,
        work: &work,
    };
    let trained = on_backend(&training.backend, task).and_then(|record| {
        encoder_work::write_results(&work, &options, &record)?;
        Ok(record)
    });
    let record = match trained {
        Ok(record) => record,
        Err(failure) => return Err(work.fail(failure, "train")),
    };
    let folder = work.publish()?;
    let table = icl::report::train_table(&record);
    print(format_args!("{table}\nwritten to {}", folder.display()))
}

struct Task<'a> {
    training: &'a Training,
    data: &'a GraphDataset,
    increment: &'a Increment,
    work: &'a WorkFolder,
}

impl OnBackend for Task<'_> {
    type Output = TrainRecord;

    /// Trains, and writes the encoder.
    fn run<B>(self, device: B::Device) -> Result<TrainRecord, Failure>
    where
        B: AutodiffBackend + GraphBackend,
        B::InnerBackend: GraphBackend,
    {
        let Training {
            seed,
            settings,
            backend,
            ..
        } = self.training;
        let views = GraphViewsConfig::new().init();
        let trainer = Trainer::<B, _, _, _> {
            problem: Problem {
                samples: self.data,
                views: &views,
                collate: &GraphCollate,
                increment: self.increment,
            },
            settings,
            seed: *seed,
            device: device.clone(),
        };
        let config = GcnConfig::new(self.data.d_features());
        // The same encoder as θ₀ of `icl run` begins as.
        let init = Seed::new(*seed).child("init").child("old");
        let untrained = config.init::<B>(init, &device);
        let display = Display::new(1, settings.epochs as u64);
        display.begin("training");
        let mut watch = encoder_work::watch(self.work, &display);
        let outcome = trainer
            .pretrain(untrained, &mut watch)
            .map_err(Failure::training)?;
        let record = outcome.record;
        let mut risks = record.evaluations.iter().map(|evaluation| evaluation.risk);
        let (untrained, trained) = (risks.clone().next(), risks.next_back());
        let trained = trained.unwrap_or(f64::NAN);
        let n = self.increment.old().len();
        display.end(&format!(
            "{} epochs on {n} graphs, {:.2} s, exact risk {trained:.4} nats",
            record.n_epochs(),
            record.seconds.training(),
        ));
        display.finish();
        let path = self.work.results().join(ENCODER);
        encoder_file::save(&outcome.encoder, &config, self.data.name(), &path)?;
        Ok(TrainRecord {
            schema: TRAIN_SCHEMA,
            seed: *seed,
            data: self.data.name().to_owned(),
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
