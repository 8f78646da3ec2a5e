//! What one step did and where its time went, for those who follow a run step by step.

use std::cell::Cell;
use std::time::Instant;

use burn::module::Module;
use burn::tensor::backend::Backend;
use serde::{Deserialize, Serialize};

/// One step of the optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Steps taken so far, this one included.
    pub step: u64,
    /// The training loss in nats; under meta-optimization that of the query at θ′.
    pub loss: f64,
    /// Where the time went.
    pub seconds: StepSeconds,
}

/// Where the time of a step went, in seconds. The device has done all that was asked of it when a
/// phase ends, so the phases of a step are its own on devices that work behind the program, too.
///
/// Views and transfer belong to the batches of the step and are made by another thread, usually
/// while an earlier step is taken.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StepSeconds {
    /// Making views, on the CPU.
    #[serde(rename = "views_s")]
    pub views: f64,
    /// Collating them and handing them to the device.
    #[serde(rename = "transfer_s")]
    pub transfer: f64,
    /// Encoder and loss, of all inner steps too.
    #[serde(rename = "forward_s")]
    pub forward: f64,
    /// Gradients, and what chooses the learning rate.
    #[serde(rename = "backward_s")]
    pub backward: f64,
    /// The optimizer and the moving average of the parameters.
    #[serde(rename = "update_s")]
    pub update: f64,
}

/// Measures phases, if somebody asks: waiting for a device at the end of every phase costs time.
#[derive(Debug, Default)]
pub(crate) struct PhaseClock {
    is_on: bool,
    forward_s: Cell<f64>,
}

impl PhaseClock {
    pub(crate) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            forward_s: Cell::new(0.0),
        }
    }

    /// Begins a phase on the device that the encoder is on.
    pub(crate) fn start<B: Backend>(&self, encoder: &impl Module<B>) -> Phase<B> {
        let device = || encoder.devices().into_iter().next();
        Phase::start(self.is_on.then(device).flatten())
    }

    /// Ends a forward pass.
    pub(crate) fn end_forward<B: Backend>(&self, phase: Phase<B>) {
        self.forward_s.set(self.forward_s.get() + phase.end());
    }

    /// The time of the forward passes since the last call.
    pub(crate) fn take_forward(&self) -> f64 {
        self.forward_s.take()
    }
}

/// A phase that has begun; without a device nobody measures it.
pub(crate) struct Phase<B: Backend> {
    device: Option<B::Device>,
    start: Instant,
}

impl<B: Backend> Phase<B> {
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

    /// Its time in seconds.
    pub(crate) fn end(self) -> f64 {
        self.wait();
        self.start.elapsed().as_secs_f64()
    }

    fn wait(&self) {
        if let Some(device) = &self.device {
            // A device that has failed says so where its results are read.
            let _ = B::sync(device);
        }
    }
}
