//! A row of the table of tables: training without labels, then evaluation.

use crate::pages::dacl::{DaclAccuracies, DaclRow, DaclSettings, DaclTraining};
use anyhow::anyhow;
use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_cli::parts::{Failure, OnBackend, interrupt};
use icl_core::{Increment, Seed, Stack};
use icl_data::{NoiseKind, TableViewsConfig};
use icl_eval::Matrix;
use icl_models::{Mlp, MlpConfig};
use icl_train::{Callbacks, RateChoice, Trainer};

use crate::commands::dacl::contrastive::{contrastive, training_record};
use crate::commands::dacl::tables::divided_table::DividedTable;
use crate::commands::dacl::tables::supervised::supervised;

/// Number of layers of the paper's encoder.
const LAYERS: usize = 12;
/// Number of layers of the shallow encoder, which is twice as wide.
const SHALLOW_LAYERS: usize = 3;
/// Width of the head's output.
const D_PROJECTION: usize = 64;
/// Standard deviations of Gaussian noise to choose from: the paper's set.
const SIGMAS: [f64; 4] = [0.05, 0.1, 0.3, 0.5];
/// Temperature τ; in {0.1, 0.5, 1} in the paper.
const TEMPERATURE: f64 = 0.5;

/// A row to compute.
#[derive(Debug)]
pub struct TableRowWork<'a> {
    /// Table.
    pub table: &'a DividedTable,
    /// Row.
    pub row: DaclRow,
    /// Root seed.
    pub seed: u64,
    /// Settings.
    pub settings: &'a DaclSettings,
}

/// Encoder that was trained, as features of all rows.
struct TrainedFeatures {
    features: Matrix,
    training: DaclTraining,
}

impl OnBackend for TableRowWork<'_> {
    type Output = (DaclAccuracies, Option<DaclTraining>);

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Self::Output, Failure> {
        let device = &devices[0];
        let measured =
            |features: &Matrix| self.table.classifiers().accuracies(features, self.root());
        match self.row {
            DaclRow::Majority => {
                let accuracies = DaclAccuracies {
                    own: Some(self.table.classifiers().majority()),
                    ..DaclAccuracies::default()
                };
                Ok((accuracies, None))
            }
            DaclRow::Raw => Ok((measured(&self.table.raw()?)?, None)),
            DaclRow::Untrained | DaclRow::ShallowUntrained => {
                let encoder = self.fresh::<B>(device)?.valid();
                Ok((measured(&self.table.features(encoder, device)?)?, None))
            }
            DaclRow::Supervised => {
                let (encoder, epochs) = (self.encoder(), 2 * self.settings.epochs);
                let accuracies =
                    supervised::<B>(self.table, &encoder, epochs, self.root(), device)?;
                Ok((accuracies, None))
            }
            DaclRow::Gaussian => {
                let trained = self.best_gaussian::<B>(device)?;
                Ok((measured(&trained.features)?, Some(trained.training)))
            }
            row => {
                let views = noise(row).ok_or_else(|| {
                    Failure::Other(anyhow!("{}: expected a row of tables", row.title()))
                })?;
                let trained = self.pretrained::<B>(&views, device)?;
                Ok((measured(&trained.features)?, Some(trained.training)))
            }
        }
    }
}

