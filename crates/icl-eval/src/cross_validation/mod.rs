//! Stratified cross-validation: folds, the accuracy over them, and nested folds that choose a hyper-parameter.

mod accuracy;
mod folds;
mod nested;

pub use accuracy::Accuracy;
pub use folds::stratified_folds;

pub(crate) use accuracy::share_right;
pub(crate) use folds::{check_folds, checked_n_folds, n_folds_for, shuffled_stratified_folds};
pub(crate) use nested::{
    Tunable, checked_grid, choose, count_folds, measure_folds, n_fits, over_folds,
};
