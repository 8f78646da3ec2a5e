//! Splits of one data set into old and new samples (Definition 3), as pure functions of the seed.

use std::fmt;
use std::str::FromStr;

use icl_core::{GrowthRatio, Increment, Seed};
use rand::seq::SliceRandom;

use crate::error::DataError;
use crate::place::Found;
use crate::selection::find_classes;

/// Rule that divides the samples of one data set into old data X and new data ΔX.
///
/// | text | ΔX |
/// |---|---|
/// | `random` | ΔN samples drawn uniformly without replacement: the paper's split |
/// | `size` | the ΔN largest samples: the distribution shifts towards larger samples |
/// | `class` | the ΔN samples of the last classes: new data brings new classes |
/// | `class:A,B` | all samples of other classes than A and B: the named classes are the old data |
/// | `column:NAME` | the ΔN rows of a table with the largest values in this column, such as a date |
/// | `time` | the last ΔN interactions of all users, and none at the time of an old one |
///
/// ΔN = round(α · n), except for `class:A,B`, where the classes determine the growth ratio, and for `time`, which has
/// fewer new interactions where several have one time. Prints and parses as its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Split {
    /// Samples drawn uniformly without replacement become new.
    Random,
    /// The largest samples become new (by nodes of a graph, by pixels of an image).
    ///
    /// Samples of equal size are shuffled by the seed, so that on images of one size, and on the rows of
    /// a table, this is a random split.
    Size,
    /// The samples of the last classes become new.
    ///
    /// The samples are sorted by class, shuffled within each class, and cut at n − ΔN. ΔX therefore
    /// holds whole classes from the end and, unless the cut falls on a class boundary, a random part
    /// of one more class, of which the rest is old. The growth ratio is α exactly as requested.
    Class,
    /// The samples of the classes of these names are old, all others are new. α and the seed have no
    /// effect.
    Classes(Vec<String>),
    /// The rows of a table with the largest values in the column of this name become new, in the order of
    /// [`RawTable::ranks`](crate::RawTable::ranks): dates such as `2026-01-31` are in the order of time, and
    /// missing values come first. Rows of equal values are shuffled by the seed. The column is not a
    /// feature.
    Column(String),
    /// The last interactions become new, from one moment on for all users. Those at the time of the last old one are
    /// old; the seed has no effect. See [`Interactions::by_time`](crate::Interactions::by_time).
    Time,
}

impl Split {
    /// The splits of samples without an argument, in the order of the table above.
    pub const ALL: [Self; 3] = [Self::Random, Self::Size, Self::Class];

    /// Returns the name of the split, without its argument.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Size => "size",
            Self::Class | Self::Classes(_) => "class",
            Self::Column(_) => "column",
            Self::Time => "time",
        }
    }

    /// Returns the error of samples of a kind for which this is no split.
    pub(crate) fn unfit(&self, samples: &'static str) -> DataError {
        let (split, found) = (Found::new(&self.to_string()), samples);
        match self {
            Self::Column(_) => {
                DataError::new(format!("split {split}"), found, "a table with this column")
            }
            Self::Time => DataError::new(format!("split {split}"), found, "interactions"),
            Self::Random | Self::Size | Self::Class | Self::Classes(_) => {
                DataError::new(format!("split {split}"), found, "graphs, images or a table")
            }
        }
    }

    /// Splits n = `keys.len()` samples; the indices of both parts are in ascending order.
    ///
    /// | split | `keys[i]` |
    /// |---|---|
    /// | [`Split::Random`] | without effect |
    /// | [`Split::Size`] | size of sample i |
    /// | [`Split::Class`] | its class |
    /// | [`Split::Classes`] | 0 if it is old, another number if it is new |
    /// | [`Split::Column`] | rank of its value |
    /// | [`Split::Time`] | rank of its time; interactions of one time may be on both sides, see [`Interactions::increment`](crate::Interactions::increment) |
    ///
    /// The result is a pure function of the arguments. With the same seed, a larger α adds samples to
    /// ΔX and removes none.
    ///
    /// ```
    /// use icl_core::{GrowthRatio, Seed};
    /// use icl_data::Split;
    ///
    /// let sizes = [30, 10, 50, 20, 40];
    /// let alpha = GrowthRatio::try_new(0.4)?;
    /// let increment = Split::Size.increment(&sizes, alpha, Seed::new(1))?;
    /// assert_eq!(increment.old(), [0, 1, 3]);
    /// assert_eq!(increment.new_data(), [2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError`] if either part would have fewer
    /// than two samples.
    pub fn increment(
        &self,
        keys: &[usize],
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, DataError> {
        let n = keys.len();
        if let Self::Classes(_) = self {
            let (old, new): (Vec<usize>, Vec<usize>) = (0..n).partition(|&index| keys[index] == 0);
            if old.len() < 2 || new.len() < 2 {
                return Err(DataError::new(
                    format!("split {}", Found::new(&self.to_string())),
                    format!("{} old and {} new samples", old.len(), new.len()),
                    "at least 2 of each",
                ));
            }
            return Increment::try_new(old, new).map_err(DataError::from);
        }
        let n_new = (alpha.value() * n as f64).round() as usize;
        let n_old = n - n_new;
        if n_old < 2 || n_new < 2 {
            return Err(DataError::new(
                format!("split `{}` at alpha {}", self.name(), alpha.value()),
                format!("{n_old} old and {n_new} new of {} samples", n_old + n_new),
                "at least 2 of each",
            ));
        }
        let mut order: Vec<usize> = (0..n).collect();
        // The order does not depend on α, so that a larger α only adds samples to ΔX.
        order.shuffle(&mut seed.child("split").child(self.name()).rng());
        if *self != Self::Random {
            // The sort is stable, so that samples with equal keys stay shuffled.
            order.sort_by_key(|&index| keys[index]);
        }
        let mut new = order.split_off(n_old);
        order.sort_unstable();
        new.sort_unstable();
        Increment::try_new(order, new).map_err(DataError::from)
    }

    /// Returns the keys of [`Split::Classes`] for samples of these classes: 0 for the old ones.
    ///
    /// # Errors
    /// [`DataError`] if a class does not exist or is named twice.
    pub(crate) fn class_keys(
        data: &str,
        old: &[String],
        labels: &[usize],
        class_names: &[String],
    ) -> Result<Vec<usize>, DataError> {
        let old = find_classes(data, class_names, old)?;
        let key = |label: &usize| usize::from(!old.contains(label));
        Ok(labels.iter().map(key).collect())
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Random | Self::Size | Self::Class | Self::Time => Ok(()),
            Self::Classes(names) => write!(f, ":{}", names.join(",")),
            Self::Column(name) => write!(f, ":{name}"),
        }
    }
}

