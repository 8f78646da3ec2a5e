//! Images.

use anyhow::anyhow;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Samples, Seed, Views};
use icl_data::{ImageDataset, Outliers};
use icl_eval::Matrix;
use icl_models::StoredEncoder;

use crate::domain::data::Data;
use crate::domain::image_encoder::ImageEncoder;
use crate::domain::{Codec, Domain};
use crate::process::failure::Failure;

/// Images of one number of channels, and an encoder of them.
#[derive(Debug)]
pub struct Images<E: ImageEncoder>(pub E);

impl<E: ImageEncoder> Codec for Images<E> {
    const ENCODER: &'static str = E::NAME;

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
}

impl<E: ImageEncoder> Domain for Images<E> {
    type Data = ImageDataset;
    type Views = E::Views;
    type Collate = E::Collate;
    type Encoder<B: Backend> = E::Module<B>;
    type Trained<B: AutodiffBackend> = E::Trained<B>;

    fn prepared(&self, data: Data, _: Outliers) -> Result<Option<ImageDataset>, Failure> {
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

    /// Returns the pixels of the centre view of each image, at most 32 x 32: a larger matrix would
    /// not fit into memory where the images do not.
    fn features(&self, data: &ImageDataset) -> Result<Option<Matrix>, Failure> {
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
