//! Uniform sampling from a stream in bounded memory.

use icl_core::Rng;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Reservoir of a stream's items (Vitter, 1985, Algorithm R). After n items it holds each of them with the
/// same probability min(1, capacity/n). The number n and the items are all that must be stored for the next ones.
///
/// ```
/// use icl_core::{Increment, Seed};
/// use icl_train::Reservoir;
///
/// let mut rng = Seed::new(1).rng();
/// let mut yesterday = Reservoir::new(50);
/// (0..1000).for_each(|sample| yesterday.push(sample, &mut rng));
/// let stored = yesterday.items().to_vec();
/// let mut today = Reservoir::resumed(stored, 50, 1000, &mut rng);
/// (1000..1200).for_each(|sample| today.push(sample, &mut rng));
/// // 50 samples that stand for 1200, before 100 new ones arrive.
/// let increment = Increment::try_new(today.items().to_vec(), (1200..1300).collect())?;
/// let increment = increment.with_old_weight(today.n_seen() as f64 / 50.0)?;
/// assert_eq!(increment.n_old(), 1200);
/// # Ok::<(), icl_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservoir<T> {
    items: Vec<T>,
    capacity: usize,
    n_seen: usize,
}

impl<T> Reservoir<T> {
    /// Creates an empty reservoir for at most `capacity` items.
    pub fn new(capacity: usize) -> Self {
        Self {
            items: Vec::new(),
            capacity,
            n_seen: 0,
        }
    }

    /// Creates the reservoir that holds `items` after `n_seen` items of a stream. If `capacity` is below the number of
    /// items, some are dropped at random. A reservoir that has dropped items cannot grow: its capacity is then at most
    /// the number of `items`.
    ///
    /// # Panics
    /// If there are more items than `n_seen`.
    pub fn resumed(mut items: Vec<T>, capacity: usize, n_seen: usize, rng: &mut Rng) -> Self {
        assert!(
            items.len() <= n_seen,
            "found {} items of a stream of {n_seen}, expected at most as many",
            items.len()
        );
        let capacity = match items.len() < n_seen {
            true => capacity.min(items.len()),
            false => capacity,
        };
        if items.len() > capacity {
            items.shuffle(rng);
            items.truncate(capacity);
        }
        Self {
            items,
            capacity,
            n_seen,
        }
    }

    /// Offers the next item of the stream, which is kept or dropped at random.
    pub fn push(&mut self, item: T, rng: &mut Rng) {
        self.n_seen += 1;
        if self.items.len() < self.capacity {
            self.items.push(item);
            return;
        }
        // Algorithm R: a place among all that have come, which the reservoir holds with probability capacity/n.
        let place = rng.random_range(0..self.n_seen);
        if let Some(slot) = self.items.get_mut(place) {
            *slot = item;
        }
    }

    /// Returns the number of items that have come.
    pub fn n_seen(&self) -> usize {
        self.n_seen
    }

    /// Returns the items that the reservoir holds.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::Seed;

    #[test]
    fn a_short_stream_is_kept_whole() {
        let mut reservoir = Reservoir::new(5);
        let mut rng = Seed::new(1).rng();
        (0..4).for_each(|item| reservoir.push(item, &mut rng));
        assert_eq!(reservoir.items(), [0, 1, 2, 3]);
        let mut nothing = Reservoir::new(0);
        nothing.push(1, &mut rng);
        assert!(nothing.items().is_empty());
    }

    /// As below, with a store after 8 of 20 items that shrinks the reservoir from 7 to 5.
    #[test]
    fn every_item_is_as_likely_to_stay_over_days() {
        let mut kept = [0_u32; 20];
        for round in 0..6000 {
            let mut rng = Seed::new(8).at(round).rng();
            let mut first = Reservoir::new(7);
            (0..8).for_each(|item| first.push(item, &mut rng));
            let items = first.items().to_vec();
            let mut second = Reservoir::resumed(items, 5, first.n_seen(), &mut rng);
            (8..20).for_each(|item| second.push(item, &mut rng));
            assert_eq!((second.items().len(), second.n_seen()), (5, 20));
            second.items().iter().for_each(|&item| kept[item] += 1);
        }
        assert!(kept.iter().all(|&n| n.abs_diff(1500) < 170), "{kept:?}");
    }

    #[test]
    fn a_reservoir_grows_only_while_it_holds_all() {
        let mut rng = Seed::new(1).rng();
        let mut whole = Reservoir::resumed(vec![0, 1], 4, 2, &mut rng);
        (2..9).for_each(|item| whole.push(item, &mut rng));
        assert_eq!(whole.items().len(), 4);
        let mut part = Reservoir::resumed(vec![0, 1], 4, 3, &mut rng);
        (3..9).for_each(|item| part.push(item, &mut rng));
        assert_eq!(part.items().len(), 2);
    }

    /// On average 6000·(5/20) = 1500 of 6000 reservoirs keep each of 20 items, with a standard deviation
    /// of 34. A correct reservoir deviates by five of them in one of 100 000 such tests.
    #[test]
    fn every_item_is_as_likely_to_stay() {
        let mut kept = [0_u32; 20];
        for round in 0..6000 {
            let mut rng = Seed::new(7).at(round).rng();
            let mut reservoir = Reservoir::new(5);
            (0..20).for_each(|item| reservoir.push(item, &mut rng));
            assert_eq!(reservoir.items().len(), 5);
            reservoir.items().iter().for_each(|&item| kept[item] += 1);
        }
        assert!(kept.iter().all(|&n| n.abs_diff(1500) < 170), "{kept:?}");
    }
}
