//! Multinomial logistic regression on standardised features: the classifier, and the linear probe.

mod classifier;
mod lbfgs;
mod probe;
mod softmax;
mod standard;

pub use classifier::LinearClassifier;
pub use probe::{LinearProbe, LinearProbeConfig};
