//! The form of a map that fits rows best, by cross-validation.

use rayon::prelude::*;

use super::fit::{AlignmentForm, AlignmentSettings};
use super::moved::remaining_distances;
use crate::{EvalError, Matrix};

/// Number of folds.
const N_FOLDS: usize = 5;
/// Largest number of rows that are compared, so that the time is bounded.
const MAX_ROWS: usize = 1000;
/// The forms of a map, compared on rows that their maps were not fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct FormComparison {
    /// Distances of each row, for each form, in the order of their freedom.
    distances: Vec<(AlignmentForm, Vec<f64>)>,
}

impl FormComparison {
    /// Compares the forms by cross-validation: maps of each form, otherwise of these settings, are fitted without
    /// every fifth row, five times, and leave these rows at a cosine distance 1 − cos from the new ones. Of more than
    /// 1000 rows as many are compared, at equal steps. Where no rotation can be fitted to four fifths of the rows,
    /// because the widths differ or there are fewer rows than columns, the other forms are compared.
    ///
    /// # Errors
    /// [`EvalError`] as of [`AlignmentSettings::fit`] if no affine map or no residual MLP can be fitted.
    pub fn of(settings: &AlignmentSettings, old: &Matrix, new: &Matrix) -> Result<Self, EvalError> {
        let n = old.n_rows().min(MAX_ROWS);
        let rows: Vec<usize> = (0..n).map(|row| row * old.n_rows() / n).collect();
        let (old, new) = (old.select(&rows), new.select(&rows));
        let of_form = |form| left_of_form(&settings.clone().with_form(form), &old, &new);
        let mut distances = Vec::new();
        // A rotation needs equal widths, and as many rows as columns. The other forms are compared without it.
        if let Ok(left) = of_form(AlignmentForm::Procrustes) {
            distances.push((AlignmentForm::Procrustes, left));
        }
        for form in [AlignmentForm::Affine, AlignmentForm::ResidualMlp] {
            distances.push((form, of_form(form)?));
        }
        Ok(Self { distances })
    }

    /// Returns the forms that were compared, in the order of their freedom, each with the mean distance that it leaves.
    pub fn means(&self) -> impl Iterator<Item = (AlignmentForm, f64)> {
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let forms = self.distances.iter();
        forms.map(move |(form, distances)| (*form, mean(distances)))
    }

    /// Returns the form to use: the one with the least freedom, unless one with more comes nearer to the new rows by
    /// more than the standard error of the difference, row by row.
    ///
    /// ```text
    /// mean(dᵢ) > √(var(dᵢ) / n)        dᵢ = distance of row i under the form with less freedom − under that with more
    /// ```
    pub fn best(&self) -> AlignmentForm {
        let (first, others) = self.distances.split_first().expect("two forms or three");
        let best = others.iter().fold(first, |best, other| {
            let pairs = best.1.iter().zip(&other.1);
            let gains: Vec<f64> = pairs.map(|(less, more)| less - more).collect();
            let n = gains.len() as f64;
            let mean = gains.iter().sum::<f64>() / n;
            let squares: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
            let error = (squares / (n - 1.0) / n).sqrt();
            if mean > error { other } else { best }
        });
        best.0
    }
}

/// Returns the distance of each row under a map that was not fitted to it.
fn left_of_form(
    settings: &AlignmentSettings,
    old: &Matrix,
    new: &Matrix,
) -> Result<Vec<f64>, EvalError> {
    let of_fold = |fold: usize| {
        let (left_out, fitted): (Vec<usize>, Vec<usize>) =
            (0..old.n_rows()).partition(|row| row % N_FOLDS == fold);
        let map = settings.fit(&old.select(&fitted), &new.select(&fitted))?;
        let mapped = map.apply(&old.select(&left_out))?;
        Ok(remaining_distances(&mapped, &new.select(&left_out)))
    };
    let folds: Vec<Vec<f64>> = (0..N_FOLDS.min(old.n_rows()))
        .into_par_iter()
        .map(of_fold)
        .collect::<Result<_, EvalError>>()?;
    // The order of the rows is that of the folds, the same for all forms.
    Ok(folds.concat())
}
