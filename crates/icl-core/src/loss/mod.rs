//! The losses: pure functions of a [`Contrast`](crate::Contrast), and modules that hold a checked
//! configuration.

mod change_ratio;
mod incremental;
mod info_nce;

pub use change_ratio::{change_ratio, log_change_ratio};
pub use incremental::{IncrementalInfoNce, IncrementalInfoNceConfig, nce_ii};
pub use info_nce::{InfoNce, InfoNceConfig, log_mixed_noise, nce_i};

use crate::CoreError;

/// Checks τ and K.
fn check(temperature: f64, negatives: Option<f64>) -> Result<(), CoreError> {
    if !(temperature.is_finite() && temperature > 0.0) {
        return Err(CoreError::Temperature { found: temperature });
    }
    match negatives {
        Some(found) if !(found.is_finite() && found > 0.0) => Err(CoreError::Negatives { found }),
        _ => Ok(()),
    }
}