impl FromStr for Split {
    type Err = DataError;

    /// Parses the text of a split. Names of classes cannot hold commas, and blanks around them are
    /// dropped.
    fn from_str(text: &str) -> Result<Self, DataError> {
        let unknown = || {
            DataError::new(
                "split",
                Found::new(text),
                "`random`, `size`, `class`, `class:NAME,NAME`, `column:NAME` or `time`",
            )
        };
        match text.split_once(':') {
            None => {
                let named = |split: &Self| split.name() == text;
                let mut all = Self::ALL.into_iter().chain([Self::Time]);
                all.find(named).ok_or_else(unknown)
            }
            Some(("class", names)) => {
                let names: Vec<String> = names.split(',').map(|name| name.trim().into()).collect();
                match names.iter().any(String::is_empty) {
                    true => Err(unknown()),
                    false => Ok(Self::Classes(names)),
                }
            }
            Some(("column", name)) if !name.trim().is_empty() => {
                Ok(Self::Column(name.trim().to_owned()))
            }
            Some(_) => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alpha(value: f64) -> GrowthRatio {
        GrowthRatio::try_new(value).unwrap()
    }

    #[test]
    fn every_split_parts_all_samples_by_alpha() {
        let keys: Vec<usize> = (0..101).map(|index| index * 37 % 7).collect();
        for split in Split::ALL {
            for value in [0.02, 0.3, 0.5, 0.977] {
                let increment = split.increment(&keys, alpha(value), Seed::new(3)).unwrap();
                assert_eq!(
                    increment.new_data().len(),
                    (value * 101.0_f64).round() as usize
                );
                let mut all = increment.all();
                all.sort_unstable();
                assert_eq!(all, (0..101).collect::<Vec<_>>());
                assert!(increment.old().is_sorted() && increment.new_data().is_sorted());
            }
        }
    }

    #[test]
    fn the_seed_decides_and_nothing_else() {
        let keys = vec![5; 60];
        for split in Split::ALL {
            let of = |seed| split.increment(&keys, alpha(0.5), Seed::new(seed)).unwrap();
            assert_eq!(of(1), of(1));
            assert_ne!(of(1), of(2), "{split} must break ties by the seed");
        }
    }

    #[test]
    fn a_greater_alpha_only_adds_to_the_new_data() {
        let keys: Vec<usize> = (0..50).map(|index| index % 3).collect();
        for split in Split::ALL {
            let of = |value| {
                split
                    .increment(&keys, alpha(value), Seed::new(4))
                    .unwrap()
                    .new_data()
                    .to_vec()
            };
            let (small, large) = (of(0.2), of(0.6));
            assert!(small.iter().all(|index| large.contains(index)));
        }
    }

    #[test]
    fn ordered_splits_put_the_greatest_keys_into_the_new_data() {
        let keys: Vec<usize> = (0..90).map(|index| index * 31 % 10).collect();
        for split in [Split::Size, Split::Class] {
            let increment = split.increment(&keys, alpha(0.35), Seed::new(9)).unwrap();
            let greatest_old = increment.old().iter().map(|&i| keys[i]).max();
            let least_new = increment.new_data().iter().map(|&i| keys[i]).min();
            assert!(greatest_old <= least_new);
        }
    }

    #[test]
    fn the_random_split_ignores_keys_and_is_uniform() {
        let rising: Vec<usize> = (0..10).collect();
        let mut counts = [0_usize; 10];
        for seed in 0..2000 {
            let increment = Split::Random
                .increment(&rising, alpha(0.3), Seed::new(seed))
                .unwrap();
            let flat = Split::Random
                .increment(&[0; 10], alpha(0.3), Seed::new(seed))
                .unwrap();
            assert_eq!(increment, flat);
            for &index in increment.new_data() {
                counts[index] += 1;
            }
        }
        // Each count is binomial with mean 600 and standard deviation 20.5; five of them are 102.
        assert!(
            counts.iter().all(|&count| count.abs_diff(600) < 102),
            "{counts:?}"
        );
    }

    #[test]
    fn draws_are_fixed_for_all_time() {
        // A change of generator or order changes every recorded result: it must be noticed.
        let increment = Split::Random
            .increment(&[0; 12], alpha(0.5), Seed::new(7))
            .unwrap();
        assert_eq!(increment.new_data(), DRAW);
    }
    const DRAW: [usize; 6] = [0, 2, 3, 9, 10, 11];

    #[test]
    fn too_little_on_a_side_is_an_error() {
        for (n, value) in [
            (10, 0.1),
            (10, 0.9),
            (10, 0.0),
            (10, 1.0),
            (3, 0.5),
            (0, 0.5),
        ] {
            for split in Split::ALL {
                let error = split
                    .increment(&vec![0; n], alpha(value), Seed::new(1))
                    .unwrap_err();
                assert!(error.place().contains(" at alpha "), "{error}");
            }
        }
        let error = Split::Size
            .increment(&[1; 10], alpha(0.1), Seed::new(1))
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "split `size` at alpha 0.1: found 9 old and 1 new of 10 samples, expected at least 2 of each"
        );
    }

    #[test]
    fn names_print_and_parse() {
        for split in Split::ALL {
            assert_eq!(split.to_string().parse::<Split>().unwrap(), split);
        }
        for text in [
            "class:A",
            "class:grey soil,10",
            "column:date",
            "column:a:b",
            "time",
        ] {
            assert_eq!(text.parse::<Split>().unwrap().to_string(), text);
        }
        let both = Split::Classes(vec!["A".into(), "B".into()]);
        assert_eq!("class: A, B".parse::<Split>().unwrap(), both);
        for text in [
            "sizes",
            "class:",
            "class:A,,B",
            "column:",
            "size:3",
            "time:3",
            "",
        ] {
            assert!(text.parse::<Split>().is_err(), "{text}");
        }
        assert_eq!(
            "sizes".parse::<Split>().unwrap_err().to_string(),
            "split: found \"sizes\", expected `random`, `size`, `class`, `class:NAME,NAME`, \
             `column:NAME` or `time`"
        );
    }

    #[test]
    fn named_classes_are_old_whatever_alpha_says() {
        let split: Split = "class:c,a".parse().unwrap();
        let Split::Classes(old) = &split else {
            panic!("{split} names classes");
        };
        let names = ["a", "b", "c"].map(String::from);
        let keys = |labels: &[usize]| Split::class_keys("N", old, labels, &names).unwrap();
        let increment =
            |labels: &[usize], value| split.increment(&keys(labels), alpha(value), Seed::new(1));
        for value in [0.0, 0.5, 1.0] {
            let increment = increment(&[0, 1, 2, 1, 0, 1], value).unwrap();
            assert_eq!(increment.old(), [0, 2, 4]);
            assert_eq!(increment.new_data(), [1, 3, 5]);
        }
        assert_eq!(
            increment(&[0, 1, 2, 0], 0.5).unwrap_err().to_string(),
            "split \"class:c,a\": found 3 old and 1 new samples, expected at least 2 of each"
        );
        let unknown = Split::class_keys("N", &["z".into()], &[0], &names).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "data set \"N\": found no class \"z\", expected classes among a, b, c"
        );
    }
}
