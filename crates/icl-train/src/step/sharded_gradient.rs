//! The gradient of a batch whose shards pass through the encoder one by one, at several members of a group.
//!
//! Contrastive losses compare every sample with all others of the batch, so the loss of a batch is no mean of the losses of
//! its shards. The chain rule divides the gradient at the embeddings instead (GradCache; Gao et al., 2021):
//!
//! ```text
//! ∂L/∂θ = Σ_s Σ_{i ∈ s} (∂zᵢ/∂θ)ᵀ·∂L/∂zᵢ
//! ```
//!
//! 1. Every member embeds its shards, and all members gather the embeddings zᵢ as values.
//! 2. Every member computes the loss of the whole batch and ∂L/∂zᵢ. In a large batch it computes the losses of some anchors only,
//!    and the members sum ∂L/∂zᵢ.
//! 3. Every member passes Σᵢ ⟨zᵢ, ∂L/∂zᵢ⟩ of each of its shards backward. With several shards it embeds each once more for that:
//!    the memory of a step is that of one shard.
//! 4. The sum over all members is the gradient. No factor of their number enters.
//!
//! Random numbers and normalisation statistics of a training step are those of each shard.

use std::ops::Range;

use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{Int, Tensor, TensorData};
use icl_core::{Error, Group, PairEmbeddings, Purpose, Seed, TrainableEncoder};

use crate::devices::floats::{gathered_rows, summed_elements};
use crate::devices::gradients::summed;
use crate::error::TrainError;
use crate::step::batch_loss::{BatchLoss, PartOf, seed_of_part, value_of};
use crate::step::contrastive::Anchors;
use crate::step::copies::without_graph;
use crate::step::prefetch::{PreparedBatch, PreparedShard};

/// Gradients of the loss at the embeddings of a batch, on no graph.
struct Slopes<B: AutodiffBackend> {
    /// ∂L/∂z of the anchors `[n, d]`.
    anchors: Tensor<B::InnerBackend, 2>,
    /// ∂L/∂z of the positives `[n, d]`.
    positives: Tensor<B::InnerBackend, 2>,
}

