//! Counting of new samples that equal an old one.

use std::collections::HashSet;
use std::hash::Hash;

use icl_core::Increment;

/// Returns the number of new samples whose key is that of an old sample.
pub(crate) fn n_equal<K: Eq + Hash>(increment: &Increment, key: impl Fn(usize) -> K) -> usize {
    let old: HashSet<K> = increment.old().iter().map(|&index| key(index)).collect();
    let new = increment.new_data().iter();
    new.filter(|&&index| old.contains(&key(index))).count()
}

/// Returns the bits of finite numbers; those of 0 and −0 are the same.
pub(crate) fn number_bits(values: &[f32]) -> impl Iterator<Item = u32> {
    values.iter().map(|value| (value + 0.0).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_new_sample_counts_once() {
        let values = [1.0_f32, -0.0, 5.0, 0.0, 1.0, 1.0, 6.0];
        let increment = Increment::try_new(vec![0, 1, 2], vec![3, 4, 5, 6]).unwrap();
        let key = |index: usize| number_bits(&values[index..=index]).collect::<Vec<_>>();
        assert_eq!(n_equal(&increment, key), 3);
    }
}
