//! Hidden units that begin anew: the weights into them from a fresh encoder, the weights out of them 0.

use burn::module::Param;
use burn::tensor::{Bool, Tensor, TensorData, backend::Backend};

/// Replaces the elements of a parameter that belong to some units by those of `fresh`. Axis `axis` counts the units.
pub(crate) fn begin_anew<B: Backend, const D: usize>(
    param: &mut Param<Tensor<B, D>>,
    fresh: &Param<Tensor<B, D>>,
    axis: usize,
    units: &[bool],
) {
    let (own, other) = (param.val().dims(), fresh.val().dims());
    assert_eq!(own, other, "a fresh encoder of another architecture");
    change(param, axis, units, |old, mask| {
        old.mask_where(mask, fresh.val().detach())
    });
}

/// Sets the elements of a parameter that belong to some units to 0. Axis `axis` counts the units, the first of which is
/// at `first`.
pub(crate) fn silence<B: Backend, const D: usize>(
    param: &mut Param<Tensor<B, D>>,
    axis: usize,
    first: usize,
    units: &[bool],
) {
    let n = param.val().dims()[axis];
    let mut all = vec![false; n];
    all[first..first + units.len()].copy_from_slice(units);
    change(param, axis, &all, |old, mask| old.mask_fill(mask, 0.0));
}

/// Changes a parameter by a function of its value and of a mask of the elements that belong to some units. Whether it is
/// trained stays as it is.
fn change<B: Backend, const D: usize>(
    param: &mut Param<Tensor<B, D>>,
    axis: usize,
    units: &[bool],
    to: impl FnOnce(Tensor<B, D>, Tensor<B, D, Bool>) -> Tensor<B, D>,
) {
    let old = param.val();
    let (found, expected) = (units.len(), old.dims()[axis]);
    assert_eq!(
        found, expected,
        "found {found} units, expected {expected} of the layer"
    );
    if !units.contains(&true) {
        return;
    }
    let mut shape = [1; D];
    shape[axis] = units.len();
    let mask = TensorData::new(units.to_vec(), [units.len()]);
    let mask = Tensor::<B, 1, Bool>::from_data(mask, &old.device());
    let mask = mask.reshape(shape).expand(old.dims());
    let is_trained = old.is_require_grad();
    let new = to(old.detach(), mask).detach();
    *param = Param::initialized(param.id, new.set_require_grad(is_trained));
}

/// Checks that there is a list of units for each layer.
pub(crate) fn check_layers(found: usize, expected: usize) {
    assert_eq!(
        found, expected,
        "found units of {found} layers, expected {expected} layers"
    );
}
