//! The state of a stream between two experiences.

use icl_core::Seed;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::evaluation::StoppedBy;
use crate::progress::Cost;
use crate::stream::buffer::Buffer;
use crate::stream::decision::Decision;
use crate::stream::keep::Keep;
use crate::stream::row::SparseRow;

/// Number of experiences up to which all held-out samples are measured after each.
const ALL: usize = 32;
/// Number of the last experiences that are always measured.
const LAST: usize = 8;

/// Experience that a stream has gone through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Experience {
    /// Name, on which its random draws depend.
    pub name: String,
    /// Number of its samples, held-out ones included.
    pub n_samples: usize,
    /// Decision on an update; `None` if there was none, as for the first.
    #[serde(default)]
    pub decision: Option<Decision>,
    /// Whether the encoder that is live changed after it. Without an update its samples wait for the next one.
    pub updated: bool,
    /// Whether there was an update after it that was rejected ([`Stream::reject`](crate::Stream::reject)): the encoder
    /// that was live stays, and the numbers and the cost of an update are those of the rejected one.
    #[serde(default)]
    pub is_rejected: bool,
    /// Number of old samples of its update, N.
    #[serde(default)]
    pub n_old: usize,
    /// Number of new samples of its update, ΔN: those of all experiences that waited, and its own.
    #[serde(default)]
    pub n_new: usize,
    /// Number of epochs of its update.
    pub epochs: usize,
    /// Number of steps of its update.
    pub n_steps: u64,
    /// Rule or limit that ended its update; `None` if nothing was trained.
    pub stopped_by: Option<StoppedBy>,
    /// Held-out samples, which no training sees.
    #[serde(alias = "panel")]
    pub held_out: Vec<usize>,
    /// Risk of the encoder before this experience on its held-out samples: the encoder that was live when its data
    /// came. `None` for the first.
    pub served: Option<f64>,
    /// Risk of the encoder after this experience on the held-out samples of each experience up to it; `None` where it
    /// was not measured.
    pub risks: SparseRow,
    /// Cost of its update, the measurement of held-out samples included as [`Cost::measuring`].
    pub cost: Cost,
}

/// Training samples of an experience that wait for an update.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// Name of the experience.
    pub(super) name: String,
    /// Its samples, without held-out ones.
    pub(super) samples: Vec<usize>,
}

/// Samples that later updates of a stream may use: those that are kept, and those that wait.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamMemory {
    pub(super) buffer: Buffer,
    pub(super) waiting: Vec<Waiting>,
    /// Regret of what waits, in nats summed over samples.
    pub(super) regret: f64,
    /// Decision on the experience that comes next.
    #[serde(skip)]
    pub(super) decision: Option<Decision>,
    /// Its cost in full passes, with which the experience is about to be charged.
    #[serde(skip)]
    pub(super) deciding: f64,
}

impl StreamMemory {
    /// Returns the old samples that the next update may use.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Returns the samples that have come since the last update, in the order of their experiences.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        self.waiting
            .iter()
            .flat_map(|it| it.samples.iter().copied())
    }

    /// Returns the old and the new samples that an update would have now: those that are kept, and all that waits
    /// with the `arriving` ones.
    pub fn samples(&self, arriving: &[usize]) -> [Vec<usize>; 2] {
        let kept = self.buffer.kept().iter().map(|it| it.sample);
        let new = self.waiting().chain(arriving.iter().copied());
        [kept.collect(), new.collect()]
    }

    /// Returns the numbers of experiences and of samples that wait.
    pub fn n_waiting(&self) -> [usize; 2] {
        let n_samples = self.waiting.iter().map(|it| it.samples.len()).sum();
        [self.waiting.len(), n_samples]
    }

    /// Lets the training samples of an experience wait for an update.
    pub fn arrive(&mut self, name: &str, samples: Vec<usize>) {
        self.waiting.push(Waiting {
            name: name.to_owned(),
            samples,
        });
    }

    /// Moves what waits into the buffer, of which it keeps what `keep` says. The random draws of an experience depend
    /// on the seed of its name.
    pub fn absorb(&mut self, keep: Keep, seed_of: impl Fn(&str) -> Seed) {
        self.regret = 0.0;
        for experience in self.waiting.drain(..) {
            let seed = seed_of(&experience.name);
            self.buffer.add(keep, &experience.samples, seed);
        }
    }
}

/// All that a stream remembers between two experiences, without the encoder. Resuming from a stored state gives
/// identical results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamState {
    pub(super) experiences: Vec<Experience>,
    pub(super) memory: StreamMemory,
}

impl StreamState {
    /// Creates a state from what [`experiences`](Self::experiences) and [`memory`](Self::memory) have returned: a
    /// caller that stores each experience once, and the memory after the last alone, writes no experience again.
    pub fn from_parts(experiences: Vec<Experience>, memory: StreamMemory) -> Self {
        Self {
            experiences,
            memory,
        }
    }

    /// Returns the experiences so far.
    pub fn experiences(&self) -> &[Experience] {
        &self.experiences
    }

