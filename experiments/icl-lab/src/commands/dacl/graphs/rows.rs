//! A row of the table of graphs: training without labels, then evaluation by cross-validation.

use crate::pages::dacl::{DaclAccuracies, DaclDataSet, DaclRow, DaclSettings, DaclTraining};
use anyhow::anyhow;
use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_cli::parts::{Failure, OnBackend, interrupt};
use icl_core::graph::GraphBatch;
use icl_core::mixup::MixingRange;
use icl_core::{Batches, Collate, Encoder, Increment, Seed, Views, host_values};
use icl_data::{Graph, GraphCollate, GraphDataset, GraphViews, GraphViewsConfig};
use icl_eval::Matrix;
use icl_models::{
    Gin, GinConfig, HiddenCollate, HiddenMixup, HiddenNoise, HiddenViews, ProjectionHead,
    ProjectionHeadConfig,
};
use icl_train::{Callbacks, RateChoice, Trainer, TrainingSettings};

use crate::commands::dacl::contrastive::{contrastive, training_record};
use crate::commands::dacl::graphs::cross_validation::{accuracies, majority, mean_accuracies};

/// Number of layers of the encoder.
const LAYERS: usize = 4;
/// Number of layers of the head.
const HEAD_LAYERS: usize = 3;
/// Lower end α of the range of λ: the paper's choice.
const ALPHA: f64 = 0.9;
/// Deviation of hidden Gaussian noise, in deviations of a column.
const SIGMA: f64 = 0.1;
/// Temperature τ: the paper's choice.
const TEMPERATURE: f64 = 1.0;
/// Number of last epochs over which accuracies are means, as in the paper.
const LAST_EPOCHS: usize = 5;
/// Maximum number of graphs per encoder pass.
const CHUNK: usize = 128;

/// A row to compute.
#[derive(Debug)]
pub struct GraphRowWork<'a> {
    /// Data set.
    pub data: DaclDataSet,
    /// Its graphs.
    pub graphs: &'a GraphDataset,
    /// Row.
    pub row: DaclRow,
    /// Root seed.
    pub seed: u64,
    /// Settings.
    pub settings: &'a DaclSettings,
}

impl OnBackend for GraphRowWork<'_> {
    type Output = (DaclAccuracies, Option<DaclTraining>);

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Self::Output, Failure> {
        let device = &devices[0];
        let fresh = || self.gin::<B>(self.config(), device);
        let features = match self.row {
            DaclRow::Majority => {
                let accuracies = DaclAccuracies {
                    own: Some(majority(&self.graphs.labels())),
                    ..DaclAccuracies::default()
                };
                return Ok((accuracies, None));
            }
            DaclRow::Counts => {
                let row = |graph: &Graph| [graph.n_nodes() as f64, graph.n_edges() as f64];
                matrix(self.graphs.graphs().iter().flat_map(row).collect(), 2)?
            }
            DaclRow::Raw => {
                let sums = self.graphs.graphs().iter().flat_map(Graph::summed_features);
                matrix(sums.collect(), self.graphs.d_features())?
            }
            DaclRow::NotReestimated => self.features(&fresh()?.valid(), device)?,
            DaclRow::Untrained => self.reestimated(fresh()?.valid(), device)?,
            DaclRow::HiddenGaussian => {
                let noise = HiddenNoise::Gaussian { sigma: SIGMA };
                return self.last_epochs(|of| self.with_hidden_noise::<B>(noise, of, device));
            }
            DaclRow::HiddenMixup => {
                let range = MixingRange::try_new(ALPHA).map_err(Failure::input)?;
                let noise = HiddenNoise::Mixup { range };
                return self.last_epochs(|of| self.with_hidden_noise::<B>(noise, of, device));
            }
            DaclRow::Augmentations => {
                return self.last_epochs(|of| self.with_augmentations::<B>(of, device));
            }
            row => {
                let message = anyhow!("{}: expected a row of graphs", row.title());
                return Err(Failure::Other(message));
            }
        };
        Ok((
            accuracies(&self.graphs.labels(), &features, self.root())?,
            None,
        ))
    }
}

