//! Retrieval across two versions of an encoder.

use rayon::prelude::*;
use serde::Serialize;

use crate::error::{check_enough, check_k};
use crate::matrix::{check_count, check_width};
use crate::neighbours::{Directions, nearest_first, neighbour};
use crate::{EvalError, Matrix};

/// Retrieval of a gallery by the queries of another encoder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CrossVersionRecall {
    /// Share of queries whose own row is among the k nearest of the gallery.
    pub own: f64,
    /// Share of the k nearest other rows of the query's own encoder that are among the k nearest other rows of the gallery.
    pub neighbours: f64,
}

/// Measures retrieval across versions: queries of the new encoder against a gallery of the old one, mapped or not. Row i of both
/// is the same sample; similarity is the cosine.
///
/// ```text
/// own         1/n · Σᵢ [fewer than k rows of the gallery are closer to query i than row i]
/// neighbours  1/n · Σᵢ |N_k(i; queries) ∩ N_k(i; gallery)| / k
/// ```
///
/// N_k(i; queries) are the k rows other than i whose queries are the most similar to query i: what the new encoder finds
/// when all is embedded again. N_k(i; gallery) are those whose gallery rows are. Of equal similarities the lower index is nearer. A gallery that
/// equals the queries has `neighbours` 1, and `own` 1 unless rows are equal. Both depend on the number of rows: a
/// larger gallery is harder.
///
/// # Errors
/// [`EvalErrorKind::Invalid`](crate::EvalErrorKind::Invalid) if the shapes differ or k is 0,
/// [`EvalErrorKind::TooFew`](crate::EvalErrorKind::TooFew) if there are not more than k rows.
pub fn cross_version_recall(
    queries: &Matrix,
    gallery: &Matrix,
    k: usize,
) -> Result<CrossVersionRecall, EvalError> {
    let n = queries.n_rows();
    check_count("gallery", gallery.n_rows(), queries)?;
    check_k(k)?;
    check_enough(n, k)?;
    check_width("gallery", gallery, queries.n_columns())?;
    let (queries, gallery) = (Directions::of(queries), Directions::of(gallery));
    let found: Vec<(bool, usize)> = (0..n)
        .into_par_iter()
        .map(|query| {
            let ranked = |rows: &Directions| {
                let direction = queries.row(query);
                let similarity = |row: &[f64]| row.iter().zip(direction).map(|(a, b)| a * b).sum();
                let rows = rows.rows().enumerate();
                let mut all: Vec<_> = rows
                    .map(|(at, row)| neighbour(similarity(row), at))
                    .collect();
                // The k nearest others are among the k + 1 nearest.
                let (nearest, _, _) = all.select_nth_unstable_by(k, nearest_first);
                let mut nearest = nearest.to_vec();
                nearest.push(all[k]);
                nearest.sort_by(nearest_first);
                nearest
                    .into_iter()
                    .map(|(_, at)| at)
                    .collect::<Vec<usize>>()
            };
            let others = |ranked: &[usize]| {
                let others = ranked.iter().copied().filter(|at| *at != query);
                others.take(k).collect::<Vec<usize>>()
            };
            let (of_new, of_gallery) = (ranked(&queries), ranked(&gallery));
            let wanted = others(&of_new);
            let kept = others(&of_gallery);
            let n_kept = kept.iter().filter(|at| wanted.contains(at)).count();
            (of_gallery[..k].contains(&query), n_kept)
        })
        .collect();
    let n_own = found.iter().filter(|(is_own, _)| *is_own).count();
    let n_kept: usize = found.iter().map(|(_, n)| n).sum();
    Ok(CrossVersionRecall {
        own: n_own as f64 / n as f64,
        neighbours: n_kept as f64 / (n * k) as f64,
    })
}
