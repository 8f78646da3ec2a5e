//! Random divisions of the noise into parts of the real sizes.

use rand::seq::SliceRandom;

use crate::Seed;

/// Random orders of the rows of the noise: the first `n_old` positions are the old part.
#[derive(Debug)]
pub(super) struct Relabellings {
    n_rows: usize,
    n_old: usize,
    /// Row at each position, one relabelling after the other.
    orders: Vec<u32>,
    /// Position of each row.
    positions: Vec<u32>,
}

impl Relabellings {
    /// Draws `n` relabellings, each from a stream of its own.
    ///
    /// # Panics
    /// If there are more than 2³² rows.
    pub(super) fn draw(n: usize, n_rows: usize, n_old: usize, seed: Seed) -> Self {
        let last = u32::try_from(n_rows).expect("the data holds fewer than 2³² rows");
        let mut orders = Vec::with_capacity(n * n_rows);
        let mut positions = vec![0; n * n_rows];
        for at in 0..n {
            let mut order: Vec<u32> = (0..last).collect();
            order.shuffle(&mut seed.at(at as u64).rng());
            for (position, row) in (0..last).zip(&order) {
                positions[at * n_rows + *row as usize] = position;
            }
            orders.extend(order);
        }
        Self {
            n_rows,
            n_old,
            orders,
            positions,
        }
    }

    /// Returns the number of relabellings.
    pub(super) fn n(&self) -> usize {
        self.orders.len() / self.n_rows
    }

    /// Returns the rows of the old and of the new part of a relabelling.
    pub(super) fn parts(&self, at: usize) -> [&[u32]; 2] {
        let order = &self.orders[at * self.n_rows..][..self.n_rows];
        let (old, new) = order.split_at(self.n_old);
        [old, new]
    }

    /// Returns the position of a row in a relabelling.
    pub(super) fn position(&self, at: usize, row: usize) -> usize {
        self.positions[at * self.n_rows + row] as usize
    }

    /// Returns whether a row is in the old part of a relabelling.
    pub(super) fn is_old(&self, at: usize, row: usize) -> bool {
        self.position(at, row) < self.n_old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_one_part_and_as_often_old_as_its_share() {
        let relabellings = Relabellings::draw(4000, 7, 2, Seed::new(5));
        let mut n_old = [0_usize; 7];
        for at in 0..relabellings.n() {
            let [old, new] = relabellings.parts(at);
            assert_eq!((old.len(), new.len()), (2, 5));
            for (position, row) in old.iter().chain(new).enumerate() {
                assert_eq!(relabellings.position(at, *row as usize), position);
            }
            for (row, n) in n_old.iter_mut().enumerate() {
                *n += usize::from(relabellings.is_old(at, row));
            }
        }
        // A binomial of 4000 draws with p = 2/7, within four standard deviations.
        let (mean, sd) = (4000.0 * 2.0 / 7.0, (4000.0 * 10.0 / 49.0_f64).sqrt());
        assert!(
            n_old.iter().all(|n| (*n as f64 - mean).abs() < 4.0 * sd),
            "{n_old:?}"
        );
    }
}
