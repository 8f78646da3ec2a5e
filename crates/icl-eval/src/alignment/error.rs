//! Errors of alignments.

/// A rejected pair of matrices or setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AlignmentError {
    /// Matrices with different numbers of rows.
    #[error("rows: found {old} old and {new} new ones, expected as many of both")]
    Rows {
        /// Number of old rows.
        old: usize,
        /// Number of new rows.
        new: usize,
    },
    /// Orthogonal map between different widths.
    #[error(
        "procrustes: found widths {old} and {new}, expected equal ones (an affine map takes any)"
    )]
    Widths {
        /// Width of the old rows.
        old: usize,
        /// Width of the new rows.
        new: usize,
    },
    /// Matrix to be mapped of another width than that of the old rows.
    #[error("map: found rows of width {found}, expected {expected}")]
    Width {
        /// Width found.
        found: usize,
        /// Width of the rows that the map takes.
        expected: usize,
    },
    /// Orthogonal map from fewer rows than columns, which leaves directions open.
    #[error(
        "procrustes: found {n_rows} rows, expected at least {width}, one for each column (an affine map takes fewer)"
    )]
    FewRows {
        /// Number of rows found.
        n_rows: usize,
        /// Width of the rows.
        width: usize,
    },
    /// Orthogonal map from rows that span fewer directions than they have columns, which leaves it open in the others.
    #[error(
        "procrustes: found {rows} of rank {rank}, expected {width}, as many directions as columns (an affine map takes \
         fewer)"
    )]
    Deficient {
        /// Name of the rows, or of their product.
        rows: &'static str,
        /// Number of directions found.
        rank: usize,
        /// Width of the rows.
        width: usize,
    },
    /// Affine map from fewer than two rows, or three if the penalty is to be chosen.
    #[error("affine: found {n_rows} rows, expected at least {fewest}")]
    TooFew {
        /// Number of rows found.
        n_rows: usize,
        /// Smallest number of rows that is enough.
        fewest: usize,
    },
    /// Rank that is 0 or larger than a map of these widths can have.
    #[error("rank: found {found}, expected a number from 1 to {largest}")]
    Rank {
        /// Rejected rank.
        found: usize,
        /// Smaller one of both widths.
        largest: usize,
    },
    /// Penalty that is not a finite number above 0.
    #[error("ridge: found {found}, expected a finite number above 0")]
    Ridge {
        /// Rejected penalty.
        found: f64,
    },
    /// Rows of zeros alone, or equal rows alone, from which no map follows.
    #[error("rows: found no difference between the old ones, expected at least two directions")]
    NoSpread,
    /// Decomposition that did not converge.
    #[error("singular values: found no convergence, expected finite rows of moderate size")]
    NotConverged,
}
