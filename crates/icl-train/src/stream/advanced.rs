//! Samples that come into the update for an experience, and its result.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Error, Increment};

use crate::error::TrainError;
use crate::stream::state::StreamState;

/// Samples that arrive, as an experience.
#[derive(Debug, Clone)]
pub struct Arriving<'n> {
    /// Name, other than those of all experiences before.
    pub name: &'n str,
    /// Numbers of the samples.
    pub samples: Vec<usize>,
    /// Numbers of other samples, which no training sees and from which the held-out ones are drawn. `None`: a share of
    /// `samples` is held out.
    pub held_out: Option<Vec<usize>>,
}

impl Arriving<'_> {
    /// Returns the experience as the place of an error.
    pub(super) fn place(&self) -> String {
        format!("experience {:?}", self.name)
    }

    /// Returns the error of a division or a drift of the experience.
    pub(super) fn failed(&self, error: Error) -> TrainError {
        error.within(self.place()).into()
    }
}

/// Encoder and state after an experience.
#[derive(Debug)]
pub struct Advanced<M: AutodiffModule<B>, B: AutodiffBackend> {
    /// Encoder from which the next update starts.
    pub trained: M,
    /// The same encoder for inference.
    pub encoder: M::InnerModule,
    /// State of the stream.
    pub state: StreamState,
    /// Samples of the update, without held-out ones.
    pub increment: Increment,
    /// Relative change of the parameters, see [`parameter_change`](crate::parameter_change).
    pub parameter_change: f64,
    /// Seconds of training, evaluations not counted.
    pub train_s: f64,
}
