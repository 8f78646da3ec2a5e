//! Bounds of encoders that are trained, under one name each.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;

use crate::collate::Collate;
use crate::encoder::Encoder;

/// Encoder that can be trained: a module that is an [`Encoder`] on the backend with gradients and, for evaluation, on
/// the one without. Every encoder that is written for all `B: Backend` is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no encoder that can be trained on `{B}`",
    note = "derive `Module`, and implement `Encoder<B>` for every `B: Backend`, not for one backend alone"
)]
pub trait TrainableEncoder<B: AutodiffBackend>:
    AutodiffModule<B, InnerModule: Encoder<B::InnerBackend>> + Encoder<B>
{
}

impl<B, M> TrainableEncoder<B> for M
where
    B: AutodiffBackend,
    M: AutodiffModule<B, InnerModule: Encoder<B::InnerBackend>> + Encoder<B>,
{
}

/// Collation for an encoder `M` that is trained: batches on the backend with gradients and on the one without.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make the batches of the encoder `{M}` from views `{V}`",
    note = "implement `Collate<B, {V}, T>` for every `B: Backend`, where `T` is the `Batch` of the encoder"
)]
pub trait CollateFor<B: AutodiffBackend, V, M: TrainableEncoder<B>>:
    Collate<B, V, <M as Encoder<B>>::Batch>
    + Collate<B::InnerBackend, V, <M::InnerModule as Encoder<B::InnerBackend>>::Batch>
{
}

impl<B, V, M, C> CollateFor<B, V, M> for C
where
    B: AutodiffBackend,
    M: TrainableEncoder<B>,
    C: Collate<B, V, <M as Encoder<B>>::Batch>
        + Collate<B::InnerBackend, V, <M::InnerModule as Encoder<B::InnerBackend>>::Batch>,
{
}
