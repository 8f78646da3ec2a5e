//! Linear classifiers that are trained for a fixed number of epochs, as papers print them: the optimizer,
//! the fit, and the protocol.

mod fit;
mod probe;
mod rule;

pub use probe::{DescentAccuracies, DescentProbe, RateAccuracy};
