//! Devices that train one encoder together, and the memory of a step.

use clap::Args;
use icl_train::TrainingSettings;
use serde::{Deserialize, Serialize};

use crate::options::execution::BackendOption;
use crate::options::{bounds, choice};

/// Processes that train one encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Devices {
    /// This process alone, with a thread for each device of `--backend`.
    One,
    /// All processes that `mpirun` has started.
    Mpi,
}

/// The engine of the group that trains one encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Threads of this process, of this number.
    Threads(usize),
    /// Processes that `mpirun` has started.
    Mpi,
}

impl Engine {
    /// Returns whether this process trains alone, on one device.
    pub fn is_alone(self) -> bool {
        self == Self::Threads(1)
    }
}

/// The division of a batch.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Execution")]
pub struct DevicesOptions {
    /// Processes that train the encoder together: this one, or all that mpirun has started
    #[arg(long, value_parser = choice::any::<Devices>(), default_value = choice::name(&Devices::One))]
    pub devices: Devices,
    /// Maximum number of samples that pass through the encoder at once in a training step. Without it, the whole batch
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::BATCH))]
    pub chunk: Option<usize>,
}

impl DevicesOptions {
    /// Returns the engine of the group whose members compute on the devices of this backend.
    pub fn engine(&self, backend: &BackendOption) -> Engine {
        match self.devices {
            Devices::One => Engine::Threads(backend.n_devices()),
            Devices::Mpi => Engine::Mpi,
        }
    }

    /// Returns `settings` with these options in their place.
    pub fn over(&self, settings: TrainingSettings) -> TrainingSettings {
        TrainingSettings {
            chunk: self.chunk,
            ..settings
        }
    }
}
