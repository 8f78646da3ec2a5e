//! A row of the table of graphs: training without labels, then judgement by cross-validation.

use anyhow::anyhow;
use burn::module::AutodiffModule;
use icl_core::mixup::MixingRange;
use icl_core::{Batches, Collate, Encoder, Increment, Seed, Views, host_values};
use icl_data::{GraphCollate, GraphDataset, GraphViews, GraphViewsConfig};
use icl_eval::{
    DescentProbeConfig, EvalError, KnnProtocolConfig, KnnVotes, LinearProbeConfig, Matrix, Protocol,
};
use icl_models::{
    Gin, GinConfig, HiddenCollate, HiddenMixup, HiddenNoise, HiddenViews, ProjectionHead,
    ProjectionHeadConfig,
};
use icl_report::dacl::{DaclAccuracies, DaclRow, DaclSettings, DaclTraining};
use icl_train::{Callbacks, RateChoice, Trainer};

use crate::backend::{OnBackend, ProgramBackend, TrainingBackend};
use crate::commands::reproduce::dacl::classifiers::N_NEIGHBOURS;
use crate::commands::reproduce::dacl::contrastive::{contrastive, training_record};
use crate::domain::{Domain, Graphs};
use crate::process::failure::Failure;
use crate::process::interrupt;

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
/// Number of folds.
const FOLDS: usize = 10;
/// Maximum number of graphs per encoder pass.
const CHUNK: usize = 128;

/// A row to compute.
#[derive(Debug)]
pub struct GraphRowWork<'a> {
    /// Graphs.
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

    fn run<B: TrainingBackend>(self, device: B::Device) -> Result<Self::Output, Failure> {
        let fresh = || self.gin::<B>(self.config(), &device);
        let (features, training) = match self.row {
            DaclRow::Majority => {
                let accuracies = DaclAccuracies {
                    own: Some(self.majority()),
                    ..DaclAccuracies::default()
                };
                return Ok((accuracies, None));
            }
            DaclRow::Counts => {
                let counts = Graphs::<GinConfig>::sizes(self.graphs)?;
                let counts =
                    counts.ok_or_else(|| Failure::Other(anyhow!("graphs have no counts")))?;
                (counts, None)
            }
            DaclRow::Raw => {
                let domain = Graphs::with(self.config()).map_err(Failure::Other)?;
                (domain.raw(self.graphs)?, None)
            }
            DaclRow::NotReestimated => (self.features(&fresh()?.valid(), &device)?, None),
            DaclRow::Untrained => (self.reestimated(fresh()?.valid(), &device)?, None),
            DaclRow::HiddenGaussian => {
                let noise = HiddenNoise::Gaussian { sigma: SIGMA };
                self.with_hidden_noise::<B>(noise, &device)?
            }
            DaclRow::HiddenMixup => {
                let range = MixingRange::try_new(ALPHA).map_err(Failure::input)?;
                self.with_hidden_noise::<B>(HiddenNoise::Mixup { range }, &device)?
            }
            DaclRow::Augmentations => self.with_augmentations::<B>(&device)?,
            row => {
                let message = anyhow!("{}: expected a row of graphs", row.title());
                return Err(Failure::Other(message));
            }
        };
        Ok((self.judge(&features)?, training))
    }
}

