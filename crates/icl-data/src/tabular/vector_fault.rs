//! Faults of vectors in a column of lists.

/// Reason why a value is no vector like the others of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorFault {
    /// A value that is missing, or no list.
    #[error("found no list, expected a list of floats")]
    NoList,
    /// A list of no or of another number of values.
    #[error("found {found} values, expected {expected}")]
    Length {
        /// Number that was found.
        found: usize,
        /// Number in the first row, or 1 if that has none.
        expected: usize,
    },
    /// An element that is missing, or no floating-point number.
    #[error("found no floating-point number at place {place}, expected floats alone")]
    NotFloat {
        /// Place in the list, counted from 1.
        place: usize,
    },
    /// One of several columns of lists, none of which has the name of embeddings.
    #[error("found a second column of lists, expected one, or one named embedding")]
    SecondColumn,
}
