//! The support vector machine of the paper's protocol: scikit-learn's `SVC()`.

mod classifier;
mod kernel;
mod one_vs_one;
mod pair;

pub use classifier::SvmClassifier;
pub(crate) use kernel::{RbfKernel, SquaredDistances, scale_gamma};
pub(crate) use one_vs_one::TrainingSet;
