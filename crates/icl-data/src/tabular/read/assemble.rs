//! Assembly of a table: the role of each column, and the fields of those that are read.

use std::collections::HashMap;

use super::cells::{Cells, Fault, Origin, first_fault};
use super::targets::Targets;
use crate::error::{DataError, too_many};
use crate::place::{FileRef, Found};
use crate::tabular::classes::number_classes;
use crate::tabular::error::{check_n_values, unknown_column};
use crate::tabular::note::TableNote;
use crate::tabular::options::TableOptions;
use crate::tabular::raw_column::RawColumn;
use crate::tabular::table::RawTable;

/// Largest number of columns.
const MAX_COLUMNS: usize = 65_536;

/// Role of a column, with the fields that are read so far.
#[derive(Debug)]
enum Slot {
    Feature(Cells),
    Target(Targets),
    Id(Cells),
    Excluded,
}

/// Names of the columns of a file.
#[derive(Debug)]
pub(super) struct Names {
    names: Vec<String>,
    /// Names as the file has them, with blanks or empty; `None` without a line of names.
    headings: Option<Vec<String>>,
}

impl Names {
    /// Creates the names of columns as a file has them. One without a name is named by its number.
    pub(super) fn of_file(headings: Vec<String>) -> Self {
        let name = |(index, heading): (usize, &String)| match heading.trim() {
            "" => (index + 1).to_string(),
            name => name.to_owned(),
        };
        Self {
            names: headings.iter().enumerate().map(name).collect(),
            headings: Some(headings),
        }
    }

