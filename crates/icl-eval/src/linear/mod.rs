//! The linear probe: multinomial logistic regression on standardised features.

mod classifier;
mod lbfgs;
mod probe;
mod softmax;
mod standard;

pub use classifier::LinearClassifier;
pub use probe::{LinearProbe, LinearProbeConfig};
