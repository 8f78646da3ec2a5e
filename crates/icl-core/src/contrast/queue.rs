//! A queue of old noise, embedded in earlier steps.

use std::ops::Range;

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor, TensorData};

use super::exponentials::NEVER;
use super::log_noise::constant;
use super::log_space::{log_counts, log_sum_exp};
use super::similarity::normalize;
use super::terms::{Contrast, assert_paired, positive_logits};

/// A queue of embeddings from earlier steps, used again as samples of p(X) (He et al., 2020,
/// section 3.2).
///
/// Each entry has the index of its sample; the oldest entry is the first. Entries are normalised,
/// since the losses do not depend on lengths, and are on no graph.
///
/// Entries are not updated as θ changes. MoCo keeps them consistent by an encoder that follows θ
/// slowly; there is none here, so an expectation over the queue is biased by the change of θ since the
/// entries were embedded.
#[derive(Debug, Clone)]
pub struct QueuedNoise<B: Backend> {
    directions: Tensor<B, 2>,
    samples: Vec<usize>,
}

impl<B: Backend> QueuedNoise<B> {
    /// Creates a queue of embeddings `[m, d]` and the indices of their samples. The embeddings are
    /// normalised and detached from their graph.
    ///
    /// # Panics
    /// If the number of indices is not the number of rows.
    pub fn new(embeddings: Tensor<B, 2>, samples: Vec<usize>) -> Self {
        Self::from_directions(normalize(constant(embeddings)), samples)
    }

    /// Creates a queue of entries that are normalised already, such as those of
    /// [`directions`](Self::directions), and keeps them bit by bit.
    ///
    /// # Panics
    /// If the number of indices is not the number of rows.
    pub fn from_directions(directions: Tensor<B, 2>, samples: Vec<usize>) -> Self {
        assert_one_index_per_row(&directions, &samples);
        Self {
            directions: constant(directions),
            samples,
        }
    }

    /// Joins several queues, one after the other, and keeps the last `most` entries, or all if there
    /// are fewer.
    ///
    /// # Panics
    /// If there is no queue, or their widths differ.
    pub fn newest_of(queues: Vec<Self>, most: usize) -> Self {
        let samples: Vec<usize> = queues.iter().flat_map(|q| q.samples.clone()).collect();
        let directions = queues.into_iter().map(|q| q.directions).collect();
        let all = Self::from_directions(Tensor::cat(directions, 0), samples);
        let n = all.samples.len();
        match n.saturating_sub(most) {
            0 => all,
            n_gone => all.some(&(n_gone..n).collect::<Vec<_>>()),
        }
    }

    /// Returns the queue of the entries at these positions, in the order given.
    ///
    /// # Panics
    /// If a position is not below the number of entries.
    pub fn some(&self, places: &[usize]) -> Self {
        let indices: Vec<i64> = places.iter().map(|&place| place as i64).collect();
        let data = TensorData::new(indices, [places.len()]);
        let indices = Tensor::<B, 1, Int>::from_data(data, &self.directions.device());
        Self::from_directions(
            self.directions.clone().select(0, indices),
            places.iter().map(|&place| self.samples[place]).collect(),
        )
    }

    /// Returns the entries `[m, d]`. Each has length 1, or 0 if its embedding was zero.
    pub fn directions(&self) -> &Tensor<B, 2> {
        &self.directions
    }

    /// Returns the index of the sample of each entry.
    pub fn samples(&self) -> &[usize] {
        &self.samples
    }

    /// Returns log E f over the entries for each of the `anchors` `[n, d]`: `[n]`. The anchors are
    /// embeddings of the samples `own`; entries of an anchor's own sample are left out.
    ///
    /// # Panics
    /// If the widths differ, the number of indices is not the number of anchors, or all entries are of
    /// an anchor's own sample.
    pub fn log_noise(
        &self,
        anchors: Tensor<B, 2>,
        own: &[usize],
        temperature: f64,
    ) -> Tensor<B, 1> {
        assert_one_index_per_row(&anchors, own);
        let columns = vec![(self.directions.clone(), self.samples())];
        log_mean_of_others(&normalize(anchors), own, columns, temperature)
    }
}

/// Embeddings of a mixed batch of old and new samples, with the indices of the samples.
#[derive(Debug, Clone)]
pub struct MixedBatch<'a, B: Backend> {
    /// Embeddings of the first views `[n, d]`.
    pub anchors: Tensor<B, 2>,
    /// Embeddings of the second views `[n, d]`.
    pub positives: Tensor<B, 2>,
    /// Index of the sample of each row, `n` of them.
    pub samples: &'a [usize],
    /// Number of rows, from the first on, that are old data; the others are new.
    pub n_old: usize,
}

