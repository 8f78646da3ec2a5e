//! The samples of a batch.

use std::collections::HashMap;

/// Samples of a batch. The first [`n_old`](Self::n_old) are old if batches separate old samples from new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPlan {
    /// Indices of the samples in the data set.
    pub samples: Vec<usize>,
    /// Number of old samples. It is 0 if batches do not separate old from new.
    pub n_old: usize,
    /// Number of earlier occurrences of each sample in the epoch. Each occurrence has views of its own. Meta-optimization
    /// repeats samples, and a [`Sampler`](crate::Sampler) old ones that stand for several.
    pub repetitions: Vec<usize>,
}

impl BatchPlan {
    /// Creates a batch of old samples and others, none of which has occurred before.
    pub(crate) fn joined(old: Vec<usize>, others: Vec<usize>) -> Self {
        Self {
            n_old: old.len(),
            repetitions: vec![0; old.len() + others.len()],
            samples: [old, others].concat(),
        }
    }
}

/// Counts the earlier occurrences of each sample of batches.
pub(crate) fn count_repetitions<'b>(batches: impl IntoIterator<Item = &'b mut BatchPlan>) {
    let mut n_seen: HashMap<usize, usize> = HashMap::new();
    for batch in batches {
        for (sample, repetition) in batch.samples.iter().zip(&mut batch.repetitions) {
            let n_seen = n_seen.entry(*sample).or_default();
            *repetition = *n_seen;
            *n_seen += 1;
        }
    }
}
