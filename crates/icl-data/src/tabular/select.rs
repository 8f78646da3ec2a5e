//! Selection of classes and of a number of rows.

use super::table::RawTable;
use crate::error::DataError;
use crate::selection::{n_class, selected};

impl RawTable {
    /// Keeps the rows of some classes, and at most `limit` of them, balanced across classes.
    ///
    /// `classes` names the classes to keep, in any order; if empty, all are kept. Classes and rows
    /// keep their order. With a limit, the first rows of each class are kept, one of each class in
    /// turn until `limit` is reached; of a table without classes, the first `limit` rows are kept.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if the table has no class of a given name;
    /// - if a class is given twice;
    /// - if the limit is below 4, too few for two
    ///   old and two new rows.
    pub fn select(self, classes: &[String], limit: Option<usize>) -> Result<Self, DataError> {
        let of = (&*self.name, "rows");
        let kept = selected(of, &self.labels, &self.class_names, classes, limit)?;
        if kept.len() == self.n_rows() {
            return Ok(self);
        }
        Ok(self.rows(&kept))
    }

    /// Returns the number of rows of each class.
    pub fn n_class(&self) -> Vec<usize> {
        n_class(self.labels.iter().copied(), self.class_names.len())
    }
}
