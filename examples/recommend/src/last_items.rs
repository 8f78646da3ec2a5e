//! Ranks of users' last items, for users that the old data have and for users that came with the new.

use anyhow::Result;
use burn::backend::Flex;
use icl::core::bags::HistoryBatch;
use icl::core::host_values;
use icl::data::{NextItem, NextItemCollate, NextItemDataset, NextItemViews};
use icl::eval::{Candidates, Matrix, RankedTarget, RankingProtocol, TargetPosition};
use icl::models::TwoTower;
use icl::prelude::*;

/// Number of first items that count as recommended.
const N_RECOMMENDED: usize = 10;

/// Means over users, NaN without any.
#[derive(Debug, Clone, Copy)]
pub struct Quality {
    /// HR@10.
    pub hit_rate: f64,
    /// nDCG@10.
    pub ndcg: f64,
}

/// The last item of each user, which no training sees.
#[derive(Debug)]
pub struct LastItems {
    data: NextItemDataset,
    /// Number of users that the old data have. They have the first numbers.
    n_old_users: u32,
}

impl LastItems {
    /// Creates the test of these samples.
    pub fn new(data: NextItemDataset, n_old_users: u32) -> Self {
        Self { data, n_old_users }
    }

    /// Returns the numbers of users that the old data have, and of users that came with the new.
    pub fn n_users(&self) -> [usize; 2] {
        let is_old = |sample: &&NextItem| sample.user() < self.n_old_users;
        let n_old = self.data.samples().iter().filter(is_old).count();
        [n_old, self.data.samples().len() - n_old]
    }

    /// Ranks all items that a user has not seen by an encoder's scores.
    pub fn by_encoder(&self, encoder: &TwoTower<Flex>) -> Result<[Quality; 2]> {
        let (samples, device) = (self.data.samples(), Default::default());
        let views = NextItemViews::default();
        let histories: Vec<_> = samples.iter().map(|sample| views.plain(sample)).collect();
        let batch: HistoryBatch<Flex> =
            NextItemCollate::new(self.data.n_items()).collate(&histories, &device);
        let queries = encoder.embed(batch);
        let [_, d] = queries.dims();
        let queries = Matrix::try_new(host_values(queries), d)?;
        let items = Matrix::try_new(host_values(encoder.items()), d)?;
        let target = |sample| RankedTarget {
            target: NextItem::target(sample),
            excluded: sample.seen(),
        };
        let targets: Vec<RankedTarget<'_>> = samples.iter().map(target).collect();
        let ranking = RankingProtocol::new(Candidates::Full).rank(&queries, &items, &targets)?;
        Ok(self.qualities(ranking.positions()))
    }

    /// Ranks the same items by their number of interactions `[n_items]`, alike for all users: the floor.
    pub fn by_popularity(&self, popularity: &[f64]) -> [Quality; 2] {
        let position = |sample: &NextItem| {
            let is_other = |item: &usize| {
                let item = *item as u32;
                item != sample.target() && sample.seen().binary_search(&item).is_err()
            };
            let others = (0..popularity.len()).filter(is_other);
            let target = popularity[sample.target() as usize];
            TargetPosition::among(target, others.map(|item| popularity[item]))
        };
        let positions: Vec<_> = self.data.samples().iter().map(position).collect();
        self.qualities(&positions)
    }

    /// Returns the means over users that the old data have, and over the others.
    fn qualities(&self, positions: &[TargetPosition]) -> [Quality; 2] {
        [true, false].map(|is_old| {
            let users = self.data.samples().iter().zip(positions);
            let of_kind = users.filter(|(it, _)| (it.user() < self.n_old_users) == is_old);
            let of_kind: Vec<&TargetPosition> = of_kind.map(|(_, position)| position).collect();
            let mean = |measure: fn(&TargetPosition, usize) -> f64| {
                let sum: f64 = of_kind.iter().map(|it| measure(it, N_RECOMMENDED)).sum();
                sum / of_kind.len() as f64
            };
            Quality {
                hit_rate: mean(TargetPosition::hit_rate),
                ndcg: mean(TargetPosition::ndcg),
            }
        })
    }
}
