//! Splits of interactions: the last ones of each user, and by time.

use std::collections::HashSet;

use icl_core::{GrowthRatio, Increment, Seed};

use super::log::Interactions;
use crate::error::DataError;
use crate::split::Split;

/// Smallest number of interactions of a user of whom some are held out.
const MIN_HELD_OUT: usize = 3;

/// Rows for training, validation and test, each in the order of time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaveOneOut {
    /// Rows for training.
    pub train: Vec<usize>,
    /// Second last row of each user with at least three interactions.
    pub validation: Vec<usize>,
    /// Last row of each of these users.
    pub test: Vec<usize>,
}

impl Interactions {
    /// Holds out the last two interactions of each user: the last one for the test, the one before for validation.
    /// Users with fewer than three interactions are for training only.
    ///
    /// "Last" follows the order of the file where times are equal: on ML-100K, 75,772 of 100,000 interactions have the
    /// user and the second of another one, so the last item is partly arbitrary.
    ///
    /// Source: the protocol of BERT4Rec (Sun et al., 2019, section 4.1).
    pub fn leave_one_out(&self) -> LeaveOneOut {
        let mut split = LeaveOneOut::default();
        for rows in self.rows_of_users() {
            match rows[..] {
                [ref train @ .., validation, test] if rows.len() >= MIN_HELD_OUT => {
                    split.train.extend(train);
                    split.validation.push(validation);
                    split.test.push(test);
                }
                _ => split.train.extend(rows),
            }
        }
        for rows in [&mut split.train, &mut split.validation, &mut split.test] {
            rows.sort_unstable();
        }
        split
    }

    /// Divides all interactions by time, and returns the first row of the new ones: those before it are old.
    ///
    /// The share of new interactions is α, or as much below as is needed to leave interactions of the same time
    /// together: those at the boundary are old.
    ///
    /// # Errors
    /// [`DataError`] if either side would have fewer than two interactions.
    pub fn by_time(&self, alpha: GrowthRatio) -> Result<usize, DataError> {
        let rows = self.rows();
        let n_new = (alpha.value() * rows.len() as f64).round() as usize;
        let boundary = rows.len() - n_new.min(rows.len());
        let n_old = match boundary.checked_sub(1) {
            None => 0,
            Some(last) => rows.partition_point(|row| row.time <= rows[last].time),
        };
        let n_new = rows.len() - n_old;
        if n_old.min(n_new) < 2 {
            return Err(DataError::new(
                format!("split by time at alpha {}", alpha.value()),
                format!("{n_old} old and {n_new} new interactions"),
                "at least 2 of each",
            ));
        }
        Ok(n_old)
    }

    /// Splits the interactions into old and new ones, as rows; see [`Split::increment`].
    ///
    /// - [`Split::Time`] is [`by_time`](Self::by_time); the seed has no effect.
    /// - [`Split::Random`] draws among the interactions that have a history. A user's first interaction is old.
    ///   Histories then hold interactions of both parts, so that this is a baseline without shift, and no increment in
    ///   time.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if either part would have fewer than two
    ///   interactions;
    /// - if it is another split.
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        match split {
            Split::Time => {
                let n_old = self.by_time(alpha)?;
                let (old, new) = (0..n_old, n_old..self.rows().len());
                Increment::try_new(old.collect(), new.collect()).map_err(DataError::from)
            }
            Split::Random => {
                let mut first = self.first_rows();
                let is_first: HashSet<usize> = first.iter().copied().collect();
                let others = (0..self.rows().len()).filter(|row| !is_first.contains(row));
                let others: Vec<usize> = others.collect();
                let drawn = split.increment(&vec![0; others.len()], alpha, seed)?;
                let rows = |of: &[usize]| of.iter().map(|&at| others[at]).collect::<Vec<usize>>();
                first.extend(rows(drawn.old()));
                first.sort_unstable();
                Increment::try_new(first, rows(drawn.new_data())).map_err(DataError::from)
            }
            split => Err(split.unfit("interactions")),
        }
    }

    /// Returns the first row of each user, in the order of time.
    fn first_rows(&self) -> Vec<usize> {
        let mut is_known = vec![false; self.users().len()];
        let is_first = |row: &usize| {
            let user = self.rows()[*row].user as usize;
            !std::mem::replace(&mut is_known[user], true)
        };
        (0..self.rows().len()).filter(is_first).collect()
    }
}
