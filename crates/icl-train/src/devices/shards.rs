//! The division of batches into shards.

use icl_core::Group;

/// Division of every batch into shards, each of which passes through the encoder at once, and the shards of one member.
///
/// The sample at place p of a batch belongs to shard p mod S. Old samples stand before new ones, so that every shard has
/// nearly their share of old samples. Shard s belongs to member s mod W.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shards {
    rank: usize,
    n_members: usize,
    n_shards: usize,
}

impl Shards {
    /// Divides batches into so many shards among the members of a group. The number does not depend on the size of a batch, so that
    /// two groups with the same S take the same steps.
    pub(crate) fn new(group: &dyn Group, n_shards: usize) -> Self {
        Self {
            rank: group.rank(),
            n_members: group.size(),
            n_shards,
        }
    }

    /// Returns the number of shards.
    pub(crate) fn n_shards(&self) -> usize {
        self.n_shards
    }

    /// Returns whether a member has more than one shard.
    pub(crate) fn is_chunked(&self) -> bool {
        self.n_shards > self.n_members
    }

    /// Returns the shards of this member that have samples of a batch of n.
    pub(crate) fn own(&self, n: usize) -> impl Iterator<Item = usize> + use<> {
        self.of_member(self.rank, n)
    }

    /// Returns the shards of a member that have samples of a batch of n.
    fn of_member(&self, rank: usize, n: usize) -> impl Iterator<Item = usize> + use<> {
        (rank..self.n_shards.min(n)).step_by(self.n_members)
    }

    /// Returns the places of a shard in a batch of n samples.
    pub(crate) fn places(&self, shard: usize, n: usize) -> impl Iterator<Item = usize> + use<> {
        (shard..n).step_by(self.n_shards)
    }

    /// Returns the places of all samples of a batch of n, as the members hold them: shard by shard of each member.
    pub(crate) fn places_of_members(&self, n: usize) -> Vec<Vec<usize>> {
        let of_member = |rank| {
            let shards = self.of_member(rank, n);
            shards.flat_map(|shard| self.places(shard, n)).collect()
        };
        (0..self.n_members).map(of_member).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::TrainingSettings;
    use icl_core::{Alone, Threads};

    fn shards(group: &dyn Group, chunk: Option<usize>) -> Shards {
        let settings = TrainingSettings {
            batch_size: 32,
            chunk,
            ..TrainingSettings::default()
        };
        Shards::new(group, settings.n_shards(group.size()))
    }

    #[test]
    fn every_place_belongs_to_one_shard_and_shards_are_even() {
        for (size, chunk) in [
            (1, None),
            (2, None),
            (3, Some(2)),
            (1, Some(5)),
            (5, Some(1)),
        ] {
            let members = Threads::group(size);
            for n in [2, 4, 7, 16, 31, 32] {
                let of = |member| shards(member, chunk);
                let own = members.iter().map(|member| {
                    let shards = of(member);
                    let own = shards.own(n);
                    own.flat_map(|shard| {
                        let places: Vec<usize> = shards.places(shard, n).collect();
                        assert!(!places.is_empty() && places.len() <= chunk.unwrap_or(n));
                        assert!(places.len() >= n / shards.n_shards());
                        places
                    })
                    .collect()
                });
                let own: Vec<Vec<usize>> = own.collect();
                assert_eq!(own, of(&members[0]).places_of_members(n));
                let mut all = own.concat();
                all.sort_unstable();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_number_of_shards_joins_members_and_chunks() {
        let n_shards = |size: usize, chunk| {
            let members = Threads::group(size);
            shards(&members[0], chunk).n_shards()
        };
        assert_eq!(n_shards(4, None), 4);
        assert_eq!(n_shards(2, Some(8)), 4);
        assert_eq!(n_shards(1, Some(8)), 4);
        assert_eq!(n_shards(3, Some(8)), 6);
        assert_eq!(
            [None, Some(32)].map(|chunk| shards(&Alone, chunk).n_shards()),
            [1, 1]
        );
    }
}
