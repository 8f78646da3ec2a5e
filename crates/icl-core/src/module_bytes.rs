//! Modules and optimizers as bytes, by Burn's own records.

use burn::module::{AutodiffModule, Module};
use burn::record::{DoublePrecisionSettings, NamedMpkBytesRecorder, Record, Recorder};
use burn::tensor::backend::{AutodiffBackend, Backend};

/// Bytes that serde writes as one block.
pub type Bytes = serde_bytes::ByteBuf;

/// In f64, which every float of a backend fits in without loss.
type BytesRecorder = NamedMpkBytesRecorder<DoublePrecisionSettings>;

/// Burn could not turn a module or an optimizer into bytes.
#[derive(Debug, thiserror::Error)]
#[error("the module or the optimizer could not be written down")]
pub struct EncodeError(#[source] burn::record::RecorderError);

/// Saves any record.
///
/// # Errors
/// [`EncodeError`] if Burn cannot write it down.
pub fn save_record<B: Backend, R: Record<B>>(record: R) -> Result<Bytes, EncodeError> {
    let bytes = Recorder::<B>::record(&BytesRecorder::default(), record, ());
    bytes.map(Bytes::from).map_err(EncodeError)
}

/// Bytes that are whole, but not of this kind of module, optimizer or agent.
#[derive(Debug)]
pub struct Unfit;

/// Loads a saved record.
///
/// # Errors
/// [`Unfit`] if the bytes are of another kind of record.
pub fn load_record<B: Backend, R: Record<B>>(bytes: Bytes, device: &B::Device) -> Result<R, Unfit> {
    let record = Recorder::<B>::load(&BytesRecorder::default(), bytes.into_vec(), device);
    record.map_err(|_| Unfit)
}

/// Saves a module's parameters and statistics, with the identities of its parameters.
///
/// # Errors
/// [`EncodeError`] if Burn cannot write it down.
pub fn save_module<B: AutodiffBackend, M: AutodiffModule<B>>(
    module: &M,
) -> Result<Bytes, EncodeError> {
    save_record::<B, _>(module.clone().into_record())
}

/// Loads a module of the kind of `like` from saved bytes. Parameters that are trained in `like` are
/// trained in the result.
///
/// # Errors
/// [`Unfit`] if the bytes are of another kind of module.
pub fn load_module<B: AutodiffBackend, M: AutodiffModule<B>>(
    like: M,
    bytes: Bytes,
    device: &B::Device,
) -> Result<M, Unfit> {
    Ok(like.load_record(load_record::<B, <M as Module<B>>::Record>(bytes, device)?))
}
