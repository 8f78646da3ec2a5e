//! Writer of files of interactions.

use std::io::Write;
use std::path::Path;

use icl_core::AtomicFile;

use super::log::Interactions;
use crate::error::DataError;
use crate::new_folder::unwritable;
use crate::place::Found;

impl Interactions {
    /// Writes some rows, in this order, as a file of RecBole (`NAME.inter`) with users, items and times, which
    /// [`read_interactions`](super::read_interactions) reads with the same values. Ratings are not written, since every
    /// interaction is a positive. The file is whole or absent.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if a user or an item has a tab in its name, as `ratings.dat` allows;
    /// - if a file has this name already, or cannot be written.
    ///
    /// # Panics
    /// If a row is not below the number of interactions.
    pub fn write(&self, rows: &[usize], path: impl AsRef<Path>) -> Result<(), DataError> {
        let path = path.as_ref();
        for (what, names) in [("user", self.users()), ("item", self.items())] {
            if let Some(name) = names.iter().find(|name| name.contains('\t')) {
                return Err(DataError::new(
                    format!("data set {}", Found::new(self.name())),
                    format!("a tab in the name of the {what} {}", Found::new(name)),
                    "none: tabs separate the columns",
                ));
            }
        }
        let write = || -> std::io::Result<()> {
            let mut file = AtomicFile::begin(path)?;
            writeln!(file, "user_id:token\titem_id:token\ttimestamp:float")?;
            for &row in rows {
                let row = self.rows()[row];
                let user = &self.users()[row.user as usize];
                let item = &self.items()[row.item as usize];
                writeln!(file, "{user}\t{item}\t{}", row.time)?;
            }
            file.create_new()
        };
        write().map_err(unwritable(path))
    }
}