impl GraphRowWork<'_> {
    fn root(&self) -> Seed {
        Seed::new(self.seed)
    }

    /// Returns the configuration of the encoder, without a head.
    fn config(&self) -> GinConfig {
        GinConfig::new(self.graphs.d_features())
            .with_d_hidden(self.settings.width)
            .with_n_layers(LAYERS)
    }

    fn gin<B: TrainingBackend>(
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

    /// Trains with noise on the encoder's output.
    fn with_hidden_noise<B: TrainingBackend>(
        &self,
        noise: HiddenNoise,
        device: &B::Device,
    ) -> Result<(Matrix, Option<DaclTraining>), Failure> {
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
        let n = increment.old().len();
        let sizes = (n, self.settings.batch_size);
        let settings = contrastive(self.settings, sizes, TEMPERATURE, RateChoice::Fixed);
        let batch_size = settings.batch_size;
        let mut callbacks = Callbacks::new().stop_when(interrupt::requested);
        let outcome = Trainer::<B, _, _, _>::new(self.graphs, views, collate, &increment)
            .settings(settings)
            .seed(self.seed)
            .device(device.clone())
            .pretrain_with(encoder, &mut callbacks)
            .map_err(Failure::training)?;
        let training = training_record(outcome.parameter_change, &outcome.record, batch_size);
        let encoder = outcome.encoder.encoder().clone();
        Ok((self.reestimated(encoder, device)?, Some(training)))
    }

    /// Trains with augmentations, and a head on the encoder.
    fn with_augmentations<B: TrainingBackend>(
        &self,
        device: &B::Device,
    ) -> Result<(Matrix, Option<DaclTraining>), Failure> {
        let config = self.config();
        let d_readouts = LAYERS * config.d_hidden;
        let config = config
            .with_projection(Some(d_readouts))
            .with_n_projection_layers(HEAD_LAYERS);
        let encoder = self.gin::<B>(config, device)?;
        let increment = self.all()?;
        let n = increment.old().len();
        let sizes = (n, self.settings.batch_size);
        let settings = contrastive(self.settings, sizes, TEMPERATURE, RateChoice::Fixed);
        let batch_size = settings.batch_size;
        let mut callbacks = Callbacks::new().stop_when(interrupt::requested);
        let outcome =
            Trainer::<B, _, _, _>::new(self.graphs, self.views(), GraphCollate, &increment)
                .settings(settings)
                .seed(self.seed)
                .device(device.clone())
                .pretrain_with(encoder, &mut callbacks)
                .map_err(Failure::training)?;
        let training = training_record(outcome.parameter_change, &outcome.record, batch_size);
        Ok((self.reestimated(outcome.encoder, device)?, Some(training)))
    }

    /// Returns the plain graphs of a chunk as a batch.
    fn batch<B: ProgramBackend>(
        &self,
        chunk: usize,
        device: &B::Device,
    ) -> <GraphCollate as Collate>::Batch<B> {
        let graphs = self.graphs.graphs();
        let (n, n_chunks) = (graphs.len(), self.n_chunks());
        let views = self.views();
        let graphs = &graphs[chunk * n / n_chunks..(chunk + 1) * n / n_chunks];
        let plain: Vec<_> = graphs.iter().map(|graph| views.plain(graph)).collect();
        GraphCollate.collate::<B>(&plain, device)
    }

    fn n_chunks(&self) -> usize {
        self.graphs.graphs().len().div_ceil(CHUNK).max(1)
    }

    /// Returns features with statistics that are re-estimated over the plain graphs.
    fn reestimated<B: ProgramBackend>(
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
    fn features<B: ProgramBackend>(
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
        Matrix::try_new(values, width).map_err(other)
    }

    /// Judges features by cross-validation, with folds of the seed.
    fn judge(&self, features: &Matrix) -> Result<DaclAccuracies, Failure> {
        let (labels, seed) = (self.graphs.labels(), self.root());
        let printed = DescentProbeConfig::info_graph()
            .with_n_folds(FOLDS)
            .with_seed(seed.child("printed"))
            .try_init()
            .map_err(other)?
            .evaluate_rates(features, &labels, seed)
            .map_err(other)?;
        let mean = |protocol: &dyn Protocol| {
            let accuracy = protocol.evaluate(features, &labels, seed).map_err(other)?;
            Ok::<_, Failure>(accuracy.map(|of| of.mean))
        };
        let probe = LinearProbeConfig::default().with_n_folds(FOLDS);
        let neighbours = KnnProtocolConfig::default()
            .with_k(N_NEIGHBOURS)
            .with_votes(KnnVotes::Uniform)
            .with_n_folds(FOLDS);
        Ok(DaclAccuracies {
            printed: printed.as_ref().map(|of| of.chosen.mean),
            printed_best: printed.as_ref().map(|of| of.best_on_test().accuracy.mean),
            converged: mean(&probe.try_init().map_err(other)?)?,
            neighbours: mean(&neighbours.try_init().map_err(other)?)?,
            own: None,
            validation: None,
        })
    }

    fn majority(&self) -> f64 {
        let labels = self.graphs.labels();
        let mut counts = vec![0_usize; self.graphs.class_labels().len()];
        for &label in &labels {
            counts[label] += 1;
        }
        let most = counts.iter().max().copied().unwrap_or_default();
        most as f64 / labels.len() as f64
    }
}

fn other(error: EvalError) -> Failure {
    Failure::Other(error.into())
}
