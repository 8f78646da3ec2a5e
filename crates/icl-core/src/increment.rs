//! The incremental setting: old and new samples, and the ratio by which the data grow.

use rand::seq::SliceRandom;

use crate::{Error, ErrorKind, GrowthRatio, Seed};

/// An increment: the indices of the old data X and of the new data ΔX in one data set
/// (Definition 3).
///
/// If only a uniform sample of the old data is left, each old index can represent several old samples
/// ([`with_old_weight`](Self::with_old_weight)).
#[derive(Debug, Clone, PartialEq)]
pub struct Increment {
    old: Vec<usize>,
    new: Vec<usize>,
    /// Number of old samples for which each old index stands.
    old_weight: f64,
}

impl Increment {
    /// Creates an increment of old and new samples.
    ///
    /// # Errors
    /// - [`Error`] if there are fewer than two old or two new samples: an anchor
    ///   needs another sample as its negative;
    /// - [`Error`] if an index occurs twice.
    pub fn try_new(old: Vec<usize>, new: Vec<usize>) -> Result<Self, Error> {
        if old.len() < 2 || new.len() < 2 {
            return Err(too_small(old.len(), new.len()));
        }
        Self::without_overlap(old, new)
    }

    fn without_overlap(old: Vec<usize>, new: Vec<usize>) -> Result<Self, Error> {
        let mut all: Vec<usize> = old.iter().chain(&new).copied().collect();
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::message(format!(
                "increment: sample {} was found twice, expected every index once",
                pair[0]
            ))),
            None => Ok(Self {
                old,
                new,
                old_weight: 1.0,
            }),
        }
    }

    /// Creates the data before any new sample arrives: ΔX is empty and α = 0. Only a first encoder can
    /// be trained on it.
    ///
    /// # Errors
    /// - [`Error`] if there are fewer than two samples;
    /// - [`Error`] if an index occurs twice.
    pub fn before(old: Vec<usize>) -> Result<Self, Error> {
        if old.len() < 2 {
            return Err(too_small(old.len(), 0));
        }
        Self::without_overlap(old, Vec::new())
    }

    /// Lets each old index stand for w = `weight` old samples. The m old indices are then a uniform sample of N = w·m,
    /// in place of old data that are gone or too many to keep.
    ///
    /// The growth ratio is that of N. `icl_train::Sampler` repeats old samples, so that an epoch holds as many as
    /// with all N, and risks over all data count the loss of an old sample w times.
    ///
    /// ```
    /// use icl_core::Increment;
    ///
    /// // 20 of 1000 old samples were kept, and 100 new ones arrive.
    /// let increment = Increment::try_new((0..20).collect(), (20..120).collect())?;
    /// let increment = increment.with_old_weight(1000.0 / 20.0)?;
    /// assert_eq!((increment.n_old(), increment.old().len()), (1000, 20));
    /// assert_eq!(increment.growth_ratio().value(), 100.0 / 1100.0);
    /// # Ok::<(), icl_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] if `weight` is below 1 or not finite.
    pub fn with_old_weight(self, weight: f64) -> Result<Self, Error> {
        match weight.is_finite() && weight >= 1.0 {
            true => Ok(Self {
                old_weight: weight,
                ..self
            }),
            false => Err(Error::new(
                "weight of an old sample",
                weight,
                "a finite number of 1 or more",
            )),
        }
    }

    /// Returns the data before the new samples arrived: X, with ΔX empty.
    #[must_use]
    pub fn without_new(&self) -> Self {
        Self {
            old: self.old.clone(),
            new: Vec::new(),
            old_weight: self.old_weight,
        }
    }

    /// Sets a share of the old and of the new data aside, drawn at random: returns the rest and the held-out samples of
    /// what was set aside, which no training may see.
    ///
    /// The held-out part holds round(share · n) of the n samples of a part, and at least 2. The draw depends on the
    /// seed and on the part's number of samples alone, and each part keeps its order: the same old data have the same
    /// held-out part before and after new data arrive. A part without samples has none in it.
    ///
    /// # Errors
    /// - [`Error`] if `share` is not above 0 and below 1;
    /// - [`Error`] if fewer than two samples of a part are left.
    pub fn hold_out(&self, share: f64, seed: Seed) -> Result<(Self, Self), Error> {
        check_share(share)?;
        self.set_aside(|part| n_held_out(share, part.len()), seed)
    }

    /// Sets `n` samples of the old and `n` of the new data aside, drawn at random: returns the rest and the held-out
    /// samples, as [`hold_out`](Self::hold_out) does with a share.
    ///
    /// # Errors
    /// [`Error`] if `n` is below 2, or fewer than two samples of a part are left.
    pub fn hold_out_each(&self, n: usize, seed: Seed) -> Result<(Self, Self), Error> {
        self.set_aside(|part| n.min(part.len()), seed)
    }

    /// Sets `n_of(part)` samples of each part aside.
    fn set_aside(
        &self,
        n_of: impl Fn(&[usize]) -> usize,
        seed: Seed,
    ) -> Result<(Self, Self), Error> {
        let [old, new] = [("old", &self.old), ("new", &self.new)].map(|(name, part)| {
            let n = n_of(part);
            let mut is_held = vec![false; part.len()];
            let mut places: Vec<usize> = (0..part.len()).collect();
            places.shuffle(&mut seed.child(name).rng());
            for place in &places[..n] {
                is_held[*place] = true;
            }
            let of = |wanted: bool| -> Vec<usize> {
                let part = part.iter().zip(&is_held);
                part.filter(|(_, is_held)| **is_held == wanted)
                    .map(|(index, _)| *index)
                    .collect()
            };
            [of(false), of(true)]
        });
        let [[old, held_old], [new, held_new]] = [old, new];
        let is_before = self.new.is_empty();
        let checked = |old: Vec<usize>, new: Vec<usize>| match is_before {
            true => Self::before(old)?.with_old_weight(self.old_weight),
            false => Self::try_new(old, new)?.with_old_weight(self.old_weight),
        };
        Ok((checked(old, new)?, checked(held_old, held_new)?))
    }

    /// Sets the old and the new samples aside whose `content` is below a share of all hashes: returns the rest and the
    /// numbers of the held-out samples, the old and the new ones.
    ///
    /// A sample is held out if u = hash / 2⁶⁴ < share. `content` returns the hash of the content of a sample by its
    /// index, such as that of `icl_data::ContentHash`, uniform over all numbers of 64 bits. Whether a sample is held
    /// out therefore depends neither on its position nor on the other samples; equal samples are on the same side; a
    /// smaller share holds out a subset of the same samples. [`hold_out`](Self::hold_out) draws instead, for
    /// repetitions with different seeds.
    ///
    /// # Errors
    /// - [`Error`] if `share` is not above 0 and below 1;
    /// - [`Error`] if fewer than two samples of a part are left.
    pub fn hold_out_by(
        &self,
        share: f64,
        content: impl Fn(usize) -> u64,
    ) -> Result<(Self, [Vec<usize>; 2]), Error> {
        check_share(share)?;
        let is_held = |index: &usize| content(*index) as f64 / HASHES < share;
        let [old, new] = [&self.old, &self.new]
            .map(|part| -> (Vec<_>, Vec<_>) { part.iter().partition(|index| is_held(index)) });
        let rest = match self.new.is_empty() {
            true => Self::before(old.1)?,
            false => Self::try_new(old.1, new.1)?,
        };
        Ok((rest.with_old_weight(self.old_weight)?, [old.0, new.0]))
    }

    /// Returns the least number of samples of a part of which [`hold_out`](Self::hold_out) can set a share aside.
    ///
    /// ```
    /// use icl_core::Increment;
    ///
    /// // Two are set aside, and two are left.
    /// assert_eq!(Increment::fewest_to_hold_out(0.1), 4);
    /// assert_eq!(Increment::fewest_to_hold_out(0.75), 7);
    /// ```
    pub fn fewest_to_hold_out(share: f64) -> usize {
        // round(share · n) ≤ n − 2 from n = 1.5 / (1 − share) on, but for rounding.
        let about = (1.5 / (1.0 - share)) as usize;
        let mut numbers = about.saturating_sub(2).max(4)..usize::MAX;
        let fewest = numbers.find(|&n| n - n_held_out(share, n) >= 2);
        fewest.unwrap_or(usize::MAX)
    }

    /// Returns the largest increment of these samples that has the growth ratio `alpha`, up to rounding: all samples of
    /// one part, and as many of the other, drawn at random. Each part keeps its order. With the same seed, a
    /// smaller number of samples of a part is a part of a larger one.
    ///
    /// ```
    /// use icl_core::{GrowthRatio, Increment, Seed};
    ///
    /// let increment = Increment::try_new((0..90).collect(), (90..190).collect())?;
    /// let thinned = increment.thinned(GrowthRatio::try_new(0.1)?, Seed::new(1))?;
    /// assert_eq!((thinned.old().len(), thinned.new_data().len()), (90, 10));
    /// # Ok::<(), icl_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] if fewer than two samples of a part are left.
    pub fn thinned(&self, alpha: GrowthRatio, seed: Seed) -> Result<Self, Error> {
        let (alpha, n_old, n_new) = (alpha.value(), self.n_old() as f64, self.new.len() as f64);
        let number = |wanted: f64, at_hand: usize| (wanted.round() as usize).min(at_hand);
        let (n_old, n_new) = match alpha * (n_old + n_new) < n_new {
            true => (
                self.old.len(),
                number(n_old * alpha / (1.0 - alpha), self.new.len()),
            ),
            false => {
                let n_old = n_new * (1.0 - alpha) / alpha / self.old_weight;
                (number(n_old, self.old.len()), self.new.len())
            }
        };
        let old = drawn(&self.old, n_old, seed.child("old"));
        let new = drawn(&self.new, n_new, seed.child("new"));
        Self::try_new(old, new)?.with_old_weight(self.old_weight)
    }

    /// Returns an increment of at most `n` of the indices, drawn at random with the growth ratio of this one, at least
    /// two of each part; each part keeps its order. If there are too few old indices because each represents several
    /// samples, more new ones are drawn, and the old weight is changed so that the growth ratio stays the same.
    ///
    /// # Panics
    /// If `n` is below 4.
    #[must_use]
    pub fn at_most(&self, n: usize, seed: Seed) -> Self {
        assert!(n >= 4, "found {n} samples, expected at least 4");
        let [n_old, n_new] = [self.old.len(), self.new.len()];
        if n_old + n_new <= n {
            return self.clone();
        }
        let share = self.growth_ratio().value() * n as f64;
        let least_new = n.saturating_sub(n_old);
        let wanted_new = (share.round() as usize).clamp(2, n - 2).max(least_new);
        let wanted_new = wanted_new.min(n_new);
        let drawn = Self {
            old: drawn(&self.old, n - wanted_new, seed.child("old")),
            new: drawn(&self.new, wanted_new, seed.child("new")),
            old_weight: self.old_weight,
        };
        let ratio = |part: &[usize], of: &[usize]| part.len() as f64 / of.len() as f64;
        let old_weight = match self.old_weight > 1.0 && n_new > 0 {
            true => self.old_weight * ratio(&drawn.new, &self.new) / ratio(&drawn.old, &self.old),
            false => self.old_weight,
        };
        // Rounding of the numbers may make it a little less than 1.
        let old_weight = old_weight.max(1.0);
        Self {
            old_weight,
            ..drawn
        }
    }

    /// Returns the indices of X.
    pub fn old(&self) -> &[usize] {
        &self.old
    }

    /// Returns the indices of ΔX.
    pub fn new_data(&self) -> &[usize] {
        &self.new
    }

    /// Returns the indices of X′ = X ∪ ΔX, those of X first.
    pub fn all(&self) -> Vec<usize> {
        self.old.iter().chain(&self.new).copied().collect()
    }

    /// Returns indices of X′ in which old and new data have their weights. With an old weight of 1 these are all
    /// indices. Otherwise the old indices are repeated so that old and new are N and ΔN indices; if N + ΔN is above
    /// `n`, `n` indices with the growth ratio, up to rounding. Where fewer of a part are taken than there are, these
    /// are at equal distances.
    pub fn all_counted(&self, n: usize) -> Vec<usize> {
        if self.old_weight == 1.0 {
            return self.all();
        }
        let n = n.min(self.n_samples());
        let n_new = (self.growth_ratio().value() * n as f64).round() as usize;
        let n_new = n_new.min(self.new.len());
        let (n_old, n_at_hand) = (n - n_new, self.old.len());
        let old = (0..n_old).map(|at| match n_old < n_at_hand {
            true => self.old[at * n_at_hand / n_old],
            false => self.old[at % n_at_hand],
        });
        let new = (0..n_new).map(|at| self.new[at * self.new.len() / n_new]);
        old.chain(new).collect()
    }

    /// Returns the number of old samples for which each old index stands, 1 unless the old data are a sample.
    pub fn old_weight(&self) -> f64 {
        self.old_weight
    }

    /// Returns the number N of old samples: those for which the old indices stand.
    pub fn n_old(&self) -> usize {
        (self.old_weight * self.old.len() as f64).round() as usize
    }

    /// Returns the number of all samples, N + ΔN.
    pub fn n_samples(&self) -> usize {
        self.n_old() + self.new.len()
    }

    /// Returns the growth ratio α of this increment.
    pub fn growth_ratio(&self) -> GrowthRatio {
        GrowthRatio::from_counts(self.n_old(), self.new.len())
    }
}