impl<B: Backend> Contrast<B> {
    /// Computes the terms of some `rows` of a mixed batch, with old noise from the batch and from a
    /// queue: n′ values of each term for n′ rows.
    ///
    /// The old noise samples of an anchor are the old positives of the batch and the entries of the
    /// queue, without those of the anchor's own sample:
    ///
    /// ```text
    /// O(i) = {j ≤ n_old: s_j ≠ s_i}        Q(i) = {k: s_k ≠ s_i}
    /// E_X f⁻ = 1/(|O(i)| + |Q(i)|) · ( Σ_{j ∈ O(i)} f(xᵢ, xⱼ⁺) + Σ_{k ∈ Q(i)} f(xᵢ, q_k) )
    /// ```
    ///
    /// The positive and E_ΔX f⁻ are those of [`in_batch`](Self::in_batch). The batch may hold no old
    /// rows; the queue is then all of the old noise. Only the batch receives gradients, the queue is
    /// constant.
    ///
    /// # Panics
    /// If the shapes of anchors and positives differ, the number of indices is not the number of rows,
    /// the width of the queue differs, a row does not exist, or an anchor has no old or no new noise
    /// sample beside its own.
    pub fn in_batch_with_queue(
        batch: MixedBatch<'_, B>,
        rows: Range<usize>,
        queue: &QueuedNoise<B>,
        temperature: f64,
    ) -> Self {
        assert_paired(&batch.anchors, &batch.positives);
        assert_one_index_per_row(&batch.anchors, batch.samples);
        let own = &batch.samples[rows.clone()];
        let anchors = normalize(batch.anchors.narrow(0, rows.start, rows.len()));
        let positives = normalize(batch.positives);
        let positive = positives.clone().narrow(0, rows.start, rows.len());
        let (old, new) = batch.samples.split_at(batch.n_old);
        let mut old_noise = vec![(queue.directions.clone(), queue.samples())];
        if !old.is_empty() {
            old_noise.push((positives.clone().narrow(0, 0, old.len()), old));
        }
        let new_noise = positives.narrow(0, old.len(), new.len());
        let log_noise = |noise| log_mean_of_others(&anchors, own, noise, temperature);
        Self {
            log_noise_old: log_noise(old_noise),
            log_noise_new: log_noise(vec![(new_noise, new)]),
            positive: positive_logits(anchors.clone(), positive, temperature),
        }
    }
}

/// Asserts that there is one sample index for each row.
#[track_caller]
fn assert_one_index_per_row<B: Backend>(rows: &Tensor<B, 2>, samples: &[usize]) {
    assert_eq!(
        rows.dims()[0],
        samples.len(),
        "the number of sample indices (right) must be the number of rows (left)"
    );
}

/// Returns the log of the mean of f over several sets of noise together, of normalised rows. Each set
/// comes with the indices of its samples.
///
/// Each set has a matrix product of its own: in a joint product, a set that is on no graph would
/// receive a gradient that is then dropped.
fn log_mean_of_others<B: Backend>(
    anchors: &Tensor<B, 2>,
    own: &[usize],
    noise: Vec<(Tensor<B, 2>, &[usize])>,
    temperature: f64,
) -> Tensor<B, 1> {
    let mut logits = Vec::new();
    let mut counts = vec![0; own.len()];
    for (noise, samples) in noise {
        let pairs = Pairs::new(own, samples);
        let products = anchors.clone().matmul(noise.transpose()) / temperature;
        logits.push(pairs.without_own(products));
        for (count, n_others) in counts.iter_mut().zip(pairs.n_others) {
            *count += n_others;
        }
    }
    assert!(
        counts.iter().all(|&count| count > 0),
        "every anchor needs old and new noise beside its own sample"
    );
    let logits = Tensor::cat(logits, 1);
    let counts = log_counts(counts, &logits);
    log_sum_exp(logits) - counts
}

/// The pairs of anchors and noise samples, with those of one sample marked.
struct Pairs {
    /// Whether anchor and noise are of the same sample `[n, m]`, row after row.
    is_own: Vec<bool>,
    /// Number of noise samples, m.
    n_columns: usize,
    /// Number of noise samples of each anchor without those of its own sample.
    n_others: Vec<usize>,
}

impl Pairs {
    fn new(own: &[usize], columns: &[usize]) -> Self {
        let is_own: Vec<bool> = own
            .iter()
            .flat_map(|own| columns.iter().map(move |column| own == column))
            .collect();
        let n_columns = columns.len();
        let others = |row: usize| {
            let row = &is_own[row * n_columns..(row + 1) * n_columns];
            row.iter().filter(|&&is_own| !is_own).count()
        };
        Self {
            n_others: (0..own.len()).map(others).collect(),
            n_columns,
            is_own,
        }
    }

    /// Leaves the own sample of each anchor out of every sum of exponentials.
    fn without_own<B: Backend>(&self, logits: Tensor<B, 2>) -> Tensor<B, 2> {
        if !self.is_own.contains(&true) {
            return logits;
        }
        let shape = [self.n_others.len(), self.n_columns];
        let data = TensorData::new(self.is_own.clone(), shape);
        let mask = Tensor::<B, 2, Bool>::from_data(data, &logits.device());
        logits.mask_fill(mask, NEVER)
    }
}
