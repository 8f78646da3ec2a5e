//! Record of a comparison of backends, one line per backend.

use icl_train::{StepReport, StepSeconds};
use serde::{Deserialize, Serialize};

use crate::record::shared::MadeBy;

/// Version of [`BackendRecord`]'s schema. It grows when records of earlier versions can no longer be read.
pub const BACKEND_SCHEMA: u32 = 1;

/// Maximum number of steps over which the losses of backends are compared. Training amplifies
/// rounding: the further the runs go, the less their difference says about a backend.
pub const COMPARED_STEPS: usize = 50;

/// Record of one backend, which took the same steps as the others: with the same first encoder, the
/// same views and the same random numbers, all made on the CPU from one seed. Losses are in nats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackendRecord {
    /// Version of the schema, [`BACKEND_SCHEMA`].
    pub schema: u32,
    /// Command.
    #[serde(flatten)]
    pub made_by: MadeBy,
    /// Backend, as NAME or NAME:DEVICE.
    pub backend: String,
    /// Name of the data set.
    pub data: String,
    /// Method.
    pub method: String,
    /// Root seed.
    pub seed: u64,
    /// Growth ratio α of the data.
    pub alpha: f64,
    /// Batch size.
    pub batch_size: usize,
    /// Largest of [`relative_loss_differences`](Self::relative_loss_differences) over the first
    /// [`COMPARED_STEPS`] steps; 0 for the first backend.
    pub max_relative_loss_difference: f64,
    /// Relative difference |l − l₁|/|l₁| at each step, where l₁ is the loss of the first backend; 0
    /// where they are equal.
    pub relative_loss_differences: Vec<f64>,
    /// Training loss of each step.
    pub losses: Vec<f64>,
    /// Exact risk over all data before the first step.
    pub risk_at_start: f64,
    /// Seconds of the first step, in which devices compile their kernels.
    pub first_step_s: f64,
    /// Median seconds of the other steps: forward, backward and update together.
    pub step_s: f64,
    /// Medians of the parts of a step.
    pub seconds: StepSeconds,
    /// Largest memory of the process in MiB, where the system reports it. It includes the libraries of all
    /// backends that the program holds, but not the memory of a GPU.
    pub peak_memory_mib: Option<f64>,
    /// Energy of the processors' packages during the steps in joules, other processes included, where
    /// the system reports it.
    pub energy_j: Option<f64>,
}

/// Steps of one backend, before they are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackendTrace {
    /// Name of the data set.
    pub data: String,
    /// Growth ratio α of the data.
    pub alpha: f64,
    /// Steps.
    pub steps: Vec<StepReport>,
    /// Exact risk over all data before the first step.
    pub risk_at_start: f64,
    /// Largest memory of the process in MiB, as in [`BackendRecord`].
    pub peak_memory_mib: Option<f64>,
    /// Energy in joules, as in [`BackendRecord`].
    pub energy_j: Option<f64>,
}

/// Task that all backends of a comparison share.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendTask {
    /// Command.
    pub made_by: MadeBy,
    /// Method.
    pub method: String,
    /// Root seed.
    pub seed: u64,
    /// Batch size.
    pub batch_size: usize,
}