impl GraphRowWork<'_> {
    fn root(&self) -> Seed {
        Seed::new(self.seed)
    }

    /// Returns the configuration of the encoder, without a head.
    fn config(&self) -> GinConfig {
        let config = GinConfig::new(self.graphs.d_features());
        let width = self.settings.width.unwrap_or(config.d_hidden);
        config.with_d_hidden(width).with_n_layers(LAYERS)
    }

    fn gin<B: AutodiffBackend>(
        &self,
        config: GinConfig,
        device: &B::Device,
    ) -> Result<Gin<B>, Failure> {
        config
            .try_init(self.root().child("encoder"), device)
            .map_err(Failure::input)
    }

    fn views(&self) -> GraphViews {
        GraphViewsConfig::new().init()
    }

    /// Returns the increment of all graphs, before any new one.
    fn all(&self) -> Result<Increment, Failure> {
        let all = (0..self.graphs.graphs().len()).collect();
        Increment::before(all).map_err(Failure::input)
    }

    /// Evaluates a training after each of its last epochs, and returns the mean accuracies and the record of the
    /// whole training. `train` trains from the beginning for a number of epochs; since the learning rate is
    /// fixed, shorter trainings are the beginnings of longer ones.
    fn last_epochs(
        &self,
        train: impl Fn(usize) -> Result<(Matrix, DaclTraining), Failure>,
    ) -> Result<(DaclAccuracies, Option<DaclTraining>), Failure> {
        let last = self.settings.epochs;
        let n = match self.data {
            // Its graphs are large, and each of these epochs is a training of its own.
            DaclDataSet::RedditBinary => 1,
            _ => LAST_EPOCHS.min(last),
        };
        let mut measured = Vec::with_capacity(n);
        let mut whole = None;
        for epochs in last + 1 - n..=last {
            let (features, training) = train(epochs)?;
            measured.push(accuracies(&self.graphs.labels(), &features, self.root())?);
            whole = Some(training);
        }
        Ok((mean_accuracies(&measured), whole))
    }

    /// Returns the settings of a training for some epochs.
    fn training(&self, epochs: usize) -> TrainingSettings {
        let settings = DaclSettings {
            epochs,
            ..self.settings.clone()
        };
        let sizes = (self.graphs.graphs().len(), settings.batch_size);
        contrastive(&settings, sizes, TEMPERATURE, RateChoice::Fixed)
    }

    /// Trains with noise on the encoder's output.
    fn with_hidden_noise<B: AutodiffBackend>(
        &self,
        noise: HiddenNoise,
        epochs: usize,
        device: &B::Device,
    ) -> Result<(Matrix, DaclTraining), Failure> {
        let config = self.config();
        let d_readouts = LAYERS * config.d_hidden;
        let head: ProjectionHead<B> = ProjectionHeadConfig::new(d_readouts, d_readouts)
            .with_n_layers(HEAD_LAYERS)
            .with_norm(true)
            .try_init(self.root().child("head"), device)
            .map_err(Failure::input)?;
        let encoder = HiddenMixup::new(self.gin::<B>(config, device)?, head);
        let views = HiddenViews::try_new(self.views(), noise).map_err(Failure::input)?;
        let increment = self.all()?;
        let collate = HiddenCollate::new(GraphCollate);
        let settings = self.training(epochs);
        let batch_size = settings.batch_size;
        let mut callbacks = Callbacks::new().stop_when(interrupt::requested);
        let outcome = Trainer::<B, _, _, _>::new(self.graphs, views, collate, &increment)
            .settings(settings)
            .update_rule(self.settings.optimizer)
            .seed(self.seed)
            .device(device.clone())
            .pretrain_with(encoder, &mut callbacks)
            .map_err(Failure::training)?;
        let training = training_record(outcome.parameter_change, &outcome.record, batch_size);
        let encoder = outcome.encoder.encoder().clone();
        Ok((self.reestimated(encoder, device)?, training))
    }

    /// Trains with augmentations, and a head on the encoder.
    fn with_augmentations<B: AutodiffBackend>(
        &self,
        epochs: usize,
        device: &B::Device,
    ) -> Result<(Matrix, DaclTraining), Failure> {
        let config = self.config();
        let d_readouts = LAYERS * config.d_hidden;
        let config = config
            .with_projection(Some(d_readouts))
            .with_n_projection_layers(HEAD_LAYERS);
        let encoder = self.gin::<B>(config, device)?;
        let increment = self.all()?;
        let settings = self.training(epochs);
        let batch_size = settings.batch_size;
        let mut callbacks = Callbacks::new().stop_when(interrupt::requested);
        let outcome =
            Trainer::<B, _, _, _>::new(self.graphs, self.views(), GraphCollate, &increment)
                .settings(settings)
                .update_rule(self.settings.optimizer)
                .seed(self.seed)
                .device(device.clone())
                .pretrain_with(encoder, &mut callbacks)
                .map_err(Failure::training)?;
        let training = training_record(outcome.parameter_change, &outcome.record, batch_size);
        Ok((self.reestimated(outcome.encoder, device)?, training))
    }

    /// Returns the plain graphs of a chunk as a batch.
    fn batch<B: Backend>(&self, chunk: usize, device: &B::Device) -> GraphBatch<B> {
        let graphs = self.graphs.graphs();
        let (n, n_chunks) = (graphs.len(), self.n_chunks());
        let views = self.views();
        // Chunks of nearly equal size: the statistics of the upper layers depend on them.
        let graphs = &graphs[chunk * n / n_chunks..(chunk + 1) * n / n_chunks];
        let plain: Vec<_> = graphs.iter().map(|graph| views.plain(graph)).collect();
        GraphCollate.collate(&plain, device)
    }

    fn n_chunks(&self) -> usize {
        self.graphs.graphs().len().div_ceil(CHUNK).max(1)
    }

    /// Returns features with statistics that are re-estimated over the plain graphs.
    fn reestimated<B: Backend>(
        &self,
        encoder: Gin<B>,
        device: &B::Device,
    ) -> Result<Matrix, Failure> {
        let batches = Batches::new(self.n_chunks(), |chunk| Ok(self.batch::<B>(chunk, device)));
        let encoder = encoder.recalibrated(&batches);
        self.features(
            &encoder.map_err(|error| Failure::Other(anyhow!(error)))?,
            device,
        )
    }

    /// Returns features with the statistics that the encoder has.
    fn features<B: Backend>(
        &self,
        encoder: &Gin<B>,
        device: &B::Device,
    ) -> Result<Matrix, Failure> {
        let mut values = Vec::new();
        let mut width = 1;
        for chunk in 0..self.n_chunks() {
            let features = encoder.embed(self.batch::<B>(chunk, device));
            width = features.dims()[1];
            values.extend(host_values(features));
        }
        matrix(values, width)
    }
}

