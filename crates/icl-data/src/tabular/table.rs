//! Tables as they were read: the fields of a file, before they become features.

use std::sync::Arc;

use super::note::TableNote;
use super::raw_column::{Contents, RawColumn};
use crate::content::{ContentHash, contents};
use crate::error::DataError;
use crate::selection::classes_of;

/// Name of the only class of a table without classes.
const UNLABELLED: &str = "unlabelled";

/// A table as it was read: the fields of its columns, and the class of each row.
///
/// Fields are kept as the file has them, to the byte. Columns become features by a [`TableSchema`](crate::TableSchema),
/// which is fitted to the old data. Clones share the columns.
#[derive(Debug, Clone)]
pub struct RawTable {
    pub(super) name: String,
    /// Columns in the order of the file, with that of the classes.
    pub(super) columns: Arc<[RawColumn]>,
    /// Index of the column of the classes, if there is one.
    pub(super) target: Option<usize>,
    /// Whether the file has the names of its columns.
    pub(super) has_header: bool,
    pub(super) notes: Arc<[TableNote]>,
    pub(super) labels: Arc<[usize]>,
    pub(super) class_names: Arc<[String]>,
}

/// The column of the classes: its index, the class of each row, and the name of each class.
pub(super) type Classes = (usize, Vec<usize>, Vec<String>);

impl RawTable {
    /// Creates a table whose rows have no classes, or those of a column.
    pub(super) fn from_parts(
        name: String,
        n_rows: usize,
        columns: Vec<RawColumn>,
        classes: Option<Classes>,
    ) -> Self {
        debug_assert!(columns.iter().all(|column| column.fields.len() == n_rows));
        let (target, labels, class_names) = match classes {
            Some((target, labels, class_names)) => (Some(target), labels, class_names),
            None => (None, vec![0; n_rows], vec![UNLABELLED.to_owned()]),
        };
        Self {
            name,
            columns: columns.into(),
            target,
            has_header: true,
            notes: Arc::new([]),
            labels: labels.into(),
            class_names: class_names.into(),
        }
    }

    /// Creates a table of columns of numbers, each with its name, for `n_rows` rows; NaN is a missing value.
    /// `classes` are the class of each row, as an index, and the name of each class.
    ///
    /// # Panics
    /// If a column or the classes have another number of rows, two columns have one name, or a class has no
    /// name.
    pub fn of_numbers(
        name: &str,
        columns: Vec<(String, Vec<f32>)>,
        n_rows: usize,
        classes: Option<(Vec<usize>, Vec<String>)>,
    ) -> Self {
        let mut names: Vec<&String> = columns.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        assert!(
            names.windows(2).all(|pair| pair[0] != pair[1]),
            "every column needs a name of its own"
        );
        for (name, values) in &columns {
            assert_eq!(
                values.len(),
                n_rows,
                "column {name} must have a value for each row"
            );
        }
        if let Some((labels, names)) = &classes {
            assert_eq!(labels.len(), n_rows, "every row needs a class");
            assert!(
                labels.iter().all(|&label| label < names.len()),
                "every class needs a name"
            );
        }
        let column = |(name, values): (String, Vec<f32>)| RawColumn::of_numbers(name, &values);
        let mut columns: Vec<RawColumn> = columns.into_iter().map(column).collect();
        let classes = classes.map(|(labels, names)| {
            let fields = labels.iter().map(|&label| &*names[label]).collect();
            let contents = Contents::Texts;
            columns.push(RawColumn::new("class".to_owned(), fields, contents));
            (columns.len() - 1, labels, names)
        });
        Self::from_parts(name.to_owned(), n_rows, columns, classes)
    }

