//! Errors of embeddings, folds and the settings of protocols.

/// A rejected input, a fit that did not converge, or a request to stop.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// Matrix with an entry that is NaN or infinite.
    #[error("row {row}, column {column}: found {found}, expected a finite number")]
    NotFinite {
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        column: usize,
        /// Entry found.
        found: f64,
    },
    /// Argument with another number of values than there are rows: labels, folds, targets.
    #[error("{argument}: found {found}, expected {expected}, one for each row")]
    Count {
        /// Name of the argument.
        argument: &'static str,
        /// Number of its values.
        found: usize,
        /// Number of rows.
        expected: usize,
    },
    /// Argument that refers to a row that does not exist.
    #[error("{argument}: found row {index}, expected an index below {n_rows}")]
    Row {
        /// Name of the argument.
        argument: &'static str,
        /// Index of the row.
        index: usize,
        /// Number of rows.
        n_rows: usize,
    },
    /// Argument without rows.
    #[error("{argument}: found no row, expected at least 1")]
    NoRow {
        /// Name of the argument.
        argument: &'static str,
    },
    /// Rows of another width than those that they are compared with.
    #[error("{argument}: found rows of width {found}, expected {expected}")]
    Width {
        /// Name of the argument.
        argument: &'static str,
        /// Width of its rows.
        found: usize,
        /// Width of the other rows, at least 1.
        expected: usize,
    },
    /// Values that do not fill whole rows.
    #[error("values: found {found}, expected a multiple of the number of columns, {n_columns}")]
    Values {
        /// Number of values.
        found: usize,
        /// Number of columns.
        n_columns: usize,
    },
    /// Grid for C that is empty, not ascending, or has a value that is not a finite number above 0.
    #[error("grid for C: found {found:?}, expected finite numbers above 0, ascending")]
    Grid {
        /// Rejected grid.
        found: Vec<f64>,
    },
    /// Number of labels or draws that is 0.
    #[error("{setting}: found 0, expected at least 1")]
    Zero {
        /// Rejected setting.
        setting: &'static str,
    },
    /// Cross-validation with fewer than two folds.
    #[error("folds: found {found}, expected at least 2")]
    FoldCount {
        /// Rejected number of folds.
        found: usize,
    },
    /// Given folds of which one, below the highest, has no sample.
    #[error("folds: no sample is in fold {fold} of {n_folds}, expected at least one")]
    EmptyFold {
        /// Fold without samples, from 0.
        fold: usize,
        /// Number of folds.
        n_folds: usize,
    },
    /// Number of neighbours k that is 0.
    #[error("neighbours (k): found 0, expected at least 1")]
    NoNeighbours,
    /// Temperature T of the votes of neighbours that is not a finite number above 0.
    #[error("temperature (T): found {found}, expected a finite number above 0")]
    Temperature {
        /// Rejected temperature.
        found: f64,
    },
    /// Data with too few samples for k neighbours of each.
    #[error("neighbours: found {n_rows} samples, expected more than k = {k}")]
    FewNeighbours {
        /// Number of neighbours of each sample, k.
        k: usize,
        /// Number of samples found.
        n_rows: usize,
    },
    /// Query of whose items none is left to rank its target among.
    #[error(
        "query {query}: found no candidate besidess the target, expected at least one item that is not excluded"
    )]
    NoCandidates {
        /// Row of the query, from 0.
        query: usize,
    },
    /// Fit of a logistic regression that stopped before it reached its tolerance.
    #[error(
        "logistic regression with C = {c}: stopped after {n_iterations} iterations at a gradient \
         of {gradient}, expected at most {tolerance}"
    )]
    ProbeNotConverged {
        /// Inverse strength C of the penalty of the fit.
        c: f64,
        /// Number of iterations.
        n_iterations: usize,
        /// Remaining length of the gradient.
        gradient: f64,
        /// Largest accepted length.
        tolerance: f64,
    },
    /// Matrix of a stream that is not square, or a row of it with another number of cells.
    #[error(
        "matrix of a stream: found {found} values in a row, expected at most {expected}, one for each experience"
    )]
    TransferShape {
        /// Number of values found.
        found: usize,
        /// Number of experiences.
        expected: usize,
    },
    /// Measurement that was asked to stop, by [`Watch::stop_when`](crate::Watch::stop_when).
    #[error("interrupted")]
    Interrupted,
    /// Failure of a protocol of another crate, in its words.
    #[error("{0}")]
    Other(String),
}
