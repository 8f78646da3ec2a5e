//! The check that all members train the same encoder.

use burn::module::Module;
use burn::tensor::backend::Backend;
use icl_core::{Group, GroupError};

use crate::checkpoint::identity::digest;

/// Number of steps between two checks.
const STEPS: u64 = 100;

/// Checks at the start and every 100 steps that the parameters of all members have the same bits. Without it, members that had come apart,
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
    let first = digests.values()[0];
    match digests.values().iter().position(|&other| other != first) {
        Some(rank) => Err(GroupError::Diverged { rank, step }),
        None => Ok(()),
    }
}
