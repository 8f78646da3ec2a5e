//! Uniform sampling from a stream in bounded memory.

use icl_core::Rng;
use rand::RngExt;

/// Reservoir of a stream's items (Vitter, 1985, Algorithm R). After n items it holds each of them with the
/// same probability min(1, capacity/n).
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

    /// Offers the next item of the stream, which is kept or dropped at random.
    pub fn push(&mut self, item: T, rng: &mut Rng) {
        self.n_seen += 1;
        if self.items.len() < self.capacity {
            self.items.push(item);
            return;
        }
        let place = rng.random_range(0..self.n_seen);
        if let Some(slot) = self.items.get_mut(place) {
            *slot = item;
        }
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