impl TableRowWork<'_> {
    fn root(&self) -> Seed {
        Seed::new(self.seed)
    }

    /// Returns the configuration of the row's encoder, without a head.
    fn encoder(&self) -> MlpConfig {
        let config = MlpConfig::new(self.table.data.d_features());
        let width = self.settings.width.unwrap_or(config.width);
        let (n_layers, width) = match self.row {
            DaclRow::ShallowUntrained | DaclRow::ShallowLinear | DaclRow::ShallowAuto => {
                (SHALLOW_LAYERS, 2 * width)
            }
            _ => (LAYERS, width),
        };
        config.with_n_layers(n_layers).with_width(width)
    }

    fn fresh<B: AutodiffBackend>(&self, device: &B::Device) -> Result<Mlp<B>, Failure> {
        let config = self.encoder().with_projection(Some(D_PROJECTION));
        config
            .try_init(self.root().child("encoder"), device)
            .map_err(Failure::input)
    }

    /// Trains an encoder without labels on the training rows.
    fn pretrained<B: AutodiffBackend>(
        &self,
        views: &TableViewsConfig,
        device: &B::Device,
    ) -> Result<TrainedFeatures, Failure> {
        let DividedTable { data, split, .. } = self.table;
        let views = views.try_init(data.schema()).map_err(Failure::input)?;
        let increment = Increment::before(split.training.clone()).map_err(Failure::input)?;
        let n = split.training.len();
        let most = self.settings.batch_size.min(n.div_ceil(4));
        let settings = contrastive(self.settings, (n, most), TEMPERATURE, RateChoice::Cosine);
        let batch_size = settings.batch_size;
        let trainer = Trainer::<B, _, _, _>::new(data, views, Stack, &increment)
            .settings(settings)
            .update_rule(self.settings.optimizer)
            .seed(self.seed)
            .device(device.clone());
        let mut callbacks = Callbacks::new().stop_when(interrupt::requested);
        let outcome = trainer
            .pretrain_with(self.fresh::<B>(device)?, &mut callbacks)
            .map_err(Failure::training)?;
        let training = training_record(outcome.parameter_change, &outcome.record, batch_size);
        Ok(TrainedFeatures {
            training,
            features: self.table.features(outcome.encoder, device)?,
        })
    }

    /// Trains an encoder with each σ and returns the one that is best on validation rows, the first of
    /// several.
    fn best_gaussian<B: AutodiffBackend>(
        &self,
        device: &B::Device,
    ) -> Result<TrainedFeatures, Failure> {
        let mut best: Option<(f64, TrainedFeatures)> = None;
        for sigma in SIGMAS {
            let views = TableViewsConfig::new()
                .with_noise(NoiseKind::Gaussian)
                .with_sigma(sigma);
            let mut trained = self.pretrained::<B>(&views, device)?;
            trained.training.chosen = Some(sigma);
            let chosen = self.table.classifiers().choose(&trained.features)?;
            let validation = chosen.map_or(f64::NEG_INFINITY, |(_, validation)| validation);
            if best.as_ref().is_none_or(|(best, _)| validation > *best) {
                best = Some((validation, trained));
            }
        }
        best.map(|(_, trained)| trained)
            .ok_or_else(|| Failure::Other(anyhow!("no σ to choose from")))
    }
}

/// Returns the noise of a row that trains an encoder with one setting.
fn noise(row: DaclRow) -> Option<TableViewsConfig> {
    let of = |kind| TableViewsConfig::new().with_noise(kind);
    let plus = |keep| Some(of(NoiseKind::Plus).with_keep(keep));
    match row {
        DaclRow::GaussianPrinted => Some(of(NoiseKind::GaussianPrinted)),
        DaclRow::LinearAlpha50 => Some(of(NoiseKind::Linear).with_alpha_mix(0.5)),
        DaclRow::LinearAlpha90 | DaclRow::ShallowLinear => Some(of(NoiseKind::Linear)),
        DaclRow::PlusKeep90 => plus(0.9),
        DaclRow::PlusKeep50 => plus(0.5),
        DaclRow::PlusKeep10 => plus(0.1),
        DaclRow::Marginal => Some(of(NoiseKind::Marginal)),
        DaclRow::Auto | DaclRow::ShallowAuto => Some(of(NoiseKind::Auto)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_tables_has_its_recipe() {
        let without_noise = [
            DaclRow::Majority,
            DaclRow::Raw,
            DaclRow::Untrained,
            DaclRow::ShallowUntrained,
            DaclRow::Supervised,
            // It has four.
            DaclRow::Gaussian,
        ];
        for row in DaclRow::TABLES {
            assert_eq!(
                noise(row).is_none(),
                without_noise.contains(&row),
                "{row:?}"
            );
        }
    }
}
