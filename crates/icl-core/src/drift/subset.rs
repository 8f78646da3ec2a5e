//! A random subset of the data, so that the cost is bounded at any number of rows.

use std::ops::Range;

use rand::seq::SliceRandom;

use super::data::{AnchorGroup, DriftData};
use crate::Seed;

/// Returns all rows in their order if there are at most `most`, else `most` of them, drawn at random, in random order.
pub(super) fn drawn(rows: Range<usize>, most: usize, seed: Seed) -> Vec<usize> {
    let mut rows: Vec<usize> = rows.collect();
    if rows.len() > most {
        rows.shuffle(&mut seed.rng());
        rows.truncate(most);
    }
    rows
}

impl DriftData {
    /// Returns at most `most` anchors of each origin and rows of each part of the noise, drawn independently of each
    /// other and without replacement.
    ///
    /// What is known of an anchor from all rows stays so: its self-pairs, whether it has a row of its own, and
    /// [`Counts`](super::data::Counts). An anchor whose own row is not drawn is no row of this noise.
    pub(super) fn subset(&self, most: usize, seed: Seed) -> Self {
        let n = self.noise.n();
        let mut rows = drawn(0..self.n_old, most, seed.child("old"));
        let n_old = rows.len();
        rows.extend(drawn(self.n_old..n, most, seed.child("new")));
        let mut place_of = vec![None; n];
        for (place, row) in rows.iter().enumerate() {
            place_of[*row] = Some(place);
        }
        let names = ["anchors", "new anchors"];
        let groups = self.groups.iter().zip(names).map(|(group, name)| {
            let mut anchors = drawn(0..group.anchors.n(), most, seed.child(name));
            anchors.sort_unstable();
            group.subset(&anchors, &place_of)
        });
        let left_out = |n: usize, of: usize| (of - n) as f64 / of as f64;
        Self {
            groups: groups.collect(),
            noise: self.noise.subset(&rows),
            noise_rows: Vec::new(),
            equal: self.equal.subset(&rows),
            left_out: [
                left_out(n_old, self.n_old),
                left_out(rows.len() - n_old, self.n_new()),
            ],
            n_old,
            d: self.d,
        }
    }

    /// Returns how many of the first old and of the first new rows positives are ranked among: as large a share of all
    /// rows in either origin, since ranks are among old and new rows together. A random subset has its rows in random
    /// order.
    pub(super) fn n_ranked(&self) -> [usize; 2] {
        let n = [self.n_old, self.n_new()];
        let kept = self.left_out.map(|left_out| 1.0 - left_out);
        let least = kept[0].min(kept[1]);
        [0, 1].map(|at| (n[at] as f64 * least / kept[at]).round() as usize)
    }
}

impl AnchorGroup {
    /// Returns some of the anchors, with the rows of the noise where `place_of` says.
    fn subset(&self, anchors: &[usize], place_of: &[Option<usize>]) -> Self {
        let own_row = |anchor: &usize| self.own_row[*anchor].and_then(|row| place_of[row]);
        Self {
            origin: self.origin,
            anchors: self.anchors.subset(anchors),
            positives: self.positives.subset(anchors),
            self_pairs: anchors.iter().map(|it| self.self_pairs[*it]).collect(),
            own_row: anchors.iter().map(own_row).collect(),
            counts: self.counts,
            places: anchors.to_vec(),
            is_unpaired: anchors.iter().map(|it| self.is_unpaired[*it]).collect(),
        }
    }

    /// Returns the share of the anchors that is left out of a random subset.
    pub(super) fn left_out(&self) -> f64 {
        (self.counts.n_anchors - self.places.len()) as f64 / self.counts.n_anchors as f64
    }
}
