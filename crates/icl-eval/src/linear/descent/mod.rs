//! Linear classifiers that are trained for a fixed number of epochs, as papers print them: the optimizer,
//! the fit, the settings, and the protocol.

mod accuracies;
mod config;
mod fit;
mod probe;
mod rule;

pub use accuracies::{DescentAccuracies, RateAccuracy};
pub use config::DescentProbeConfig;
pub use probe::DescentProbe;
pub use rule::{DescentRule, RateDecay};
