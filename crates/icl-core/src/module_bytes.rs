//! Modules and optimizers as bytes, by Burn's own records.

use burn::module::{AutodiffModule, Module};
use burn::record::{
    DoublePrecisionSettings, NamedMpkBytesRecorder, PrecisionSettings, Record, Recorder,
};
use burn::tensor::backend::{AutodiffBackend, Backend};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::record_value::Value;
pub use crate::saved_tensors::{SavedTensors, unfit};

/// Bytes that serde writes as one block.
pub type Bytes = serde_bytes::ByteBuf;

/// Floats in f32 and integers in i64, for backends whose floats have 32 bits or fewer.
#[derive(Debug, Default, Clone)]
struct SinglePrecision;

impl PrecisionSettings for SinglePrecision {
    type FloatElem = f32;
    type IntElem = i64;
}

type SingleRecorder = NamedMpkBytesRecorder<SinglePrecision>;
type DoubleRecorder = NamedMpkBytesRecorder<DoublePrecisionSettings>;

/// Returns whether floats of the backend need f64. A record is loaded in the backend's own precision, so that nothing
/// is lost in one that is at least as precise. Calls are in `const` blocks: the code of the other precision is not
/// compiled, which is nine ranks of every optimizer's state.
const fn is_double<B: Backend>() -> bool {
    size_of::<B::FloatElem>() > size_of::<f32>()
}

/// Saves any record.
///
/// # Errors
/// If Burn cannot serialise it.
pub fn save_record<B: Backend, R: Record<B>>(record: R) -> Result<Bytes, Error> {
    let bytes = match const { is_double::<B>() } {
        true => Recorder::<B>::record(&DoubleRecorder::default(), record, ()),
        false => Recorder::<B>::record(&SingleRecorder::default(), record, ()),
    };
    bytes.map(Bytes::from).map_err(|error| {
        Error::message("the module or the optimizer could not be serialised").with_source(error)
    })
}

/// Loads a saved record, whose [`SavedTensors`] have been checked: Burn panics at tensors whose bytes do not fit their
/// shape or type, and accepts wrong shapes.
///
/// # Errors
/// If the bytes are of another kind of record.
pub fn load_record<B: Backend, R: Record<B>>(bytes: Bytes, device: &B::Device) -> Result<R, Error> {
    let record = Value::read(&bytes).ok_or_else(unfit)?;
    let item = record.field("item").ok_or_else(unfit)?.clone();
    match const { is_double::<B>() } {
        true => from_item::<B, R, DoublePrecisionSettings>(item, device),
        false => from_item::<B, R, SinglePrecision>(item, device),
    }
}

fn from_item<B: Backend, R: Record<B>, S: PrecisionSettings>(
    item: Value<'_>,
    device: &B::Device,
) -> Result<R, Error> {
    let item = R::Item::<S>::deserialize(item).map_err(|_| unfit())?;
    Ok(R::from_item(item, device))
}

/// Saves a state of numbers, texts and blocks of bytes.
///
/// # Errors
/// If it cannot be serialised.
pub fn save_state<T: Serialize>(state: &T) -> Result<Bytes, Error> {
    let bytes = rmp_serde::to_vec(state).map(Bytes::from);
    bytes.map_err(|error| Error::message("the state could not be serialised").with_source(error))
}

/// Loads a saved state.
///
/// # Errors
/// If the bytes are of another kind of state.
pub fn load_state<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Error> {
    rmp_serde::from_slice(bytes).map_err(|_| unfit())
}

/// Saves a module's parameters and statistics, with the identities of its parameters.
///
/// # Errors
/// If Burn cannot serialise it.
pub fn save_module<B: AutodiffBackend, M: AutodiffModule<B>>(module: &M) -> Result<Bytes, Error> {
    save_record::<B, _>(module.clone().into_record())
}

/// Loads a module of the kind of `like` from saved bytes. Parameters that are trained in `like` are
/// trained in the result.
///
/// # Errors
/// If the bytes are of another kind of module, or its tensors have other names, shapes or types than those of
/// `like`.
pub fn load_module<B: AutodiffBackend, M: AutodiffModule<B>>(
    like: M,
    bytes: Bytes,
    device: &B::Device,
) -> Result<M, Error> {
    let expected = save_module::<B, M>(&like).map_err(|_| unfit())?;
    SavedTensors::read(&bytes)?.check_like(&SavedTensors::read(&expected)?)?;
    drop(expected);
    Ok(like.load_record(load_record::<B, <M as Module<B>>::Record>(bytes, device)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    use burn::module::Param;
    use burn::nn::{Linear, LinearConfig};
    use burn::tensor::ops::FloatElem;
    use burn::tensor::{Tensor, TensorData};

    use crate::testing::{TestAutodiff, to_vec};

    const N: usize = 64;

    #[test]
    fn weights_come_back_to_the_bit_in_the_backend_s_own_precision() {
        let device = Default::default();
        let fresh = || {
            LinearConfig::new(N, N)
                .with_bias(false)
                .init::<TestAutodiff>(&device)
        };
        let roots: Vec<f64> = (0..N * N).map(|at| (at as f64).sqrt()).collect();
        let roots = TensorData::new(roots, [N, N]).convert::<FloatElem<TestAutodiff>>();
        let mut saved: Linear<TestAutodiff> = fresh();
        saved.weight = Param::from_tensor(Tensor::from_data(roots, &device));
        let bytes = save_module::<TestAutodiff, _>(&saved).unwrap();
        let of_weights = N * N * size_of::<FloatElem<TestAutodiff>>();
        assert!(bytes.len() < of_weights + 1024, "{}", bytes.len());
        let loaded = load_module::<TestAutodiff, _>(fresh(), bytes, &device).unwrap();
        let bits = |of: &Linear<TestAutodiff>| -> Vec<_> {
            to_vec(&of.weight.val())
                .into_iter()
                .map(f64::to_bits)
                .collect()
        };
        assert_eq!(bits(&loaded), bits(&saved));
        assert!(
            load_module::<TestAutodiff, _>(fresh(), Bytes::from(vec![1, 2, 3]), &device).is_err()
        );
    }
}
