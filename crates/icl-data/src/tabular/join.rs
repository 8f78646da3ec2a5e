//! Joining of old and new tables, read from two places, into one.

use std::iter;

use icl_core::Increment;

use super::dataset::TabularDataset;
use super::error::TablesError;
use super::raw_column::Contents;
use super::schema::TableSchema;
use super::table::RawTable;
use crate::error::DataError;
use crate::place::Found;

impl RawTable {
    /// Joins two tables: the rows of `old`, then those of `new`, and the increment of both.
    ///
    /// **Columns** are identified by their names and keep the order of `old`. Numbers of `new` in a
    /// column that is text in `old` are read as text. A column of one table alone is left out.
    ///
    /// **Classes** are identified by their names, in whichever table they occur. The classes of `old`
    /// keep their indices; classes that only `new` has follow in their order. If one of the tables has no classes, the joined one
    /// has none.
    ///
    /// The name is `OLD+NEW`.
    ///
    /// # Errors
    /// [`DataError::Tables`] with
    /// - [`TablesError::TooSmall`] if one of them has fewer than two rows;
    /// - [`TablesError::ColumnType`] if a column of numbers in `old` is text in `new`.
    pub fn join(old: &Self, new: &Self) -> Result<(Self, Increment), DataError> {
        for table in [old, new] {
            if table.n_rows() < 2 {
                return Err(TablesError::TooSmall {
                    data: Found::new(&table.name),
                    found: table.n_rows(),
                }
                .into());
            }
        }
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
            if column.contents == Contents::Numbers {
                added.check_numbers(&new.name)?;
            }
            let mut fields = column.fields.clone();
            fields.extend(added.fields.iter());
            columns.push(column.with_fields(fields));
        }
        let mut class_names = old.class_names.to_vec();
        let mut of_new = Vec::with_capacity(new.class_names.len());
        for name in new.class_names.iter() {
            let known = class_names.iter().position(|other| other == name);
            of_new.push(known.unwrap_or_else(|| {
                class_names.push(name.clone());
                class_names.len() - 1
            }));
        }
        let labels_of_new = new.labels.iter().map(|&label| of_new[label]);
        let labels: Vec<usize> = iter::chain(old.labels.iter().copied(), labels_of_new).collect();
        let (n_old, n) = (old.n_rows(), labels.len());
        let joined = Self::from_parts(
            format!("{}+{}", old.name, new.name),
            n,
            columns,
            target.map(|target| (target, labels, class_names)),
        );
        let increment = Increment::try_new((0..n_old).collect(), (n_old..n).collect())?;
        Ok((joined, increment))
    }
}

impl TabularDataset {
    /// Joins two tables, see [`RawTable::join`], and makes the features of all rows by the statistics
    /// of `old`.
    ///
    /// # Errors
    /// The errors of [`RawTable::join`], [`TableSchema::fit`] and [`TableSchema::apply`].
    pub fn join(old: &RawTable, new: &RawTable) -> Result<(Self, Increment), DataError> {
        let (table, increment) = RawTable::join(old, new)?;
        let schema = TableSchema::fit(&table, increment.old(), &[])?;
        Ok((schema.apply(&table)?, increment))
    }
}
