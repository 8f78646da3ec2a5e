//! The samples that a run trains on, and those that it holds out for its number of negatives.

use std::borrow::Cow;

use icl_core::{Increment, Seed};

use crate::error::TrainError;
use crate::negatives::NegativesSchedule;
use crate::settings::TrainingSettings;

/// Share of the training samples that [`NegativesSchedule::Stagewise`] holds out.
const SHARE: f64 = 0.05;

/// Division of the training samples of a run.
pub(super) struct Division<'a> {
    /// Samples that are trained on.
    pub(super) trained: Cow<'a, Increment>,
    /// Samples by which the schedule chooses the number of negatives, if it needs any.
    pub(super) held_out: Option<Increment>,
}

impl<'a> Division<'a> {
    /// Divides the samples of a run as its settings ask for.
    ///
    /// # Errors
    /// [`TrainError`] if too few samples are left.
    pub(super) fn new(
        increment: &'a Increment,
        settings: &TrainingSettings,
        seed: Seed,
    ) -> Result<Self, TrainError> {
        if settings.step_negatives.schedule != NegativesSchedule::Stagewise {
            return Ok(Self {
                trained: Cow::Borrowed(increment),
                held_out: None,
            });
        }
        let (trained, held_out) = increment.hold_out(SHARE, seed).map_err(|error| {
            let held_out = "the samples that are held out for the number of negatives";
            TrainError::message(held_out).with_source(error)
        })?;
        Ok(Self {
            trained: Cow::Owned(trained),
            held_out: Some(held_out.at_most(settings.monitor_samples, seed)),
        })
    }
}
