//! The division of one data set into experiences that arrive one after the other.

use icl_core::{Error, Seed};
use rand::seq::SliceRandom;

use crate::place::Found;

/// Least number of samples of an experience: two for training and two that are held out.
const MIN_SAMPLES: usize = 4;

/// Division of one data set into T experiences, which arrive one after the other.
///
/// | text | experiences |
/// |---|---|
/// | `data:T` | equal parts, drawn at random |
/// | `size:T` | equal parts by ascending size |
/// | `class:T` | groups of consecutive classes, whose numbers of classes differ by at most one |
/// | `time:COLUMN` | one for each value of a column of a table, in ascending order |
/// | `time:COLUMN:T` | equal parts by ascending values of a column, whatever they hold; interactions have the column `time` |
/// | `blurred:T:SHARE` | as `class:T`; at each boundary, the share of the last quarter of the one is exchanged with the first quarter of the next |
/// | `imbalanced:T:RATIO` | as `class:T`; each is smaller than the one before, by a common factor; the first is `RATIO` times as large as the last would be alone |
/// | `concurrent:T:N` | groups of classes as in `class:T`, each divided equally over N experiences, the last of which is its own |
///
/// Every sample is in one experience, except with `imbalanced`, which leaves samples out. The order of samples is that
/// of the data.
///
/// Sources: `class` and `data` are the divisions of CaSSLe (Fini et al., 2022); `blurred`, `imbalanced` and
/// `concurrent` follow the streams of SCALE (Yu et al., 2023), whose samples come one by one: here they come an
/// experience at a time.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamSplit {
    /// Equal parts at random.
    Data(usize),
    /// Equal parts by size.
    Size(usize),
    /// Groups of classes.
    Class(usize),
    /// Values of a column, in T equal parts or one for each value.
    Time {
        /// Name of the column.
        column: String,
        /// Number of experiences T; `None`: one for each value.
        n: Option<usize>,
    },
    /// Groups of classes with soft boundaries.
    Blurred {
        /// Number of experiences T.
        n: usize,
        /// Share of the quarters at a boundary that is exchanged, from 0 to 1.
        share: f64,
    },
    /// Groups of classes of falling size.
    Imbalanced {
        /// Number of experiences T.
        n: usize,
        /// Quotient of the shares of samples that the first and the last experience keep, at least 1.
        ratio: f64,
    },
    /// Groups of classes that overlap.
    Concurrent {
        /// Number of experiences T.
        n: usize,
        /// Number of experiences N over which a group extends.
        width: usize,
    },
}

/// Keys by which a division orders samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamKey {
    /// No keys: the values have no effect.
    Nothing,
    /// Sizes of the samples.
    Size,
    /// Classes of the samples.
    Class,
    /// Ranks of the values of the column of this name; equal values have equal ranks.
    Column(String),
}

impl StreamSplit {
    /// Returns the kind of keys that [`experiences`](Self::experiences) needs.
    pub fn key(&self) -> StreamKey {
        match self {
            Self::Data(_) => StreamKey::Nothing,
            Self::Size(_) => StreamKey::Size,
            Self::Time { column, .. } => StreamKey::Column(column.clone()),
            Self::Class(_)
            | Self::Blurred { .. }
            | Self::Imbalanced { .. }
            | Self::Concurrent { .. } => StreamKey::Class,
        }
    }

    /// Divides n = `keys.len()` samples into experiences, in the order in which they arrive. The indices of each are
    /// ascending. The result is a pure function of the arguments.
    ///
    /// ```
    /// use icl_core::Seed;
    /// use icl_data::StreamSplit;
    ///
    /// let classes = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
    /// let split: StreamSplit = "class:3".parse()?;
    /// let experiences = split.experiences(&classes, Seed::new(1))?;
    /// assert_eq!(experiences[1], [4, 5, 6, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`]
    /// - if there are fewer than two experiences;
    /// - if there are fewer classes than experiences;
    /// - if an experience has fewer than four samples.
    pub fn experiences(&self, keys: &[usize], seed: Seed) -> Result<Vec<Vec<usize>>, Error> {
        let seed = seed.child("stream");
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.shuffle(&mut seed.child("order").rng());
        if self.key() != StreamKey::Nothing {
            // The sort is stable, so that samples with equal keys stay shuffled.
            order.sort_by_key(|&index| keys[index]);
        }
        let mut experiences = match *self {
            Self::Data(n) | Self::Size(n) | Self::Time { n: Some(n), .. } => equal_parts(&order, n),
            Self::Time { n: None, .. } => by_key(&order, keys),
            Self::Class(n) => self.class_groups(&order, keys, n)?,
            Self::Blurred { n, share } => {
                let mut groups = self.class_groups(&order, keys, n)?;
                blur(&mut groups, share);
                groups
            }
            Self::Imbalanced { n, ratio } => {
                let mut groups = self.class_groups(&order, keys, n)?;
                thin(&mut groups, ratio, seed);
                groups
            }
            Self::Concurrent { n, width } => {
                let mut groups = self.class_groups(&order, keys, n)?;
                // A group holds its classes one after the other: shuffled, each of its parts has samples of all.
                for (at, group) in groups.iter_mut().enumerate() {
                    group.shuffle(&mut seed.child("group").at(at as u64).rng());
                }
                overlapping(&groups, width)
            }
        };
        if experiences.len() < 2 {
            return Err(Error::new(
                format!("split {}", self.found()),
                format!("{} experiences", experiences.len()),
                "at least 2",
            ));
        }
        for (at, experience) in experiences.iter_mut().enumerate() {
            experience.sort_unstable();
            if experience.len() < MIN_SAMPLES {
                return Err(Error::new(
                    format!("split {}", self.found()),
                    format!("{} samples in experience {}", experience.len(), at + 1),
                    format!("at least {MIN_SAMPLES}"),
                ));
            }
        }
        Ok(experiences)
    }

