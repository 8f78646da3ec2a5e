//! Old and new samples of joined data, and new samples that equal an old one.

use std::collections::HashSet;
use std::hash::Hash;

use icl_core::Increment;

use crate::error::DataError;
use crate::place::Found;

/// Returns the increment of an old and a new part, each given by its name and its number of `samples`, which are joined
/// in this order.
///
/// # Errors
/// [`DataError`] if a part has fewer than two samples.
pub(crate) fn increment_of_parts(
    parts: [(&str, usize); 2],
    samples: &str,
) -> Result<Increment, DataError> {
    if let Some((name, n)) = parts.into_iter().find(|(_, n)| *n < 2) {
        let place = format!("data set {}", Found::new(name));
        return Err(DataError::new(
            place,
            format!("{n} {samples}"),
            "at least 2",
        ));
    }
    let [n_old, n_new] = parts.map(|(_, n)| n);
    Increment::try_new((0..n_old).collect(), (n_old..n_old + n_new).collect())
        .map_err(DataError::from)
}

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
