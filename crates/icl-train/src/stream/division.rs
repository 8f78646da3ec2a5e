//! The division of what has arrived into training samples and a panel.

use std::collections::HashSet;

use burn::tensor::backend::AutodiffBackend;
use icl_core::{Increment, Samples};

use crate::stream::advanced::Arriving;
use crate::stream::error::StreamError;
use crate::stream::settings::Stream;
use crate::stream::state::StreamState;

/// Fewest samples of a panel.
pub(super) const SMALLEST_PANEL: usize = 4;

/// Fewest samples that are trained on, or measured: one needs another one as its negative.
const SMALLEST_PART: usize = 2;

/// Samples of an experience.
pub(super) struct Divided {
    /// Samples that trainings may see.
    pub(super) training: Vec<usize>,
    /// Held-out samples that are measured.
    pub(super) panel: Vec<usize>,
}

impl<B: AutodiffBackend, S: Samples, V, C> Stream<'_, B, S, V, C> {
    /// Returns the samples of an experience that trainings may see: those that are not held out.
    ///
    /// # Errors
    /// [`StreamError`] if it has too few samples, or one does not exist.
    pub fn training_samples(&self, arriving: &Arriving<'_>) -> Result<Vec<usize>, StreamError> {
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
    ) -> Result<Divided, StreamError> {
        self.check(state, arriving)?;
        let check_number = |what, samples: &[usize], expected| match samples.len() {
            found if found < expected => Err(StreamError::Few {
                experience: arriving.name.to_owned(),
                found,
                what,
                expected,
            }),
            _ => Ok(()),
        };
        match &arriving.held_out {
            None => check_number("samples", &arriving.samples, self.fewest_samples())?,
            Some(held_out) => {
                check_number("samples", &arriving.samples, SMALLEST_PART)?;
                check_number("held-out samples", held_out, SMALLEST_PART)?;
            }
        }
        let of = |samples: &[usize]| {
            Increment::before(samples.to_vec()).map_err(|source| StreamError::Division {
                experience: arriving.name.to_owned(),
                source,
            })
        };
        let seed = self.seed_of(arriving.name);
        let all = of(&arriving.samples)?;
        let (training, panel) = match &arriving.held_out {
            Some(held_out) => (all, of(held_out)?),
            None => all
                .hold_out(self.hold_out, seed.child("held out"))
                .map_err(|source| StreamError::Division {
                    experience: arriving.name.to_owned(),
                    source,
                })?,
        };
        let panel = panel.at_most(self.panel.max(SMALLEST_PANEL), seed.child("panel"));
        Ok(Divided {
            training: training.old().to_vec(),
            panel: panel.old().to_vec(),
        })
    }

    /// Checks that the name and the samples are new.
    fn check(&self, state: &StreamState, arriving: &Arriving<'_>) -> Result<(), StreamError> {
        let experience = || arriving.name.to_owned();
        let experiences = state.experiences();
        if experiences.iter().any(|it| it.name == arriving.name) {
            return Err(StreamError::Repeated {
                found: experience(),
            });
        }
        let held_out = arriving.held_out.iter().flatten();
        let samples = || arriving.samples.iter().chain(held_out.clone());
        let n_samples = self.samples.n_samples();
        if let Some(&sample) = samples().find(|it| **it >= n_samples) {
            return Err(StreamError::Absent {
                experience: experience(),
                sample,
                n_samples,
            });
        }
        let panels = experiences.iter().flat_map(|it| it.panel.iter().copied());
        let memory = state.memory();
        let kept = memory.buffer().kept().iter().map(|kept| kept.sample);
        let known: HashSet<usize> = panels.chain(kept).chain(memory.waiting()).collect();
        match samples().find(|it| known.contains(it)) {
            None => Ok(()),
            Some(&sample) => Err(StreamError::Known {
                experience: experience(),
                sample,
            }),
        }
    }
}