    fn found(&self) -> Found {
        Found::new(&self.to_string())
    }

    /// Groups consecutive classes into n experiences; groups differ by at most one class.
    fn class_groups(
        &self,
        order: &[usize],
        keys: &[usize],
        n: usize,
    ) -> Result<Vec<Vec<usize>>, Error> {
        let classes = by_key(order, keys);
        if classes.len() < n {
            return Err(Error::new(
                format!("split {}", self.found()),
                format!("{} classes", classes.len()),
                format!("at least {n}, one for each experience"),
            ));
        }
        let groups = equal_parts(&classes, n);
        Ok(groups.into_iter().map(|group| group.concat()).collect())
    }
}

/// Cuts items into n parts whose lengths differ by at most one; none for n = 0.
fn equal_parts<T: Clone>(items: &[T], n: usize) -> Vec<Vec<T>> {
    let bound = |part: usize| part * items.len() / n;
    (0..n)
        .map(|part| items[bound(part)..bound(part + 1)].to_vec())
        .collect()
}

/// Groups samples of an order by key.
fn by_key(order: &[usize], keys: &[usize]) -> Vec<Vec<usize>> {
    let groups = order.chunk_by(|&a, &b| keys[a] == keys[b]);
    groups.map(<[usize]>::to_vec).collect()
}

/// Exchanges a share of the last quarter of each group with the first quarter of the next.
fn blur(groups: &mut [Vec<usize>], share: f64) {
    for at in 1..groups.len() {
        let (before, after) = groups.split_at_mut(at);
        let (Some(last), Some(first)) = (before.last_mut(), after.first_mut()) else {
            continue;
        };
        // A quarter of the smaller group, so that both parts that are exchanged have one length.
        let n_quarter = last.len().min(first.len()) / 4;
        let n_exchanged = (share * n_quarter as f64).round() as usize;
        let from = last.len() - n_exchanged;
        last[from..].swap_with_slice(&mut first[..n_exchanged]);
    }
}

/// Keeps of group t the share `ratio^(−t/(T−1))`, drawn at random.
fn thin(groups: &mut [Vec<usize>], ratio: f64, seed: Seed) {
    // A single group keeps all of its samples, instead of a division by 0.
    let last = groups.len().saturating_sub(1).max(1);
    for (at, group) in groups.iter_mut().enumerate() {
        let share = ratio.powf(-(at as f64) / last as f64);
        group.shuffle(&mut seed.child("kept").at(at as u64).rng());
        group.truncate((share * group.len() as f64).round() as usize);
    }
}

