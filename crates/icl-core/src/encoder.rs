//! The encoder φ(·; θ), as a user brings it.

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};

use crate::{Rng, SampleError};

/// Whether an encoder is being trained or evaluated.
///
/// Burn tells the two apart by the backend (autodiff or not). Here it is said aloud, because the
/// encoder's own randomness (dropout) is drawn from a generator that belongs to the run: the same
/// on every backend, untouched by what else draws numbers.
#[derive(Debug)]
pub enum Mode<'a> {
    /// No randomness; normalisation uses the statistics stored in the encoder.
    Evaluation,
    /// Dropout draws from this generator; normalisation uses the batch's own statistics.
    Training(&'a mut Rng),
}

/// An encoder φ(·; θ): an ordinary Burn [`Module`] that maps a batch to embeddings.
///
/// The objective sees f(x, y) = exp(sim(φ(x), φ(y))/τ) of Definition 2, so the rows need no
/// normalisation.
pub trait Encoder<B: Backend>: Module<B> {
    /// What [`Collate`](crate::Collate) makes of a list of views. Clones must be cheap, as those of
    /// tensors are: some methods pass one batch through the encoder more than once.
    type Batch: Clone;

    /// Embeddings `[batch, d]`, one row a view, in the order of the batch.
    fn encode(&self, batch: Self::Batch, mode: Mode<'_>) -> Tensor<B, 2>;

    /// What protocols judge and programs write out: embeddings `[batch, d_embedding]` of plain
    /// views, without randomness and with the stored statistics.
    ///
    /// The default is what [`encode`](Self::encode) gives in evaluation. An encoder that is trained
    /// through a projection head overrides it: the losses see the projection, but the
    /// representation in front of the head is the one that serves other tasks better (Chen et al.,
    /// 2020, section 4.2). Its width may then be another than that of `encode`.
    fn embed(&self, batch: Self::Batch) -> Tensor<B, 2> {
        self.encode(batch, Mode::Evaluation)
    }

    /// This encoder with its normalisation statistics re-estimated over `batches` at the current
    /// parameters. It must not depend on the statistics stored before.
    ///
    /// The exact risk calls it before it measures, so that the risk is a function of θ alone (the
    /// statistics that training leaves behind are a function of its last batches). An encoder
    /// without such statistics keeps the default, which returns it unchanged.
    ///
    /// # Errors
    /// That of a batch which could not be made.
    fn recalibrated(self, batches: &Batches<'_, Self::Batch>) -> Result<Self, SampleError> {
        let _ = batches;
        Ok(self)
    }
}

/// Batches that can be gone through several times, made anew on every pass so that memory stays
/// bounded.
pub struct Batches<'a, T> {
    make: Box<dyn Fn(usize) -> Result<T, SampleError> + 'a>,
    len: usize,
}

impl<'a, T> Batches<'a, T> {
    /// `len` batches, of which `make(i)` builds the i-th.
    pub fn new(len: usize, make: impl Fn(usize) -> Result<T, SampleError> + 'a) -> Self {
        Self {
            make: Box::new(make),
            len,
        }
    }

    /// One pass over all batches.
    pub fn iter(&self) -> impl Iterator<Item = Result<T, SampleError>> + '_ {
        (0..self.len).map(|index| (self.make)(index))
    }
}
