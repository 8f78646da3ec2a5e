//! How biased a queue of old noise is.

use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, Mode, QueuedNoise, Seed, host_values};
use serde::{Deserialize, Serialize};

use crate::evaluation::risk::Risk;
use crate::sampling::plan::{BatchPlan, EpochPlan, StepPlan};
use crate::step::prefetch::{Batches, PreparedBatch, Request};
use crate::step::run::Run;
use crate::step::step_gradient::without_graph;
use crate::{TrainError, TrainingSettings};

/// How many pairs of batches a measurement takes.
const PAIRS: usize = 2;

/// How far log E_X of new anchors is from what it would be without the queue of old noise, in nats:
/// once by the age of the entries, once by the statistics that the anchors are normalised with. See
/// [`TrainingSettings::old_queue`].
///
/// ```text
/// age         mean over anchors of   log E_queue(a)   −  log E_fresh(a)
/// statistics  mean over anchors of   log E_queue(a′)  −  log E_queue(a)
/// ```
///
/// a are the anchors' embeddings in a batch of half old, half new samples, as a query without the queue
/// is, and E_fresh is over other views of the queue's samples in that batch; a′ are those of the same
/// views in a batch of new samples alone, as a query with the queue is. All are made in training mode at
/// the parameters that the run has then, not at their average. The measurement takes two such pairs of
/// batches, without gradients, and entries of all ages. It is noisy by itself: 0.1 nats and more, of
/// either sign, mean little in one of them. Above 0 the old noise counts for too much.
///
/// What it does not show: the negatives of a queue are not moved by a step, those of a batch are.
///
/// [`TrainingSettings::old_queue`]: crate::TrainingSettings::old_queue
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QueueBias {
    /// Entries that the queue holds.
    pub n_entries: usize,
    /// The bias by age, in nats.
    pub age_nats: f64,
    /// The bias by statistics, in nats; `None` where batches are mixed all the same: without
    /// meta-optimization, and until the queue is full.
    pub statistics_nats: Option<f64>,
}

impl<M, B, R> Run<'_, M, B, R>
where
    M: AutodiffModule<B> + Encoder<B>,
    B: AutodiffBackend,
    R: Risk,
{
    /// The bias of the queue before the epoch of `plan` begins, if there is a queue that holds
    /// something. `new` are the new samples; the views are those of that epoch, of samples that are
    /// asked for from `batches`.
    pub(crate) fn queue_bias(
        &mut self,
        plan: &EpochPlan,
        new: &[usize],
        batches: &Batches<M::Batch>,
        seed: Seed,
    ) -> Result<Option<QueueBias>, TrainError> {
        let Some(queue) = self.loss.queue.as_ref().and_then(|queue| queue.entries()) else {
            return Ok(None);
        };
        let start = Instant::now();
        let epoch = self.record.n_epochs();
        let encoder = self.encoder.as_ref().expect("an encoder between two steps");
        let encoder = without_graph::<B, M>(encoder);
        let TrainingSettings {
            batch_size,
            temperature,
            ..
        } = *self.loss.settings;
        let is_query_new = plan.steps.first().is_some_and(|step| step.batch.n_old == 0);
        let n_entries = queue.samples().len();
        let (mut age, mut statistics) = (Vec::new(), Vec::new());
        for pair in 0..PAIRS {
            let entries = queue.some(&spaced(n_entries, batch_size / 2, pair));
            let anchors = spaced(new.len(), batch_size / 2, pair);
            let anchors: Vec<usize> = anchors.iter().map(|&at| new[at]).collect();
            let of = |old: &[usize]| StepPlan {
                support: Vec::new(),
                batch: BatchPlan {
                    samples: [old, &anchors].concat(),
                    n_old: old.len(),
                },
            };
            let steps = vec![of(entries.samples()), of(&[])];
            batches.request(Request { epoch, steps });
            let embed = |which: &str| {
                let batch = batches.next().map_err(TrainError::Sample)?.batch;
                let seed = seed.child("queue bias").child(which).at(epoch as u64);
                Ok::<_, TrainError>(embeddings::<B, M>(&encoder, &batch, seed.at(pair as u64)))
            };
            let [mixed, fresh] = embed("mixed")?;
            let [unmixed, _] = embed("new")?;
            let n_old = entries.samples().len();
            let mixed = mixed.narrow(0, n_old, anchors.len());
            let fresh = QueuedNoise::new(fresh.narrow(0, 0, n_old), entries.samples().to_vec());
            let log_noise = |noise: &QueuedNoise<B>, of: &Tensor<B, 2>| {
                host_values(noise.log_noise(of.clone(), &anchors, temperature))
            };
            let queued = log_noise(&entries, &mixed);
            age.extend(differences(&queued, &log_noise(&fresh, &mixed)));
            statistics.extend(differences(&log_noise(&entries, &unmixed), &queued));
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        self.record.seconds.evaluation += start.elapsed().as_secs_f64();
        Ok(Some(QueueBias {
            n_entries,
            age_nats: mean(&age),
            statistics_nats: is_query_new.then(|| mean(&statistics)),
        }))
    }
}

/// Embeddings of the first and of the second views, in training mode.
fn embeddings<B: AutodiffBackend, M: Encoder<B>>(
    encoder: &M,
    batch: &PreparedBatch<M::Batch>,
    seed: Seed,
) -> [Tensor<B, 2>; 2] {
    let n = batch.samples.len();
    if let Some(device) = encoder.devices().first() {
        B::seed(device, seed.child("backend").value());
    }
    let embeddings = encoder.encode(batch.batch.clone(), Mode::Training(&mut seed.rng()));
    [0, n].map(|first| embeddings.clone().narrow(0, first, n))
}

/// At most `most` of `n` places, evenly spaced; those of the parts lie between each other where there
/// are enough.
fn spaced(n: usize, most: usize, part: usize) -> Vec<usize> {
    let wanted = most.min(n) * PAIRS;
    let places = (part..wanted).step_by(PAIRS).map(|at| at * n / wanted);
    places.collect()
}

fn differences(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter()
        .zip(right)
        .map(|(left, right)| left - right)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spaced_and_none_stands_twice_in_a_part() {
        assert_eq!(spaced(8, 2, 0), [0, 4]);
        assert_eq!(spaced(8, 2, 1), [2, 6]);
        assert_eq!(spaced(3, 16, 0), [0, 1, 2]);
        assert_eq!(spaced(3, 16, 1), [0, 1, 2]);
        for (n, most) in [(1113, 16), (17, 16), (31, 16), (2, 2)] {
            for part in 0..PAIRS {
                let places = spaced(n, most, part);
                assert_eq!(places.len(), most.min(n));
                assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(places[places.len() - 1] < n);
            }
        }
    }
}
