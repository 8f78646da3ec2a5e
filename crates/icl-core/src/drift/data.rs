//! Embeddings from which a drift is measured.

use std::collections::HashSet;

use super::directions::Directions;
use super::self_pairs::{EqualRows, SelfPairs};
use crate::{Error, HostRows, Origin};

/// Most rows of the noise that count as views of one sample; more equal ones are samples with few possible values.
const MOST_VIEWS: usize = 4;

/// Embeddings of anchors with their positives, and of the old and the new noise.
///
/// Row i of the positives is another view of the sample of row i of the anchors. Every row of the noise is a sample of
/// p(X) or of p(ΔX). The anchors may be rows of the noise themselves: their *self-pairs*, the rows of the noise that
/// equal the anchor or its positive bit for bit, are no negatives of that anchor and are left out of its sums. Of
/// several equal rows all are left out.
///
/// Self-pairs are recognised by their bits only. A row that holds the anchor's sample in other numbers (another view,
/// or rounded) is not recognised, and raises the noise term of its origin. Anchors without a row of their own are
/// therefore tested by a range ([`AnchorDrift::bias_range`]). Every sample should be one row of the noise: several rows
/// of one sample are not independent. If more than a tenth of the anchors have several rows, the test returns no
/// decision ([`Verdict::Unclear`]).
///
/// [`AnchorDrift::bias_range`]: super::AnchorDrift::bias_range
/// [`Verdict::Unclear`]: super::Verdict::Unclear
///
/// ```
/// use icl_core::drift::{DriftData, DriftTestConfig, Verdict};
///
/// // A quarter of a circle; the new data are on the opposite one.
/// let arc = |first: f64, n: usize| {
///     let points = (0..n).flat_map(|i| {
///         let angle = first + 1.5 * i as f64 / n as f64;
///         [angle.cos(), angle.sin()]
///     });
///     (points.collect::<Vec<f64>>(), 2)
/// };
/// let data = DriftData::try_new([arc(0.0, 40), arc(0.01, 40)], [arc(0.0, 40), arc(3.1, 30)])?;
/// let drift = DriftTestConfig::new(0.5, 31.0).try_init()?.measure(&data)?;
/// assert_eq!(drift.verdict(), Verdict::Update);
/// assert_eq!(drift.n_self_pairs(), 40);
/// # Ok::<(), icl_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DriftData {
    /// Anchors of old data, then those of new data, if there are any.
    pub(super) groups: Vec<AnchorGroup>,
    /// Directions of the noise, the old rows first.
    pub(super) noise: Directions,
    /// Values of the noise.
    pub(super) noise_rows: Vec<f64>,
    /// Rows of the noise that equal each other.
    pub(super) equal: EqualRows,
    /// Number of rows of old noise.
    pub(super) n_old: usize,
    /// Shares of the old and of the new rows that are left out of a random subset; 0 without one.
    pub(super) left_out: [f64; 2],
    /// Width of a row.
    pub(super) d: usize,
}

/// Anchors of one origin, with what is known of each.
#[derive(Debug, Clone)]
pub(super) struct AnchorGroup {
    pub(super) origin: Origin,
    pub(super) anchors: Directions,
    pub(super) positives: Directions,
    /// Rows of the noise that are the anchor or its positive, of each anchor.
    pub(super) self_pairs: Vec<SelfPairs>,
    /// Row of the noise that is each anchor's own, where there is one; equal anchors have different rows as far as
    /// there are as many.
    pub(super) own_row: Vec<Option<usize>>,
    /// Numbers of all anchors, which a random subset of them leaves as they are.
    pub(super) counts: Counts,
    /// Row of each anchor among all of its origin.
    pub(super) places: Vec<usize>,
    /// Whether each anchor has no row of its own among *all* rows of the noise.
    pub(super) is_unpaired: Vec<bool>,
}

/// Numbers of all anchors of an origin and all rows of the noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) n_anchors: usize,
    /// Anchors whose samples have more than one row in the noise of their origin.
    pub(super) n_repeated: usize,
    /// Anchors without a row of their own.
    pub(super) n_unpaired: usize,
    /// Rows that are left out of the noise, over all anchors.
    pub(super) n_self_pairs: usize,
}

impl DriftData {
    /// Creates the data of anchors and positives `[n, d]` of old data, and of the old and the new noise `[n_old, d]`,
    /// `[n_new, d]`.
    ///
    /// # Errors
    /// - [`Error`] if there is no row or no column of any of the four, if their widths differ, if values do not
    ///   fill whole rows, or if there are not as many positives as anchors;
    /// - [`Error`] if a value is not finite.
    pub fn try_new(pairs: [HostRows; 2], noise: [HostRows; 2]) -> Result<Self, Error> {
        let [old, new] = &noise;
        let d = pairs[0].1;
        check("old noise", old, d)?;
        check("new noise", new, d)?;
        let noise_rows = [&old.0[..], &new.0].concat();
        let data = Self {
            groups: Vec::new(),
            noise: Directions::of(&noise_rows, d),
            equal: EqualRows::of(&noise_rows, d),
            noise_rows,
            n_old: old.0.len() / d,
            left_out: [0.0; 2],
            d,
        };
        data.with(pairs, ["anchors", "positives"])
    }

    /// Adds anchors and positives `[n, d]` of new data.
    ///
    /// # Errors
    /// Those of [`try_new`](Self::try_new), of these two.
    pub fn with_new_pairs(mut self, pairs: [HostRows; 2]) -> Result<Self, Error> {
        self.groups.truncate(1);
        self.with(pairs, ["new anchors", "new positives"])
    }