impl<M, B> BatchLoss<'_, M, B>
where
    B: AutodiffBackend,
    M: TrainableEncoder<B>,
{
    /// Computes the loss of a batch for a training step and its gradient, which all members have. `seed` decides the
    /// encoder's randomness.
    ///
    /// # Errors
    /// [`TrainError`] if a member has left the group, or the encoder does not return one row for each view.
    pub(crate) fn sharded_gradient(
        &self,
        encoder: &M,
        batch: &PreparedBatch<PartOf<M, B>>,
        seed: Seed,
    ) -> Result<(f64, GradientsParams), TrainError> {
        let mut gradients = GradientsAccumulator::new();
        let mut loss = 0.0;
        for part in 0..batch.n_parts {
            let seed = seed_of_part(seed, part);
            loss += self.of_sharded_part(encoder, (batch, part), seed, &mut gradients)?;
        }
        let mut sum = [loss];
        self.group.sum_f64(&mut sum)?;
        let gradients = match self.group.is_alone() {
            true => gradients.grads(),
            false => summed::<B, M>(self.group, encoder, gradients.grads())?,
        };
        Ok((sum[0], gradients))
    }

    /// Adds the gradient of the loss of one pair of each sample, as far as it flows through this member's shards. Returns this
    /// member's part of the loss: the parts of all members add up to it.
    fn of_sharded_part(
        &self,
        encoder: &M,
        (batch, part): (&PreparedBatch<PartOf<M, B>>, usize),
        seed: Seed,
        gradients: &mut GradientsAccumulator<M>,
    ) -> Result<f64, TrainError> {
        let n = batch.n_samples;
        let phase = self.clock.start::<B>(encoder);
        // A catalogue replaces the other samples of the batch as noise: the loss is a mean over shards.
        let (slopes, mut kept, mut loss) = match encoder.has_catalogue() {
            true => (None, None, 0.0),
            false => {
                let (pairs, is_kept) = self.first_pass(encoder, (batch, part), seed)?;
                let (slopes, loss) = self.slopes(encoder, batch, &pairs, seed)?;
                (Some(slopes), is_kept.then_some(pairs), loss)
            }
        };
        self.clock.end_forward(phase);
        self.passes.begin(Purpose::Training);
        self.passes.count(2 * n);
        if self.teacher.is_some() {
            self.passes.count_teacher(2 * n);
        }
        for shard in &batch.shards {
            let seed = of_shard(seed, shard);
            let share = [shard.places.len(), n];
            let pairs = match &mut kept {
                Some(pairs) => pairs.remove(0),
                None => self.embed(encoder, &shard.parts[part], share[0], seed)?,
            };
            let (surrogate, own) =
                self.surrogate((shard, part), pairs, slopes.as_ref(), share, seed)?;
            loss += own;
            let of_shard = GradientsParams::from_grads(surrogate.backward(), encoder);
            gradients.accumulate(encoder, of_shard);
        }
        Ok(loss)
    }

    /// Embeds the pairs of this member's shards. Their graph is kept if there is one shard, which is then not embedded again;
    /// otherwise none is recorded.
    fn first_pass(
        &self,
        encoder: &M,
        (batch, part): (&PreparedBatch<PartOf<M, B>>, usize),
        seed: Seed,
    ) -> Result<(Vec<PairEmbeddings<B>>, bool), TrainError> {
        let of = |encoder: &M| {
            let shards = batch.shards.iter();
            let embed = |shard: &PreparedShard<PartOf<M, B>>| {
                let (views, n) = (&shard.parts[part], shard.places.len());
                self.embed(encoder, views, n, of_shard(seed, shard))
            };
            shards.map(embed).collect::<Result<_, _>>()
        };
        if !batch.is_chunked {
            return Ok((of(encoder)?, true));
        }
        self.passes.begin_forward(Purpose::Training);
        self.passes.count(2 * batch.n_samples);
        Ok((of(&without_graph(encoder))?, false))
    }

    /// Computes the gradients of the loss of the whole batch at the embeddings of all members. Returns also this member's part of
    /// the loss: that of its anchors, or, if the anchors are not divided, all of it at the first member and 0 at the others.
    fn slopes(
        &self,
        encoder: &M,
        batch: &PreparedBatch<PartOf<M, B>>,
        pairs: &[PairEmbeddings<B>],
        seed: Seed,
    ) -> Result<(Slopes<B>, f64), Error> {
        let device = encoder.devices().into_iter().next().unwrap_or_default();
        let leaf = |of: fn(&PairEmbeddings<B>) -> &Tensor<B, 2>| {
            let own = pairs.iter().map(|it| of(it).clone().inner()).collect();
            let own = (!pairs.is_empty()).then(|| Tensor::cat(own, 0));
            let places = &batch.places_of_members;
            let rows = gathered_rows(self.group, own, places, &device)?;
            Ok::<_, Error>(Tensor::<B, 2>::from_inner(rows).require_grad())
        };
        let anchors = leaf(|pairs| &pairs.anchors)?;
        let positives = leaf(|pairs| &pairs.positives)?;
        let leaves = PairEmbeddings {
            anchors: anchors.clone(),
            positives: positives.clone(),
            catalogue: None,
        };
        let n = batch.n_samples;
        let rows = own_anchors(self.group, n);
        let is_divided = rows.len() < n;
        let (of, at, own) = (&self.contrastive, (batch.n_old, n), rows.clone());
        let losses = of.of_anchors(leaves, batch.n_old, Anchors::All, own, seed);
        let loss = of.part_of_mean(losses, at, rows);
        let mut gradients = loss.backward();
        let mut slope = |leaf: &Tensor<B, 2>| {
            let slope = leaf.grad_remove(&mut gradients);
            slope.unwrap_or_else(|| leaf.clone().inner().zeros_like())
        };
        let mut slopes = Tensor::cat(vec![slope(&anchors), slope(&positives)], 0);
        if is_divided {
            slopes = summed_elements(self.group, slopes)?;
        }
        let slopes = Slopes {
            anchors: slopes.clone().narrow(0, 0, n),
            positives: slopes.narrow(0, n, n),
        };
        let reports = is_divided || self.group.rank() == 0;
        let loss = if reports { value_of(loss) } else { 0.0 };
        Ok((slopes, loss))
    }

    /// Returns a term `[1]` whose gradient at the parameters is the part of the loss's gradient that flows through one
    /// shard. Also returns the shard's part of those terms of the loss that are means over samples: the loss by a
    /// catalogue, and the distillation. `share` holds the numbers of samples of the shard and of the batch.
    fn surrogate(
        &self,
        (shard, part): (&PreparedShard<PartOf<M, B>>, usize),
        pairs: PairEmbeddings<B>,
        slopes: Option<&Slopes<B>>,
        share: [usize; 2],
        seed: Seed,
    ) -> Result<(Tensor<B, 1>, f64), TrainError> {
        let (anchors, positives) = (pairs.anchors.clone(), pairs.positives.clone());
        let (mut surrogate, mut loss) = match slopes {
            Some(slopes) => {
                let places = shard.places.iter().map(|&place| place as i64);
                let places = TensorData::new(places.collect::<Vec<_>>(), [shard.places.len()]);
                let places =
                    Tensor::<B::InnerBackend, 1, Int>::from_data(places, &anchors.device());
                let of = |slopes: &Tensor<B::InnerBackend, 2>| {
                    Tensor::<B, 2>::from_inner(slopes.clone().select(0, places.clone()))
                };
                // Σᵢ ⟨zᵢ, ∂L/∂zᵢ⟩, with ∂L/∂zᵢ as a constant.
                let own = anchors.clone() * of(&slopes.anchors)
                    + positives.clone() * of(&slopes.positives);
                (own.sum(), 0.0)
            }
            None => {
                let rows = 0..share[0];
                let losses = self
                    .contrastive
                    .of_anchors(pairs, 0, Anchors::All, rows, seed);
                let own = part_of_mean(losses.mean(), share);
                let loss = value_of(own.clone());
                (own, loss)
            }
        };
        if let Some(term) = self.distillation(&shard.parts[part], [anchors, positives])? {
            let term = part_of_mean(term, share);
            loss += value_of(term.clone());
            surrogate = surrogate + term;
        }
        Ok((surrogate, loss))
    }
}

