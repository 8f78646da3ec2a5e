//! Rows of the matrix of a stream.

use serde::{Deserialize, Serialize};

/// Row of the matrix of a stream, of which few cells were measured: its memory does not grow with the length of the
/// stream. It is stored with all cells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Option<f64>>", into = "Vec<Option<f64>>")]
pub struct SparseRow {
    n: usize,
    measured: Vec<(usize, f64)>,
}

impl From<Vec<Option<f64>>> for SparseRow {
    fn from(cells: Vec<Option<f64>>) -> Self {
        let measured = cells.iter().enumerate();
        let mut measured: Vec<_> = measured
            .filter_map(|(at, cell)| Some((at, (*cell)?)))
            .collect();
        measured.shrink_to_fit();
        Self {
            n: cells.len(),
            measured,
        }
    }
}

impl From<SparseRow> for Vec<Option<f64>> {
    fn from(row: SparseRow) -> Self {
        row.followed_by(None)
    }
}

impl SparseRow {
    /// Returns a cell; `None` if it was not measured.
    pub fn get(&self, at: usize) -> Option<f64> {
        let found = self.measured.binary_search_by_key(&at, |it| it.0);
        found.ok().map(|place| self.measured[place].1)
    }

    /// Returns the last cell, that of the experience itself.
    pub fn last(&self) -> Option<f64> {
        self.get(self.n.checked_sub(1)?)
    }

    /// Returns the measured cells with their places.
    pub fn measured(&self) -> &[(usize, f64)] {
        &self.measured
    }

    /// Returns all cells, and right of them what was served when the next experience came, if one has.
    pub fn followed_by(&self, served: Option<Option<f64>>) -> Vec<Option<f64>> {
        let mut cells = Vec::with_capacity(self.n + 1);
        cells.resize(self.n, None);
        for &(at, value) in &self.measured {
            cells[at] = Some(value);
        }
        cells.extend(served);
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_stored_with_all_cells() {
        let cells = vec![Some(0.5), None, Some(1.5)];
        let row = SparseRow::from(cells.clone());
        assert_eq!(
            (row.get(0), row.get(1), row.last()),
            (Some(0.5), None, Some(1.5))
        );
        assert_eq!(row.measured(), [(0, 0.5), (2, 1.5)]);
        assert_eq!(row.followed_by(Some(None)).len(), 4);
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(text, "[0.5,null,1.5]");
        assert_eq!(serde_json::from_str::<SparseRow>(&text).unwrap(), row);
        assert_eq!(SparseRow::default().last(), None);
    }
}
