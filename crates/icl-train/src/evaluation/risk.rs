//! What a run watches: the exact risk over X′, or over X alone before new data come.

use icl_core::ExactRisk;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A risk in nats.
pub(crate) trait Risk: Clone + Serialize + DeserializeOwned {
    /// Over all data that there are.
    fn all(&self) -> f64;

    /// Over the old data.
    fn old(&self) -> f64;
}

impl Risk for f64 {
    fn all(&self) -> f64 {
        *self
    }

    fn old(&self) -> f64 {
        *self
    }
}

impl Risk for ExactRisk {
    fn all(&self) -> f64 {
        self.all
    }

    fn old(&self) -> f64 {
        self.old
    }
}
