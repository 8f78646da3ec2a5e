//! What can be wrong with embeddings, folds and a protocol's settings.

/// A rejected input, or a fit that did not come to an end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// An embedding holds NaN or an infinity.
    #[error("row {row}, column {column}: found {found}, expected a finite number")]
    NotFinite {
        /// The row of the matrix, from 0.
        row: usize,
        /// The column of the matrix, from 0.
        column: usize,
        /// What stands there.
        found: f64,
    },
    /// A grid for C holds at least one value, each a finite number above 0 and above the last.
    #[error("grid for C: found {found:?}, expected finite numbers above 0, ascending")]
    Grid {
        /// The rejected grid.
        found: Vec<f64>,
    },
    /// Cross-validation needs two folds.
    #[error("folds: found {found}, expected at least 2")]
    FoldCount {
        /// The rejected number.
        found: usize,
    },
    /// In given folds, every fold up to the highest holds a sample.
    #[error("folds: no sample is in fold {fold} of {n_folds}, expected at least one")]
    EmptyFold {
        /// The fold without samples, from 0.
        fold: usize,
        /// How many folds there are.
        n_folds: usize,
    },
    /// Without neighbours none can be kept.
    #[error("neighbours (k): found 0, expected at least 1")]
    NoNeighbours,
    /// Votes are weighted by exp(similarity / T).
    #[error("temperature (T): found {found}, expected a finite number above 0")]
    Temperature {
        /// The rejected temperature.
        found: f64,
    },
    /// A sample has fewer than k others.
    #[error("neighbours: found {n_rows} samples, expected more than k = {k}")]
    FewNeighbours {
        /// The number of neighbours asked for.
        k: usize,
        /// The number of samples.
        n_rows: usize,
    },
    /// The solver gave up before it reached its tolerance.
    #[error(
        "support vector machine with C = {c}: stopped at a violation of {violation} of the \
         optimality conditions, expected at most {tolerance}"
    )]
    NotConverged {
        /// The penalty of the fit.
        c: f64,
        /// The largest violation of the optimality conditions that is left.
        violation: f64,
        /// The largest one that is accepted.
        tolerance: f64,
    },
    /// The linear probe's solver gave up before it reached its tolerance.
    #[error(
        "logistic regression with C = {c}: stopped after {n_iterations} iterations at a gradient \
         of {gradient}, expected at most {tolerance}"
    )]
    ProbeNotConverged {
        /// The inverse strength of the penalty of the fit.
        c: f64,
        /// The iterations that were taken.
        n_iterations: usize,
        /// The length of the gradient that is left.
        gradient: f64,
        /// The largest one that is accepted.
        tolerance: f64,
    },
}
