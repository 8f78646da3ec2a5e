//! The noise of each anchor over all pairs of the data, chunk by chunk, shared by the members of a group.

use std::ops::Range;

use burn::tensor::{Tensor, TensorData, backend::Backend};
use icl_kernels::is_host_memory;
use icl_kernels::rows::{Rivals, log_sum_exp_and_rivals};
use rayon::prelude::*;

use crate::contrast::log_space::{log_add_exp, log_counts};
use crate::{Error, Group, host_values};

/// Number of rows of similarities that are held at once. With [`CHUNK_COLUMNS`] these are 2²⁰
/// similarities, independent of the size of the data.
const CHUNK_ROWS: usize = 512;
/// Number of columns of similarities that are held at once.
const CHUNK_COLUMNS: usize = 2048;

/// Returns the log of the mean of f(aᵢ, bⱼ) over the columns j ≠ i, of normalised rows: `[n]`. Also the rivals
/// of bᵢ, whose cosine is given, among these columns.
///
/// The members of the group compute the chunks of rows in turn. The result of a row does not depend on the member that
/// computes it.
///
/// # Errors
/// [`Error`] of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group.
pub(super) fn noise_of_rows<B: Backend>(
    group: &dyn Group,
    pairs: [&Tensor<B, 2>; 2],
    cosines: &Tensor<B, 1>,
    columns: Range<usize>,
    temperature: f64,
) -> Result<(Tensor<B, 1>, Vec<Rivals>), Error> {
    let [n, _] = pairs[0].dims();
    let n_chunks = n.div_ceil(CHUNK_ROWS);
    let own: Vec<usize> = (group.rank()..n_chunks).step_by(group.size()).collect();
    let of_chunk = |chunk: usize| {
        let first = chunk * CHUNK_ROWS;
        let rows = first..n.min(first + CHUNK_ROWS);
        of_rows(pairs, cosines, rows, columns.clone(), temperature)
    };
    // Other devices order the work by themselves, whichever thread of the host submits it.
    let chunks: Vec<_> = match is_host_memory::<B>() {
        true => own.into_par_iter().map(of_chunk).collect(),
        false => own.into_iter().map(of_chunk).collect(),
    };
    match group.is_alone() {
        true => {
            let (log_noise, rivals): (Vec<_>, Vec<_>) = chunks.into_iter().unzip();
            Ok((Tensor::cat(log_noise, 0), rivals.concat()))
        }
        false => gathered(group, chunks, cosines),
    }
}

/// Computes the noise and the rivals of the anchors of some rows, as [`noise_of_rows`] does of all.
fn of_rows<B: Backend>(
    [anchors, positives]: [&Tensor<B, 2>; 2],
    cosines: &Tensor<B, 1>,
    rows: Range<usize>,
    columns: Range<usize>,
    temperature: f64,
) -> (Tensor<B, 1>, Vec<Rivals>) {
    let chunk = anchors.clone().narrow(0, rows.start, rows.len());
    let own = cosines.clone().narrow(0, rows.start, rows.len());
    let mut of_chunk = vec![Rivals::default(); rows.len()];
    let sums = columns.clone().step_by(CHUNK_COLUMNS).map(|column| {
        let n_columns = CHUNK_COLUMNS.min(columns.end - column);
        let noise = positives.clone().narrow(0, column, n_columns);
        let first = Some(column as isize - rows.start as isize);
        let (sum, rivals) =
            log_sum_exp_and_rivals(chunk.clone(), noise, own.clone(), temperature, first);
        for (sum, other) in of_chunk.iter_mut().zip(rivals) {
            sum.add(other);
        }
        sum
    });
    let sum = sums.reduce(log_add_exp).expect("at least two columns");
    let others = |id| columns.len() - usize::from(columns.contains(&id));
    let counts = log_counts(rows.map(others), &sum);
    (sum - counts, of_chunk)
}

/// Joins the chunks of all members, in the order of the rows. `like` has the place and the precision of the result.
fn gathered<B: Backend>(
    group: &dyn Group,
    own: Vec<(Tensor<B, 1>, Vec<Rivals>)>,
    like: &Tensor<B, 1>,
) -> Result<(Tensor<B, 1>, Vec<Rivals>), Error> {
    /// Number of values of a row: log-noise, and both counts of its rivals.
    const WIDTH: usize = 3;
    let of_row =
        |(log_noise, rivals): (f64, Rivals)| [log_noise, rivals.above as f64, rivals.tied as f64];
    let own: Vec<f64> = own
        .into_iter()
        .flat_map(|(log_noise, rivals)| host_values(log_noise).into_iter().zip(rivals))
        .flat_map(of_row)
        .collect();
    let gathered = group.gather_f64(&own)?;
    let n = like.dims()[0];
    let mut of_members: Vec<_> = (0..group.size())
        .map(|rank| gathered.of(rank).chunks(CHUNK_ROWS * WIDTH))
        .collect();
    let (mut log_noise, mut rivals) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for chunk in 0..n.div_ceil(CHUNK_ROWS) {
        let values = of_members[chunk % group.size()].next().unwrap_or_default();
        for row in values.chunks_exact(WIDTH) {
            log_noise.push(row[0]);
            rivals.push(Rivals {
                above: row[1] as usize,
                tied: row[2] as usize,
            });
        }
    }
    let log_noise = TensorData::new(log_noise, [n]);
    let log_noise = Tensor::from_data(log_noise, (&like.device(), like.dtype()));
    Ok((log_noise, rivals))
}
