//! Linear classifiers: multinomial logistic regression to convergence with its protocol, the linear probe,
//! and classifiers that are trained for a fixed number of epochs.

mod classifier;
mod descent;
mod lbfgs;
mod probe;
mod softmax;
mod standard;

pub use classifier::LinearClassifier;
pub use descent::{
    DescentAccuracies, DescentProbe, DescentProbeConfig, DescentRule, RateAccuracy, RateDecay,
};
pub use probe::{LinearProbe, LinearProbeConfig};
