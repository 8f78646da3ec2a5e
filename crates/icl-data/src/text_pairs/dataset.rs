//! Samples of pairs of texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use icl_core::{SampleError, Samples, Side};

use super::pairs::TextPairs;
use super::vocabulary::Vocabulary;

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

    /// Returns `true` if the pairs have an equal first text or an equal second text: then the text of one is no negative of
    /// the other (Wu, Wu and Huang, 2022, footnote 7). Every pair shares its texts with itself.
    pub fn shares_a_text(&self, other: &Self) -> bool {
        self.texts.iter().zip(&other.texts).any(|(a, b)| a == b)
    }
}

/// A data set of pairs of texts. Its [`Samples`] are [`TextPair`]s, in the order of the pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPairDataset {
    pairs: Vec<TextPair>,
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
            pairs: pairs.pairs().iter().enumerate().map(sample).collect(),
        }
    }

    /// Returns all samples.
    pub fn samples(&self) -> &[TextPair] {
        &self.pairs
    }
}

impl Samples for TextPairDataset {
    type Sample = TextPair;

    fn n_samples(&self) -> usize {
        self.pairs.len()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, TextPair>, SampleError> {
        Ok(Cow::Borrowed(&self.pairs[index]))
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
