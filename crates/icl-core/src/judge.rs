//! Judgements on embeddings, as protocols outside of this crate make them.

use crate::increment::Increment;
use crate::samples::SampleError;

/// Rows of numbers on the host: the values, row after row, and the width of a row.
pub type HostRows = (Vec<f64>, usize);

/// A judgement on the embeddings of an encoder, next to those of the same encoder before any training:
/// an accuracy means nothing without its floors.
pub trait Judge {
    /// The judgement.
    type Judgement;

    /// Judges embeddings. Both lists hold a row for each sample of the data set, which the increment's
    /// indices choose from.
    ///
    /// # Errors
    /// Whatever the protocol cannot measure, such as a value that is not finite.
    fn judge(
        &self,
        increment: &Increment,
        embeddings: HostRows,
        untrained: HostRows,
    ) -> Result<Self::Judgement, SampleError>;
}

/// A function of the increment, of the embeddings and of the untrained ones is a judge.
impl<T, F> Judge for F
where
    F: Fn(&Increment, HostRows, HostRows) -> Result<T, SampleError>,
{
    type Judgement = T;

    fn judge(
        &self,
        increment: &Increment,
        embeddings: HostRows,
        untrained: HostRows,
    ) -> Result<T, SampleError> {
        self(increment, embeddings, untrained)
    }
}
