//! The operations that every kind of data set has.

use std::fmt::Debug;

use icl_core::{GrowthRatio, Increment, Samples, Seed};
use icl_data::{Found, Split, StreamKey};
use icl_eval::Matrix;

use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Data set of one kind, as its encoders take it.
pub trait DataSet: Samples + Debug + Sized {
    /// Name of the samples in messages.
    const SAMPLES: &'static str;

    /// Returns the name of the data set.
    fn name(&self) -> &str;

    /// Returns whether the samples have classes; by default they have none.
    fn has_labels(&self) -> bool {
        false
    }

    /// Checks that the samples have classes where their files should hold them; `needed_by` is what they are needed
    /// for. The classes of a table are an option, without which there is nothing to measure.
    ///
    /// # Errors
    /// If they have none.
    fn check_labels(&self, needed_by: &str) -> Result<(), Failure> {
        let _ = needed_by;
        Ok(())
    }

    /// Returns the class of each sample, counted from 0.
    fn labels(&self) -> Vec<usize> {
        vec![0; self.n_samples()]
    }

    /// Returns the names of the classes; none for samples without classes.
    fn class_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the place of each sample among all that its files have, counted from 0, where samples were left out.
    fn positions(&self) -> Vec<usize> {
        (0..self.n_samples()).collect()
    }

    /// Whether samples of one name are of one thing, such as rows of one customer: by default, names are those of files
    /// in one data set.
    const NAMES_A_THING: bool = false;

    /// Returns the name of each sample in a column, or the path of its file.
    ///
    /// # Errors
    /// The reason why there are no such names.
    fn ids(&self, column: &str) -> Result<Vec<String>, String> {
        let _ = column;
        Err(format!("the {} have no names", Self::SAMPLES))
    }

    /// Returns the text of each sample in a column of its table; `None` if there is no such column.
    fn texts(&self, column: &str) -> Option<Vec<String>> {
        let _ = column;
        None
    }

    /// Splits the samples into old and new ones.
    ///
    /// # Errors
    /// If too few are left on one side, or a sample cannot be read.
    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure>;

    /// Returns the keys by which a stream orders the samples.
    ///
    /// # Errors
    /// If the samples have no such keys.
    fn stream_keys(&self, key: &StreamKey) -> Result<Vec<usize>, Failure> {
        match key {
            StreamKey::Nothing => Ok(vec![0; self.n_samples()]),
            StreamKey::Class => {
                self.check_labels("a stream by classes")?;
                let labels = self.has_labels().then(|| self.labels());
                labels.ok_or_else(|| no_keys(self, key))
            }
            StreamKey::Size => self.size_keys()?.ok_or_else(|| no_keys(self, key)),
            StreamKey::Column(name) => self.column_keys(name)?.ok_or_else(|| no_keys(self, key)),
        }
    }

    /// Returns the size of each sample; `None` for samples without sizes.
    ///
    /// # Errors
    /// If a sample cannot be read.
    fn size_keys(&self) -> Result<Option<Vec<usize>>, Failure> {
        Ok(None)
    }

    /// Returns the rank of each sample by a column; `None` for samples without such a column.
    ///
    /// # Errors
    /// If its values have no order.
    fn column_keys(&self, name: &str) -> Result<Option<Vec<usize>>, Failure> {
        let _ = name;
        Ok(None)
    }

    /// Joins old and new data to one data set.
    ///
    /// # Errors
    /// If they do not fit each other.
    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure>;

    /// Appends data, however few, as [`join`](Self::join) does. Also returns the numbers of the old and of the new
    /// samples.
    ///
    /// # Errors
    /// If they do not fit each other.
    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure>;

    /// Returns the number of values that were clipped because they lie outside the range of the encoder's own data.
    fn n_clipped(&self) -> usize {
        0
    }

    /// Returns the number of new samples that equal an old one.
    ///
    /// # Errors
    /// If a sample cannot be read.
    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure>;

    /// Returns the hash of the content of each sample ([`ContentHash`](icl_data::ContentHash)).
    ///
    /// # Errors
    /// If a sample cannot be read.
    fn contents(&self) -> Result<Vec<u64>, Failure>;

    /// Returns the hashes of these data where they are the samples `numbers` of joined data: they are those of the data
    /// by themselves, since joining may leave columns out.
    ///
    /// # Errors
    /// If a sample cannot be read.
    fn contents_in(&self, joined: &Self, numbers: &[usize]) -> Result<Vec<u64>, Failure> {
        let _ = (joined, numbers);
        self.contents()
    }

    /// Returns the checksum by which interrupted work recognises its data.
    fn checksum(&self) -> String;

    /// Returns the sizes of the samples, for the floor that knows nothing else; `None` where all
    /// have one size.
    ///
    /// # Errors
    /// If a value is not finite.
    fn sizes(&self) -> Result<Option<Matrix>, Failure> {
        Ok(None)
    }
}

/// Returns the numbers of `n_old` samples and of those that follow them.
pub fn followed(n_old: usize, n: usize) -> [Vec<usize>; 2] {
    [(0..n_old).collect(), (n_old..n).collect()]
}

/// Returns the failure of a stream that is divided by keys which the samples do not have.
fn no_keys<D: DataSet>(data: &D, key: &StreamKey) -> Failure {
    let needed = match key {
        StreamKey::Nothing => "nothing".to_owned(),
        StreamKey::Size => "sizes".to_owned(),
        StreamKey::Class => "classes".to_owned(),
        StreamKey::Column(name) => format!("a column {}", Found::new(name)),
    };
    Failure::input(anyhow::anyhow!(
        "split: found one that needs {needed} for the {} of {}, expected one that they have",
        D::SAMPLES,
        Found::new(data.name())
    ))
}

/// Reports that the samples have no labels where their files could hold them: a file may have been misnamed.
pub fn tell_unlabelled(data: &impl DataSet) {
    if data.check_labels("").is_err() {
        tell(format_args!(
            "note: {}: no labels; this command needs none",
            data.name()
        ));
    }
}

/// Reports the number of new samples that equal an old one, if there are any: each is a negative of a sample
/// that it equals.
///
/// # Errors
/// If a sample cannot be read.
pub fn tell_equal<D: DataSet>(data: &D, increment: &Increment) -> Result<(), Failure> {
    let n_equal = data.n_equal(increment)?;
    if n_equal > 0 {
        tell(format_args!(
            "note: {}: {n_equal} of {} new {} equal an old one",
            data.name(),
            increment.new_data().len(),
            D::SAMPLES
        ));
    }
    Ok(())
}