    fn with(
        mut self,
        [anchors, positives]: [HostRows; 2],
        names: [&'static str; 2],
    ) -> Result<Self, Error> {
        let d = self.d;
        check(names[0], &anchors, d)?;
        check(names[1], &positives, d)?;
        let n = anchors.0.len() / d;
        if positives.0.len() / d != n {
            return Err(Error::new(
                names[1],
                format!("{} rows", positives.0.len() / d),
                format!("{n}, one for each of the {}", names[0]),
            ));
        }
        let mut n_owners = vec![0; self.equal.n_classes()];
        let of = |row: &[f64]| self.equal.class_equal_to(row, &self.noise_rows);
        let pairs = anchors.0.chunks_exact(d).zip(positives.0.chunks_exact(d));
        let mut self_pairs = Vec::with_capacity(n);
        let mut own_row = Vec::with_capacity(n);
        for (anchor, positive) in pairs {
            let (of_anchor, of_positive) = (of(anchor), of(positive));
            // Equal anchors own the equal rows in turn.
            own_row.push(of_anchor.or(of_positive).map(|class| {
                let rows = self.equal.rows(class);
                let row = rows[n_owners[class] % rows.len()];
                n_owners[class] += 1;
                row
            }));
            self_pairs.push(SelfPairs::of(of_anchor, of_positive));
        }
        let origin = match self.groups.is_empty() {
            true => Origin::Old,
            false => Origin::New,
        };
        let n_rows = |of: &SelfPairs| -> usize {
            of.classes().map(|class| self.equal.rows(class).len()).sum()
        };
        let is_unpaired: Vec<bool> = own_row.iter().map(Option::is_none).collect();
        let counts = Counts {
            n_anchors: n,
            n_repeated: self.n_repeated(&self_pairs, &n_owners, origin),
            n_unpaired: is_unpaired.iter().filter(|it| **it).count(),
            n_self_pairs: self_pairs.iter().map(n_rows).sum(),
        };
        self.groups.push(AnchorGroup {
            origin,
            anchors: Directions::of(&anchors.0, d),
            positives: Directions::of(&positives.0, d),
            self_pairs,
            own_row,
            counts,
            places: (0..n).collect(),
            is_unpaired,
        });
        Ok(self)
    }

    /// Returns the number of anchors whose samples have more than one row in the noise of their origin: a row again, or
    /// both views.
    ///
    /// Equal rows may also be different samples, where there are few possible values. These are many, occur in both
    /// origins, or are rows of different anchors (`n_owners` of each class).
    fn n_repeated(&self, anchors: &[SelfPairs], n_owners: &[usize], origin: Origin) -> usize {
        let pairs: HashSet<SelfPairs> = anchors.iter().copied().collect();
        let classes: HashSet<usize> = pairs.iter().flat_map(|of| of.classes()).collect();
        let n_rows: usize = classes.iter().map(|it| self.equal.rows(*it).len()).sum();
        let n_beyond_owners = n_rows.saturating_sub(n_owners.iter().sum());
        let is_own = |row: &usize| (*row < self.n_old) == (origin == Origin::Old);
        let (mut n_repeated, mut n_in_both_directions) = (0, 0);
        for of in anchors {
            let rows = || of.classes().flat_map(|class| self.equal.rows(class));
            let n = rows().count();
            if n > MOST_VIEWS || !rows().all(is_own) {
                continue;
            }
            let n_owned: usize = of.classes().map(|class| n_owners[class]).sum();
            let is_reversed = || of.reversed().is_some_and(|it| pairs.contains(&it));
            if n > n_owned {
                n_repeated += 1;
            } else if n == 2 && is_reversed() {
                // Both views are anchors, each with the other one as its positive.
                n_in_both_directions += 1;
            }
        }
        n_repeated.min(n_beyond_owners) + n_in_both_directions
    }

    /// Checks that each anchor has noise of both origins.
    pub(super) fn check_noise(&self) -> Result<(), Error> {
        let of_groups = self
            .groups
            .iter()
            .flat_map(|it| it.self_pairs.iter().enumerate());
        for (anchor, self_pairs) in of_groups {
            let mut n_others = [self.n_old, self.n_new()];
            for class in self_pairs.classes() {
                let rows = self.equal.rows(class);
                let n_old = rows.partition_point(|row| *row < self.n_old);
                n_others[0] -= n_old;
                n_others[1] -= rows.len() - n_old;
            }
            for (n, word) in n_others.iter().zip(["old", "new"]) {
                if *n == 0 {
                    let place = format!("anchor {anchor} (counted from 0)");
                    let found = format!("no {word} noise but rows equal to it or to its positive");
                    return Err(Error::new(place, found, "at least one other row"));
                }
            }
        }
        Ok(())
    }

    /// Returns the number of rows of old noise.
    pub fn n_old(&self) -> usize {
        self.n_old
    }

    /// Returns the number of rows of new noise.
    pub fn n_new(&self) -> usize {
        self.noise.n() - self.n_old
    }
}

fn check(rows: &'static str, (values, width): &HostRows, d: usize) -> Result<(), Error> {
    let wrong = |found: String, expected: String| Err(Error::new(rows, found, expected));
    if *width != d || d == 0 {
        return wrong(
            format!("{width} columns"),
            format!("{} columns as the anchors", d.max(1)),
        );
    }
    if values.is_empty() || values.len() % d != 0 {
        return wrong(
            format!("{} values", values.len()),
            format!("whole rows of {d}, at least one"),
        );
    }
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::new(
            rows,
            format!("{} in row {} (counted from 0)", values[at], at / d),
            "finite numbers",
        )),
    }
}
