//! Images divided into training and test images, and their features.

use burn::tensor::Tensor;
use burn::tensor::backend::Backend;
use icl_cli::parts::Failure;
use icl_core::{Batches, Collate, Encoder, Seed, Views, host_values};
use icl_data::{ImageCollate, ImageDataset, ImageView, ImageViews, ImageViewsConfig};
use icl_eval::Matrix;
use icl_models::ResNet;

use crate::commands::dacl::cifar::TEST_OF_CIFAR;
use crate::commands::dacl::classifiers::Classifiers;
use crate::commands::dacl::row_split::RowSplit;

/// Side of a view in pixels.
const SIDE: usize = 32;
/// Maximum number of images per encoder pass.
const CHUNK: usize = 256;
/// Learning rate of the printed classifier.
const PRINTED_RATE: f64 = 1.0;

/// Images by their use, and their plain views.
#[derive(Debug)]
pub struct DividedImages<'a> {
    /// Images.
    pub data: &'a ImageDataset,
    /// Images by their use.
    pub split: RowSplit,
    /// Augmentations.
    pub augmentations: ImageViews,
    /// Plain view of each image.
    plain: Vec<ImageView>,
}

impl<'a> DividedImages<'a> {
    /// Divides images by a seed, as the table of their pixels is divided.
    ///
    /// # Errors
    /// If an image cannot be read.
    pub fn new(data: &'a ImageDataset, seed: Seed) -> Result<Self, Failure> {
        let augmentations = ImageViewsConfig::new(SIDE).init();
        let plain = (0..data.n_images()).map(|index| {
            let image = data.image(index).map_err(Failure::input)?;
            Ok(augmentations.plain(&image))
        });
        let plain = plain.collect::<Result<_, Failure>>()?;
        Ok(Self {
            split: RowSplit::of_all(data.labels(), TEST_OF_CIFAR, seed.child("rows")),
            data,
            augmentations,
            plain,
        })
    }

    /// Returns the classifiers of these images.
    pub fn classifiers(&self) -> Classifiers<'_> {
        Classifiers {
            labels: self.data.labels(),
            split: &self.split,
            printed_rate: PRINTED_RATE,
        }
    }

    /// Returns the pixels of each image.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn raw(&self) -> Result<Matrix, Failure> {
        let width = self.plain.first().map_or(1, |view| view.values().len());
        let values = self.plain.iter().flat_map(|view| view.values());
        let values = values.copied().map(f64::from).collect();
        Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
    }

    /// Returns the encoder's features of all images, with statistics that are re-estimated over the plain
    /// training images.
    ///
    /// # Errors
    /// If a feature is not finite.
    pub fn features<B: Backend>(
        &self,
        encoder: ResNet<B>,
        device: &B::Device,
    ) -> Result<Matrix, Failure> {
        let images = &self.split.training;
        let (n, n_chunks) = (images.len(), images.len().div_ceil(CHUNK).max(1));
        // Chunks of nearly equal size: the statistics of the upper layers depend on them.
        let chunk = |at: usize| &images[at * n / n_chunks..(at + 1) * n / n_chunks];
        let batches = Batches::new(n_chunks, |at| Ok(self.batch::<B>(chunk(at), device)));
        let encoder = encoder
            .recalibrated(&batches)
            .map_err(|error| Failure::Other(anyhow::anyhow!(error)))?;
        let all: Vec<usize> = (0..self.plain.len()).collect();
        let mut values = Vec::new();
        let mut width = 1;
        for chunk in all.chunks(CHUNK) {
            let features = encoder.embed(self.batch::<B>(chunk, device));
            width = features.dims()[1];
            values.extend(host_values(features));
        }
        Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
    }

    /// Returns the plain views of these images.
    fn batch<B: Backend>(&self, images: &[usize], device: &B::Device) -> Tensor<B, 4> {
        let views: Vec<ImageView> = images.iter().map(|&i| self.plain[i].clone()).collect();
        ImageCollate.collate(&views, device)
    }
}

#[cfg(test)]
mod tests {
    use icl_data::table_of_pixels;
    use tempfile::tempdir;

    use super::*;
    use crate::commands::dacl::cifar::first_of_cifar;
    use crate::commands::dacl::tables::TableSource;

    #[test]
    fn images_are_divided_as_the_table_of_their_pixels() {
        let at = tempdir().unwrap();
        assert!(first_of_cifar(at.path(), None).unwrap().is_err());
        std::fs::create_dir(at.path().join("cifar10")).unwrap();
        let mut bytes = Vec::new();
        for image in 0..120_usize {
            bytes.push((image * 7 % 10) as u8);
            bytes.extend((0..3072).map(|at| ((at * 31 + image * 57) % 256) as u8));
        }
        // A file that gzip has not compressed is read, too.
        let path = "cifar10/cifar10_train_first4000_lossless.bin.gz";
        std::fs::write(at.path().join(path), bytes).unwrap();
        let read = |limit| first_of_cifar(at.path(), limit).unwrap().unwrap();
        let source = TableSource::Whole {
            table: table_of_pixels(&read(None)).unwrap(),
            test: TEST_OF_CIFAR,
        };
        for limit in [None, Some(100)] {
            let data = read(limit);
            let images = DividedImages::new(&data, Seed::new(3)).unwrap();
            let (table, split) = source.divided(limit, Seed::new(3)).unwrap();
            assert_eq!(images.split, split);
            assert_eq!(images.data.labels(), table.labels());
            let raw = images.raw().unwrap();
            assert_eq!(raw.n_rows(), limit.unwrap_or(120));
        }
    }
}
