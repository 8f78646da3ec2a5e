//! Old noise that was embedded in earlier steps.

use std::ops::Range;

use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor, TensorData};

use crate::Contrast;
use crate::contrast::positive_logits;
use crate::log_noise::NEVER;
use crate::log_space::log_sum_exp;
use crate::similarity::normalize;

/// Embeddings of earlier steps that serve as samples of p(X) once more, each with the index of its
/// sample, the oldest first: a queue (He et al., 2020, section 3.2).
///
/// They are directions, since no loss looks at lengths, and have no graph. Nothing moves them on as
/// θ moves: in MoCo an encoder that follows slowly keeps the entries alike, here there is none, so
/// an expectation over them is biased by what θ has moved since.
#[derive(Debug, Clone)]
pub struct QueuedNoise<B: Backend> {
    directions: Tensor<B, 2>,
    samples: Vec<usize>,
}

impl<B: Backend> QueuedNoise<B> {
    /// From embeddings `[m, d]`, which are normalised and taken off their graph, and the indices of
    /// their samples.
    ///
    /// # Panics
    /// If there is not one index a row.
    pub fn new(embeddings: Tensor<B, 2>, samples: Vec<usize>) -> Self {
        Self::from_directions(normalize(rootless(embeddings)), samples)
    }

    /// From what [`directions`](Self::directions) gave, to the bit.
    ///
    /// # Panics
    /// If there is not one index a row.
    pub fn from_directions(directions: Tensor<B, 2>, samples: Vec<usize>) -> Self {
        assert_eq!(directions.dims()[0], samples.len(), "one index a row");
        Self {
            directions: rootless(directions),
            samples,
        }
    }

    /// The last `most` entries of several queues, one after the other, or all where there are fewer.
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

    /// The entries at these places.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn some(&self, places: &[usize]) -> Self {
        let indices: Vec<i64> = places.iter().map(|&place| place as i64).collect();
        let data = TensorData::new(indices, [places.len()]);
        let indices = Tensor::<B, 1, Int>::from_data(data, &self.directions.device());
        Self::from_directions(
            self.directions.clone().select(0, indices),
            places.iter().map(|&place| self.samples[place]).collect(),
        )
    }

    /// The entries `[m, d]`, each of length 1, or 0 where the embedding was.
    pub fn directions(&self) -> &Tensor<B, 2> {
        &self.directions
    }

    /// The samples that the entries are of.
    pub fn samples(&self) -> &[usize] {
        &self.samples
    }

    /// log E f over the entries for `anchors` `[n, d]`, which are of the samples `own`: `[n]`. An
    /// anchor's own sample is left out.
    ///
    /// # Panics
    /// If the shapes do not fit or an anchor finds no sample but its own.
    pub fn log_noise(
        &self,
        anchors: Tensor<B, 2>,
        own: &[usize],
        temperature: f64,
    ) -> Tensor<B, 1> {
        assert_eq!(anchors.dims()[0], own.len(), "one index a row");
        let columns = vec![(self.directions.clone(), self.samples())];
        log_mean_of_others(&normalize(anchors), own, columns, temperature)
    }
}

/// One mixed batch of embeddings that tells which samples it is of.
#[derive(Debug, Clone)]
pub struct MixedBatch<'a, B: Backend> {
    /// The first views `[n, d]`.
    pub anchors: Tensor<B, 2>,
    /// The second views `[n, d]`.
    pub positives: Tensor<B, 2>,
    /// The samples, n of them.
    pub samples: &'a [usize],
    /// How many rows, from the first on, are old data; the others are new.
    pub n_old: usize,
}

impl<B: Backend> Contrast<B> {
    /// From some rows of one mixed batch as anchors, with old noise also from a queue. The noise
    /// samples of an anchor are the positives of the batch, and the entries of the queue among the
    /// old ones; those of its own sample are left out of both.
    ///
    /// ```text
    /// O(i) = {j ≤ n_old: s_j ≠ s_i}        Q(i) = {k: s_k ≠ s_i}
    /// E_X f⁻ = 1/(|O(i)| + |Q(i)|) · ( Σ_{j ∈ O(i)} f(xᵢ, xⱼ⁺) + Σ_{k ∈ Q(i)} f(xᵢ, q_k) )
    /// ```
    ///
    /// The positive and E_ΔX f⁻ are those of [`in_batch`](Self::in_batch). The batch may hold no old
    /// rows at all: then the queue is all of the old noise. Gradients go to the batch alone. Each term
    /// has one value for each of the n′ `rows`: `[n′]`.
    ///
    /// # Panics
    /// If shapes do not fit, or one of the anchors finds no old or no new noise.
    pub fn in_batch_with_queue(
        batch: MixedBatch<'_, B>,
        rows: Range<usize>,
        queue: &QueuedNoise<B>,
        temperature: f64,
    ) -> Self {
        let [n, _] = batch.anchors.dims();
        assert_eq!(
            batch.anchors.dims(),
            batch.positives.dims(),
            "one positive an anchor"
        );
        assert_eq!(n, batch.samples.len(), "one index a row");
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

/// log of the mean of f over several sets of noise together, of normalised rows, each set with the
/// samples that it is of.
///
/// One product a set: were they joined, a set without a graph would be given a gradient only to drop
/// it.
fn log_mean_of_others<B: Backend>(
    anchors: &Tensor<B, 2>,
    own: &[usize],
    noise: Vec<(Tensor<B, 2>, &[usize])>,
    temperature: f64,
) -> Tensor<B, 1> {
    let mut logits = Vec::new();
    let mut counts = vec![0; own.len()];
    for (noise, samples) in noise {
        let met = Met::new(own, samples);
        let products = anchors.clone().matmul(noise.transpose()) / temperature;
        logits.push(met.without_own(products));
        for (count, n_others) in counts.iter_mut().zip(met.n_others) {
            *count += n_others;
        }
    }
    assert!(
        counts.iter().all(|&count| count > 0),
        "every anchor needs old and new noise beside its own sample"
    );
    let logits = Tensor::cat(logits, 1);
    let counts: Vec<f64> = counts.iter().map(|&count| (count as f64).ln()).collect();
    let options = (&logits.device(), logits.dtype());
    let counts = Tensor::from_data(TensorData::new(counts, [own.len()]), options);
    log_sum_exp(logits) - counts
}

/// The same values without a graph, and as if they had never had one.
///
/// A backward pass goes by how deep a tensor lies below the first ones, those without gradients
/// included, and sums in that order: entries that kept their depth would give other sums than the same
/// entries from a checkpoint.
fn rootless<B: Backend>(x: Tensor<B, 2>) -> Tensor<B, 2> {
    // A leaf stays one that is to be trained when it is detached.
    x.detach().set_require_grad(false)
}

/// Which noise samples an anchor meets: all but those of its own sample.
struct Met {
    is_own: Vec<bool>,
    n_columns: usize,
    /// How many an anchor meets.
    n_others: Vec<usize>,
}

impl Met {
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

    /// Takes an anchor's own sample out of every sum of exponentials.
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
