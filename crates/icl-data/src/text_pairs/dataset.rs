//! Samples of pairs of texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use icl_core::{Increment, SampleError, Samples, Side};

use super::pairs::TextPairs;
use super::vocabulary::Vocabulary;
use crate::error::DataError;

/// The words of a pair of texts.
///
/// Clones share the words with the data set, so that cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPair {
    words: [Arc<[u32]>; 2],
    /// First pair of the data set with the same text, of each text.
    texts: [u32; 2],
}

impl TextPair {
    /// Returns the words of a text, as indices into [`Vocabulary::words`].
    pub fn words(&self, side: Side) -> &[u32] {
        &self.words[side.index() as usize]
    }

    /// Returns `true` if the pairs have an equal first text or an equal second text: then a text of one must not be a
    /// negative of the other (Wu, Wu and Huang, 2022, footnote 7). Every pair shares its texts with itself.
    pub fn shares_a_text(&self, other: &Self) -> bool {
        self.texts.iter().zip(&other.texts).any(|(a, b)| a == b)
    }
}

/// A data set of pairs of texts. Its [`Samples`] are [`TextPair`]s, in the order of the pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPairDataset {
    raw: TextPairs,
    vocabulary: Vocabulary,
    samples: Vec<TextPair>,
}

impl TextPairDataset {
    /// Creates samples of all pairs, with the words that the vocabulary has.
    ///
    /// Texts are equal if all their characters are, but for blanks around them.
    pub fn new(pairs: &TextPairs, vocabulary: &Vocabulary) -> Self {
        let sides = [0, 1].map(|side| first_of_equals(pairs, side));
        let sample = |(index, pair): (usize, &[String; 2])| TextPair {
            words: pair
                .each_ref()
                .map(|text| vocabulary.numbers_of(text).into()),
            texts: sides.each_ref().map(|firsts| firsts[index]),
        };
        Self {
            raw: pairs.clone(),
            vocabulary: vocabulary.clone(),
            samples: pairs.pairs().iter().enumerate().map(sample).collect(),
        }
    }

    /// Returns the pairs as they were read.
    pub fn raw(&self) -> &TextPairs {
        &self.raw
    }

    /// Joins two data sets, see [`TextPairs::join`], with the vocabulary of `old`.
    ///
    /// # Errors
    /// [`DataError`] if one of them has fewer than two pairs.
    pub fn join(old: &Self, new: &Self) -> Result<(Self, Increment), DataError> {
        let (raw, increment) = TextPairs::join(&old.raw, &new.raw)?;
        Ok((Self::new(&raw, &old.vocabulary), increment))
    }

    /// Appends other pairs, however few, as [`join`](Self::join) does.
    #[must_use]
    pub fn append(&self, new: &Self) -> Self {
        Self::new(&self.raw.append(&new.raw), &self.vocabulary)
    }

    /// Returns the number of words that the vocabulary does not have, for people to read: a sentence without a full
    /// stop that begins with the name of the data set. `None` if it has all.
    pub fn note(&self) -> Option<String> {
        let [n, n_unknown] = self.vocabulary.n_unknown(self.raw.pairs());
        let n_known = self.vocabulary.words().len();
        (n_unknown > 0).then(|| {
            format!(
                "{}: {n_unknown} of {n} words are not among the {n_known} of the vocabulary, and dropped",
                self.raw.name()
            )
        })
    }

    /// Returns all samples.
    pub fn samples(&self) -> &[TextPair] {
        &self.samples
    }
}

impl Samples for TextPairDataset {
    type Sample = TextPair;

    fn n_samples(&self) -> usize {
        self.samples.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, TextPair>, SampleError> {
        Ok(Cow::Borrowed(&self.samples[index]))
    }
}

/// Returns the first pair with the same text on a side, of each pair.
fn first_of_equals(pairs: &TextPairs, side: usize) -> Vec<u32> {
    let mut firsts = HashMap::new();
    let texts = (0..).zip(pairs.pairs());
    texts
        .map(|(index, pair)| *firsts.entry(pair[side].trim()).or_insert(index))
        .collect()
}