/// Number of samples of a batch from which on members divide the anchors among themselves.
///
/// The loss of a batch of n samples of width d takes 6·n²·d operations, of which each of W members then computes 1/W. In exchange, members
/// sum 2·n·d values over the network. With F operations per second and β bytes per second this pays from n = 16·F/(6·β) samples on:
///
/// | a member computes, its network carries | pays from |
/// |---|---|
/// | 256 GFLOP/s (two cores), 10 Gbit/s | 546 |
/// | 256 GFLOP/s, 5 GB/s (memory of one machine) | 137 |
/// | 4 TFLOP/s (32 cores), 10 Gbit/s | 8700; at 1024 of width 128 it costs 2 ms |
const DIVIDED_FROM: usize = 512;

/// Returns the rows of the anchors in a batch of n samples whose losses a member computes: its part of them, or all.
fn own_anchors(group: &dyn Group, n: usize) -> Range<usize> {
    match n < DIVIDED_FROM.max(group.size()) {
        true => 0..n,
        false => n * group.rank() / group.size()..n * (group.rank() + 1) / group.size(),
    }
}

/// Returns the part that the mean over `own` samples has in the mean over `n`. The factor is a tensor: backends round numbers to
/// single precision.
fn part_of_mean<B: AutodiffBackend>(mean: Tensor<B, 1>, [own, n]: [usize; 2]) -> Tensor<B, 1> {
    let device = mean.device();
    let factor = Tensor::from_data([own as f64 / n as f64], (&device, mean.dtype()));
    mean * factor
}

/// Returns the seed of a shard's randomness. It does not depend on the member that has the shard.
fn of_shard<T>(seed: Seed, shard: &PreparedShard<T>) -> Seed {
    seed.child("shard").at(shard.index as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::Threads;

    #[test]
    fn anchors_of_large_batches_are_divided() {
        for (size, n, is_divided) in [
            (1, 600, false),
            (2, 511, false),
            (2, 512, true),
            (3, 523, true),
            (600, 599, false),
            (600, 601, true),
        ] {
            let of_members: Vec<_> = Threads::group(size)
                .iter()
                .map(|member| own_anchors(member, n))
                .collect();
            if !is_divided {
                assert!(of_members.iter().all(|rows| *rows == (0..n)));
                continue;
            }
            assert!(of_members.iter().all(|rows| !rows.is_empty()));
            let all: Vec<usize> = of_members.into_iter().flatten().collect();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }
}
