//! Stored embeddings after an update: the neighbours that a sample keeps, and whether its new embedding finds it.

use icl_eval::{EvalErrorKind, Matrix, NeighboursKeptConfig, cross_version_recall};
use icl_report::KeptNeighbours;

use crate::process::failure::Failure;

/// Largest number of rows: the time grows with their square.
const MOST_ROWS: usize = 2000;

/// Returns the share of rows whose new embedding finds its own stored one first, over at most 2000 rows at equal distances;
/// `None` with fewer than two rows, or where a table that grew has other columns.
///
/// # Errors
/// Never for embeddings of the same samples.
pub fn stored_recall(new: &Matrix, stored: &Matrix) -> Result<Option<f64>, Failure> {
    if new.n_columns() != stored.n_columns() {
        return Ok(None);
    }
    let n = new.n_rows();
    let n_drawn = n.min(MOST_ROWS);
    let rows: Vec<usize> = (0..n_drawn).map(|at| at * n / n_drawn).collect();
    match cross_version_recall(&new.select(&rows), &stored.select(&rows), 1) {
        Ok(recall) => Ok(Some(recall.own)),
        Err(error) if error.kind() == EvalErrorKind::TooFew => Ok(None),
        Err(error) => Err(Failure::Other(error.into())),
    }
}

/// Returns the share of the nearest neighbours that embeddings of the same samples have in common; `None` for too few
/// samples.
///
/// # Errors
/// If the embeddings cannot be compared.
pub fn neighbours_kept(before: &Matrix, after: &Matrix) -> Result<Option<KeptNeighbours>, Failure> {
    let measure = NeighboursKeptConfig::default().try_init();
    let kept = measure.and_then(|measure| {
        let (k, share) = (measure.k(), measure.share(before, after)?);
        Ok(KeptNeighbours { k, share })
    });
    match kept {
        Ok(kept) => Ok(Some(kept)),
        Err(error) if error.kind() == EvalErrorKind::TooFew => Ok(None),
        Err(error) => Err(Failure::Other(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of rows whose own stored row has the largest cosine, by a double loop over rows at equal distances.
    fn by_loops(new: &[[f64; 2]], stored: &[[f64; 2]], rows: &[usize]) -> f64 {
        let cosine = |a: [f64; 2], b: [f64; 2]| {
            (a[0] * b[0] + a[1] * b[1]) / (a[0].hypot(a[1]) * b[0].hypot(b[1]))
        };
        let mut found = 0;
        for &i in rows {
            let own = cosine(new[i], stored[i]);
            let mut is_first = true;
            for &j in rows {
                is_first &= j == i || cosine(new[i], stored[j]) < own;
            }
            found += usize::from(is_first);
        }
        found as f64 / rows.len() as f64
    }

    #[test]
    fn it_is_that_of_plain_loops() {
        for n in [2, 50, 4001] {
            let angle = |i: usize| (i * i % 997) as f64 * 0.0063 + i as f64 * 1e-7;
            let at = |angle: f64| [3.0 * angle.cos(), 3.0 * angle.sin()];
            let stored: Vec<[f64; 2]> = (0..n).map(|i| at(angle(i))).collect();
            let turn = |i: usize| if i.is_multiple_of(3) { 1.0 } else { 1e-9 };
            let new: Vec<[f64; 2]> = (0..n).map(|i| at(angle(i) + turn(i))).collect();
            let matrix =
                |rows: &[[f64; 2]]| Matrix::try_new(rows.as_flattened().to_vec(), 2).unwrap();
            let found = stored_recall(&matrix(&new), &matrix(&stored))
                .unwrap()
                .unwrap();
            let n_drawn = n.min(2000);
            let rows: Vec<usize> = (0..n_drawn).map(|at| at * n / n_drawn).collect();
            let expected = by_loops(&new, &stored, &rows);
            assert!((found - expected).abs() < 1e-12, "{n}: {found}, {expected}");
            assert!(n == 2 || (found > 0.3 && found < 0.9), "{n}: {found}");
        }
    }

    #[test]
    fn one_row_and_other_columns_have_none() {
        let matrix = |n: usize, width| Matrix::try_new(vec![1.0; n * width], width).unwrap();
        assert_eq!(stored_recall(&matrix(1, 2), &matrix(1, 2)).unwrap(), None);
        assert_eq!(stored_recall(&matrix(4, 2), &matrix(4, 3)).unwrap(), None);
    }
}
