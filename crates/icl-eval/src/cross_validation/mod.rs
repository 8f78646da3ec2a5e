//! Stratified cross-validation, of which protocols are made: folds, the accuracy over them, and nested folds that
//! choose a hyper-parameter.
//!
//! | item | content |
//! |---|---|
//! | [`stratified_folds`], [`shuffled_stratified_folds`] | the fold in which each sample is tested |
//! | [`n_folds_for`], [`check_folds`], [`count_folds`] | number of folds, and a check of given ones |
//! | [`measure_folds`], [`over_folds`] | a measurement on each fold, in parallel |
//! | [`Tunable`], [`choose`] | classifiers with a hyper-parameter, and its choice by inner folds |
//! | [`n_fits`] | number of fits, for a [`Work`](crate::Work) |
//! | [`labels_of`], [`Accuracy`], [`share_right`] | labels of the samples of a fold, and accuracies |

mod accuracy;
mod folds;
mod nested;

pub use accuracy::{Accuracy, share_right};
pub use folds::{check_folds, n_folds_for, shuffled_stratified_folds, stratified_folds};
pub use nested::{Tunable, choose, count_folds, measure_folds, n_fits, over_folds};

pub use crate::matrix::labels_of;
pub(crate) use folds::checked_n_folds;
pub(crate) use nested::checked_grid;
