//! Multinomial logistic regression to convergence with its protocol, the linear probe.

mod classifier;
pub(crate) mod lbfgs;
mod probe;
mod softmax;
mod standard;

pub use classifier::LinearClassifier;
pub use probe::{LinearProbe, LinearProbeConfig};
