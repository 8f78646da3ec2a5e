//! Rows of the noise that are the anchor itself or its positive.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Rows of the noise by their bits.
#[derive(Debug)]
pub(super) struct RowsByBits<'a> {
    rows: &'a [f64],
    d: usize,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl<'a> RowsByBits<'a> {
    pub(super) fn of(rows: &'a [f64], d: usize) -> Self {
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, row) in rows.chunks_exact(d).enumerate() {
            by_hash.entry(hash(row)).or_default().push(at);
        }
        Self { rows, d, by_hash }
    }

    /// Returns the rows that equal a row bit for bit, in their order.
    pub(super) fn equal_to(&self, row: &[f64]) -> Vec<usize> {
        let same_hash = self.by_hash.get(&hash(row)).into_iter().flatten();
        let is_equal = |at: &&usize| {
            let other = &self.rows[**at * self.d..][..self.d];
            let mut pairs = row.iter().zip(other);
            pairs.all(|(a, b)| a.to_bits() == b.to_bits())
        };
        same_hash.filter(is_equal).copied().collect()
    }
}

fn hash(row: &[f64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.iter().for_each(|x| x.to_bits().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_is_equal_to_the_bit() {
        let rows = [1.0, 2.0, 1.0, 2.0 + f64::EPSILON * 2.0, 1.0, 2.0, 0.0, 1.0];
        let rows = RowsByBits::of(&rows, 2);
        assert_eq!(rows.equal_to(&[1.0, 2.0]), [0, 2]);
        assert_eq!(rows.equal_to(&[-0.0, 1.0]), [0; 0]);
    }
}
