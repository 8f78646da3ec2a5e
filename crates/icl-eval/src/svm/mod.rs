//! The paper's protocol and its support vector machine: scikit-learn's `SVC()`.

mod classifier;
mod kernel;
mod one_vs_one;
mod pair;
mod protocol;

pub use classifier::SvmClassifier;
pub(crate) use kernel::{RbfKernel, SquaredDistances, scale_gamma};
pub(crate) use one_vs_one::TrainingSet;
pub use protocol::{SvmProtocol, SvmProtocolConfig};
