//! Joining of old and new tables, read from two places, into one.

use std::iter;

use icl_core::Increment;

use super::dataset::TabularDataset;
use super::raw_column::Contents;
use super::table::RawTable;
use crate::error::DataError;
use crate::increments::increment_of_parts;
use crate::place::Found;
use crate::selection::united;

impl RawTable {
    /// Joins two tables: the rows of `old`, then those of `new`, and the increment of both.
    ///
    /// **Columns** are identified by their names and keep the order of `old`. Numbers of `new` in a
    /// column that is text in `old` are read as text. A column of one table alone is left out.
    ///
    /// **Classes** are identified by their names, in whichever table they occur. The classes of `old`
    /// keep their indices; classes that only `new` has follow in their order. If one of the tables has no classes, the
    /// joined one has none.
    ///
    /// The name is `OLD+NEW`.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if one of them has fewer than two rows;
    /// - if a column of numbers in `old`, but for one that numbers or names the rows, is text in `new`.
    pub fn join(old: &Self, new: &Self) -> Result<(Self, Increment), DataError> {
        let parts = [old, new].map(|table| (table.name(), table.n_rows()));
        let increment = increment_of_parts(parts, "rows")?;
        Ok((old.append(new)?, increment))
    }

    /// Appends the rows of another table, however few, as [`join`](Self::join) does.
    ///
    /// # Errors
    /// Those of [`join`](Self::join), but for that of few samples.
    pub fn append(&self, new: &Self) -> Result<Self, DataError> {
        let old = self;
        let has_classes = old.has_labels() && new.has_labels();
        let mut columns = Vec::with_capacity(old.columns.len());
        let mut target = None;
        for (index, column) in old.columns.iter().enumerate() {
            let added = match old.target == Some(index) {
                true if has_classes => {
                    target = Some(columns.len());
                    new.target.map(|target| &new.columns[target])
                }
                true => None,
                false => new.column(&column.name),
            };
            let Some(added) = added else { continue };
            if column.contents == Contents::Numbers && !column.is_index {
                added.check_numbers(&new.name)?;
            }
            let mut fields = column.fields.clone();
            added.fields.iter().for_each(|field| fields.push(&field));
            columns.push(column.with_fields(fields));
        }
        let (class_names, of_new) = united(&old.class_names, &new.class_names);
        let labels_of_new = new.labels.iter().map(|&label| of_new[label] as usize);
        let labels: Vec<usize> = iter::chain(old.labels.iter().copied(), labels_of_new).collect();
        Ok(Self::from_parts(
            format!("{}+{}", old.name, new.name),
            labels.len(),
            columns,
            target.map(|target| (target, labels, class_names)),
        ))
    }
}

impl TabularDataset {
    /// Joins the rows of two tables of one schema, see [`RawTable::join`], and returns the increment of both.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if one of them has fewer than two rows;
    /// - those of [`append`](Self::append).
    pub fn join(old: &Self, new: &Self) -> Result<(Self, Increment), DataError> {
        let parts = [old, new].map(|rows| (rows.name(), rows.n_rows()));
        let increment = increment_of_parts(parts, "rows")?;
        Ok((old.append(new)?, increment))
    }

    /// Appends the rows of a table of the same schema, however few, as [`RawTable::append`] does, without making the
    /// features of any row again: a stream appends to all of its rows at each increment.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if the schemas differ;
    /// - if a column of numbers is text in `new`.
    pub fn append(&self, new: &Self) -> Result<Self, DataError> {
        if self.schema() != new.schema() {
            return Err(DataError::new(
                format!("data set {}", Found::new(new.name())),
                "rows of another schema",
                format!("the schema of {}", Found::new(self.name())),
            ));
        }
        let raw = self.raw().append(new.raw())?;
        let mut counts = self.counts().clone();
        counts.add(new.counts(), raw.n_class());
        let values = iter::chain(self.values(), new.values()).copied().collect();
        Ok(self.with(raw, values, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tabular::{TableOptions, TableSchema, read_table};

    fn table(text: &str) -> RawTable {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        read_table(&path, &TableOptions::default()).unwrap()
    }

    /// The features of rows that are appended are those that the rows of both tables have.
    #[test]
    fn appended_rows_have_the_features_of_all() {
        let old = table("a,b,c\n1,x,7\n2.5,y,8\n-1,x,1e3\n4,z,2\n");
        let schema = TableSchema::fit(&old, &[0, 1, 2, 3], &[]).unwrap();
        let mut raw = old.clone();
        let mut rows = schema.apply(&raw).unwrap();
        for text in [
            "a,b,c\n9,y,0\n",
            "c,b,a\n3,new,5\n4,1,6\n",
            "a,b,c\n0,new,1\n",
        ] {
            let new = table(text);
            raw = raw.append(&new).unwrap();
            rows = rows.append(&schema.apply(&new).unwrap()).unwrap();
        }
        assert_eq!(rows, schema.apply(&raw).unwrap());
        assert_eq!(rows.n_rows(), 8);
        assert_eq!(rows.counts().unseen, [("b".to_owned(), 3)]);
        // One row is no part of an increment.
        assert!(RawTable::join(&old, &table("a,b,c\n9,y,0\n")).is_err());
    }
}
