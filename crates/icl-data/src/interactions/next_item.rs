//! Samples of interactions: the history of a user and the item that follows.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};

use super::log::Interactions;
use crate::content::{ContentHash, contents};
use crate::error::DataError;
use crate::increments::n_equal;
use crate::split::Split;

/// The history of a user and the item that follows, a positive pair.
///
/// Clones share their items with the data set, so that cloning is cheap.
#[derive(Debug, Clone, PartialEq)]
pub struct NextItem {
    user: u32,
    /// All items of the user, in the order of time.
    items: Arc<[u32]>,
    /// Position of the target among them.
    position: usize,
    seen: Arc<[u32]>,
}

impl NextItem {
    /// Returns the user, as an index into [`Interactions::users`].
    pub fn user(&self) -> u32 {
        self.user
    }

    /// Returns the items before the target, in the order of time.
    pub fn history(&self) -> &[u32] {
        &self.items[..self.position]
    }

    /// Returns the item that follows the history.
    pub fn target(&self) -> u32 {
        self.items[self.position]
    }

    /// Returns the items that the user is known to have interacted with, in ascending order, each once. They are not
    /// used as negatives. The target is among them in training data; in held-out data it is so only if the user has
    /// interacted with it before.
    pub fn seen(&self) -> &[u32] {
        &self.seen
    }
}

/// A data set of interactions, each with the history before it. Its [`Samples`] are [`NextItem`]s.
///
/// A user's first interaction has no history and is no sample.
///
/// ```no_run
/// use icl_core::GrowthRatio;
/// use icl_data::{NextItemDataset, read_interactions};
///
/// let ratings = read_interactions("ml-100k.inter")?;
/// let split = ratings.leave_one_out();
/// // Old and new training data by time, and the last item of each user.
/// let n_old = ratings.by_time(GrowthRatio::try_new(0.3)?)?;
/// let (old, new): (Vec<_>, Vec<_>) = split.train.iter().partition(|row| **row < n_old);
/// let train = NextItemDataset::new(&ratings, &[old, new]);
/// let test = NextItemDataset::held_out(&ratings, &split.test);
/// println!("{} old, {} new, {} for the test", train.part(0).len(), train.part(1).len(), test.samples().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NextItemDataset {
    interactions: Interactions,
    samples: Vec<NextItem>,
    /// Row of the target of each sample.
    rows: Vec<usize>,
    /// First sample of each part, followed by the number of samples.
    starts: Vec<usize>,
}

impl NextItemDataset {
    /// Creates training data of parts of the interactions, such as old and new ones, given as rows in the order of
    /// time. The samples of a part follow those of the part before it.
    ///
    /// The history of a sample, and the items seen by its user, are of its part and of the parts before it, so that the
    /// samples of old data are the same before and after new data arrive, also where those are earlier.
    ///
    /// # Panics
    /// If a row is not below the number of interactions.
    pub fn new(interactions: &Interactions, parts: &[Vec<usize>]) -> Self {
        let mut data = Self::empty(interactions);
        let mut is_known = vec![false; interactions.rows().len()];
        for part in parts {
            for &row in part {
                is_known[row] = true;
            }
            let users = Users::of(interactions, |row| is_known[row]);
            let seen = users.items.iter().map(|items| distinct(items));
            let seen: Vec<Arc<[u32]>> = seen.collect();
            data.push(interactions, &users, part, |user, _| seen[user].clone());
        }
        data
    }

    /// Creates training data of all interactions, as one part.
    pub fn of_all(interactions: &Interactions) -> Self {
        Self::new(interactions, &[(0..interactions.rows().len()).collect()])
    }

    /// Creates held-out data of rows of the interactions. The items seen by the user of a sample are those of its
    /// history.
    ///
    /// # Panics
    /// If a row is not below the number of interactions.
    pub fn held_out(interactions: &Interactions, rows: &[usize]) -> Self {
        let users = Users::of(interactions, |_| true);
        let mut data = Self::empty(interactions);
        data.push(interactions, &users, rows, |user, position| {
            distinct(&users.items[user][..position])
        });
        data
    }

    fn empty(interactions: &Interactions) -> Self {
        Self {
            interactions: interactions.clone(),
            samples: Vec::new(),
            rows: Vec::new(),
            starts: vec![0],
        }
    }