/// Returns `n` samples of a part, drawn at random, in their order.
fn drawn(part: &[usize], n: usize, seed: Seed) -> Vec<usize> {
    // All are shuffled and the first kept, so that with one seed a smaller `n` draws a subset of a larger one.
    let mut places: Vec<usize> = (0..part.len()).collect();
    places.shuffle(&mut seed.rng());
    places.truncate(n);
    places.sort_unstable();
    places.into_iter().map(|place| part[place]).collect()
}

/// Number of different hashes, 2⁶⁴.
const HASHES: f64 = 18_446_744_073_709_551_616.0;

/// Checks a share of held-out samples.
fn check_share(share: f64) -> Result<(), Error> {
    match share > 0.0 && share < 1.0 {
        true => Ok(()),
        false => Err(Error::new(
            "hold-out",
            format!("a share of {share}"),
            "one above 0 and below 1",
        )),
    }
}

/// Returns the number of samples of a part of n that are set aside.
fn n_held_out(share: f64, n: usize) -> usize {
    ((share * n as f64).round() as usize).max(2).min(n)
}

/// The error of an increment with fewer than two old or two new samples: an anchor needs a negative of each kind.
fn too_small(n_old: usize, n_new: usize) -> Error {
    let found = format!("{n_old} old and {n_new} new samples");
    Error::new("increment", found, "at least 2 of each").with_kind(ErrorKind::TooFew)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn increment(n_old: usize, n_new: usize) -> Increment {
        let new = (1000..1000 + n_new).collect();
        Increment::without_overlap((0..n_old).collect(), new).unwrap()
    }

    #[test]
    fn the_held_out_and_the_rest_are_the_data() {
        let (rest, held_out) = increment(95, 31).hold_out(0.1, Seed::new(1)).unwrap();
        // 9.5 is rounded up, 3.1 down.
        assert_eq!((held_out.old().len(), held_out.new_data().len()), (10, 3));
        let joined = |a: &[usize], b: &[usize]| {
            assert!(a.is_sorted() && b.is_sorted());
            let mut all = [a, b].concat();
            all.sort_unstable();
            all
        };
        assert_eq!(joined(rest.old(), held_out.old()), increment(95, 31).old());
        let new = joined(rest.new_data(), held_out.new_data());
        assert_eq!(new, increment(95, 31).new_data());
        let (_, other) = increment(95, 31).hold_out(0.1, Seed::new(2)).unwrap();
        assert_ne!(other, held_out);
    }

    #[test]
    fn the_old_held_out_samples_are_the_same_before_and_after_new_data() {
        let before = increment(200, 0).hold_out(0.2, Seed::new(3)).unwrap();
        let after = increment(200, 50).hold_out(0.2, Seed::new(3)).unwrap();
        assert_eq!(before.1.old(), after.1.old());
        assert!(before.1.new_data().is_empty());
    }

    #[test]
    fn a_share_that_leaves_too_little_is_an_error() {
        let of = |n, share| increment(n, 10).hold_out(share, Seed::new(1));
        for share in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(
                of(10, share).is_err_and(|error| error.place() == "hold-out"),
                "{share}"
            );
        }
        assert!(of(4, 0.1).is_ok());
        assert_eq!(of(3, 0.1).unwrap_err(), too_small(1, 8));
    }

    #[test]
    fn a_number_of_each_part_is_held_out() {
        let (rest, held_out) = increment(90, 30).hold_out_each(12, Seed::new(1)).unwrap();
        assert_eq!((held_out.old().len(), held_out.new_data().len()), (12, 12));
        let mut all = [rest.all(), held_out.all()].concat();
        all.sort_unstable();
        assert_eq!(all, increment(90, 30).all());
        for n in [0, 1, 29, 30, 31, usize::MAX] {
            let error = increment(90, 30).hold_out_each(n, Seed::new(1));
            assert_eq!(error.unwrap_err().kind(), ErrorKind::TooFew, "{n}");
        }
    }

    #[test]
    fn a_thinned_increment_has_the_growth_ratio() {
        let of = |n_old, n_new, alpha| {
            let alpha = GrowthRatio::try_new(alpha).unwrap();
            let thinned = increment(n_old, n_new).thinned(alpha, Seed::new(1))?;
            assert!(thinned.old().is_sorted() && thinned.new_data().is_sorted());
            Ok::<_, Error>((thinned.old().len(), thinned.new_data().len()))
        };
        assert_eq!(of(900, 800, 0.1).unwrap(), (900, 100));
        assert_eq!(of(900, 50, 0.1).unwrap(), (450, 50));
        assert_eq!(of(900, 100, 0.1).unwrap(), (900, 100));
        assert_eq!(of(900, 800, 0.02).unwrap(), (900, 18));
        assert_eq!(of(900, 800, 0.9).unwrap(), (89, 800));
        for alpha in [0.0, 0.001, 1.0] {
            assert!(of(900, 800, alpha).is_err(), "{alpha}");
        }
        let draw = |alpha| {
            let alpha = GrowthRatio::try_new(alpha).unwrap();
            increment(900, 800).thinned(alpha, Seed::new(2)).unwrap()
        };
        let (few, many) = (draw(0.02), draw(0.1));
        assert!(few.new_data().iter().all(|it| many.new_data().contains(it)));
    }

    /// Hashes by a multiplication that spreads the numbers (Fibonacci hashing).
    fn content(index: usize) -> u64 {
        (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn a_sample_is_held_out_by_its_content_alone() {
        let (rest, [old, new]) = increment(400, 200).hold_out_by(0.1, content).unwrap();
        assert_eq!(rest.old().len() + old.len(), 400);
        assert_eq!(rest.new_data().len() + new.len(), 200);
        assert!((30..=50).contains(&old.len()) && (15..=25).contains(&new.len()));
        // Old is what was new, in another order and among others.
        let later = Increment::try_new((0..1200).rev().collect(), vec![2000, 2001]).unwrap();
        let (_, [of_later, _]) = later.hold_out_by(0.1, content).unwrap();
        assert!(old.iter().chain(&new).all(|index| of_later.contains(index)));
        // A larger share holds out more, and all of these.
        let (_, [larger, _]) = later.hold_out_by(0.3, content).unwrap();
        assert!(of_later.iter().all(|index| larger.contains(index)));
        assert!(larger.len() > of_later.len());
        assert!(
            of_later
                .iter()
                .all(|&index| (content(index) >> 11) as f64 / (1_u64 << 53) as f64 <= 0.1)
        );
    }

    #[test]
    fn a_content_that_leaves_too_little_is_an_error() {
        let all = increment(10, 10).hold_out_by(0.5, |_| 0).unwrap_err();
        assert_eq!(all, too_small(0, 0));
        let (rest, held_out) = increment(10, 10).hold_out_by(0.5, |_| u64::MAX).unwrap();
        assert_eq!((rest, held_out), (increment(10, 10), [vec![], vec![]]));
        for share in [0.0, 1.0, f64::NAN] {
            assert!(increment(10, 10).hold_out_by(share, content).is_err());
        }
    }

    /// The fewest samples of which a share can be set aside are the first number for which it is no error.
    #[test]
    fn the_fewest_samples_are_those_that_suffice() {
        for share in [0.01, 0.1, 0.3, 0.5, 0.62, 0.7, 0.75, 0.9, 0.99, 0.999] {
            let of = |n| Increment::without_overlap((0..n).collect(), Vec::new()).unwrap();
            let mut numbers = 2..10_000;
            let first = numbers.find(|&n| of(n).hold_out(share, Seed::new(1)).is_ok());
            assert_eq!(Some(Increment::fewest_to_hold_out(share)), first, "{share}");
        }
    }

    #[test]
    fn a_drawn_part_keeps_the_growth_ratio() {
        let drawn = increment(900, 100).at_most(50, Seed::new(1));
        assert_eq!((drawn.old().len(), drawn.new_data().len()), (45, 5));
        assert!(drawn.old().is_sorted());
        let few = increment(900, 3).at_most(50, Seed::new(1));
        assert_eq!((few.old().len(), few.new_data().len()), (48, 2));
        let all = increment(9, 5);
        assert_eq!(all.at_most(14, Seed::new(1)), all);
        let before = increment(100, 0).at_most(10, Seed::new(1));
        assert_eq!((before.old().len(), before.new_data().len()), (10, 0));
    }

    /// Parts of an increment keep the weight of its old samples, and its growth ratio as far as numbers of samples can.
    #[test]
    fn parts_keep_the_weight_of_old_samples() {
        let kept = increment(20, 100).with_old_weight(45.0).unwrap();
        assert_eq!((kept.n_old(), kept.n_samples()), (900, 1000));
        assert_eq!(kept.growth_ratio().value(), 0.1);
        assert_eq!(kept.without_new().n_old(), 900);
        let (rest, held_out) = kept.hold_out(0.1, Seed::new(1)).unwrap();
        assert_eq!((rest.n_old(), held_out.n_old()), (18 * 45, 2 * 45));
        let (rest, _) = kept.hold_out_by(0.2, content).unwrap();
        assert_eq!(rest.old_weight(), 45.0);
        // 45 old samples would be wanted: all 20, and new ones in the places of the others.
        let drawn = kept.at_most(50, Seed::new(1));
        assert_eq!((drawn.old().len(), drawn.new_data().len()), (20, 30));
        assert_eq!((drawn.n_old(), drawn.growth_ratio().value()), (270, 0.1));
        // 18 are wanted, each for itself.
        let drawn = kept.at_most(20, Seed::new(1));
        assert_eq!((drawn.old().len(), drawn.old_weight()), (18, 1.0));
        assert_eq!(kept.at_most(120, Seed::new(1)), kept);
    }

    #[test]
    fn counted_samples_repeat_the_old_ones_evenly() {
        let kept = increment(4, 2).with_old_weight(2.5).unwrap();
        let expected = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 1000, 1001];
        assert_eq!(kept.all_counted(12), expected);
        assert_eq!(kept.all_counted(6), [0, 1, 2, 3, 0, 1000]);
        assert_eq!(increment(4, 2).all_counted(4), increment(4, 2).all());
        let many = increment(40, 10).with_old_weight(20.0).unwrap();
        // One in 81 is new: none of 20, two of 162.
        let even: Vec<usize> = (0..20).map(|at| 2 * at).collect();
        assert_eq!(many.all_counted(20), even);
        assert_eq!(many.all_counted(162)[160..], [1000, 1005]);
        for wrong in [0.5, f64::NAN, f64::INFINITY, -3.0] {
            let error = increment(4, 2).with_old_weight(wrong).unwrap_err();
            assert_eq!(error.place(), "weight of an old sample");
        }
    }
}