    /// Creates the names of `n` columns of a file that has none: their numbers.
    pub(super) fn numbers(n: usize) -> Self {
        Self {
            names: (1..=n).map(|number| number.to_string()).collect(),
            headings: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn get(&self, column: usize) -> &str {
        &self.names[column]
    }

    /// Returns the index of the column of this name, or of this number, counted from 1.
    pub(super) fn find(&self, data: &str, wanted: &str) -> Result<usize, DataError> {
        let named = self.names.iter().position(|name| name == wanted);
        let numbered = || {
            let number: usize = wanted.parse().ok()?;
            (1..=self.len()).contains(&number).then(|| number - 1)
        };
        named
            .or_else(numbered)
            .ok_or_else(|| unknown_column(data, wanted, &self.names))
    }

    /// Returns the index of the column of this name, which is not to be the target.
    fn named(&self, data: &str, wanted: &str, target: Option<usize>) -> Result<usize, DataError> {
        match self.names.iter().position(|name| name == wanted) {
            None => Err(unknown_column(data, wanted, &self.names)),
            found if found == target => Err(DataError::new(
                Found::new(data),
                format!(
                    "the column {} as target and as the names of the rows",
                    Found::new(wanted)
                ),
                "two columns",
            )),
            Some(found) => Ok(found),
        }
    }

    /// Checks that no two columns have the same name.
    pub(super) fn check_distinct(&self, file: &FileRef) -> Result<(), DataError> {
        let mut seen = HashMap::new();
        for (index, name) in self.names.iter().enumerate() {
            if let Some(first) = seen.insert(name, index) {
                return Err(DataError::new(
                    file,
                    format!(
                        "columns {} and {} with the name {}",
                        first + 1,
                        index + 1,
                        Found::new(name)
                    ),
                    "different names",
                ));
            }
        }
        Ok(())
    }
}

/// A table of which some rows are read.
#[derive(Debug)]
pub(super) struct Assembly {
    name: String,
    has_header: bool,
    slots: Vec<Slot>,
    n_values: usize,
    /// Columns that options name and the table does not have.
    absent: Vec<TableNote>,
}

impl Assembly {
    /// Begins a table of columns of these names.
    ///
    /// # Errors
    /// [`DataError`] if there are too many columns, two of one name, or none of the name that a setting gives.
    pub(super) fn begin(
        file: &FileRef,
        name: String,
        columns: &Names,
        options: &TableOptions,
    ) -> Result<Self, DataError> {
        check_n_columns(file, columns.len())?;
        columns.check_distinct(file)?;
        let mut absent = Vec::new();
        let mut find = |setting, wanted: &String| match columns.find(&name, wanted) {
            Err(_) if options.allows_absent => {
                let column = Found::new(wanted);
                absent.push(TableNote::Absent { setting, column });
                Ok(None)
            }
            found => found.map(Some),
        };
        let target = options.target.as_ref();
        let target = target.map_or(Ok(None), |wanted| find("target", wanted))?;
        let excluded = options.exclude.iter().map(|wanted| find("exclude", wanted));
        let excluded = excluded.collect::<Result<Vec<Option<usize>>, _>>()?;
        let id = options
            .id
            .as_ref()
            .map(|id| columns.named(&name, id, target));
        let id = id.transpose()?;
        let slot = |index: usize| {
            let name = columns.names[index].clone();
            let heading = columns.headings.as_ref().map(|headings| &headings[index]);
            let heading = heading.filter(|heading| **heading != name).cloned();
            match () {
                () if target == Some(index) => Slot::Target(Targets::new(name, heading)),
                () if id == Some(index) => Slot::Id(Cells::new(name, heading)),
                () if excluded.contains(&Some(index)) => Slot::Excluded,
                () => Slot::Feature(Cells::new(name, heading)),
            }
        };
        Ok(Self {
            slots: (0..columns.len()).map(slot).collect(),
            name,
            has_header: columns.headings.is_some(),
            n_values: 0,
            absent,
        })
    }

    /// Returns `true` if a column is not excluded.
    pub(super) fn is_read(&self, column: usize) -> bool {
        !matches!(self.slots[column], Slot::Excluded)
    }

    /// Returns `true` if a column holds the classes.
    pub(super) fn is_target(&self, column: usize) -> bool {
        matches!(self.slots[column], Slot::Target(_))
    }

    /// Adds the field of a column at line or row `at`.
    ///
    /// # Errors
    /// [`DataError`] if there are too many values.
    pub(super) fn push(
        &mut self,
        origin: &Origin<'_>,
        column: usize,
        at: usize,
        field: &str,
    ) -> Result<(), DataError> {
        match &mut self.slots[column] {
            Slot::Feature(cells) | Slot::Id(cells) => cells.push(at, field),
            Slot::Target(targets) => targets.push(at, field),
            Slot::Excluded => return Ok(()),
        }
        self.n_values += 1;
        check_n_values(origin.file, self.n_values)
    }

    /// Makes the table of `n_rows` rows, and selects classes and rows.
    ///
    /// # Errors
    /// The error of the first line or row that cannot be used, one if there is no feature, and those of
    /// [`RawTable::select`].
    pub(super) fn finish(
        self,
        origin: &Origin<'_>,
        n_rows: usize,
        note: Option<TableNote>,
        options: &TableOptions,
    ) -> Result<RawTable, DataError> {
        let mut columns: Vec<RawColumn> = Vec::new();
        let mut classes = None;
        let mut faults: Vec<Option<Fault>> = Vec::new();
        for (index, slot) in self.slots.into_iter().enumerate() {
            let column = match slot {
                Slot::Feature(cells) => cells.finish(origin, index == 0),
                Slot::Id(cells) => Ok(cells.finish_ids()),
                Slot::Target(targets) => targets.finish(origin).map(|(column, codes, names)| {
                    let (labels, class_names) = number_classes(&codes, names);
                    classes = Some((columns.len(), labels, class_names));
                    column
                }),
                Slot::Excluded => continue,
            };
            match column {
                Ok(column) => columns.push(column),
                Err(fault) => faults.push(Some(fault)),
            }
        }
        first_fault(faults).map_err(|(_, error)| error)?;
        if columns.len() == usize::from(classes.is_some()) {
            return Err(DataError::new(
                Found::new(&self.name),
                "no feature among the columns",
                "at least one that is not constant",
            ));
        }
        let mut table = RawTable::from_parts(self.name, n_rows, columns, classes);
        let forms = table.features().filter_map(RawColumn::number_form);
        table.notes = note.into_iter().chain(self.absent).chain(forms).collect();
        table.has_header = self.has_header;
        table.select(&options.classes, options.limit)
    }
}

/// Checks the number of columns of a table.
pub(super) fn check_n_columns(file: &FileRef, found: usize) -> Result<(), DataError> {
    if found <= MAX_COLUMNS {
        return Ok(());
    }
    Err(too_many(file, found, "columns", MAX_COLUMNS))
}
