//! Assembly of a table: the role of each column, and the cells of those that are read.

use std::collections::HashMap;

use super::cells::{Cells, Origin, Targets};
use crate::error::DataError;
use crate::place::{ClassList, FileRef, Found};
use crate::tabular::classes::number_classes;
use crate::tabular::error::TablesError;
use crate::tabular::options::TableOptions;
use crate::tabular::table::RawTable;

/// Largest number of columns.
const MAX_COLUMNS: usize = 65_536;
/// Largest number of values: 2^28, or 1 GiB.
const MAX_VALUES: usize = 1 << 28;

/// Cells of a column, or `None` of one that is not read.
#[derive(Debug)]
enum Slot {
    Feature(Cells),
    Target(Targets),
    Excluded,
}

/// A table of which some rows are read.
#[derive(Debug)]
pub(super) struct Assembly {
    name: String,
    slots: Vec<Slot>,
    n_rows: usize,
}

impl Assembly {
    /// Begins a table of columns of these names.
    ///
    /// # Errors
    /// [`DataError::TooMany`] columns, [`TablesError::RepeatedColumn`] and
    /// [`TablesError::UnknownColumn`].
    pub(super) fn begin(
        file: &FileRef,
        name: String,
        columns: &[String],
        options: &TableOptions,
    ) -> Result<Self, DataError> {
        check_n_columns(file, columns.len())?;
        check_column_names(file, columns)?;
        let find = |wanted: &String| find_column(&name, columns, wanted);
        let cells = |column: &String| Slot::Feature(Cells::new(column.clone()));
        let mut slots: Vec<Slot> = columns.iter().map(cells).collect();
        for wanted in &options.exclude {
            slots[find(wanted)?] = Slot::Excluded;
        }
        if let Some(wanted) = &options.target {
            let target = find(wanted)?;
            slots[target] = Slot::Target(Targets::new(columns[target].clone()));
        }
        Ok(Self {
            name,
            slots,
            n_rows: 0,
        })
    }

    /// Returns `true` if a column is not excluded.
    pub(super) fn is_read(&self, column: usize) -> bool {
        !matches!(self.slots[column], Slot::Excluded)
    }

    /// Adds the row of texts at line or row `at`, as many as there are columns.
    pub(super) fn push_texts<'a>(
        &mut self,
        origin: &Origin<'_>,
        at: usize,
        texts: impl Iterator<Item = &'a str>,
    ) -> Result<(), DataError> {
        self.begin_row(origin.file)?;
        for (slot, text) in self.slots.iter_mut().zip(texts) {
            let text = text.trim();
            match slot {
                Slot::Feature(cells) => cells.push(origin, at, text)?,
                Slot::Target(targets) => targets.push(origin, at, text)?,
                Slot::Excluded => {}
            }
        }
        Ok(())
    }

    fn begin_row(&mut self, file: &FileRef) -> Result<(), DataError> {
        self.n_rows += 1;
        let found = self.n_rows * self.slots.len();
        if found > MAX_VALUES {
            return Err(DataError::TooMany {
                file: file.clone(),
                what: "values",
                found,
                limit: MAX_VALUES,
            });
        }
        Ok(())
    }

    /// Makes the table of all rows, and selects classes and rows.
    pub(super) fn finish(
        self,
        origin: &Origin<'_>,
        options: &TableOptions,
    ) -> Result<RawTable, DataError> {
        let mut columns = Vec::new();
        let mut classes = None;
        for slot in self.slots {
            match slot {
                Slot::Feature(cells) => columns.push(cells.finish(origin)?),
                Slot::Target(targets) => {
                    let (name, codes, names) = targets.finish();
                    let (labels, class_names) = number_classes(&codes, names);
                    classes = Some((name, labels, class_names));
                }
                Slot::Excluded => {}
            }
        }
        if columns.is_empty() {
            return Err(TablesError::NoFeatures {
                data: Found::new(&self.name),
            }
            .into());
        }
        let table = RawTable::from_parts(self.name, self.n_rows, columns, classes);
        table.select(&options.classes, options.limit)
    }
}

/// Checks the number of columns of a table.
pub(super) fn check_n_columns(file: &FileRef, found: usize) -> Result<(), DataError> {
    if found <= MAX_COLUMNS {
        return Ok(());
    }
    Err(DataError::TooMany {
        file: file.clone(),
        what: "columns",
        found,
        limit: MAX_COLUMNS,
    })
}

/// Checks that no two columns have the same name.
pub(super) fn check_column_names(file: &FileRef, columns: &[String]) -> Result<(), TablesError> {
    let mut seen = HashMap::new();
    for (index, column) in columns.iter().enumerate() {
        if let Some(first) = seen.insert(column, index) {
            return Err(TablesError::RepeatedColumn {
                file: file.clone(),
                name: Found::new(column),
                first: first + 1,
                second: index + 1,
            });
        }
    }
    Ok(())
}

/// Returns the index of the column of this name, or of this number, counted from 1.
pub(super) fn find_column(
    data: &str,
    columns: &[String],
    wanted: &str,
) -> Result<usize, TablesError> {
    let named = columns.iter().position(|name| name == wanted);
    let numbered = || {
        let number: usize = wanted.parse().ok()?;
        (1..=columns.len()).contains(&number).then(|| number - 1)
    };
    named
        .or_else(numbered)
        .ok_or_else(|| TablesError::UnknownColumn {
            data: Found::new(data),
            found: Found::new(wanted),
            known: ClassList::new(columns),
        })
}