    /// Returns the samples that later updates may use.
    pub fn memory(&self) -> &StreamMemory {
        &self.memory
    }

    /// Returns the matrix of risks `[T, T]`: row i is the encoder after experience i, column j the held-out samples of
    /// experience j. The cells next to the diagonal on its right are the risks of the encoder that was live when
    /// experience j came. Rows end there: what lies beyond was not measured, since its data had not come.
    pub fn matrix(&self) -> Vec<Vec<Option<f64>>> {
        let served = self.experiences.iter().map(|it| Some(it.served)).skip(1);
        let rows = self.experiences.iter().zip(served.chain([None]));
        rows.map(|(it, served)| it.risks.followed_by(served))
            .collect()
    }

    /// Returns the listed experiences that the stream has not gone through yet.
    ///
    /// # Errors
    /// [`TrainError`] if the list does not begin with the names of those that it has gone through.
    pub fn next_of<'n>(&self, listed: &'n [&'n str]) -> Result<&'n [&'n str], TrainError> {
        for (at, experience) in self.experiences.iter().enumerate() {
            let found = listed.get(at).copied();
            if found != Some(&experience.name[..]) {
                let found = found.map_or("nothing".to_owned(), |found| format!("{found:?}"));
                return Err(TrainError::message(format!(
                    "found {found} as experience {}, expected {:?}, which the stream has gone through",
                    at + 1,
                    experience.name
                )));
            }
        }
        Ok(&listed[self.experiences.len()..])
    }

    /// Forgets the held-out samples of experiences that no later encoder is measured on, so that the memory of a long
    /// stream stays small. They are then no longer known as samples that have come.
    pub fn forget_held_out(&mut self) {
        let measured = Self::measured(self.experiences.len() + 1);
        for (at, experience) in self.experiences.iter_mut().enumerate() {
            if !measured.contains(&at) {
                experience.held_out = Vec::new();
            }
        }
    }

    /// Returns the number of steps of all updates so far that the live encoder has gone through.
    pub fn n_steps(&self) -> u64 {
        let updated = self.experiences.iter().filter(|it| it.updated);
        updated.map(|it| it.n_steps).sum()
    }

    /// Returns the charged cost of all updates but the first training, also of those that were rejected, in full
    /// passes ([`Cost::charged`]).
    pub fn charged_to_updates(&self) -> f64 {
        let updates = self.experiences.iter().skip(1);
        updates.map(|it| it.cost.charged()).sum()
    }

    /// Returns the charged cost of the last update, rejected or not, or of the first training before there is any, in
    /// full passes.
    pub fn cost_of_last_update(&self) -> f64 {
        let mut latest = self.experiences.iter().rev();
        let last = latest.find(|it| it.updated || it.is_rejected);
        last.map_or(0.0, |it| it.cost.charged())
    }

    /// Returns the experiences whose held-out samples are measured when there are n: all up to 32, then the first,
    /// the last 8 and between them those at powers of 2, so that an evaluation's cost grows with the logarithm of the
    /// stream's length.
    pub fn measured(n: usize) -> Vec<usize> {
        if n <= ALL {
            return (0..n).collect();
        }
        let powers = (0..usize::BITS).map(|bit| 1_usize << bit);
        let mut measured = vec![0];
        measured.extend(powers.take_while(|at| *at < n - LAST));
        measured.extend(n - LAST..n);
        measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_begins_with_what_has_come() {
        let of = |name: &str| Experience {
            name: name.to_owned(),
            ..Experience::default()
        };
        let experiences = ["a", "b"].map(of).to_vec();
        let state = StreamState::from_parts(experiences, StreamMemory::default());
        assert_eq!(state.next_of(&["a", "b", "c"]).unwrap(), ["c"]);
        assert!(state.next_of(&["a", "b"]).unwrap().is_empty());
        for (listed, expected) in [
            (
                &["a", "c"][..],
                "found \"c\" as experience 2, expected \"b\"",
            ),
            (&["a"], "found nothing as experience 2, expected \"b\""),
        ] {
            let error = state.next_of(listed).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn held_out_samples_that_are_measured_again_are_kept() {
        let experiences = (0..100).map(|at| Experience {
            held_out: vec![at],
            ..Experience::default()
        });
        let memory = StreamMemory::default();
        let mut state = StreamState::from_parts(experiences.collect(), memory);
        state.forget_held_out();
        for at in StreamState::measured(101)
            .into_iter()
            .filter(|at| *at < 100)
        {
            assert_eq!(state.experiences[at].held_out, [at]);
        }
        assert_eq!(state.experiences[50].held_out, [0; 0]);
    }

    #[test]
    fn the_number_of_measured_experiences_is_bounded() {
        assert_eq!(StreamState::measured(3), [0, 1, 2]);
        assert_eq!(StreamState::measured(32).len(), 32);
        let expected = [0, 1, 2, 4, 8, 16, 32, 64, 92, 93, 94, 95, 96, 97, 98, 99];
        assert_eq!(StreamState::measured(100), expected);
        assert!(StreamState::measured(1_000_000).len() < 30);
    }
}