    /// Returns the name of the data set, from its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name of the data set, which messages and the names of written files use.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..self
        }
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
    }

    /// Returns the names of the columns in the order of the file, without the target.
    pub fn column_names(&self) -> Vec<&str> {
        self.features().map(|column| &*column.name).collect()
    }

    /// Returns the names of the columns that number the rows, which become no features: those that count up by 1 from
    /// row to row, and the index of a data frame.
    ///
    /// An index is a column `__index_level_0__` as pyarrow writes it, or whole numbers, each once, in a first column
    /// without a name or in `Unnamed: 0`, as pandas writes and reads it. Tables of fewer than 10 rows may count by
    /// chance: there, only these are found. A column that [`TableOptions::id`](crate::TableOptions::id) names is one,
    /// too.
    pub fn index_columns(&self) -> Vec<&str> {
        let numbering = self.features().filter(|column| column.is_index);
        numbering.map(|column| &*column.name).collect()
    }

    /// Returns the text of each row in the column of this name, without blanks around it; `None` if the table has no
    /// such column.
    pub fn texts(&self, column: &str) -> Option<Vec<String>> {
        let fields = &self.column(column)?.fields;
        let text = |row| fields.trimmed(row).into_owned();
        Some((0..self.n_rows()).map(text).collect())
    }

    /// Returns the decisions of the reader that the user may not have meant.
    pub fn notes(&self) -> &[TableNote] {
        &self.notes
    }

    /// Returns the name of the column of the classes, if there is one.
    pub fn target(&self) -> Option<&str> {
        self.target.map(|target| &*self.columns[target].name)
    }

    /// Returns `true` if the rows have classes.
    pub fn has_labels(&self) -> bool {
        self.target.is_some()
    }

    /// Returns the class of each row, as an index into [`class_names`](Self::class_names); all 0 if
    /// the rows have no classes.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// Returns the name of each class: in numerical order if all are whole numbers, else sorted by
    /// their bytes. A table without classes has a single one, named `unlabelled`.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// Returns the values of all columns `[n_rows, n_columns]` in single precision, row by row, for a table of numbers
    /// alone; a missing value is NaN.
    ///
    /// # Errors
    /// [`DataError`] if a column holds text.
    pub fn numbers(&self) -> Result<Vec<f32>, DataError> {
        let width = self.features().count();
        let mut all = vec![0.0; self.n_rows() * width];
        for (at, column) in self.features().enumerate() {
            column.check_numbers(&self.name)?;
            for (row, slot) in all.chunks_exact_mut(width).enumerate() {
                slot[at] = column.number(row, None);
            }
        }
        Ok(all)
    }

    /// Returns the hash of the content of each row in the columns of these names; those that the table does not have
    /// are ignored.
    pub(super) fn contents<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<u64> {
        let mut columns: Vec<&RawColumn> = names.filter_map(|name| self.column(name)).collect();
        columns.sort_unstable_by_key(|column| &column.name);
        contents(self.n_rows(), |row| {
            let add = |sum, column: &&RawColumn| column.add_content(row, sum);
            columns.iter().fold(ContentHash::new(), add).finish()
        })
    }

    /// Returns the columns that are not the target, in the order of the file.
    pub(super) fn features(&self) -> impl Iterator<Item = &RawColumn> {
        let indexed = self.columns.iter().enumerate();
        indexed.filter_map(|(at, column)| (self.target != Some(at)).then_some(column))
    }

    /// Returns the column of this name, unless it is the target.
    pub(super) fn column(&self, name: &str) -> Option<&RawColumn> {
        self.features().find(|column| column.name == name)
    }

    /// Returns the table without the columns of these names; names that it does not have are ignored, and the target
    /// stays.
    pub fn without(&self, names: &[&str]) -> Self {
        let target = self.target();
        let is_kept =
            |column: &&RawColumn| target == Some(&column.name) || !names.contains(&&*column.name);
        let columns: Arc<[RawColumn]> = self.columns.iter().filter(is_kept).cloned().collect();
        Self {
            target: target.and_then(|name| columns.iter().position(|column| column.name == name)),
            columns,
            ..self.clone()
        }
    }

    /// Returns the table of the rows with these indices, in their order. Classes without any row are
    /// dropped.
    ///
    /// # Panics
    /// If an index is not below [`n_rows`](Self::n_rows).
    pub fn rows(&self, indices: &[usize]) -> Self {
        let labels = indices.iter().map(|&index| self.labels[index]);
        let (kept, new_class) = match self.has_labels() {
            true => classes_of(labels.clone(), self.class_names.len()),
            false => (vec![0], vec![0]),
        };
        let class_names = kept.iter().map(|&class| self.class_names[class].clone());
        let column = |column: &RawColumn| column.with_fields(column.fields.rows(indices));
        Self {
            columns: self.columns.iter().map(column).collect(),
            labels: labels.map(|label| new_class[label]).collect(),
            class_names: class_names.collect(),
            ..self.clone()
        }
    }
}

impl PartialEq for RawTable {
    /// Compares names, values and classes, but not the notation of numbers.
    fn eq(&self, other: &Self) -> bool {
        let is_same =
            |(a, b): (&RawColumn, &RawColumn)| a.name == b.name && a.values().eq(b.values());
        self.name == other.name
            && self.target() == other.target()
            && (&self.labels, &self.class_names) == (&other.labels, &other.class_names)
            && self.columns.len() == other.columns.len()
            && self.features().zip(other.features()).all(is_same)
    }
}
