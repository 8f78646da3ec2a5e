//! Checks that all members do the same: that they are set up alike, have the same data, and train the same encoder.

use std::fmt::Display;

use burn::module::Module;
use burn::tensor::backend::Backend;
use icl_core::{Error, ErrorKind, Group};

use crate::identity::{Identity, digest};

/// Number of steps between two checks.
const STEPS: u64 = 100;

/// Relative difference of a risk that other processors and kernels make. Other samples or views make more.
pub(crate) const ROUNDING: f64 = 1e-4;

/// Checks that all members have the same facts. It comes before the first operation in which each does a part of the
/// work for all.
///
/// # Errors
/// [`Error`] with the first fact that differs.
pub(crate) fn check_alike(
    group: &dyn Group,
    facts: impl FnOnce() -> Identity,
) -> Result<(), Error> {
    if group.is_alone() {
        return Ok(());
    }
    let broken = |error: serde_json::Error| of_group(error, "");
    let own = serde_json::to_vec(&facts()).map_err(broken)?;
    // 32 bits are exact in a double.
    let digests = group.gather_f64(&[f64::from(crc32fast::hash(&own))])?;
    let Some(rank) = first_other(digests.values(), |a, b| a == b) else {
        return Ok(());
    };
    // All members have found the same rank, so that all take part in both broadcasts.
    let of = |member| {
        let mut bytes = own.clone();
        group.broadcast(member, &mut bytes)?;
        serde_json::from_slice::<Identity>(&bytes).map_err(broken)
    };
    let (first, other) = (of(0)?, of(rank)?);
    match other.difference(&first) {
        None => Ok(()),
        Some((field, found, expected)) => Err(unlike(rank, &field, found, expected)),
    }
}

/// Checks that a number that each member has computed by itself is the same at all, but for rounding.
///
/// # Errors
/// [`Error`] with the numbers if it is not.
pub(crate) fn check_close(group: &dyn Group, field: &str, own: f64) -> Result<(), Error> {
    let of_members = group.gather_f64(&[own])?;
    let values = of_members.values();
    match first_other(values, is_close) {
        None => Ok(()),
        Some(rank) => Err(unlike(rank, field, values[rank], values[0])),
    }
}

/// Returns the error of a member that is not set up as member 0.
fn unlike(rank: usize, field: &str, found: impl Display, expected: impl Display) -> Error {
    let found = format!("{field} {found} at member {rank}");
    of_group(found, format!("{expected} as at member 0"))
}

/// Returns the error of members that cannot continue together.
pub(crate) fn of_group(found: impl Display, expected: impl Display) -> Error {
    Error::new("the group", found, expected).with_kind(ErrorKind::Group)
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

/// Checks every 100 steps that the parameters of all members have the same bits. Without it, members that differ, for
/// instance because their processors round differently, would continue with gradients of different encoders.
///
/// # Errors
/// [`Error`] if the parameters differ.
pub(crate) fn check_replicas<B: Backend, M: Module<B>>(
    group: &dyn Group,
    module: &M,
    step: u64,
) -> Result<(), Error> {
    if group.is_alone() || !step.is_multiple_of(STEPS) {
        return Ok(());
    }
    let digests = group.gather_f64(&[f64::from(digest::<B, M>(module))])?;
    match first_other(digests.values(), |a, b| a == b) {
        Some(rank) => {
            let found =
                format!("other parameters at member {rank} than at member 0 after step {step}");
            Err(of_group(found, "the same"))
        }
        None => Ok(()),
    }
}
