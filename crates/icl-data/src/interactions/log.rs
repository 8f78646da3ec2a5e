//! Interactions in the order of time.

use std::collections::HashMap;
use std::sync::Arc;

use crate::selection::united;

/// An interaction of a user with an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interaction {
    /// User, as an index into [`Interactions::users`].
    pub user: u32,
    /// Item, as an index into [`Interactions::items`].
    pub item: u32,
    /// Time, in the units of the file (seconds since 1970 in MovieLens).
    pub time: f64,
}

/// Interactions of users with items, in the order of time; of equal times, in the order of the file.
///
/// Every interaction is a positive, whatever its rating. Users and items are names. A file numbers them in the order of
/// their first interactions; [`numbered_by`](Self::numbered_by) and [`join`](Self::join) keep the numbers that items
/// already have. Clones share all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interactions {
    name: String,
    users: Arc<[String]>,
    items: Arc<[String]>,
    rows: Arc<[Interaction]>,
}

impl Interactions {
    /// Creates interactions of rows in the order of the file, whose users and items are indices into the names.
    pub(super) fn new(
        name: String,
        users: &[&str],
        items: &[&str],
        mut rows: Vec<Interaction>,
    ) -> Self {
        // The sort is stable: equal times stay in the order of the file.
        rows.sort_by(|a, b| a.time.total_cmp(&b.time));
        let users = renumber(users, rows.iter_mut().map(|row| &mut row.user));
        let items = renumber(items, rows.iter_mut().map(|row| &mut row.item));
        Self::of_parts(name, users, items, rows)
    }

    /// Creates interactions of rows in the order of time, whose users and items are indices into all names.
    pub(super) fn of_parts(
        name: String,
        users: Vec<String>,
        items: Vec<String>,
        rows: Vec<Interaction>,
    ) -> Self {
        Self {
            name,
            users: users.into(),
            items: items.into(),
            rows: rows.into(),
        }
    }

    /// Returns the name of the data set, from its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of each user.
    pub fn users(&self) -> &[String] {
        &self.users
    }

    /// Returns the name of each item.
    pub fn items(&self) -> &[String] {
        &self.items
    }

    /// Returns all interactions, in the order of time.
    pub fn rows(&self) -> &[Interaction] {
        &self.rows
    }

    /// Returns the same interactions with the items numbered as in `items`, the order of an encoder. Further items
    /// follow in their own order. Some items of the list may be in no interaction.
    #[must_use]
    pub fn numbered_by(&self, items: &[String]) -> Self {
        let (items, numbers) = united(items, &self.items);
        let renumbered = |row: &Interaction| Interaction {
            item: numbers[row.item as usize],
            ..*row
        };
        Self {
            name: self.name.clone(),
            users: self.users.clone(),
            rows: self.rows.iter().map(renumbered).collect(),
            items: items.into(),
        }
    }

    /// Returns a checksum of users, items and rows, as 8 hexadecimal digits.
    pub fn checksum(&self) -> String {
        let mut sum = crc32fast::Hasher::new();
        for name in self.users.iter().chain(&*self.items) {
            sum.update(&(name.len() as u64).to_le_bytes());
            sum.update(name.as_bytes());
        }
        for row in self.rows.iter() {
            sum.update(&row.user.to_le_bytes());
            sum.update(&row.item.to_le_bytes());
            sum.update(&row.time.to_le_bytes());
        }
        format!("{:08x}", sum.finalize())
    }

    /// Returns the rows of each user, in the order of time `[n_users]`.
    pub(super) fn rows_of_users(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.users.len()];
        for (index, row) in self.rows.iter().enumerate() {
            rows[row.user as usize].push(index);
        }
        rows
    }
}

/// Numbers names in the order of their first use, and returns them in that order. Names that are not used are dropped.
fn renumber<'a>(names: &[&str], used: impl Iterator<Item = &'a mut u32>) -> Vec<String> {
    let mut numbers = HashMap::new();
    let mut ordered = Vec::new();
    for index in used {
        *index = *numbers.entry(*index).or_insert_with(|| {
            ordered.push(names[*index as usize].to_owned());
            ordered.len() as u32 - 1
        });
    }
    ordered
}
