//! Modules and optimizers as bytes, by Burn's own records.

use burn::module::{AutodiffModule, Module};
use burn::record::{DoublePrecisionSettings, NamedMpkBytesRecorder, Record, Recorder};
use burn::tensor::backend::{AutodiffBackend, Backend};

use super::CheckpointError;

/// Bytes that serde takes as such.
pub(crate) type Bytes = serde_bytes::ByteBuf;

/// In f64, which every float of a backend fits in without loss.
type BytesRecorder = NamedMpkBytesRecorder<DoublePrecisionSettings>;

/// Any record.
pub(crate) fn save_record<B: Backend, R: Record<B>>(record: R) -> Result<Bytes, CheckpointError> {
    let bytes = Recorder::<B>::record(&BytesRecorder::default(), record, ());
    bytes.map(Bytes::from).map_err(CheckpointError::Record)
}

/// What was saved is whole, but not what this run could have saved.
#[derive(Debug)]
pub(crate) struct Unfit;

/// The record that was saved.
pub(crate) fn load_record<B: Backend, R: Record<B>>(
    bytes: Bytes,
    device: &B::Device,
) -> Result<R, Unfit> {
    let record = Recorder::<B>::load(&BytesRecorder::default(), bytes.into_vec(), device);
    record.map_err(|_| Unfit)
}

/// A module's parameters and statistics, with the identities of its parameters.
pub(crate) fn save_module<B: AutodiffBackend, M: AutodiffModule<B>>(
    module: &M,
) -> Result<Bytes, CheckpointError> {
    save_record::<B, _>(module.clone().into_record())
}

/// A module of the kind of `like` with what was saved. What is to be trained in `like` is to be trained
/// in it.
pub(crate) fn load_module<B: AutodiffBackend, M: AutodiffModule<B>>(
    like: M,
    bytes: Bytes,
    device: &B::Device,
) -> Result<M, Unfit> {
    Ok(like.load_record(load_record::<B, <M as Module<B>>::Record>(bytes, device)?))
}
