//! The support vector machine of scikit-learn's `SVC()`, and the paper's protocol with it.

mod classifier;
mod greatest;
mod held;
mod kernel;
mod one_vs_one;
mod pair;
mod pair_step;
mod protocol;

pub use classifier::SvmClassifier;
pub use protocol::{SvmProtocol, SvmProtocolConfig};
