//! The trait of encoders φ(·; θ).

use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};

use crate::pairs::PairEmbeddings;
use crate::{Alone, Gathered, Group, Rng, SampleError};

/// Mode of a forward pass: training or evaluation.
///
/// Burn distinguishes the two by the backend (autodiff or not). This project passes the mode explicitly, because the
/// encoder draws its randomness (dropout) from a generator of the run, which gives the same numbers on every backend
/// and is independent of all other draws. For Burn's own layers the trainer also evaluates on a backend without
/// gradients.
#[derive(Debug)]
pub enum Mode<'a> {
    /// Evaluation: without randomness, normalised by the statistics stored in the encoder.
    Evaluation,
    /// Training: dropout draws from this generator, normalisation uses the statistics of the batch, or the stored
    /// ones if they are frozen.
    Training(&'a mut Rng),
}

/// An encoder φ(·; θ): an ordinary Burn [`Module`] that maps a batch to embeddings.
///
/// Embeddings need no normalisation: the losses see them only through
/// f(x, y) = exp(sim(φ(x), φ(y))/τ) of Definition 2.
///
/// A model needs [`encode`](Self::encode) alone. Everything else has a default; replace it where the default is not
/// right:
///
/// | item | replace it if the encoder |
/// |---|---|
/// | [`embed`](Self::embed) | is trained through a projection head, which other tasks leave out |
/// | [`recalibrated`](Self::recalibrated) | normalises by stored statistics in evaluation |
/// | [`with_frozen_statistics`](Self::with_frozen_statistics) | can train with the stored statistics |
/// | [`encode_pairs`](Self::encode_pairs), [`has_catalogue`](Self::has_catalogue) | has candidates of its own as negatives, as a recommender has |
/// | [`FORWARD_SHARE`](Self::FORWARD_SHARE) | costs less or more without a gradient than a third of a training step |
///
/// ```
/// use burn::module::Module;
/// use burn::nn::Linear;
/// use burn::tensor::{Tensor, backend::Backend};
/// use icl_core::{Encoder, Mode};
///
/// #[derive(Module, Debug)]
/// struct OneLayer<B: Backend> {
///     layer: Linear<B>,
/// }
///
/// impl<B: Backend> Encoder<B> for OneLayer<B> {
///     type Batch = Tensor<B, 2>;
///
///     fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
///         self.layer.forward(batch)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no encoder on the backend `{B}`",
    note = "implement `icl_core::Encoder<B>` for every `B: Backend`: `encode` alone is needed"
)]
pub trait Encoder<B: Backend>: Module<B> {
    /// Batch of views, as [`Collate`](crate::Collate) makes it. Clones must be cheap, like those of
    /// tensors, because some methods pass a batch through the encoder more than once.
    type Batch: Clone + Send;

    /// Cost of encoding a view without a gradient, as a share of a view's part of a training step: forward
    /// pass, backward pass and update. It weighs the passes of evaluations and teachers in the cost of a run.
    ///
    /// An encoder may state what was measured for it; a third suits one whose backward pass takes twice its
    /// forward pass.
    const FORWARD_SHARE: f64 = 1.0 / 3.0;

