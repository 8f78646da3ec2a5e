//! The kinds of data that the program knows: what depends on the kind stands here, and nowhere else.

pub mod data;
pub mod encoder_file;
mod graphs;
mod images;

use std::fmt::Debug;

use burn::module::AutodiffModule;
use icl_core::{Collate, Encoder, GrowthRatio, Increment, Samples, Seed, Views};
use icl_data::Split;
use icl_eval::Matrix;

use crate::backend::{ProgramBackend, TrainingBackend};
use crate::process::failure::Failure;

pub use graphs::Graphs;
pub use images::Images;

/// What was found, and what was expected instead.
pub type Wrong = (String, String);

/// The value of a key.
pub type Text<'a> = dyn Fn(&str, &str) -> Result<String, Wrong> + 'a;

/// A kind of data with its encoder: a value holds how the views and the encoder are configured.
pub trait Domain: Debug + Sized {
    /// The collation, which has no configuration.
    const COLLATE: Self::Collate;
    /// What messages call the samples.
    const SAMPLES: &'static str;
    /// What files call the encoder.
    const ENCODER: &'static str;

    /// The data set.
    type Data: Samples + Debug;
    /// What makes positive pairs.
    type Views: Views<Sample = <Self::Data as Samples>::Sample> + Debug;
    /// The collation of views into what the encoder takes.
    type Collate: Collate<View = <Self::Views as Views>::View> + Debug;
    /// The encoder, as it is used.
    type Encoder<B: ProgramBackend>: Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>;
    /// The encoder, as it is trained.
    type Trained<B: TrainingBackend>: AutodiffModule<B, InnerModule = Self::Encoder<B::InnerBackend>>
        + Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>;

    /// The views.
    fn views(&self) -> &Self::Views;

    /// An encoder that was not trained on these data.
    ///
    /// # Errors
    /// If its first weights cannot be read.
    fn fresh<B: TrainingBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, Failure>;

    /// An encoder of the configured shape, whose values are about to be replaced.
    ///
    /// # Errors
    /// If the configuration cannot be.
    fn shape<B: TrainingBackend>(
        &self,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, anyhow::Error>;

    /// The names and shapes of the encoder's tensors, told without making them: a configuration
    /// that somebody has tampered with may ask for more than the memory holds.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)>;

    /// The encoder in words.
    fn encoder_name(&self) -> String;

    /// What an encoder's file says about views and encoder: keys and values.
    ///
    /// # Errors
    /// If it cannot be written as text.
    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error>;

    /// What [`describe`](Self::describe) has written, read again; `text` gives the value of a key,
    /// or says that it is missing where something like its second argument was expected.
    ///
    /// # Errors
    /// [`Wrong`].
    fn from_description(text: &Text<'_>) -> Result<Self, Wrong>;

    /// Checks that an encoder of this configuration can take the data.
    ///
    /// # Errors
    /// If it cannot.
    fn check(&self, data: &Self::Data) -> Result<(), Wrong>;

    /// The data set's name.
    fn name(data: &Self::Data) -> &str;

    /// The class of each sample, counted from 0.
    fn labels(data: &Self::Data) -> Vec<usize>;

    /// The label of each sample, as the files have it.
    fn original_labels(data: &Self::Data) -> Vec<i64>;

    /// Which samples are old and which are new.
    ///
    /// # Errors
    /// If too few are left on one side, or a sample cannot be read.
    fn increment(
        data: &Self::Data,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure>;

    /// Old and new data as one data set.
    ///
    /// # Errors
    /// If they do not go together.
    fn join(old: &Self::Data, new: &Self::Data) -> Result<(Self::Data, Increment), Failure>;

    /// By what interrupted work knows its data again.
    fn checksum(data: &Self::Data) -> String;

    /// Sizes of the samples, the floor that knows nothing else of them; `None` where there are none.
    ///
    /// # Errors
    /// If a value is not finite.
    fn sizes(data: &Self::Data) -> Result<Option<Matrix>, Failure>;

    /// The samples without any encoder, one row each.
    ///
    /// # Errors
    /// If a sample cannot be read or a value is not finite.
    fn raw(&self, data: &Self::Data) -> Result<Matrix, Failure>;
}
