//! Pairs of texts.

use std::borrow::Cow;
use std::sync::Arc;

use icl_core::{GrowthRatio, Increment, SampleError, Samples, Seed};
use icl_data::{Split, TextPair, TextPairDataset, TextPairs, Vocabulary};

use super::{DataSet, TEXT_PAIRS, followed};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Pairs of texts as they were read, and their words of a vocabulary.
#[derive(Debug)]
pub struct Texts {
    /// The pairs as they were read.
    pub raw: Arc<TextPairs>,
    vocabulary: Arc<Vocabulary>,
    pairs: TextPairDataset,
}

impl Texts {
    /// Returns the pairs in the words of a vocabulary.
    pub fn with(raw: Arc<TextPairs>, vocabulary: Arc<Vocabulary>) -> Self {
        let pairs = TextPairDataset::new(&raw, &vocabulary);
        Self {
            raw,
            vocabulary,
            pairs,
        }
    }

    /// Reports the number of words that are not in the vocabulary, if there are any: no encoder sees them.
    pub fn tell_unknown(&self) {
        let [n, n_unknown] = self.vocabulary.n_unknown(self.raw.pairs());
        if n_unknown > 0 {
            tell(format_args!(
                "note: {}: {n_unknown} of {n} words are not among the {} of the vocabulary, and dropped",
                self.raw.name(),
                self.vocabulary.words().len()
            ));
        }
    }
}

impl Samples for Texts {
    type Sample = TextPair;

    fn n_samples(&self) -> usize {
        self.pairs.n_samples()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, TextPair>, SampleError> {
        self.pairs.sample(index)
    }
}

impl DataSet for Texts {
    const SAMPLES: &'static str = TEXT_PAIRS;

    fn name(&self) -> &str {
        self.raw.name()
    }

    fn increment(
        &self,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        let increment = self.raw.increment(split.clone(), alpha, seed);
        increment.map_err(Failure::input)
    }

    /// Joins the pairs, with the vocabulary of `old`.
    fn join(&self, new: &Self) -> Result<(Self, Increment), Failure> {
        let (raw, increment) = TextPairs::join(&self.raw, &new.raw).map_err(Failure::input)?;
        Ok((
            Texts::with(Arc::new(raw), self.vocabulary.clone()),
            increment,
        ))
    }

    fn append(&self, new: &Self) -> Result<(Self, [Vec<usize>; 2]), Failure> {
        let joined = Texts::with(Arc::new(self.raw.append(&new.raw)), self.vocabulary.clone());
        let parts = followed(self.n_samples(), joined.n_samples());
        Ok((joined, parts))
    }

    fn n_equal(&self, increment: &Increment) -> Result<usize, Failure> {
        Ok(self.raw.n_equal(increment))
    }

    fn checksum(&self) -> String {
        self.raw.checksum()
    }
}
