//! The rule of a step, which may take the place of the plain gradient at a scheduled rate.

use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;

use crate::Error;
use crate::module_bytes::Bytes;
use crate::samples::SampleError;

/// Rule of the steps of a run: how the losses of a step's batches become the gradient that is applied and its learning
/// rate.
///
/// A trainer without a rule applies the gradient of the batch at a rate that is a function of the step
/// ([`Schedule`](crate::Schedule)). `E` is the error that ends the run.
pub trait StepRule<M, B: AutodiffBackend, E>: Send {
    /// Computes the gradient of a step and chooses its learning rate.
    ///
    /// # Errors
    /// The error of a loss that cannot be computed or is not finite.
    fn step(&mut self, encoder: &M, losses: &dyn StepLosses<M, B, E>) -> Result<Stepped, E>;

    /// Returns everything on which the next step of the rule depends.
    ///
    /// # Errors
    /// If the state cannot be serialised.
    fn save(&self) -> Result<Bytes, SampleError>;

    /// Restores what [`save`](Self::save) returned. `like` is an encoder of the same architecture as that of the run.
    ///
    /// # Errors
    /// If it belongs to another rule or encoder.
    fn load(&mut self, saved: Bytes, like: &M, device: &B::Device) -> Result<(), Error>;
}

/// Losses of one step, which a rule computes at encoders of its choice. A loss has the same noise and the same
/// randomness at every call. `purpose` says to which part of the cost the passes through the encoder are charged.
pub trait StepLosses<M, B: AutodiffBackend, E> {
    /// Returns the index of the step in the run, counted from 0.
    fn index(&self) -> u64;

    /// Returns the number of support batches, one for each inner step.
    fn n_support(&self) -> usize;

    /// Computes the loss `[1]` of the old anchors of a support batch (Eq. 11), in nats.
    ///
    /// # Errors
    /// If the loss cannot be computed.
    fn support(&self, encoder: &M, inner: usize, purpose: Purpose) -> Result<Tensor<B, 1>, E>;

    /// Computes the loss `[1]` of the batch in nats: of its new anchors if there are support batches (Eq. 12), else of
    /// all.
    ///
    /// # Errors
    /// If the loss cannot be computed.
    fn query(&self, encoder: &M) -> Result<Tensor<B, 1>, E>;

    /// Computes the value of the same loss without a gradient, for the comparisons from which agents learn. The encoder
    /// keeps its normalisation statistics.
    ///
    /// # Errors
    /// If the loss cannot be computed.
    fn query_value(&self, encoder: &M) -> Result<f64, E>;

    /// Computes the loss of the batch in nats and its gradient, as a plain step does. The loss is finite.
    ///
    /// # Errors
    /// If the loss cannot be computed, or it is not finite.
    fn gradient(&self, encoder: &M) -> Result<(f64, GradientsParams), E>;

    /// Checks a loss and its gradient. `what` names the loss in the error.
    ///
    /// # Errors
    /// If the gradient has no parameter, or the loss is not finite.
    fn check(&self, what: &'static str, loss: f64, gradients: &GradientsParams) -> Result<(), E>;
}

/// Gradient and learning rate of a step.
#[derive(Debug)]
pub struct Stepped {
    /// Loss of the batch in nats, at the encoder at which its gradient was computed.
    pub loss: f64,
    /// Gradient that is applied.
    pub gradients: GradientsParams,
    /// Learning rate.
    pub rate: f64,
    /// Learning rates of the inner steps (Eq. 11); empty without an inner loop.
    pub inner_rates: Vec<f64>,
    /// Relative move of the parameters in the inner loop, if there was one.
    pub inner_move: Option<f64>,
}

impl Stepped {
    /// Creates the gradient and the rate of a step without an inner loop.
    pub fn plain(loss: f64, gradients: GradientsParams, rate: f64) -> Self {
        Self {
            loss,
            gradients,
            rate,
            inner_rates: Vec::new(),
            inner_move: None,
        }
    }
}

/// Purpose of passes through an encoder, by which a run adds up its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Losses whose gradient is applied.
    #[default]
    Training,
    /// Inner steps of meta-optimization.
    Support,
    /// Comparisons from which agents learn.
    Agents,
}
