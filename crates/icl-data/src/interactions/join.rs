//! Joining of old and new interactions, read from two files, into one log.

use super::log::{Interaction, Interactions};
use crate::error::DataError;
use crate::increments::increment_of_parts;
use crate::selection::united;

/// Old and new interactions in one log.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinedInteractions {
    /// All interactions, in the order of time; of equal times, the old ones first.
    pub interactions: Interactions,
    /// Rows of the old and of the new interactions, as [`NextItemDataset::new`](super::NextItemDataset::new) takes
    /// them.
    pub parts: [Vec<usize>; 2],
}

impl JoinedInteractions {
    /// Returns the number of new interactions that are earlier than the last old one. They have arrived late: they
    /// are in the histories of new samples, but not in those of old samples.
    pub fn n_late(&self) -> usize {
        let [old, new] = &self.parts;
        let last_old = old.last().copied().unwrap_or_default();
        new.partition_point(|row| *row < last_old)
    }
}

impl Interactions {
    /// Joins old interactions and new ones, which have arrived later.
    ///
    /// **Users and items** are identified by their names. Those of `old` keep their numbers; those that only `new` has
    /// follow in their order. New interactions may be earlier than old ones.
    ///
    /// The name is `OLD+NEW`.
    ///
    /// # Errors
    /// [`DataError`] if one of them has fewer than two interactions.
    pub fn join(old: &Self, new: &Self) -> Result<JoinedInteractions, DataError> {
        let parts = [old, new].map(|part| (part.name(), part.rows().len()));
        increment_of_parts(parts, "interactions")?;
        Ok(old.append(new))
    }

    /// Appends other interactions, however few, as [`join`](Self::join) does.
    pub fn append(&self, new: &Self) -> JoinedInteractions {
        let old = self;
        let (users, numbers_of_users) = united(old.users(), new.users());
        let (items, numbers_of_items) = united(old.items(), new.items());
        let added = new.rows().iter().map(|row| Interaction {
            user: numbers_of_users[row.user as usize],
            item: numbers_of_items[row.item as usize],
            time: row.time,
        });
        let of_old = old.rows().iter().map(|row| (*row, 0));
        let mut rows: Vec<(Interaction, usize)> = of_old.chain(added.map(|row| (row, 1))).collect();
        // The sort is stable: of equal times, the old ones stay first.
        rows.sort_by(|(a, _), (b, _)| a.time.total_cmp(&b.time));
        let mut parts = [Vec::new(), Vec::new()];
        for (index, (_, part)) in rows.iter().enumerate() {
            parts[*part].push(index);
        }
        let rows = rows.into_iter().map(|(row, _)| row).collect();
        let name = format!("{}+{}", old.name(), new.name());
        JoinedInteractions {
            interactions: Self::of_parts(name, users, items, rows),
            parts,
        }
    }
}
