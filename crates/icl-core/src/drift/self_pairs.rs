//! Rows of the noise that are the anchor itself or its positive.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::relabelling::Relabellings;

/// Number of rows of a class up to which its old rows are counted at each use. Those of larger classes are counted once
/// for each relabelling.
const FEW: usize = 8;

/// Rows of the noise in classes of equal bits. The memory is in proportion to the rows, also if all are equal.
#[derive(Debug, Clone)]
pub(super) struct EqualRows {
    class_of: Vec<usize>,
    classes: Vec<Vec<usize>>,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl EqualRows {
    /// Groups the rows of `rows` `[n, d]`.
    pub(super) fn of(rows: &[f64], d: usize) -> Self {
        let mut equal = Self {
            class_of: Vec::with_capacity(rows.len() / d),
            classes: Vec::new(),
            by_hash: HashMap::new(),
        };
        for (at, row) in rows.chunks_exact(d).enumerate() {
            let class = equal.class_equal_to(row, rows).unwrap_or_else(|| {
                let class = equal.classes.len();
                equal.classes.push(Vec::new());
                equal.by_hash.entry(hash(row)).or_default().push(class);
                class
            });
            equal.classes[class].push(at);
            equal.class_of.push(class);
        }
        equal
    }

    /// Returns the classes of some of the rows, each with those that are left of it in the order of `rows`. No other
    /// row can be looked up in them.
    pub(super) fn subset(&self, rows: &[usize]) -> Self {
        let mut classes = vec![Vec::new(); self.classes.len()];
        let class_of: Vec<usize> = rows.iter().map(|row| self.class_of[*row]).collect();
        for (at, class) in class_of.iter().enumerate() {
            classes[*class].push(at);
        }
        Self {
            class_of,
            classes,
            by_hash: HashMap::new(),
        }
    }

    /// Returns the class of the rows of `rows` that equal a row bit for bit; `None` if there is no such row.
    pub(super) fn class_equal_to(&self, row: &[f64], rows: &[f64]) -> Option<usize> {
        let mut classes = self.by_hash.get(&hash(row)).into_iter().flatten().copied();
        classes.find(|&class| {
            let other = &rows[self.classes[class][0] * row.len()..][..row.len()];
            let mut pairs = row.iter().zip(other);
            pairs.all(|(a, b)| a.to_bits() == b.to_bits())
        })
    }

    /// Returns the class of a row.
    pub(super) fn class_of(&self, row: usize) -> usize {
        self.class_of[row]
    }

    /// Returns the number of classes.
    pub(super) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Returns the rows of a class, in ascending order.
    pub(super) fn rows(&self, class: usize) -> &[usize] {
        &self.classes[class]
    }
}

/// Self-pairs of an anchor: the classes of rows of the noise that equal the anchor and its positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SelfPairs([Option<usize>; 2]);

impl SelfPairs {
    /// Returns the self-pairs of these classes, which may be one and the same.
    pub(super) fn of(anchor: Option<usize>, positive: Option<usize>) -> Self {
        Self([anchor, positive.filter(|_| positive != anchor)])
    }

    /// Returns the classes.
    pub(super) fn classes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().flatten()
    }

    /// Returns the self-pairs of an anchor that is the positive of this one and has it as its own, if both are rows of
    /// the noise.
    pub(super) fn reversed(self) -> Option<Self> {
        let [anchor, positive] = self.0;
        anchor.and(positive).map(|_| Self([positive, anchor]))
    }

    /// Returns whether rows of a class are self-pairs.
    pub(super) fn holds(self, class: usize) -> bool {
        self.0.contains(&Some(class))
    }
}

/// Number of old rows of each class in each relabelling.
#[derive(Debug)]
pub(super) struct OldInClasses<'a> {
    equal: &'a EqualRows,
    relabellings: &'a Relabellings,
    /// Counts of the classes of many rows, one for each relabelling.
    of_many: HashMap<usize, Vec<u32>>,
}

impl<'a> OldInClasses<'a> {
    pub(super) fn new(equal: &'a EqualRows, relabellings: &'a Relabellings) -> Self {
        let many = (0..equal.n_classes()).filter(|&class| equal.rows(class).len() > FEW);
        let of_many = many.map(|class| {
            let counts =
                (0..relabellings.n()).map(|at| count(equal, relabellings, class, at) as u32);
            (class, counts.collect())
        });
        Self {
            equal,
            relabellings,
            of_many: of_many.collect(),
        }
    }

    /// Returns the numbers of old and of new rows among self-pairs in a relabelling.
    pub(super) fn counts(&self, of: SelfPairs, at: usize) -> [usize; 2] {
        let mut counts = [0, 0];
        for class in of.classes() {
            let n_old = match self.of_many.get(&class) {
                Some(counts) => counts[at] as usize,
                None => count(self.equal, self.relabellings, class, at),
            };
            counts[0] += n_old;
            counts[1] += self.equal.rows(class).len() - n_old;
        }
        counts
    }
}

fn count(equal: &EqualRows, relabellings: &Relabellings, class: usize, at: usize) -> usize {
    let rows = equal.rows(class).iter();
    rows.filter(|row| relabellings.is_old(at, **row)).count()
}

fn hash(row: &[f64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.iter().for_each(|x| x.to_bits().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::Seed;

    #[test]
    fn equal_is_equal_to_the_bit() {
        let rows = [1.0, 2.0, 1.0, 2.0 + f64::EPSILON * 2.0, 1.0, 2.0, 0.0, 1.0];
        let equal = EqualRows::of(&rows, 2);
        let found = equal.class_equal_to(&[1.0, 2.0], &rows).unwrap();
        assert_eq!((equal.rows(found), equal.n_classes()), (&[0, 2][..], 3));
        assert_eq!(equal.class_of(2), found);
        assert_eq!(equal.class_equal_to(&[-0.0, 1.0], &rows), None);
        let both = SelfPairs::of(Some(found), Some(found));
        assert_eq!(both.classes().count(), 1);
        assert!(both.holds(found) && !both.holds(found + 1));
    }

    /// Classes of few and of many rows are counted alike.
    #[test]
    fn old_rows_of_a_class_are_counted_in_each_relabelling() {
        let rows = [[0.0; 5].to_vec(), vec![1.0; 40]].concat();
        let equal = EqualRows::of(&rows, 1);
        let relabellings = Relabellings::draw(20, 45, 17, Seed::new(2));
        let counts = OldInClasses::new(&equal, &relabellings);
        for at in 0..20 {
            let [old, new] = counts.counts(SelfPairs::of(Some(0), Some(1)), at);
            assert_eq!((old, new), (17, 28));
            let few = (0..5).filter(|row| relabellings.is_old(at, *row)).count();
            assert_eq!(
                counts.counts(SelfPairs::of(Some(0), None), at),
                [few, 5 - few]
            );
        }
    }
}
