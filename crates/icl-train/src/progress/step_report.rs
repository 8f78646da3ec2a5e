//! Reports of single steps, and the measurement of their phases.

use std::cell::Cell;
use std::time::Instant;

use burn::module::Module;
use burn::tensor::backend::Backend;
use serde::{Deserialize, Serialize};

/// Report of one step of the optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Number of steps done so far, including this one.
    pub step: u64,
    /// Training loss in nats; the loss of the query at θ′ under meta-optimization.
    pub loss: f64,
    /// Time by phase.
    pub seconds: StepSeconds,
}

/// Time of a step by phase, in seconds.
///
/// Each phase ends when the device has finished its work, so the times are also correct on devices that
/// work asynchronously. Views and transfer are those of the step's batches; another thread makes them,
/// usually during an earlier step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StepSeconds {
    /// Time for making views on the CPU.
    #[serde(rename = "views_s")]
    pub views: f64,
    /// Time for collating views and transferring the batch to the device.
    #[serde(rename = "transfer_s")]
    pub transfer: f64,
    /// Time for encoder and loss, including all inner steps.
    #[serde(rename = "forward_s")]
    pub forward: f64,
    /// Time for gradients and for the choice of the learning rate.
    #[serde(rename = "backward_s")]
    pub backward: f64,
    /// Time for the optimizer and the moving average of the parameters.
    #[serde(rename = "update_s")]
    pub update: f64,
}

/// Clock of the phases of a step. It can be off, because waiting for a device at the end of every phase
/// costs time.
#[derive(Debug, Default)]
pub(crate) struct PhaseClock {
    is_on: bool,
    forward_s: Cell<f64>,
}

impl PhaseClock {
    /// Creates a clock that is on or off.
    pub(crate) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            forward_s: Cell::new(0.0),
        }
    }

    /// Starts a phase on the encoder's device.
    pub(crate) fn start<B: Backend>(&self, encoder: &impl Module<B>) -> Phase<B> {
        let device = || encoder.devices().into_iter().next();
        Phase::start(self.is_on.then(device).flatten())
    }

    /// Ends a phase that was a forward pass.
    pub(crate) fn end_forward<B: Backend>(&self, phase: Phase<B>) {
        self.forward_s.set(self.forward_s.get() + phase.end());
    }

    /// Returns the time of all forward passes since the last call, in seconds.
    pub(crate) fn take_forward(&self) -> f64 {
        self.forward_s.take()
    }
}

/// Phase that has started. Without a device it does not wait for one.
pub(crate) struct Phase<B: Backend> {
    device: Option<B::Device>,
    start: Instant,
}

impl<B: Backend> Phase<B> {
    /// Starts a phase after the device has finished its earlier work.
    pub(crate) fn start(device: Option<B::Device>) -> Self {
        let phase = Self {
            device,
            start: Instant::now(),
        };
        phase.wait();
        Self {
            start: Instant::now(),
            ..phase
        }
    }

    /// Ends the phase and returns its time in seconds.
    pub(crate) fn end(self) -> f64 {
        self.wait();
        self.start.elapsed().as_secs_f64()
    }

    fn wait(&self) {
        if let Some(device) = &self.device {
            // A device that has failed reports the failure when its results are read.
            let _ = B::sync(device);
        }
    }
}
