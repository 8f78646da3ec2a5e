//! Samples that come into the update for an experience, and its result.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Error, Increment};

use crate::error::TrainError;
use crate::method::Method;
use crate::progress::Callbacks;
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

/// Encoder that is in use between two experiences, and what the stream remembers.
#[derive(Debug, Clone)]
pub struct Live<M: AutodiffModule<B>, B: AutodiffBackend> {
    /// State of the stream.
    pub state: StreamState,
    /// Encoder from which the next update starts.
    pub trained: M,
    /// The same encoder as it is in use, with its normalisation statistics.
    pub encoder: M::InnerModule,
}

/// Update for the next experience of a stream.
#[derive(Debug)]
pub struct NextUpdate<'u, 'c, M> {
    /// Method of the update.
    pub method: &'u Method,
    /// Encoder with random parameters, which only some starts need
    /// ([`Start::needs_fresh`](crate::Start::needs_fresh)).
    pub fresh: Option<M>,
    /// Callbacks of its run.
    pub callbacks: &'u mut Callbacks<'c>,
}

/// Encoder and state after an experience, and its training.
#[derive(Debug)]
pub struct Advanced<M: AutodiffModule<B>, B: AutodiffBackend> {
    /// Encoder that is in use from now on.
    pub live: Live<M, B>,
    /// Samples of the update, without held-out ones.
    pub increment: Increment,
    /// Relative change of the parameters, see [`parameter_change`](crate::parameter_change).
    pub parameter_change: f64,
    /// Seconds of training, evaluations not counted.
    pub train_s: f64,
}
