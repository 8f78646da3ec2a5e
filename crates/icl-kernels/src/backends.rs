//! The backends that have kernels here, found by their type.
//!
//! A function of any backend can have a kernel for one of them only by asking for the type: Rust has no
//! specialisation. Within Burn these functions would be methods of its traits of operators instead.

#[cfg(feature = "kernels")]
use std::any::{Any, TypeId};

#[cfg(feature = "kernels")]
use burn::backend::Autodiff;
#[cfg(feature = "flex")]
use burn::backend::Flex;
#[cfg(feature = "kernels")]
use burn::tensor::DType;
use burn::tensor::backend::Backend;

/// Returns whether tensors of `B` lie in the memory of this process, and kernels for it are compiled in.
///
/// There, [`Tensor::into_data`] and [`Tensor::from_data`] hand a tensor's memory over without a copy,
/// and a loop over it on all threads replaces several of Burn's operations. The answer is `true` for
/// Burn's backend `flex` and for one level of autodiff around it; with autodiff, the caller takes out
/// only tensors that are on no graph. It is `false` for nested autodiff, whose inner level has to
/// follow every operation, for all other backends, and without the feature `flex`.
///
/// [`Tensor::into_data`]: burn::tensor::Tensor::into_data
/// [`Tensor::from_data`]: burn::tensor::Tensor::from_data
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use icl_kernels::is_host_memory;
///
/// assert!(is_host_memory::<Flex>());
/// assert!(is_host_memory::<Autodiff<Flex>>());
/// assert!(!is_host_memory::<Autodiff<Autodiff<Flex>>>());
/// ```
pub fn is_host_memory<B: Backend>() -> bool {
    #[cfg(feature = "flex")]
    return [TypeId::of::<Flex>(), TypeId::of::<Autodiff<Flex>>()].contains(&TypeId::of::<B>());
    #[cfg(not(feature = "flex"))]
    false
}

/// Applies `f` to a value if it is a `U`, or else returns the value.
#[cfg(feature = "flex")]
pub(crate) fn apply_as<T: 'static, U: 'static>(value: T, f: impl FnOnce(U) -> U) -> Result<T, T> {
    let mut value = Some(value);
    let any: &mut dyn Any = &mut value;
    let is_u = match any.downcast_mut::<Option<U>>() {
        Some(same) => {
            *same = same.take().map(f);
            true
        }
        None => false,
    };
    let value = value.expect("one value for another");
    if is_u { Ok(value) } else { Err(value) }
}

/// A kind of operators.
#[cfg(feature = "kernels")]
pub(crate) trait Operators: 'static {
    /// The kernels that a backend has for them.
    type Kernels<B: Backend>: 'static;
}

/// A backend with kernels for operators of a kind.
#[cfg(feature = "kernels")]
pub(crate) trait HasKernels<O: Operators>: Backend {
    /// Returns its kernels for tensors of this type.
    fn kernels(dtype: DType) -> &'static O::Kernels<Self>;
}

/// Returns the kernels of the backend K, or of one or two levels of autodiff around it, if `backend` is one
/// of these.
#[cfg(feature = "kernels")]
pub(crate) fn kernels_around<O, K>(backend: TypeId, dtype: DType) -> Option<&'static dyn Any>
where
    O: Operators,
    K: HasKernels<O>,
    Autodiff<K>: HasKernels<O>,
    Autodiff<Autodiff<K>>: HasKernels<O>,
{
    if backend == TypeId::of::<K>() {
        Some(K::kernels(dtype))
    } else if backend == TypeId::of::<Autodiff<K>>() {
        Some(Autodiff::<K>::kernels(dtype))
    } else if backend == TypeId::of::<Autodiff<Autodiff<K>>>() {
        Some(Autodiff::<Autodiff<K>>::kernels(dtype))
    } else {
        None
    }
}

/// Returns the kernels of the kind `$Operators` of a backend, which is given by its type, for tensors of a type;
/// none if it has none.
#[cfg(feature = "kernels")]
macro_rules! kernels_of {
    ($Operators:ty, $backend:expr, $dtype:expr) => {{
        use burn::backend;
        use $crate::backends::kernels_around;

        let (of, dtype): (std::any::TypeId, burn::tensor::DType) = ($backend, $dtype);
        let found = None;
        #[cfg(feature = "flex")]
        let found = found.or_else(|| kernels_around::<$Operators, backend::Flex>(of, dtype));
        #[cfg(feature = "tch")]
        let found = found.or_else(|| kernels_around::<$Operators, backend::LibTorch>(of, dtype));
        #[cfg(feature = "wgpu")]
        let found = found.or_else(|| kernels_around::<$Operators, backend::Wgpu>(of, dtype));
        #[cfg(feature = "vulkan")]
        let found = found.or_else(|| kernels_around::<$Operators, backend::Vulkan>(of, dtype));
        #[cfg(feature = "cuda")]
        let found = found.or_else(|| kernels_around::<$Operators, backend::Cuda>(of, dtype));
        found
    }};
}
#[cfg(feature = "kernels")]
pub(crate) use kernels_of;
