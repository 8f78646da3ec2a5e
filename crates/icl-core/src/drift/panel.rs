//! Embeddings from which a drift is measured.

use super::directions::Directions;
use super::error::DriftError;
use super::self_pairs::{EqualRows, SelfPairs};
use crate::HostRows;

/// Embeddings of anchors with their positives, and of the old and the new noise.
///
/// Row i of the positives is another view of the sample of row i of the anchors. Every row of the noise is a sample of p(X)
/// or of p(ΔX). The anchors may be rows of the noise themselves: their *self-pairs*, the rows of the noise that equal the
/// anchor or its positive bit for bit, are no negatives of that anchor and are left out of its sums. Of several equal rows
/// all are left out.
///
/// ```
/// use icl_core::drift::{DriftPanel, DriftTestConfig, Verdict};
///
/// // A quarter of a circle; the new data are on the opposite one.
/// let arc = |first: f64, n: usize| {
///     let points = (0..n).flat_map(|i| {
///         let angle = first + 1.5 * i as f64 / n as f64;
///         [angle.cos(), angle.sin()]
///     });
///     (points.collect::<Vec<f64>>(), 2)
/// };
/// let panel = DriftPanel::try_new([arc(0.0, 40), arc(0.01, 40)], [arc(0.0, 40), arc(3.1, 30)])?;
/// let drift = DriftTestConfig::new(0.5, 31.0).try_init()?.measure(&panel)?;
/// assert_eq!(drift.verdict(), Verdict::Update);
/// assert_eq!(drift.n_self_pairs(), 40);
/// # Ok::<(), icl_core::drift::DriftError>(())
/// ```
#[derive(Debug, Clone)]
pub struct DriftPanel {
    /// Anchors of old data, then those of new data, if there are any.
    pub(super) groups: Vec<AnchorGroup>,
    /// Directions of the noise, the old rows first.
    pub(super) noise: Directions,
    /// Values of the noise.
    noise_rows: Vec<f64>,
    /// Rows of the noise that equal each other.
    pub(super) equal: EqualRows,
    /// Number of rows of old noise.
    pub(super) n_old: usize,
    /// Width of a row.
    d: usize,
}

/// Anchors of one origin, with what is known of each.
#[derive(Debug, Clone)]
pub(super) struct AnchorGroup {
    pub(super) anchors: Directions,
    pub(super) positives: Directions,
    /// Rows of the noise that are the anchor or its positive, of each anchor.
    pub(super) self_pairs: Vec<SelfPairs>,
    /// Row of the noise that is each anchor's own, where there is one; equal anchors have different rows as far as there are
    /// as many.
    pub(super) own_row: Vec<Option<usize>>,
}

impl DriftPanel {
    /// Creates a panel of anchors and positives `[n, d]` of old data, and of the old and the new noise `[n_old, d]`,
    /// `[n_new, d]`.
    ///
    /// # Errors
    /// - [`DriftError::Shape`] if there is no row or no column of any of the four, if their widths differ, if values do not
    ///   fill whole rows, or if there are not as many positives as anchors;
    /// - [`DriftError::NotFinite`] if a value is not finite.
    pub fn try_new(pairs: [HostRows; 2], noise: [HostRows; 2]) -> Result<Self, DriftError> {
        let [old, new] = &noise;
        let d = pairs[0].1;
        check("old noise", old, d)?;
        check("new noise", new, d)?;
        let noise_rows = [&old.0[..], &new.0].concat();
        let panel = Self {
            groups: Vec::new(),
            noise: Directions::of(&noise_rows, d),
            equal: EqualRows::of(&noise_rows, d),
            noise_rows,
            n_old: old.0.len() / d,
            d,
        };
        panel.with(pairs, ["anchors", "positives"])
    }

    /// Adds anchors and positives `[n, d]` of new data.
    ///
    /// # Errors
    /// Those of [`try_new`](Self::try_new), of these two.
    pub fn with_new_pairs(mut self, pairs: [HostRows; 2]) -> Result<Self, DriftError> {
        self.groups.truncate(1);
        self.with(pairs, ["new anchors", "new positives"])
    }

    fn with(
        mut self,
        [anchors, positives]: [HostRows; 2],
        names: [&'static str; 2],
    ) -> Result<Self, DriftError> {
        let d = self.d;
        check(names[0], &anchors, d)?;
        check(names[1], &positives, d)?;
        let n = anchors.0.len() / d;
        if positives.0.len() / d != n {
            return Err(DriftError::Shape {
                rows: names[1],
                found: format!("{} rows", positives.0.len() / d),
                expected: format!("{n}, one for each of the {}", names[0]),
            });
        }
        let mut n_owners = vec![0; self.equal.n_classes()];
        let of = |row: &[f64]| self.equal.class_equal_to(row, &self.noise_rows);
        let pairs = anchors.0.chunks_exact(d).zip(positives.0.chunks_exact(d));
        let mut self_pairs = Vec::with_capacity(n);
        let mut own_row = Vec::with_capacity(n);
        for (anchor, positive) in pairs {
            let (of_anchor, of_positive) = (of(anchor), of(positive));
            // Of equal rows one after the other.
            own_row.push(of_anchor.or(of_positive).map(|class| {
                let rows = self.equal.rows(class);
                let row = rows[n_owners[class] % rows.len()];
                n_owners[class] += 1;
                row
            }));
            self_pairs.push(SelfPairs::of(of_anchor, of_positive));
        }
        self.groups.push(AnchorGroup {
            anchors: Directions::of(&anchors.0, d),
            positives: Directions::of(&positives.0, d),
            self_pairs,
            own_row,
        });
        Ok(self)
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

fn check(rows: &'static str, (values, width): &HostRows, d: usize) -> Result<(), DriftError> {
    let wrong = |found: String, expected: String| {
        Err(DriftError::Shape {
            rows,
            found,
            expected,
        })
    };
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
        Some(at) => Err(DriftError::NotFinite {
            rows,
            row: at / d,
            value: values[at],
        }),
    }
}
