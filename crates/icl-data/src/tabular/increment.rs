//! Splits of a table into old and new rows.

use icl_core::{GrowthRatio, Increment, Seed};

use super::dataset::TabularDataset;
use super::schema::TableSchema;
use super::table::RawTable;
use crate::error::DataError;
use crate::increments::{n_equal, number_bits};
use crate::place::Found;
use crate::split::Split;

impl RawTable {
    /// Splits the rows into old and new ones; see [`Split::increment`].
    ///
    /// The key of [`Split::Class`] is the class; the key of [`Split::Column`] is the rank of the value.
    /// For [`Split::Size`], all rows are equal.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if either part would have fewer
    ///   than two rows;
    /// - if the split names other classes;
    /// - if it is one by time;
    /// - those of [`ranks`](Self::ranks) if it is one by a column;
    /// - if it is one of classes and the rows have none.
    pub fn increment(
        &self,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        if matches!(split, Split::Class | Split::Classes(_)) && !self.has_labels() {
            return Err(DataError::new(
                Found::new(&self.name),
                format!("no classes for split {}", Found::new(&split.to_string())),
                "a target column",
            ));
        }
        let keys = match &split {
            Split::Random | Split::Class => self.labels.to_vec(),
            Split::Size => vec![0; self.n_rows()],
            Split::Classes(old) => {
                Split::class_keys(&self.name, old, &self.labels, &self.class_names)?
            }
            Split::Column(name) => self.ranks(name)?,
            Split::Time => return Err(split.unfit("a table")),
        };
        split.increment(&keys, alpha, seed)
    }
}

impl TabularDataset {
    /// Splits the rows of a table into old and new ones and makes the features of all by the
    /// statistics of the old ones. A column that orders the rows becomes no feature.
    ///
    /// ```
    /// use icl_core::{GrowthRatio, Seed};
    /// use icl_data::{TabularDataset, embedded};
    ///
    /// let digits = embedded::tables("digits-table")?;
    /// let split = "class:0,1,2,3,4".parse()?;
    /// let alpha = GrowthRatio::try_new(0.5)?;
    /// let (data, increment) = TabularDataset::split(&digits, split, alpha, Seed::new(1))?;
    /// assert_eq!((increment.old().len(), increment.new_data().len()), (901, 896));
    /// assert_eq!(data.n_rows(), 1797);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`RawTable::increment`], [`TableSchema::fit`] and [`TableSchema::apply`].
    pub fn split(
        table: &RawTable,
        split: Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<(Self, Increment), DataError> {
        let increment = table.increment(split.clone(), alpha, seed)?;
        let excluded = match &split {
            Split::Column(name) => vec![name.as_str()],
            _ => Vec::new(),
        };
        let schema = TableSchema::fit(table, increment.old(), &excluded)?;
        Ok((schema.apply(table)?, increment))
    }

    /// Returns the number of new rows that equal an old one in all features, whatever their classes
    /// are.
    pub fn n_equal(&self, increment: &Increment) -> usize {
        let d_features = self.d_features();
        n_equal(increment, |index| {
            let row = &self.values()[index * d_features..(index + 1) * d_features];
            number_bits(row).collect::<Vec<u32>>()
        })
    }
}
