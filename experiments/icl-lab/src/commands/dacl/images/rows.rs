//! A row of the table of images: training without labels, then evaluation.

use std::sync::Arc;

use crate::pages::dacl::{DaclAccuracies, DaclRow, DaclSettings, DaclTraining};
use anyhow::anyhow;
use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_cli::parts::{Failure, OnBackend, interrupt};
use icl_core::{Both, Increment, Seed, Views};
use icl_data::{
    Image, ImageCollate, ImageNoise, ImageView, ImageViews, MixedImageViews, MixedImageViewsConfig,
};
use icl_eval::Matrix;
use icl_models::{ResNet, ResNetConfig, Stem};
use icl_train::{Callbacks, RateChoice, Trainer};

use crate::commands::dacl::contrastive::{contrastive, training_record};
use crate::commands::dacl::images::divided_images::DividedImages;

/// Width of the head's output, as in the paper.
const D_PROJECTION: usize = 128;
/// Temperature τ; in {0.1, 0.5, 1} in the paper.
const TEMPERATURE: f64 = 0.5;
/// Lower end α of the range of λ.
const ALPHA: f64 = 0.9;
/// Probability ρ of DACL+. At a half it does not matter whether ρ is the share that is kept or exchanged, on
/// which the paper contradicts itself.
const KEEP: f64 = 0.5;
/// Standard deviation of Gaussian noise, or its mean in the printed form.
const SIGMA: f64 = 0.1;

/// Views of images, of any kind.
type ImagePairs = dyn Views<Sample = Arc<Image>, View = ImageView>;

/// A row to compute.
#[derive(Debug)]
pub struct ImageRowWork<'a> {
    /// Images.
    pub images: &'a DividedImages<'a>,
    /// Row.
    pub row: DaclRow,
    /// Root seed.
    pub seed: u64,
    /// Settings.
    pub settings: &'a DaclSettings,
}

impl OnBackend for ImageRowWork<'_> {
    type Output = (DaclAccuracies, Option<DaclTraining>);

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Self::Output, Failure> {
        let device = &devices[0];
        let classifiers = self.images.classifiers();
        let (features, training) = match self.row {
            DaclRow::Majority => {
                let accuracies = DaclAccuracies {
                    own: Some(classifiers.majority()),
                    ..DaclAccuracies::default()
                };
                return Ok((accuracies, None));
            }
            DaclRow::Raw => (self.images.raw()?, None),
            DaclRow::Untrained => {
                let encoder = self.fresh::<B>(device)?.valid();
                (self.images.features(encoder, device)?, None)
            }
            row => {
                let views = pairs(row, &self.images.augmentations)?.ok_or_else(|| {
                    Failure::Other(anyhow!("{}: expected a row of images", row.title()))
                })?;
                let (features, training) = self.pretrained::<B>(&*views, device)?;
                (features, Some(training))
            }
        };
        Ok((classifiers.accuracies(&features, self.root())?, training))
    }
}

impl ImageRowWork<'_> {
    fn root(&self) -> Seed {
        Seed::new(self.seed)
    }

    fn fresh<B: AutodiffBackend>(&self, device: &B::Device) -> Result<ResNet<B>, Failure> {
        ResNetConfig::new(self.images.data.channels())
            .with_stem(Stem::Small)
            .with_projection(Some(D_PROJECTION))
            .try_init(self.root().child("encoder"), device)
            .map_err(Failure::input)
    }

    /// Trains an encoder without labels on the training images, and returns the features of all images.
    fn pretrained<B: AutodiffBackend>(
        &self,
        views: &ImagePairs,
        device: &B::Device,
    ) -> Result<(Matrix, DaclTraining), Failure> {
        let DividedImages { data, split, .. } = self.images;
        let increment = Increment::before(split.training.clone()).map_err(Failure::input)?;
        let sizes = (split.training.len(), self.settings.batch_size);
        let settings = contrastive(self.settings, sizes, TEMPERATURE, RateChoice::Cosine);
        let batch_size = settings.batch_size;
        let trainer = Trainer::<B, _, _, _>::new(*data, views, ImageCollate, &increment)
            .settings(settings)
            .update_rule(self.settings.optimizer)
            .seed(self.seed)
            .device(device.clone());
        let mut callbacks = Callbacks::new().stop_when(interrupt::requested);
        let outcome = trainer
            .pretrain_with(self.fresh::<B>(device)?, &mut callbacks)
            .map_err(Failure::training)?;
        let training = training_record(outcome.parameter_change, &outcome.record, batch_size);
        Ok((self.images.features(outcome.encoder, device)?, training))
    }
}

/// Returns the views of a row that trains an encoder.
fn pairs(row: DaclRow, augmentations: &ImageViews) -> Result<Option<Box<ImagePairs>>, Failure> {
    let augmented = || augmentations.clone();
    let mixed = |noise| -> Result<MixedImageViews, Failure> {
        MixedImageViewsConfig::new(noise)
            .with_alpha_mix(ALPHA)
            .with_keep(KEEP)
            .with_sigma(SIGMA)
            .try_init(augmented())
            .map_err(Failure::input)
    };
    Ok(Some(match row {
        DaclRow::GaussianPrinted => Box::new(mixed(ImageNoise::GaussianPrinted)?),
        DaclRow::GaussianSigma10 => Box::new(mixed(ImageNoise::Gaussian)?),
        DaclRow::LinearAlpha90 => Box::new(mixed(ImageNoise::Linear)?),
        DaclRow::PlusKeep50 => Box::new(mixed(ImageNoise::Plus)?),
        DaclRow::Simclr => Box::new(augmented()),
        DaclRow::SimclrFourViews => Box::new(Both::new(augmented(), augmented())),
        DaclRow::SimclrDacl => Box::new(Both::new(augmented(), mixed(ImageNoise::Linear)?)),
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use icl_data::ImageViewsConfig;

    use super::*;

    #[test]
    fn every_row_of_images_has_its_views() {
        let augmentations = ImageViewsConfig::new(8).init();
        for row in DaclRow::IMAGES {
            let of = pairs(row, &augmentations).unwrap();
            assert_eq!(of.is_none(), row.is_untrained(), "{row:?}");
        }
        assert!(
            pairs(DaclRow::HiddenMixup, &augmentations)
                .unwrap()
                .is_none()
        );
    }

    /// The sum of both losses is compared at equal sample passes.
    #[test]
    fn the_control_has_as_many_pairs_as_the_sum() {
        let augmentations = ImageViewsConfig::new(8).init();
        let n_pairs = |row| pairs(row, &augmentations).unwrap().unwrap().n_pairs();
        assert_eq!(n_pairs(DaclRow::Simclr), 1);
        assert_eq!(n_pairs(DaclRow::LinearAlpha90), 1);
        assert_eq!(n_pairs(DaclRow::SimclrDacl), 2);
        assert_eq!(n_pairs(DaclRow::SimclrFourViews), 2);
    }
}