fn matrix(values: Vec<f64>, width: usize) -> Result<Matrix, Failure> {
    Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Training for fewer epochs is the beginning of a longer one: the mean over the last epochs rests on it.
    #[cfg(feature = "flex")]
    #[test]
    fn a_shorter_training_is_the_beginning_of_a_longer_one() {
        use burn::backend::{Autodiff, Flex};
        use icl_train::{Evaluation, TrainError, UpdateRule};

        let graphs = icl_data::embedded::graphs("MUTAG").unwrap();
        let of_width = DaclSettings {
            epochs: 3,
            batch_size: 64,
            width: Some(4),
            optimizer: UpdateRule::Adam,
            limit: None,
            backend: "flex".to_owned(),
        };
        let work = GraphRowWork {
            data: DaclDataSet::Mutag,
            graphs: &graphs,
            row: DaclRow::Augmentations,
            seed: 3,
            settings: &of_width,
        };
        let increment = work.all().unwrap();
        let run = |epochs, evaluate_every| -> Result<Vec<Evaluation<f64>>, TrainError> {
            let settings = TrainingSettings {
                evaluate_every: Some(evaluate_every),
                ..work.training(epochs)
            };
            let device = Default::default();
            let encoder = work.gin::<Autodiff<Flex>>(work.config(), &device).unwrap();
            let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(
                &graphs,
                work.views(),
                GraphCollate,
                &increment,
            );
            let outcome = trainer.settings(settings).seed(3).pretrain(encoder)?;
            Ok(outcome.record.evaluations)
        };
        let whole = run(3, 1).unwrap();
        let begun = run(2, 2).unwrap();
        let risks = |of: &[Evaluation<f64>]| of.last().map(|of| (of.epoch, of.risk));
        assert_eq!(risks(&begun), risks(&whole[..3]));
    }
}