/// Divides each group over `width` experiences, its own and those before it, as far as there are any.
fn overlapping(groups: &[Vec<usize>], width: usize) -> Vec<Vec<usize>> {
    let mut experiences = vec![Vec::new(); groups.len()];
    for (at, group) in groups.iter().enumerate() {
        let first = (at + 1).saturating_sub(width);
        let parts = equal_parts(group, at + 1 - first);
        for (experience, part) in experiences[first..].iter_mut().zip(parts) {
            experience.extend(part);
        }
    }
    experiences
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [&str; 8] = [
        "data:5",
        "size:5",
        "class:5",
        "time:t",
        "time:t:5",
        "blurred:5:0.5",
        "imbalanced:5:4",
        "concurrent:5:3",
    ];

    /// Ten classes of 40 samples each, in no order.
    fn keys() -> Vec<usize> {
        (0..400).map(|index| index * 37 % 10).collect()
    }

    fn experiences(text: &str, seed: u64) -> Vec<Vec<usize>> {
        let split: StreamSplit = text.parse().unwrap();
        split.experiences(&keys(), Seed::new(seed)).unwrap()
    }

    /// Returns the number of samples of each class in an experience.
    fn classes(experience: &[usize]) -> [usize; 10] {
        let keys = keys();
        let mut counts = [0; 10];
        experience
            .iter()
            .for_each(|&index| counts[keys[index]] += 1);
        counts
    }

    #[test]
    fn every_sample_comes_once() {
        for text in ALL {
            let of = experiences(text, 1);
            let mut seen = of.concat();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), of.concat().len(), "{text}");
            assert_eq!(seen.len() == 400, !text.starts_with("imbalanced"), "{text}");
            assert!(of.iter().all(|it| it.is_sorted()), "{text}");
            assert_eq!(of, experiences(text, 1), "{text}");
            assert_eq!(
                of == experiences(text, 2),
                ["size:5", "class:5", "time:t", "time:t:5"].contains(&text),
                "{text}"
            );
        }
    }

    #[test]
    fn groups_are_consecutive_classes() {
        for (at, experience) in experiences("class:5", 1).iter().enumerate() {
            let mut expected = [0; 10];
            expected[2 * at..2 * at + 2].fill(40);
            assert_eq!(classes(experience), expected);
        }
        // Ten classes in three groups.
        let n = |it: &Vec<usize>| classes(it).iter().filter(|n| **n > 0).count();
        assert_eq!(
            experiences("class:3", 1).iter().map(n).collect::<Vec<_>>(),
            [3, 3, 4]
        );
        assert_eq!(experiences("time:t", 1).len(), 10);
    }

    /// A quarter of 80 samples are 20, of which half goes to each neighbour.
    #[test]
    fn blurred_boundaries_exchange_their_share() {
        let of = experiences("blurred:5:0.5", 1);
        for (at, experience) in of.iter().enumerate() {
            assert_eq!(experience.len(), 80);
            let counts = classes(experience);
            let of_group = |group: usize| counts[2 * group] + counts[2 * group + 1];
            let neighbours = if at % 4 == 0 { 1 } else { 2 };
            assert_eq!(of_group(at), 80 - 10 * neighbours, "{counts:?}");
            for neighbour in [at.wrapping_sub(1), at + 1]
                .into_iter()
                .filter(|it| *it < 5)
            {
                assert_eq!(of_group(neighbour), 10, "{counts:?}");
            }
        }
        assert_eq!(experiences("blurred:5:0", 1), experiences("class:5", 1));
    }

    #[test]
    fn imbalanced_experiences_fall_by_a_common_factor() {
        let sizes: Vec<usize> = experiences("imbalanced:5:4", 1)
            .iter()
            .map(Vec::len)
            .collect();
        // 80 · 4^(−t/4).
        assert_eq!(sizes, [80, 57, 40, 28, 20]);
    }

    /// A group of 80 samples is divided over three experiences, two or one at the begin.
    #[test]
    fn concurrent_groups_overlap() {
        let of = experiences("concurrent:5:3", 1);
        let group = |experience: usize, group: usize| {
            let counts = classes(&of[experience]);
            counts[2 * group] + counts[2 * group + 1]
        };
        assert_eq!((group(0, 0), group(0, 1), group(1, 1)), (80, 40, 40));
        let of_third = [0, 1, 2, 3].map(|experience| group(experience, 2));
        assert!(
            of_third[..3].iter().all(|n| (26..=27).contains(n)),
            "{of_third:?}"
        );
        assert_eq!(of_third[3], 0);
        assert_eq!(experiences("concurrent:5:1", 1), experiences("class:5", 1));
    }

    #[test]
    fn parts_by_size_are_in_order_and_break_ties_by_the_seed() {
        let keys = keys();
        for pair in experiences("size:5", 1).windows(2) {
            let greatest = pair[0].iter().map(|&index| keys[index]).max();
            let least = pair[1].iter().map(|&index| keys[index]).min();
            assert!(greatest <= least);
        }
        let sizes: Vec<usize> = experiences("data:7", 1).iter().map(Vec::len).collect();
        assert_eq!(sizes, [57, 57, 57, 57, 57, 57, 58]);
    }

    #[test]
    fn streams_that_cannot_be_made_are_refused() {
        let refused = |text: &str, keys: &[usize]| {
            let split: StreamSplit = text.parse().unwrap();
            split
                .experiences(keys, Seed::new(1))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("class:11", &keys()),
            "split \"class:11\": found 10 classes, expected at least 11, one for each experience"
        );
        assert_eq!(
            refused("data:5", &[0; 18]),
            "split \"data:5\": found 3 samples in experience 1, expected at least 4"
        );
        assert_eq!(
            refused("time:t", &[7; 18]),
            "split \"time:t\": found 1 experiences, expected at least 2"
        );
        assert_eq!(
            refused("time:t:3", &[]),
            "split \"time:t:3\": found 0 samples in experience 1, expected at least 4"
        );
        assert!(refused("imbalanced:2:1e300", &keys()).contains("0 samples in experience 2"));
    }
}
