//! The division of what has arrived into training samples and held-out ones.

use std::collections::HashSet;

use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Samples};

use crate::error::TrainError;
use crate::stream::advanced::Arriving;
use crate::stream::settings::Stream;
use crate::stream::state::StreamState;

/// Fewest held-out samples.
pub(super) const FEWEST_HELD_OUT: usize = 4;

/// Fewest samples that are trained on, or measured: one needs another one as its negative.
const SMALLEST_PART: usize = 2;

/// Samples of an experience.
pub(super) struct Divided {
    /// Samples that trainings may see.
    pub(super) training: Vec<usize>,
    /// Held-out samples that are measured.
    pub(super) held_out: Vec<usize>,
}

impl<B: AutodiffBackend, S: Samples, V, C, O> Stream<'_, B, S, V, C, O> {
    /// Returns the samples of an experience that trainings may see: those that are not held out.
    ///
    /// # Errors
    /// [`TrainError`] if it has too few samples, or one does not exist.
    pub fn training_samples(&self, arriving: &Arriving<'_>) -> Result<Vec<usize>, TrainError> {
        let divided = self.divided(&StreamState::default(), arriving)?;
        Ok(divided.training)
    }

    /// Returns the least number of samples of an experience, of which a share is held out and two at least are
    /// trained on.
    pub fn fewest_samples(&self) -> usize {
        Increment::fewest_to_hold_out(self.hold_out)
    }

    /// Divides what has arrived.
    pub(super) fn divided(
        &self,
        state: &StreamState,
        arriving: &Arriving<'_>,
    ) -> Result<Divided, TrainError> {
        self.check(state, arriving)?;
        let check_number = |what, samples: &[usize], expected| {
            let (n, at_least) = (samples.len(), format!("at least {expected}"));
            TrainError::unless(
                n >= expected,
                arriving.place(),
                format!("{n} {what}"),
                at_least,
            )
        };
        match &arriving.held_out {
            None => check_number("samples", &arriving.samples, self.fewest_samples())?,
            Some(held_out) => {
                check_number("samples", &arriving.samples, SMALLEST_PART)?;
                check_number("held-out samples", held_out, SMALLEST_PART)?;
            }
        }
        let of = |samples: &[usize]| {
            Increment::before(samples.to_vec()).map_err(|error| arriving.failed(error))
        };
        let seed = self.seed_of(arriving.name);
        let all = of(&arriving.samples)?;
        let (training, held_out) = match &arriving.held_out {
            Some(held_out) => (all, of(held_out)?),
            None => all
                .hold_out(self.hold_out, seed.child("held out"))
                .map_err(|error| arriving.failed(error))?,
        };
        // The random stream keeps its first name: another would draw other samples than earlier records have.
        let held_out = held_out.at_most(
            self.evaluation_samples.max(FEWEST_HELD_OUT),
            seed.child("panel"),
        );
        Ok(Divided {
            training: training.old().to_vec(),
            held_out: held_out.old().to_vec(),
        })
    }

    /// Checks that the name and the samples are new.
    fn check(&self, state: &StreamState, arriving: &Arriving<'_>) -> Result<(), TrainError> {
        let experiences = state.experiences();
        if experiences.iter().any(|it| it.name == arriving.name) {
            let found = "the name of an earlier experience";
            return Err(TrainError::new(arriving.place(), found, "another one"));
        }
        let held_out = arriving.held_out.iter().flatten();
        let samples = || arriving.samples.iter().chain(held_out.clone());
        let n_samples = self.samples.n_samples();
        if let Some(&sample) = samples().find(|it| **it >= n_samples) {
            let (found, expected) = (
                format!("sample {sample}"),
                format!("samples below {n_samples}"),
            );
            return Err(TrainError::new(arriving.place(), found, expected));
        }
        let held_out = experiences
            .iter()
            .flat_map(|it| it.held_out.iter().copied());
        let memory = state.memory();
        let kept = memory.buffer().kept().iter().map(|kept| kept.sample);
        let known: HashSet<usize> = held_out.chain(kept).chain(memory.waiting()).collect();
        match samples().find(|it| known.contains(it)) {
            None => Ok(()),
            Some(sample) => {
                let found = format!("sample {sample}, which has come before");
                Err(TrainError::new(arriving.place(), found, "new samples"))
            }
        }
    }
}