    /// Encodes a batch into embeddings `[batch, d]`, one row for each view, in the order of the batch. If the
    /// number of rows differs from that of the views, the run ends with an error.
    ///
    /// The losses are computed from these rows. In an encoder with a projection head they are the
    /// projections.
    fn encode(&self, batch: Self::Batch, mode: Mode<'_>) -> Tensor<B, 2>;

    /// Encodes a batch of positive pairs, the n anchors first and their n positives after them, in the same
    /// order.
    ///
    /// The default is [`encode`](Self::encode) without a catalogue, so that the noise of an anchor is that of the
    /// other pairs of the batch. An encoder that scores anchors against a catalogue of candidates of its own, as
    /// a recommender does against all its items, overrides it. Anchors and positives must be the rows of
    /// [`encode`](Self::encode).
    ///
    /// # Panics
    /// If the batch has an odd number of views.
    fn encode_pairs(&self, batch: Self::Batch, mode: Mode<'_>) -> PairEmbeddings<B> {
        PairEmbeddings::of_halves(self.encode(batch, mode))
    }

    /// Returns whether [`encode_pairs`](Self::encode_pairs) returns a catalogue: only then does a training step call
    /// it. Losses that separate old noise from new, and those with the noise of both views, refuse an encoder with one
    /// before they train it. Default: no.
    fn has_catalogue(&self) -> bool {
        false
    }

    /// Encodes plain views into the embeddings `[batch, d_embedding]` that protocols evaluate and
    /// programs export, without randomness and with the stored statistics.
    ///
    /// The default is [`encode`](Self::encode) in evaluation. An encoder that is trained through a
    /// projection head overrides it and returns the representation before the head, which serves other
    /// tasks better than the projection (Chen et al., 2020, section 4.2). The width `d_embedding` may
    /// then differ from the width of `encode`.
    fn embed(&self, batch: Self::Batch) -> Tensor<B, 2> {
        self.encode(batch, Mode::Evaluation)
    }

    /// Returns this encoder with its normalisation statistics re-estimated over `batches` at the
    /// current parameters, unless they are [frozen](Self::with_frozen_statistics). The result must not depend on the
    /// statistics stored before.
    ///
    /// It is called before the exact risk is measured, so that the risk is a function of θ alone: the statistics that
    /// training leaves behind depend on its last batches. The default returns the encoder unchanged, which is right for
    /// an encoder without such statistics; a run warns of statistics that it moved and that this method leaves as they
    /// are.
    ///
    /// All members of a group that train together call it. An encoder that iterates over [`Batches::iter`] does the
    /// whole work at every member. One that iterates over [`Batches::own`] and joins the results by [`Batches::gather`]
    /// shares the work; all members must then compute the same bits.
    ///
    /// # Errors
    /// The error of a batch that could not be made, or of a member that has left the group.
    fn recalibrated(self, batches: &Batches<'_, Self::Batch>) -> Result<Self, SampleError> {
        let _ = batches;
        Ok(self)
    }

    /// Returns this encoder with its normalisation statistics frozen, or free again. While they are frozen, training
    /// normalises by the stored statistics, as evaluation does, and [`recalibrated`](Self::recalibrated) leaves them.
    ///
    /// An update whose new data differ from the old then begins at exactly the function that was trained. The default
    /// returns the encoder unchanged, which is right for an encoder without such statistics. One that cannot freeze its
    /// statistics, as Burn's `BatchNorm` cannot, is trained with those of its batches. An encoder that wraps another
    /// passes the call on, as it does [`recalibrated`](Self::recalibrated). A copy in memory stays frozen; an encoder
    /// that is read from a file is free.
    #[must_use]
    fn with_frozen_statistics(self, is_frozen: bool) -> Self {
        let _ = is_frozen;
        self
    }
}

/// A sequence of batches that can be iterated several times, and shared by the members of a group. Batches are made
/// again in every pass, so that memory stays bounded.
///
/// ```
/// use icl_core::{Batches, SampleError};
///
/// // The mean of all batches. For members of a group it is the same with the share of each.
/// let batches = Batches::new(3, |index| Ok(index as f64));
/// let mut own = vec![0.0, 0.0];
/// for batch in batches.own() {
///     own[0] += batch?;
///     own[1] += 1.0;
/// }
/// let all = batches.gather(own)?;
/// let (sums, _) = all.values().as_chunks::<2>();
/// let [total, n] = sums.iter().fold([0.0; 2], |sum, of| [sum[0] + of[0], sum[1] + of[1]]);
/// assert_eq!(total / n, 1.0);
/// # Ok::<(), SampleError>(())
/// ```
pub struct Batches<'a, T> {
    make: Box<dyn Fn(usize) -> Result<T, SampleError> + 'a>,
    len: usize,
    group: &'a dyn Group,
}

impl<'a, T> Batches<'a, T> {
    /// Creates a sequence of `len` batches, the i-th of which is `make(i)`.
    pub fn new(len: usize, make: impl Fn(usize) -> Result<T, SampleError> + 'a) -> Self {
        Self {
            make: Box::new(make),
            len,
            group: &Alone,
        }
    }

    /// Returns the same sequence, shared by the members of a group. All members have the same sequence.
    #[must_use]
    pub fn shared_by(self, group: &'a dyn Group) -> Self {
        Self { group, ..self }
    }

    /// Returns the sequence of these batches, each changed by `change`. A composition of encoders gives its
    /// parts their own batches with it.
    pub fn map<U>(&self, change: impl Fn(T) -> U + 'a) -> Batches<'_, U> {
        Batches::new(self.len, move |index| (self.make)(index).map(&change)).shared_by(self.group)
    }

    /// Iterates over all batches, in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<T, SampleError>> + '_ {
        (0..self.len).map(|index| (self.make)(index))
    }

    /// Iterates over the batches of this member: those whose index modulo the size of the group is its rank. Without a
    /// group these are all.
    pub fn own(&self) -> impl Iterator<Item = Result<T, SampleError>> + '_ {
        let own = (self.group.rank()..self.len).step_by(self.group.size());
        own.map(|index| (self.make)(index))
    }

    /// Returns the values that each member has found in its own batches, in the order of their ranks.
    ///
    /// # Errors
    /// If a member has left the group.
    pub fn gather(&self, own: Vec<f64>) -> Result<Gathered<f64>, SampleError> {
        Ok(self.group.gather_f64(&own)?)
    }

    /// Returns whether other members have batches, too.
    pub fn is_shared(&self) -> bool {
        !self.group.is_alone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_batches_keep_their_order_and_their_errors() {
        let batches = Batches::new(3, |index| match index {
            1 => Err("unreadable".into()),
            _ => Ok(index),
        });
        let changed = batches.map(|index| 10 * index);
        for _ in 0..2 {
            let found: Vec<_> = changed.iter().map(Result::ok).collect();
            assert_eq!(found, [Some(0), None, Some(20)]);
        }
    }

    #[test]
    fn members_share_the_batches() {
        std::thread::scope(|scope| {
            for member in crate::Threads::group(3) {
                scope.spawn(move || {
                    let batches = Batches::new(5, |index| Ok(index as f64)).shared_by(&member);
                    let batches = batches.map(|value| 2.0 * value);
                    assert_eq!((batches.is_shared(), batches.iter().count()), (true, 5));
                    let own = batches.own().map(Result::unwrap).collect();
                    let all = batches.gather(own).unwrap();
                    assert_eq!(all.values(), [0.0, 6.0, 2.0, 8.0, 4.0]);
                    assert_eq!(all.of(2), [4.0]);
                });
            }
        });
    }
}
