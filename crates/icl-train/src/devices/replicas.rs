//! Checks that all members do the same: that they are set up alike, have the same data, and train the same encoder.

use burn::module::Module;
use burn::tensor::backend::Backend;
use icl_core::{Group, GroupError};

use crate::identity::{Identity, digest};

/// Number of steps between two checks.
const STEPS: u64 = 100;

/// Relative difference of a risk that other processors and kernels make. Other samples or views make more.
pub(crate) const ROUNDING: f64 = 1e-4;

/// Checks that all members have the same facts, before the first operation in which each does a part of the work for all.
///
/// # Errors
/// [`GroupError::Unlike`] with the first fact that differs.
pub(crate) fn check_alike(
    group: &dyn Group,
    facts: impl FnOnce() -> Identity,
) -> Result<(), GroupError> {
    if group.is_alone() {
        return Ok(());
    }
    let broken = |error: serde_json::Error| GroupError::Transport(error.to_string());
    let own = serde_json::to_vec(&facts()).map_err(broken)?;
    let digests = group.gather_f64(&[f64::from(crc32fast::hash(&own))])?;
    let Some(rank) = first_other(digests.values(), |a, b| a == b) else {
        return Ok(());
    };
    let of = |member| {
        let mut bytes = own.clone();
        group.broadcast(member, &mut bytes)?;
        serde_json::from_slice::<Identity>(&bytes).map_err(broken)
    };
    let (first, other) = (of(0)?, of(rank)?);
    match other.difference(&first) {
        None => Ok(()),
        Some((field, found, expected)) => Err(GroupError::Unlike {
            rank,
            field,
            found,
            expected,
        }),
    }
}

/// Checks that a number that each member has computed by itself is the same at all, but for rounding.
///
/// # Errors
/// [`GroupError::Unlike`] with the numbers if it is not.
pub(crate) fn check_close(group: &dyn Group, field: &str, own: f64) -> Result<(), GroupError> {
    let of_members = group.gather_f64(&[own])?;
    let values = of_members.values();
    match first_other(values, is_close) {
        None => Ok(()),
        Some(rank) => Err(GroupError::Unlike {
            rank,
            field: field.to_owned(),
            found: values[rank].to_string(),
            expected: values[0].to_string(),
        }),
    }
}

/// Returns whether two numbers differ by rounding at most.
pub(crate) fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

/// Returns the rank of the first member whose value is not that of member 0.
fn first_other(values: &[f64], is_same: impl Fn(f64, f64) -> bool) -> Option<usize> {
    let first = values[0];
    values.iter().position(|&other| !is_same(other, first))
}

/// Checks every 100 steps that the parameters of all members have the same bits. Without it, members that had come apart,
/// by processors that round differently, say, would go on with gradients of different encoders.
///
/// # Errors
/// [`GroupError::Diverged`] if they have not.
pub(crate) fn check_replicas<B: Backend, M: Module<B>>(
    group: &dyn Group,
    module: &M,
    step: u64,
) -> Result<(), GroupError> {
    if group.is_alone() || !step.is_multiple_of(STEPS) {
        return Ok(());
    }
    let digests = group.gather_f64(&[f64::from(digest::<B, M>(module))])?;
    match first_other(digests.values(), |a, b| a == b) {
        Some(rank) => Err(GroupError::Diverged { rank, step }),
        None => Ok(()),
    }
}
