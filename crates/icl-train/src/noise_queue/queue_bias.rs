//! The measurement of the bias of a queue of old noise.

use burn::module::AutodiffModule;
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Encoder, Mode, QueuedNoise, Seed, host_values};

use crate::devices::shards::Shards;
use crate::error::TrainError;
use crate::progress::record::QueueBias;
use crate::sampling::plan::{BatchPlan, EpochPlan, StepPlan};
use crate::step::copies::without_graph;
use crate::step::prefetch::{Batches, PreparedBatch, Request};
use crate::trainer::settings::TrainingSettings;

/// Number of pairs of batches in a measurement.
const PAIRS: usize = 2;

/// State of a run before an epoch, in which the bias of a queue is measured.
pub(crate) struct Before<'a, M> {
    /// Current encoder, not its average.
    pub(crate) encoder: &'a M,
    /// Settings of the run.
    pub(crate) settings: &'a TrainingSettings,
    /// Index of the epoch, which decides the views.
    pub(crate) epoch: usize,
    /// Plan of the epoch.
    pub(crate) plan: &'a EpochPlan,
    /// Indices of the new samples.
    pub(crate) new: &'a [usize],
    /// Seed of the run's stream.
    pub(crate) seed: Seed,
}

/// Measures the bias of a queue from the embeddings of two pairs of batches, which it requests from
/// `batches`.
///
/// # Errors
/// [`TrainError::Sample`] if a sample cannot be read.
pub(crate) fn queue_bias<B, M>(
    queue: &QueuedNoise<B>,
    before: &Before<'_, M>,
    batches: &Batches<M::Batch>,
) -> Result<QueueBias, TrainError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B> + Encoder<B>,
{
    let Before {
        epoch, new, seed, ..
    } = *before;
    let encoder = without_graph::<B, M>(before.encoder);
    let TrainingSettings {
        batch_size,
        temperature,
        ..
    } = *before.settings;
    let is_query_new = before
        .plan
        .steps
        .first()
        .is_some_and(|step| step.batch.n_old == 0);
    let n_entries = queue.samples().len();
    let (mut age, mut statistics) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let entries = queue.some(&spaced(n_entries, batch_size / 2, pair));
        let anchors = spaced(new.len(), batch_size / 2, pair);
        let anchors: Vec<usize> = anchors.iter().map(|&at| new[at]).collect();
        let of = |old: &[usize]| StepPlan {
            support: Vec::new(),
            batch: BatchPlan::joined(old.to_vec(), anchors.clone()),
        };
        let steps = vec![of(entries.samples()), of(&[])];
        batches.request(Request {
            epoch,
            population: before.plan.population.clone(),
            steps,
            shards: Shards::whole(),
        });
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
    Ok(QueueBias {
        n_entries,
        age_nats: mean(&age),
        statistics_nats: is_query_new.then(|| mean(&statistics)),
    })
}

/// Computes the embeddings of the first and of the second views in training mode.
fn embeddings<B: AutodiffBackend, M: Encoder<B>>(
    encoder: &M,
    batch: &PreparedBatch<M::Batch>,
    seed: Seed,
) -> [Tensor<B, 2>; 2] {
    let n = batch.samples.len();
    if let Some(device) = encoder.devices().first() {
        B::seed(device, seed.child("backend").value());
    }
    let embeddings = encoder.encode(batch.whole()[0].clone(), Mode::Training(&mut seed.rng()));
    [0, n].map(|first| embeddings.clone().narrow(0, first, n))
}

/// Returns at most `most` evenly spaced indices below `n`. Those of different parts alternate if `n` is
/// large enough.
fn spaced(n: usize, most: usize, part: usize) -> Vec<usize> {
    let wanted = most.min(n) * PAIRS;
    let places = (part..wanted).step_by(PAIRS).map(|at| at * n / wanted);
    places.collect()
}

/// Computes the differences left − right.
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
