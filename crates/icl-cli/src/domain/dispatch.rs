//! The choice of a domain: by the data and the options for a new encoder, by its file for a stored one.

use std::path::Path;

use anyhow::anyhow;

use crate::domain::data::{Data, GRAPHS, IMAGES};
use crate::domain::encoder_file::{EncoderFile, StoredEncoder};
use crate::domain::{Domain, Graphs, Images};
use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::process::failure::Failure;

/// Work with a new encoder.
pub trait OnNewEncoder {
    /// Result of the work.
    type Output;

    /// Does the work.
    ///
    /// # Errors
    /// If it fails.
    fn run<D: Domain>(self, domain: &D, data: &D::Data) -> Result<Self::Output, Failure>;
}

/// Reads the data, chooses the encoder and its views, and does the work.
///
/// # Errors
/// If an option or the data cannot be used, or the work fails.
pub fn with_new_encoder<W: OnNewEncoder>(
    data: &DataOptions,
    encoder: &EncoderOptions,
    work: W,
) -> Result<W::Output, Failure> {
    match Data::read(&data.data, &data.images)? {
        Data::Graphs(graphs) => {
            encoder.check_unused(&data.data)?;
            work.run(&Graphs::of(&graphs), &graphs)
        }
        Data::Images(images) => work.run(&Images::of(&images, encoder)?, &images),
    }
}

/// Work with an encoder in a file, on one or several data sets.
pub trait OnStoredEncoder<const N: usize> {
    /// Result of the work.
    type Output;

    /// Does the work.
    ///
    /// # Errors
    /// If it fails.
    fn run<D: Domain>(
        self,
        encoder: &EncoderFile<D>,
        data: [D::Data; N],
    ) -> Result<Self::Output, Failure>;
}

/// Reads the encoder in a file, checks that the data are of its kind, and does the work.
///
/// # Errors
/// If the file cannot be read, the data are of another kind, or the work fails.
pub fn with_stored_encoder<W: OnStoredEncoder<N>, const N: usize>(
    path: &Path,
    data: [Data; N],
    work: W,
) -> Result<W::Output, Failure> {
    let samples = data.each_ref().map(Data::samples);
    let [first, others @ ..] = &samples[..] else {
        unreachable!("work with an encoder is on at least one data set");
    };
    if let Some(found) = others.iter().find(|samples| *samples != first) {
        return Err(Failure::input(anyhow!(
            "new: found {found}, expected the same kind of data as the old data"
        )));
    }
    let file = StoredEncoder::open(path)?;
    let kind = file.kind()?;
    match (kind.as_str(), *first) {
        (Graphs::ENCODER, GRAPHS) => stored::<Graphs, W, N>(file, data, work),
        (Images::ENCODER, IMAGES) => stored::<Images, W, N>(file, data, work),
        (kind, samples) => {
            let of_samples = KINDS.iter().filter(|(_, of)| *of == samples);
            let expected: Vec<&str> = of_samples.map(|(kind, _)| *kind).collect();
            Err(file.wrong_kind(kind, &expected, samples))
        }
    }
}

/// Kinds of encoders, each with the samples that it takes.
const KINDS: [(&str, &str); 2] = [(Graphs::ENCODER, GRAPHS), (Images::ENCODER, IMAGES)];

fn stored<D: Domain, W: OnStoredEncoder<N>, const N: usize>(
    file: StoredEncoder,
    data: [Data; N],
    work: W,
) -> Result<W::Output, Failure> {
    let encoder = file.read::<D>()?;
    let data: Option<Vec<D::Data>> = data.into_iter().map(D::of_kind).collect();
    match data.and_then(|data| data.try_into().ok()) {
        Some(data) => work.run(&encoder, data),
        None => unreachable!("the kind of the data is that of the encoder"),
    }
}
