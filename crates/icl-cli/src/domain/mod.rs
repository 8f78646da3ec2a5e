//! The kinds of data that the program knows. All that depends on the kind is in this folder.

mod class_numbers;
#[cfg(feature = "flex")]
mod damaged_encoders;
pub mod data;
pub mod dispatch;
pub mod encoder_file;
mod graph_encoder;
mod graphs;
mod hidden_encoder;
mod image_encoder;
mod image_mlp;
mod image_pairs;
mod image_resnet;
mod images;
mod interactions;
pub mod recall;
pub mod spread;
pub mod tables;
mod text_pairs;
pub mod unknown_data;

use std::fmt::Debug;

use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Collate, Encoder, Error, GrowthRatio, Increment, Samples, Seed, Views};
use icl_data::{Found, Outliers, OutliersFound, Split, StreamKey};
use icl_eval::Matrix;
use icl_models::StoredEncoder;

use crate::domain::data::Data as AnyData;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

pub use graphs::Graphs;
pub use images::Images;
pub use interactions::NextItems;
pub use tables::Tables;
pub use text_pairs::PairedTexts;

/// Kind of data with its encoder. A value of it is the configuration of the views and the encoder.
pub trait Domain: Debug + Sized {
    /// Name of the samples in messages.
    const SAMPLES: &'static str;
    /// Name of the encoder in files.
    const ENCODER: &'static str;

    /// Data set.
    type Data: Samples + Debug;
    /// Views, which make positive pairs.
    type Views: Views<Sample = <Self::Data as Samples>::Sample> + Debug;
    /// Collation of views into what the encoder takes.
    type Collate: Collate<View = <Self::Views as Views>::View> + Debug;
    /// Encoder for use.
    type Encoder<B: Backend>: Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>;
    /// Encoder in training.
    type Trained<B: AutodiffBackend>: AutodiffModule<B, InnerModule = Self::Encoder<B::InnerBackend>>
        + Encoder<B, Batch = <Self::Collate as Collate>::Batch<B>>;

    /// Returns the data as the encoder of this configuration takes them, with values outside the range of its own data
    /// treated as `outliers` says; `None` if they are of another kind.
    ///
    /// # Errors
    /// If the encoder cannot take them.
    fn taken(&self, data: AnyData, outliers: Outliers) -> Result<Option<Self::Data>, Failure>;

    /// Returns the views.
    fn views(&self) -> &Self::Views;

    /// Returns the collation of views into what the encoder takes.
    fn collate(&self) -> Self::Collate;

    /// Returns an encoder that was not trained on these data.
    ///
    /// # Errors
    /// If its initial weights cannot be read.
    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, Failure>;

    /// Returns an encoder of the configured shape, whose values are to be replaced.
    ///
    /// # Errors
    /// If the configuration is not valid.
    fn shape<B: AutodiffBackend>(
        &self,
        device: &B::Device,
    ) -> Result<Self::Trained<B>, anyhow::Error>;

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

    /// Returns the names and shapes of the encoder's tensors without allocating them: a damaged
    /// configuration may ask for more than the memory holds.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)>;

    /// Returns the description of the encoder.
    fn encoder_name(&self) -> String;

    /// Returns the metadata of an encoder's file about views and encoder: keys and values.
    ///
    /// # Errors
    /// If a value cannot be written as text.
    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error>;

    /// Reads the metadata that [`describe`](Self::describe) returns.
    ///
    /// # Errors
    /// If they are missing, or are not those of such an encoder.
    fn from_file(file: &StoredEncoder) -> Result<Self, Error>;

    /// Checks that an encoder of this configuration can take the data.
    ///
    /// # Errors
    /// If it cannot; without a place.
    fn check(&self, data: &Self::Data) -> Result<(), Error>;

    /// Returns the name of the data set.
    fn name(data: &Self::Data) -> &str;

    /// Returns whether the samples have classes.
    fn has_labels(data: &Self::Data) -> bool {
        let _ = data;
        true
    }

    /// Checks that the samples have classes where their files should hold them; `needed_by` is what they are needed
    /// for. The classes of a table are an option, without which there is nothing to measure.
    ///
    /// # Errors
    /// If they have none.
    fn check_labels(data: &Self::Data, needed_by: &str) -> Result<(), Failure> {
        let _ = (data, needed_by);
        Ok(())
    }

    /// Returns the class of each sample, counted from 0.
    fn labels(data: &Self::Data) -> Vec<usize>;

    /// Returns the label of each sample in the files.
    fn original_labels(data: &Self::Data) -> Vec<i64>;

    /// Returns the place of each sample among all that its files have, counted from 0, where samples were left out.
    fn positions(data: &Self::Data) -> Vec<usize> {
        (0..data.n_samples()).collect()
    }

