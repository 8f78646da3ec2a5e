//! Interactions.

use std::borrow::Cow;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};
use icl_data::{Interactions, JoinedInteractions, NextItem, NextItemDataset, Split};

use super::{DataSet, INTERACTIONS};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Name of the column by which a stream orders interactions.
const TIME: &str = "timestamp";

/// Interactions in the order of time, and each that has a history as a sample.
#[derive(Debug)]
pub struct Histories {
    /// The interactions.
    pub log: Interactions,
    pairs: NextItemDataset,
}

impl Histories {
    /// Returns the samples of interactions of one part.
    pub fn of(log: Interactions) -> Self {
        let rows = (0..log.rows().len()).collect();
        let pairs = NextItemDataset::new(&log, &[rows]);
        Self { log, pairs }
    }

    /// Returns the samples of old and new interactions, and the numbers of each.
    fn joined(joined: JoinedInteractions) -> (Self, [Vec<usize>; 2]) {
        tell_late(&joined);
        let JoinedInteractions {
            interactions: log,
            parts,
        } = joined;
        let pairs = NextItemDataset::new(&log, &parts);
        let numbers = [0, 1].map(|part| pairs.part(part).collect());
        (Self { log, pairs }, numbers)
    }
}

impl Samples for Histories {
    type Sample = NextItem;

    fn n_samples(&self) -> usize {
        self.pairs.n_samples()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, NextItem>, SampleError> {
        self.pairs.sample(index)
    }
}

impl DataSet for Histories {
    const SAMPLES: &'static str = "pairs of a history and an item";

    fn name(&self) -> &str {
        self.log.name()
    }

    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        let rows = self.log.increment(split.clone(), alpha, seed);
        let rows = rows.map_err(Failure::input)?;
        let mut is_new = vec![false; self.log.rows().len()];
        for &row in rows.new_data() {
            is_new[row] = true;
        }
        let (new, old): (Vec<usize>, Vec<usize>) =
            (0..self.n_samples()).partition(|&sample| is_new[self.pairs.rows()[sample]]);
        Increment::try_new(old, new).map_err(Failure::input)
    }

    /// Returns the ranks of the times for a column of this name, [`TIME`].
    fn column_keys(&self, name: &str) -> Result<Option<Vec<usize>>, Failure> {
        if name != TIME {
            return Ok(None);
        }
        let rows = self.log.rows();
        let mut times: Vec<f64> = rows.iter().map(|row| row.time).collect();
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        let rank = |&row: &usize| times.partition_point(|time| *time < rows[row].time);
        Ok(Some(self.pairs.rows().iter().map(rank).collect()))
    }

    /// Joins the interactions by the names of users and items: the history of a new pair holds what its user did before, in
    /// the old data and in the new.
    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        let joined = Interactions::join(&self.log, &new.log).map_err(Failure::input)?;
        let (joined, [of_old, of_new]) = Histories::joined(joined);
        let increment = Increment::try_new(of_old, of_new).map_err(Failure::input)?;
        Ok((joined, increment))
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        Ok(Histories::joined(self.log.append(&new.log)))
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        let rows = |samples: &[usize]| samples.iter().map(|&at| self.pairs.rows()[at]).collect();
        let (old, new) = (rows(increment.old()), rows(increment.new_data()));
        let increment = Increment::try_new(old, new).map_err(Failure::input)?;
        Ok(self.log.n_equal(&increment))
    }

    fn checksum(&self) -> String {
        self.log.checksum()
    }
}

/// Reports the number of new interactions that are earlier than old ones, if there are any.
fn tell_late(joined: &JoinedInteractions) {
    let n_late = joined.n_late();
    if n_late > 0 {
        tell(format_args!(
            "note: {}: {n_late} of {} new {INTERACTIONS} are earlier than the last old one; histories of old pairs do \
             not hold them",
            joined.interactions.name(),
            joined.parts[1].len()
        ));
    }
}
