//! The encoders of images, each with its views.

use std::fmt::Debug;
use std::sync::Arc;

use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Collate, Encoder, Error, Seed, Views};
use icl_data::{Image, ImageView};
use icl_models::StoredEncoder;

use crate::options::bounds::IMAGE_SIDE;
use crate::process::failure::Failure;

/// Configuration of an encoder of images and its views.
pub trait ImageEncoder: Debug + Sized {
    /// Collation, which has no configuration.
    const COLLATE: Self::Collate;
    /// Name of the encoder in files.
    const NAME: &'static str;

    /// Views, which make positive pairs.
    type Views: Views<Sample = Arc<Image>, View = ImageView> + Debug;
    /// Collation of views into what the encoder takes.
    type Collate: Collate<View = ImageView> + Debug;
    /// Encoder for use.
    type Module<B: Backend>: Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>;
    /// Encoder in training.
    type Trained<B: AutodiffBackend>: AutodiffModule<B, InnerModule = Self::Module<B::InnerBackend>>
        + Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>;

    /// Returns the views.
    fn views(&self) -> &Self::Views;

    /// Returns an encoder that was not trained on these data.
    ///
    /// # Errors
    /// If its initial weights cannot be read.
    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, Failure>;

    /// Returns an encoder of the configured shape.
    ///
    /// # Errors
    /// If the configuration is not valid.
    fn shape<B: AutodiffBackend>(
        &self,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, anyhow::Error>;

    /// Returns the names and shapes of the tensors.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)>;

    /// Returns the description of the encoder.
    fn title(&self) -> String;

    /// Returns the metadata of an encoder's file: keys and values.
    ///
    /// # Errors
    /// If a value cannot be written as text.
    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error>;

    /// Reads the metadata that [`describe`](Self::describe) returns.
    ///
    /// # Errors
    /// If they are missing, or are not those of such an encoder.
    fn from_file(file: &StoredEncoder) -> Result<Self, Error>;

    /// Returns the number of channels of the images.
    fn channels(&self) -> usize;

    /// Returns views whose plain view shows the pixels of an image, at most 32 x 32.
    fn of_pixels(&self) -> impl Views<Sample = Arc<Image>, View = ImageView>;
}

/// Checks the side of the views of images: those of a batch are in memory at once.
///
/// # Errors
/// If it is larger than the option may be.
pub fn check_side(file: &StoredEncoder, size: usize) -> Result<(), Error> {
    match size <= IMAGE_SIDE {
        true => Ok(()),
        false => Err(file.wrong(
            format!("views of {size} pixels a side"),
            format!("at most {IMAGE_SIDE}"),
        )),
    }
}
