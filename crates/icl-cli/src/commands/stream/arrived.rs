//! An experience whose samples have been read.

use icl_core::Increment;
use icl_train::Arriving;

use crate::commands::stream::manifest::Listed;
use crate::commands::stream::provenance::Provenance;

/// Experience whose samples have been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Name.
    pub name: String,
    /// Moment of its arrival, as the manifest has it.
    pub arrived: Option<String>,
    /// Samples, as numbers in the gathered data.
    pub samples: Vec<usize>,
    /// Samples of its own held-out data set, if the manifest names one.
    pub held_out: Option<Vec<usize>>,
    /// Hashes of the contents of the samples.
    pub contents: Vec<u64>,
    /// Division of the samples by their contents: those for trainings, and those that are held out. `None` if either
    /// are too few, or there is a held-out data set.
    pub divided: Option<[Vec<usize>; 2]>,
    /// Number of values of its data that were clipped.
    pub n_clipped: usize,
    /// Origin of its data.
    pub provenance: Provenance,
}

impl Arrived {
    /// Returns an experience of these parts, of which nothing has been read.
    pub fn of(parts: &[Listed]) -> Self {
        let names = parts.iter().map(|it| it.name.clone());
        Self {
            name: parts[0].name.clone(),
            arrived: parts[0].arrived.clone(),
            provenance: Provenance {
                files: names.filter(|_| parts.len() > 1).collect(),
                ..Provenance::default()
            },
            ..Self::default()
        }
    }

    /// Divides the samples by the hashes of their contents: what is held out here is held out in every stream of this
    /// share. Where fewer than two are held out, or left, the stream draws some, since it measures every experience.
    pub fn divide(&mut self, share: f64) {
        let all = Increment::before((0..self.samples.len()).collect());
        let divided = all.and_then(|all| all.hold_out_by(share, |at| self.contents[at]));
        let of = |places: &[usize]| places.iter().map(|&at| self.samples[at]).collect();
        self.divided = match divided {
            Ok((rest, [held_out, _])) if held_out.len() >= 2 && self.held_out.is_none() => {
                Some([of(rest.old()), of(&held_out)])
            }
            _ => None,
        };
    }

    /// Returns the experience as a stream takes it.
    pub fn arriving(&self) -> Arriving<'_> {
        let (samples, held_out) = match &self.divided {
            Some([samples, held_out]) => (samples.clone(), Some(held_out.clone())),
            None => (self.samples.clone(), self.held_out.clone()),
        };
        Arriving {
            name: &self.name,
            samples,
            held_out,
        }
    }
}