    /// Splits the samples into old and new ones.
    ///
    /// # Errors
    /// If too few are left on one side, or a sample cannot be read.
    fn increment(
        data: &Self::Data,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure>;

    /// Returns the keys by which a stream orders the samples.
    ///
    /// # Errors
    /// If the samples have no such keys.
    fn stream_keys(data: &Self::Data, key: &StreamKey) -> Result<Vec<usize>, Failure>;

    /// Returns this configuration and the data with everything that is estimated from data estimated from
    /// the samples `old` of a split alone; `None` if nothing is.
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

    /// Returns this configuration and the data with everything that rests on statistics of the data, because the encoder's
    /// file has none, estimated from these old samples; `None` if nothing does.
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

    /// Joins old and new data to one data set.
    ///
    /// # Errors
    /// If they do not fit each other.
    fn join(old: &Self::Data, new: &Self::Data) -> Result<(Self::Data, Increment), Failure>;

    /// Appends data, however few, as [`join`](Self::join) does. Also returns the numbers of the old and of the new samples.
    ///
    /// # Errors
    /// If they do not fit each other.
    fn append(old: &Self::Data, new: &Self::Data)
    -> Result<(Self::Data, [Vec<usize>; 2]), Failure>;

    /// Returns the number of values that were clipped because they lie outside the range of the encoder's own data.
    fn n_clipped(data: &Self::Data) -> usize {
        let _ = data;
        0
    }

    /// Returns the number of new samples that equal an old one.
    ///
    /// # Errors
    /// If a sample cannot be read.
    fn n_equal(data: &Self::Data, increment: &Increment) -> Result<usize, Failure>;

    /// Returns the checksum by which interrupted work recognises its data.
    fn checksum(data: &Self::Data) -> String;

    /// Returns the sizes of the samples, for the floor that knows nothing else; `None` where all
    /// have one size.
    ///
    /// # Errors
    /// If a value is not finite.
    fn sizes(data: &Self::Data) -> Result<Option<Matrix>, Failure> {
        let _ = data;
        Ok(None)
    }

    /// Returns the samples without any encoder, a row for each, for the floors of accuracies; `None` for samples that never
    /// have classes.
    ///
    /// # Errors
    /// If a sample cannot be read or a value is not finite.
    fn raw(&self, data: &Self::Data) -> Result<Option<Matrix>, Failure> {
        let _ = data;
        Ok(None)
    }
}

/// Returns the numbers of `n_old` samples and of those that follow them.
fn followed(n_old: usize, n: usize) -> [Vec<usize>; 2] {
    [(0..n_old).collect(), (n_old..n).collect()]
}

/// Returns the failure of a stream that is divided by keys which the samples do not have.
pub fn no_keys<D: Domain>(data: &D::Data, key: &StreamKey) -> Failure {
    let needed = match key {
        StreamKey::Nothing => "nothing".to_owned(),
        StreamKey::Size => "sizes".to_owned(),
        StreamKey::Class => "classes".to_owned(),
        StreamKey::Column(name) => format!("a column {}", Found::new(name)),
    };
    Failure::input(anyhow::anyhow!(
        "split: found one that needs {needed} for the {} of {}, expected one that they have",
        D::SAMPLES,
        Found::new(D::name(data))
    ))
}

/// Reports that the samples have no labels where their files could hold them: a file may have been misnamed.
pub fn tell_unlabelled<D: Domain>(data: &D::Data) {
    if D::check_labels(data, "").is_err() {
        tell(format_args!(
            "note: {}: no labels; this command needs none",
            D::name(data)
        ));
    }
}

/// Reports values outside the range of an encoder's data: their number and the first of them. Returns whether they are to be
/// clipped.
///
/// # Errors
/// If they are to be an error.
pub fn tell_outliers(
    name: &str,
    outliers: Outliers,
    found: &OutliersFound,
) -> Result<bool, Failure> {
    let Some(first) = found.first.first() else {
        return Ok(false);
    };
    if outliers == Outliers::Error {
        return Err(Failure::input(anyhow::anyhow!(
            "data set {}: {first} ({} such values; `--outliers clip` clips them)",
            Found::new(name),
            found.n
        )));
    }
    let is_clipped = outliers == Outliers::Clip;
    let done = if is_clipped {
        "were clipped"
    } else {
        "were kept"
    };
    tell(format_args!(
        "note: {name}: {} values outside the range of the encoder's data {done}:",
        found.n
    ));
    for outlier in &found.first {
        tell(format_args!("note: {name}: {outlier}"));
    }
    Ok(is_clipped)
}

/// Reports the number of new samples that equal an old one, if there are any: each is a negative of a sample
/// that it equals.
///
/// # Errors
/// If a sample cannot be read.
pub fn tell_equal<D: Domain>(data: &D::Data, increment: &Increment) -> Result<(), Failure> {
    let n_equal = D::n_equal(data, increment)?;
    if n_equal > 0 {
        tell(format_args!(
            "note: {}: {n_equal} of {} new {} equal an old one",
            D::name(data),
            increment.new_data().len(),
            D::SAMPLES
        ));
    }
    Ok(())
}
