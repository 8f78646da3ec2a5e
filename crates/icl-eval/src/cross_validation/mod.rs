//! Stratified cross-validation: folds, the accuracy over them, and nested folds that choose a penalty.

mod accuracy;
mod folds;
mod nested;

pub use accuracy::Accuracy;
pub use folds::stratified_folds;

pub(crate) use accuracy::share_right;
pub(crate) use folds::{check_folds, checked_n_folds, n_folds_for, shuffled_stratified_folds};
pub(crate) use nested::{Penalised, checked_grid, choose_c, measure_folds};