    /// Adds a part of the rows that have a history; `seen` gives the items of a user and of the position of a row.
    fn push(
        &mut self,
        interactions: &Interactions,
        users: &Users,
        rows: &[usize],
        seen: impl Fn(usize, usize) -> Arc<[u32]>,
    ) {
        for &row in rows {
            let user = interactions.rows()[row].user;
            let position = users.positions[row];
            if position > 0 {
                self.rows.push(row);
                self.samples.push(NextItem {
                    user,
                    items: users.items[user as usize].clone(),
                    position,
                    seen: seen(user as usize, position),
                });
            }
        }
        self.starts.push(self.samples.len());
    }

    /// Returns the interactions, those of held-out data too.
    pub fn interactions(&self) -> &Interactions {
        &self.interactions
    }

    /// Returns the number of items of the catalogue.
    pub fn n_items(&self) -> usize {
        self.interactions.items().len()
    }

    /// Returns all samples.
    pub fn samples(&self) -> &[NextItem] {
        &self.samples
    }

    /// Returns the row of the target of each sample, in the order of the samples.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the positions of the samples of a part.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn part(&self, part: usize) -> Range<usize> {
        self.starts[part]..self.starts[part + 1]
    }

    /// Splits the samples into old and new ones as [`Interactions::increment`] splits their interactions.
    ///
    /// # Errors
    /// [`DataError`]
    /// - those of [`Interactions::increment`];
    /// - if either part has fewer than two samples.
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        let rows = self.interactions.increment(split, alpha, seed)?;
        let mut is_new = vec![false; self.interactions.rows().len()];
        rows.new_data().iter().for_each(|&row| is_new[row] = true);
        let samples = 0..self.samples.len();
        let (new, old): (Vec<usize>, Vec<usize>) =
            samples.partition(|&sample| is_new[self.rows[sample]]);
        Increment::try_new(old, new).map_err(DataError::from)
    }

    /// Returns the rank of the time of each sample among those of all interactions; equal times have equal ranks.
    pub fn time_ranks(&self) -> Vec<usize> {
        let rows = self.interactions.rows();
        let mut times: Vec<f64> = rows.iter().map(|row| row.time).collect();
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        let rank = |&row: &usize| times.partition_point(|time| *time < rows[row].time);
        self.rows.iter().map(rank).collect()
    }

    /// Returns the [hash of the content](ContentHash) of each sample: of its user and of the item that follows the
    /// history, by their names. The history, which grows, does not count: all samples in which a user repeats an item
    /// have one hash, so that none of them is held out while another is trained on.
    pub fn contents(&self) -> Vec<u64> {
        let (log, samples) = (&self.interactions, &self.samples);
        contents(samples.len(), |index| {
            let user = &log.users()[samples[index].user as usize];
            let item = &log.items()[samples[index].target() as usize];
            let sum = ContentHash::new().text(user.as_bytes());
            sum.text(item.as_bytes()).finish()
        })
    }

    /// Returns the number of new samples of an increment that have the user, the item and the time of an old one.
    ///
    /// # Panics
    /// If an index of the increment is not below the number of samples.
    pub fn n_equal(&self, increment: &Increment) -> usize {
        n_equal(increment, |sample| {
            let row = self.interactions.rows()[self.rows[sample]];
            (row.user, row.item, row.time.to_bits())
        })
    }
}

impl Samples for NextItemDataset {
    type Sample = NextItem;

    fn n_samples(&self) -> usize {
        self.samples.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, NextItem>, SampleError> {
        Ok(Cow::Borrowed(&self.samples[index]))
    }
}

/// Items of each user in interactions that are known, in the order of time, and the position of each of these
/// interactions among those of its user.
struct Users {
    items: Vec<Arc<[u32]>>,
    positions: Vec<usize>,
}

impl Users {
    fn of(interactions: &Interactions, is_known: impl Fn(usize) -> bool) -> Self {
        let mut positions = vec![0; interactions.rows().len()];
        let mut items = Vec::with_capacity(interactions.users().len());
        for mut rows in interactions.rows_of_users() {
            rows.retain(|&row| is_known(row));
            for (position, &row) in rows.iter().enumerate() {
                positions[row] = position;
            }
            let of_user = rows.iter().map(|&row| interactions.rows()[row].item);
            items.push(of_user.collect());
        }
        Self { items, positions }
    }
}

/// Returns the items in ascending order, each once.
fn distinct(items: &[u32]) -> Arc<[u32]> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items.dedup();
    items.into()
}
