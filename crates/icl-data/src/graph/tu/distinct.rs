//! Columns of labels as indices into the distinct ones.

use std::collections::BTreeMap;

use super::table::{TextTable, check_count};
use crate::error::DataError;

/// Labels of the lines of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DistinctLabels {
    /// Distinct labels, ascending.
    pub(super) labels: Vec<i64>,
    /// For each line, the index of its label in `labels`.
    pub(super) of_line: Vec<u32>,
}

impl DistinctLabels {
    /// Returns the one class of `n` samples that have no labels.
    pub(super) fn of_none(n: usize) -> Self {
        Self {
            labels: vec![0],
            of_line: vec![0; n],
        }
    }

    /// Reads one label per line, of at most `limit` lines, which are called `what` in errors.
    pub(super) fn read(
        table: TextTable<'_>,
        limit: usize,
        what: &'static str,
    ) -> Result<Self, DataError> {
        let file = table.file().clone();
        // Numbered as they come, which needs no list of all labels besides that of their indices.
        let mut number_of = BTreeMap::new();
        let mut of_line = Vec::new();
        table.integers(|line, label| {
            check_count(&file, what, line, limit)?;
            let next = number_of.len() as u32;
            of_line.push(*number_of.entry(label).or_insert(next));
            Ok(())
        })?;
        let mut rank = vec![0; number_of.len()];
        for (index, &number) in number_of.values().enumerate() {
            rank[number as usize] = index as u32;
        }
        for label in &mut of_line {
            *label = rank[*label as usize];
        }
        Ok(Self {
            labels: number_of.into_keys().collect(),
            of_line,
        })
    }
}
