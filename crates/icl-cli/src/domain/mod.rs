//! The kinds of data that the program knows. All that depends on the kind is in this folder.

mod codec;
pub mod collation;
mod convolutional;
#[cfg(feature = "flex")]
mod damaged_encoders;
pub mod data;
pub mod downstream;
pub mod encoder_choice;
pub mod encoder_file;
mod graph_encoder;
mod graphs;
mod hidden_encoder;
mod image_encoder;
mod image_mlp;
mod image_pairs;
mod images;
mod interactions;
pub mod recall;
pub mod spread;
mod tables;
pub mod task_labels;
mod text_pairs;

use std::fmt::Debug;

use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Encoder, Error, Samples, Seed, Views};
use icl_data::{Outliers, Split};
use icl_eval::Matrix;

use crate::domain::collation::OnEveryBackend;
use crate::domain::data::{Data as AnyData, DataSet};
use crate::process::failure::Failure;

pub use codec::Codec;
pub use collation::Collated;
pub use graphs::Graphs;
pub use interactions::NextItems;
pub use tables::Tables;
pub use text_pairs::PairedTexts;

/// Kind of data with its encoder: a [`DataSet`], and a [`Codec`] of the configuration. A value of it is the
/// configuration of the views and the encoder.
pub trait Domain: Codec {
    /// Data set.
    type Data: DataSet;
    /// Views, which make positive pairs.
    type Views: Views<Sample = <Self::Data as Samples>::Sample> + Debug;
    /// Collation of views into what the encoder takes.
    type Collate: OnEveryBackend<View = <Self::Views as Views>::View>;
    /// Encoder for use.
    type Encoder<B: Backend>: Encoder<B, Batch = <Self::Collate as OnEveryBackend>::Batch<B>>;
    /// Encoder in training.
    type Trained<B: AutodiffBackend>: AutodiffModule<B, InnerModule = Self::Encoder<B::InnerBackend>>
        + Encoder<B, Batch = <Self::Collate as OnEveryBackend>::Batch<B>>;

    /// Returns the data as the encoder of this configuration takes them, with values outside the range of its own data
    /// treated as `outliers` says; `None` if they are of another kind.
    ///
    /// # Errors
    /// If the encoder cannot take them.
    fn prepared(&self, data: AnyData, outliers: Outliers) -> Result<Option<Self::Data>, Failure>;

    /// Returns the views.
    fn views(&self) -> &Self::Views;

    /// Returns the collation of views into what the encoder takes.
    fn collate(&self) -> Collated<Self::Collate>;

    /// Returns an encoder of the configured shape with random weights.
    ///
    /// # Errors
    /// If the configuration is not valid.
    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, anyhow::Error>;

    /// Returns an encoder that was not trained on these data, by default a [`random`](Self::random) one.
    ///
    /// # Errors
    /// If its initial weights cannot be read.
    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, Failure> {
        self.random::<B>(seed, device).map_err(Failure::Input)
    }

    /// Returns this configuration with everything that joined data have and an encoder of it lacks, such as new items; `None`
    /// if there is nothing.
    fn grown(&self, data: &Self::Data) -> Option<Self> {
        let _ = data;
        None
    }

    /// Grows an encoder to this configuration, which [`grown`](Self::grown) has returned. What the encoder knows stays as it
    /// is, and the seed is that of fresh encoders.
    fn grow<B: AutodiffBackend>(&self, encoder: Self::Trained<B>, seed: Seed) -> Self::Trained<B> {
        let _ = seed;
        encoder
    }

    /// Checks that an encoder of this configuration can take the data; by default it takes whatever it has
    /// [prepared](Self::prepared).
    ///
    /// # Errors
    /// If it cannot; without a place.
    fn check(&self, data: &Self::Data) -> Result<(), Error> {
        let _ = data;
        Ok(())
    }

    /// Returns this configuration and the data with their statistics, such as means of columns, estimated from the
    /// samples `old` of a split alone; `None` if there are none.
    ///
    /// # Errors
    /// If these samples do not suffice.
    fn refitted(
        &self,
        data: &Self::Data,
        split: &Split,
        old: &[usize],
    ) -> Result<Option<(Self, Self::Data)>, Failure> {
        let _ = (data, split, old);
        Ok(None)
    }

    /// Returns this configuration and the data with the statistics that the encoder's file lacks estimated from these
    /// old samples; `None` if it lacks none.
    ///
    /// # Errors
    /// If these samples do not suffice.
    fn standardized(
        &self,
        data: &Self::Data,
        old: &[usize],
        outliers: Outliers,
    ) -> Result<Option<(Self, Self::Data)>, Failure> {
        let _ = (data, old, outliers);
        Ok(None)
    }

    /// Returns the features of these samples without any encoder, a row for each, for the floors of accuracies; `None`
    /// for samples that never have classes.
    ///
    /// # Errors
    /// If a sample cannot be read or a value is not finite.
    fn features(&self, data: &Self::Data, samples: &[usize]) -> Result<Option<Matrix>, Failure> {
        let _ = (data, samples);
        Ok(None)
    }
}
