//! Tables as they were read: columns of numbers or of text, before they become features.

use std::sync::Arc;

use super::error::TablesError;
use crate::place::Found;

/// Code of a missing value in a column of text.
pub(super) const MISSING_CODE: u32 = u32::MAX;

/// Name of the only class of a table without classes.
const UNLABELLED: &str = "unlabelled";

/// A table as it was read: columns of numbers or of text, and the class of each row.
///
/// Columns become features by a [`TableSchema`](crate::TableSchema), which is fitted to the old data.
/// Clones share the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct RawTable {
    pub(super) name: String,
    pub(super) columns: Arc<[RawColumn]>,
    /// Name of the column of the classes, if there is one.
    pub(super) target: Option<String>,
    pub(super) labels: Arc<[usize]>,
    pub(super) class_names: Arc<[String]>,
}

/// A column without the target.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawColumn {
    pub(super) name: String,
    pub(super) values: RawValues,
}

/// Values of a column, one for each row.
#[derive(Debug, Clone)]
pub(super) enum RawValues {
    /// Finite numbers; NaN where a value is missing.
    Numbers(Vec<f32>),
    /// Indices into the different texts, in the order of their first occurrence; [`MISSING_CODE`]
    /// where a value is missing.
    Texts { codes: Vec<u32>, texts: Vec<String> },
}

impl RawTable {
    /// Creates a table whose rows have no classes, or the classes of a target column.
    pub(super) fn from_parts(
        name: String,
        n_rows: usize,
        columns: Vec<RawColumn>,
        classes: Option<(String, Vec<usize>, Vec<String>)>,
    ) -> Self {
        let (target, labels, class_names) = match classes {
            Some((target, labels, class_names)) => (Some(target), labels, class_names),
            None => (None, vec![0; n_rows], vec![UNLABELLED.to_owned()]),
        };
        debug_assert!(columns.iter().all(|column| column.values.len() == n_rows));
        Self {
            name,
            columns: columns.into(),
            target,
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
        let columns = columns.into_iter().map(|(name, values)| RawColumn {
            name,
            values: RawValues::Numbers(values),
        });
        let target = |(labels, names)| ("class".to_owned(), labels, names);
        Self::from_parts(
            name.to_owned(),
            n_rows,
            columns.collect(),
            classes.map(target),
        )
    }

    /// Returns the name of the data set, taken from its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of rows.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
    }

    /// Returns the names of the columns in the order of the file, without the target.
    pub fn column_names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| &*column.name).collect()
    }

    /// Returns the name of the column of the classes, if there is one.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
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

    /// Returns the values of all columns `[n_rows, n_columns]`, row by row, for a table of numbers alone; a
    /// missing value is NaN.
    ///
    /// # Errors
    /// [`TablesError::ColumnType`] if a column holds text.
    pub fn numbers(&self) -> Result<Vec<f32>, TablesError> {
        let width = self.columns.len();
        let mut all = vec![0.0; self.n_rows() * width];
        for (at, column) in self.columns.iter().enumerate() {
            let RawValues::Numbers(values) = &column.values else {
                return Err(TablesError::ColumnType {
                    data: Found::new(&self.name),
                    column: Found::new(&column.name),
                    found: "text",
                    expected: "numbers",
                });
            };
            for (row, value) in all.chunks_exact_mut(width).zip(values) {
                row[at] = *value;
            }
        }
        Ok(all)
    }

    /// Returns the column of this name.
    pub(super) fn column(&self, name: &str) -> Option<&RawColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Returns the table of the rows with these indices, in their order. Classes without any row are
    /// dropped.
    ///
    /// # Panics
    /// If an index is not below [`n_rows`](Self::n_rows).
    pub fn rows(&self, indices: &[usize]) -> Self {
        let mut is_kept = vec![false; self.class_names.len()];
        for &index in indices {
            is_kept[self.labels[index]] = true;
        }
        let mut new_class = vec![0; is_kept.len()];
        let mut class_names = Vec::new();
        for (class, name) in self.class_names.iter().enumerate() {
            if is_kept[class] || !self.has_labels() {
                new_class[class] = class_names.len();
                class_names.push(name.clone());
            }
        }
        let column = |column: &RawColumn| RawColumn {
            name: column.name.clone(),
            values: column.values.at(indices),
        };
        Self {
            name: self.name.clone(),
            columns: self.columns.iter().map(column).collect(),
            target: self.target.clone(),
            labels: indices.iter().map(|&i| new_class[self.labels[i]]).collect(),
            class_names: class_names.into(),
        }
    }
}

impl RawValues {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts { codes, .. } => codes.len(),
        }
    }

    /// Returns the values of these rows.
    fn at(&self, indices: &[usize]) -> Self {
        match self {
            Self::Numbers(values) => Self::Numbers(indices.iter().map(|&i| values[i]).collect()),
            Self::Texts { codes, texts } => Self::Texts {
                codes: indices.iter().map(|&i| codes[i]).collect(),
                texts: texts.clone(),
            },
        }
    }

    /// Returns the value of a row as text that reads back as the same value; `None` if it is missing.
    pub(super) fn text(&self, row: usize) -> Option<String> {
        match self {
            Self::Numbers(values) => (!values[row].is_nan()).then(|| values[row].to_string()),
            Self::Texts { codes, texts } => texts.get(codes[row] as usize).cloned(),
        }
    }
}

impl PartialEq for RawValues {
    /// Compares values: missing ones are equal, and texts are compared by what they say.
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
        match (self, other) {
            (Self::Numbers(a), Self::Numbers(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(is_same)
            }
            (Self::Texts { .. }, Self::Texts { .. }) => {
                self.len() == other.len()
                    && (0..self.len()).all(|row| self.text(row) == other.text(row))
            }
            _ => false,
        }
    }
}
