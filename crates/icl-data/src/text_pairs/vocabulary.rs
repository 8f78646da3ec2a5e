//! The words of texts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use icl_core::Error;

use crate::place::Found;

/// Words that are known, numbered in alphabetical order.
///
/// Words are runs of letters and digits, in lower case. Clones share them.
///
/// ```
/// use icl_data::Vocabulary;
///
/// let pairs = [["Rain in May", "Rain, rain!"], ["May", "Sun in June"]].map(|pair| pair.map(str::to_owned));
/// let words = Vocabulary::new(&pairs, 2);
/// assert_eq!(words.words(), ["in", "may"]);
/// assert_eq!(words.numbers_of("May... rain in May?"), [1, 0, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    words: Arc<[String]>,
    numbers: Arc<HashMap<String, u32>>,
}

impl Vocabulary {
    /// Creates the vocabulary of all words that are in at least `min_pairs` pairs, in either text. The pairs are to be
    /// those of the old training data: words of other data are unknown.
    pub fn new<'a>(pairs: impl IntoIterator<Item = &'a [String; 2]>, min_pairs: usize) -> Self {
        let mut n_pairs = BTreeMap::new();
        for pair in pairs {
            let words: BTreeSet<String> = pair.iter().flat_map(|text| words_of(text)).collect();
            for word in words {
                *n_pairs.entry(word).or_insert(0) += 1;
            }
        }
        let kept = n_pairs.into_iter().filter(|(_, n)| *n >= min_pairs);
        Self::numbered(kept.map(|(word, _)| word).collect())
    }

    /// Creates the vocabulary of the words that another one [has](Self::words).
    ///
    /// # Errors
    /// [`Error`] if they are not in alphabetical order, each once.
    pub fn try_of_words(words: Vec<String>) -> Result<Self, Error> {
        match words.windows(2).find(|pair| pair[0] >= pair[1]) {
            None => Ok(Self::numbered(words)),
            Some(pair) => Err(Error::new(
                "",
                format!(
                    "the word {} after {}",
                    Found::new(&pair[1]),
                    Found::new(&pair[0])
                ),
                "words in alphabetical order, each once",
            )),
        }
    }

    fn numbered(words: Vec<String>) -> Self {
        let numbers: HashMap<String, u32> = words.iter().cloned().zip(0..).collect();
        Self {
            words: words.into(),
            numbers: Arc::new(numbers),
        }
    }

    /// Returns all words, in alphabetical order of their characters.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the number of each known word of a text, in its order. Unknown words are dropped.
    pub fn numbers_of(&self, text: &str) -> Vec<u32> {
        let numbers = words_of(text).filter_map(|word| self.numbers.get(&word));
        numbers.copied().collect()
    }

    /// Returns the number of words in both texts of all pairs, and how many of them are unknown; a word counts as often
    /// as it occurs.
    pub fn n_unknown<'a>(&self, pairs: impl IntoIterator<Item = &'a [String; 2]>) -> [usize; 2] {
        let texts = pairs.into_iter().flatten();
        texts.fold([0, 0], |[n, n_unknown], text| {
            let unknown = words_of(text).filter(|word| !self.numbers.contains_key(word));
            [n + words_of(text).count(), n_unknown + unknown.count()]
        })
    }
}

/// Returns the words of a text.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}
