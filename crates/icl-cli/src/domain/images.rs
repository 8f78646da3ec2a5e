//! Images.

use anyhow::anyhow;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, GrowthRatio, Increment, Samples, Seed, Views};
use icl_data::{ImageDataset, Outliers, Split, StreamKey};
use icl_eval::Matrix;
use icl_models::StoredEncoder;

use crate::domain::class_numbers::numbers_of_classes;
use crate::domain::data::{Data, IMAGES};
use crate::domain::image_encoder::ImageEncoder;
use crate::domain::{Domain, followed, no_keys};
use crate::process::failure::Failure;

/// Images of one number of channels, and an encoder of them.
#[derive(Debug)]
pub struct Images<E: ImageEncoder>(pub E);

impl<E: ImageEncoder> Domain for Images<E> {
    const SAMPLES: &'static str = IMAGES;
    const ENCODER: &'static str = E::NAME;

    type Data = ImageDataset;
    type Views = E::Views;
    type Collate = E::Collate;
    type Encoder<B: Backend> = E::Module<B>;
    type Trained<B: AutodiffBackend> = E::Trained<B>;

    fn taken(&self, data: Data, _: Outliers) -> Result<Option<ImageDataset>, Failure> {
        Ok(match data {
            Data::Images(images) => Some(images),
            _ => None,
        })
    }

    fn views(&self) -> &E::Views {
        self.0.views()
    }

    fn collate(&self) -> E::Collate {
        E::COLLATE
    }

    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<E::Trained<B>, Failure> {
        self.0.fresh::<B>(seed, device)
    }

    fn shape<B: AutodiffBackend>(
        &self,
        device: &B::Device,
    ) -> Result<E::Trained<B>, anyhow::Error> {
        self.0.shape::<B>(device)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.0.tensors()
    }

    fn encoder_name(&self) -> String {
        self.0.title()
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        self.0.describe()
    }

    fn from_file(file: &StoredEncoder) -> Result<Self, Error> {
        E::from_file(file).map(Self)
    }

    fn check(&self, data: &ImageDataset) -> Result<(), Error> {
        let (found, expected) = (data.channels(), self.0.channels());
        if found == expected {
            return Ok(());
        }
        Err(Error::new(
            "",
            format!("images of {found} channels"),
            format!("{expected} channels"),
        ))
    }

    fn name(data: &ImageDataset) -> &str {
        data.name()
    }

    fn has_labels(data: &ImageDataset) -> bool {
        data.has_labels()
    }

    fn check_labels(data: &ImageDataset, needed_by: &str) -> Result<(), Failure> {
        data.check_labels(needed_by).map_err(Failure::input)
    }

    fn positions(data: &ImageDataset) -> Vec<usize> {
        data.positions().to_vec()
    }

    fn labels(data: &ImageDataset) -> Vec<usize> {
        data.labels().to_vec()
    }

    fn original_labels(data: &ImageDataset) -> Vec<i64> {
        numbers_of_classes(data.class_names(), data.labels())
    }

    fn increment(
        data: &ImageDataset,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        data.increment(split.clone(), alpha, seed)
            .map_err(Failure::input)
    }

    fn stream_keys(data: &ImageDataset, key: &StreamKey) -> Result<Vec<usize>, Failure> {
        match key {
            StreamKey::Nothing => Ok(vec![0; data.n_images()]),
            StreamKey::Size => data.sizes().map_err(Failure::input),
            StreamKey::Class => {
                Self::check_labels(data, "a stream by classes")?;
                Ok(Self::labels(data))
            }
            StreamKey::Column(_) => Err(no_keys::<Self>(data, key)),
        }
    }

    fn join(old: &ImageDataset, new: &ImageDataset) -> Result<(ImageDataset, Increment), Failure> {
        ImageDataset::join(old, new).map_err(Failure::input)
    }

    fn append(
        old: &ImageDataset,
        new: &ImageDataset,
    ) -> Result<(ImageDataset, [Vec<usize>; 2]), Failure> {
        let joined = old.append(new).map_err(Failure::input)?;
        let parts = followed(old.n_images(), joined.n_images());
        Ok((joined, parts))
    }

    fn n_equal(data: &ImageDataset, increment: &Increment) -> Result<usize, Failure> {
        data.n_equal(increment).map_err(Failure::input)
    }

    fn checksum(data: &ImageDataset) -> String {
        data.checksum()
    }

    /// Returns the pixels of the centre view of each image, at most 32 x 32: a larger matrix would
    /// not fit into memory where the images do not.
    fn raw(&self, data: &ImageDataset) -> Result<Option<Matrix>, Failure> {
        let views = self.0.of_pixels();
        let mut values = Vec::new();
        let mut width = 0;
        for index in 0..data.n_images() {
            let image = data
                .sample(index)
                .map_err(|error| Failure::Input(anyhow!(error)))?;
            let view = views.plain(&image);
            width = view.values().len();
            values.extend(view.values().iter().copied().map(f64::from));
        }
        let raw = Matrix::try_new(values, width);
        raw.map(Some).map_err(|error| Failure::Other(error.into()))
    }
}
