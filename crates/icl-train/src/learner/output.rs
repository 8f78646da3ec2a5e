//! Input and output of a step.

use burn::tensor::{Tensor, backend::Backend};
use burn::train::ItemLazy;
use burn::train::metric::{Adaptor, LossInput};

/// Batch of positive pairs, the input of a [`ContrastiveStep`](crate::ContrastiveStep) in training and in validation.
#[derive(Debug, Clone)]
pub struct PairBatch<V> {
    /// Views as [`Encoder::encode_pairs`](icl_core::Encoder::encode_pairs) takes them: the n anchors, and after them
    /// their n positives in the same order.
    pub views: V,
    /// Number of pairs of old samples, which come before those of new samples. Losses of one population ignore it.
    pub n_old: usize,
}

/// Embeddings of a batch of positive pairs, the input of a [`PairMetric`](crate::PairMetric).
///
/// The output of a step of one's own needs `Adaptor<PairInput<B>>` for all of these metrics.
#[derive(Debug, Clone)]
pub struct PairInput<B: Backend> {
    /// Embeddings of the anchors `[n, d]`.
    pub anchors: Tensor<B, 2>,
    /// Embeddings of the positives `[n, d]`; row i belongs to anchor i.
    pub positives: Tensor<B, 2>,
    /// Number of old samples, whose rows come first.
    pub n_old: usize,
}

/// Output of a [`ContrastiveStep`](crate::ContrastiveStep), in training and in validation, without gradients.
///
/// The metrics compute where the embeddings are: an exact risk has n² similarities, which the device of the training
/// computes fastest. Burn's own outputs move to the CPU first.
#[derive(Debug, Clone)]
pub struct PairOutput<B: Backend> {
    /// Loss of the batch `[1]`, in nats.
    pub loss: Tensor<B, 1>,
    /// Embeddings of the batch.
    pub pairs: PairInput<B>,
}

impl<B: Backend> ItemLazy for PairOutput<B> {
    type ItemSync = Self;

    fn sync(self) -> Self {
        self
    }
}

/// Gives Burn's `LossMetric` the loss of the batch. Its mean over an epoch weighs all batches alike.
impl<B: Backend> Adaptor<LossInput<B>> for PairOutput<B> {
    fn adapt(&self) -> LossInput<B> {
        LossInput::new(self.loss.clone())
    }
}

impl<B: Backend> Adaptor<PairInput<B>> for PairOutput<B> {
    fn adapt(&self) -> PairInput<B> {
        self.pairs.clone()
    }
}
