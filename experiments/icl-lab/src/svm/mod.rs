//! The support vector machine of scikit-learn's `SVC()`, fitted by `libsvm-rs`, and the paper's protocol with it.

mod classifier;
mod protocol;

pub use classifier::{SvmClassifier, SvmTraining};
pub use protocol::{NAME, SvmProtocol, WORDS};
