//! Pairs of texts that belong together, and means of word embeddings as encoder of both.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::anyhow;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, GrowthRatio, Increment, SampleError, Samples, Seed};
use icl_data::{
    Found, Outliers, Split, StreamKey, TextPair, TextPairCollate, TextPairDataset, TextPairViews,
    TextPairs, Vocabulary,
};
use icl_models::{StoredEncoder, WordTower, WordTowerConfig};

use crate::domain::data::{Data, TEXT_PAIRS};
use crate::domain::{Domain, followed, no_keys};
use crate::options::bounds::check_weights;
use crate::options::encoder::EncoderOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Least number of pairs that a word of the vocabulary is in.
const MIN_PAIRS: usize = 3;

/// Pairs of texts as they were read, and their words of a vocabulary.
#[derive(Debug)]
pub struct Texts {
    raw: Arc<TextPairs>,
    vocabulary: Arc<Vocabulary>,
    pairs: TextPairDataset,
}

impl Texts {
    /// Returns the pairs in the words of a vocabulary.
    fn with(raw: Arc<TextPairs>, vocabulary: Arc<Vocabulary>) -> Self {
        let pairs = TextPairDataset::new(&raw, &vocabulary);
        Self {
            raw,
            vocabulary,
            pairs,
        }
    }

    /// Reports the number of words that are not in the vocabulary, if there are any: no encoder sees them.
    fn tell_unknown(&self) {
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

/// Pairs of texts in the words of a vocabulary.
#[derive(Debug)]
pub struct PairedTexts {
    encoder: WordTowerConfig,
    vocabulary: Arc<Vocabulary>,
}

impl PairedTexts {
    /// Returns the encoder with the options that are given and the words of all pairs, and the pairs.
    ///
    /// The negatives are the other pairs of a batch: the losses that separate old noise from new take no others.
    ///
    /// # Errors
    /// If an option is not valid, or no word is in enough pairs.
    pub fn of(raw: TextPairs, options: &EncoderOptions) -> Result<(Self, Texts), Failure> {
        let defaults = WordTowerConfig::new(1);
        let encoder = WordTowerConfig {
            d: options.width.unwrap_or(defaults.d),
            d_hidden: options.width.unwrap_or(defaults.d_hidden),
            catalogue: false,
            ..defaults
        };
        let words = Vocabulary::new(raw.pairs(), MIN_PAIRS);
        let (domain, data) = Self::fitted(encoder, Arc::new(raw), words)?;
        domain.encoder.check().map_err(Failure::input)?;
        check_weights(domain.encoder.tensors())?;
        data.tell_unknown();
        Ok((domain, data))
    }

    /// Returns the encoder with a vocabulary, and the pairs in its words.
    fn fitted(
        encoder: WordTowerConfig,
        raw: Arc<TextPairs>,
        vocabulary: Vocabulary,
    ) -> Result<(Self, Texts), Failure> {
        let n_words = vocabulary.words().len();
        if n_words == 0 {
            return Err(Failure::input(anyhow!(
                "data set {}: found no word that is in {MIN_PAIRS} pairs of texts, expected at least one",
                Found::new(raw.name())
            )));
        }
        let vocabulary = Arc::new(vocabulary);
        let domain = Self {
            encoder: WordTowerConfig { n_words, ..encoder },
            vocabulary: vocabulary.clone(),
        };
        Ok((domain, Texts::with(raw, vocabulary)))
    }
}

impl Domain for PairedTexts {
    const SAMPLES: &'static str = TEXT_PAIRS;
    const ENCODER: &'static str = "word-tower";

    type Data = Texts;
    type Views = TextPairViews;
    type Collate = TextPairCollate;
    type Encoder<B: Backend> = WordTower<B>;
    type Trained<B: AutodiffBackend> = WordTower<B>;

    fn taken(&self, data: Data, _: Outliers) -> Result<Option<Texts>, Failure> {
        let Data::TextPairs(raw) = data else {
            return Ok(None);
        };
        let data = Texts::with(Arc::new(raw), self.vocabulary.clone());
        data.tell_unknown();
        Ok(Some(data))
    }

    fn views(&self) -> &TextPairViews {
        &TextPairViews
    }

    fn collate(&self) -> TextPairCollate {
        TextPairCollate::new(self.vocabulary.words().len())
    }

    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<WordTower<B>, Failure> {
        self.encoder.try_init(seed, device).map_err(Failure::input)
    }

    fn shape<B: AutodiffBackend>(&self, device: &B::Device) -> Result<WordTower<B>, anyhow::Error> {
        Ok(self.encoder.try_init(Seed::new(0), device)?)
    }

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.encoder.tensors()
    }

    fn encoder_name(&self) -> String {
        format!("a tower of {} words", self.encoder.n_words)
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        let words = serde_json::to_string(self.vocabulary.words())?;
        Ok(vec![
            ("config", serde_json::to_string(&self.encoder)?),
            ("vocabulary", words),
        ])
    }

    fn from_file(file: &StoredEncoder) -> Result<Self, Error> {
        let expected = "the configuration of a tower of words";
        let encoder: WordTowerConfig = file.parsed("config", expected)?;
        encoder
            .check()
            .map_err(|error| file.unreadable("config", error, expected))?;
        let expected = "the words of a vocabulary";
        let words: Vec<String> = file.parsed("vocabulary", expected)?;
        if words.len() != encoder.n_words {
            return Err(file.wrong(
                format!("a vocabulary of {} words", words.len()),
                format!(
                    "{}, the number of words of its configuration",
                    encoder.n_words
                ),
            ));
        }
        let vocabulary = Vocabulary::try_of_words(words)
            .map_err(|error| file.unreadable("vocabulary", error, expected))?;
        Ok(Self {
            encoder,
            vocabulary: Arc::new(vocabulary),
        })
    }

    /// Words that the encoder does not know have been dropped.
    fn check(&self, _: &Texts) -> Result<(), Error> {
        Ok(())
    }

    fn name(data: &Texts) -> &str {
        data.raw.name()
    }

    /// Returns `false`: texts have no classes.
    fn has_labels(_: &Texts) -> bool {
        false
    }

    fn labels(data: &Texts) -> Vec<usize> {
        vec![0; data.n_samples()]
    }

    fn original_labels(data: &Texts) -> Vec<i64> {
        vec![0; data.n_samples()]
    }

    fn increment(
        data: &Texts,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        let increment = data.raw.increment(split.clone(), alpha, seed);
        increment.map_err(Failure::input)
    }

    /// Takes the vocabulary of the old pairs alone.
    fn stream_keys(data: &Texts, key: &StreamKey) -> Result<Vec<usize>, Failure> {
        match key {
            StreamKey::Nothing => Ok(vec![0; data.n_samples()]),
            _ => Err(no_keys::<Self>(data, key)),
        }
    }

    fn refitted(
        &self,
        data: &Texts,
        _: &Split,
        old: &[usize],
    ) -> Result<Option<(Self, Texts)>, Failure> {
        let of_old = old.iter().map(|&at| &data.raw.pairs()[at]);
        let words = Vocabulary::new(of_old, MIN_PAIRS);
        Self::fitted(self.encoder.clone(), data.raw.clone(), words).map(Some)
    }

    /// Joins the pairs, with the vocabulary of `old`.
    fn join(old: &Texts, new: &Texts) -> Result<(Texts, Increment), Failure> {
        let (raw, increment) = TextPairs::join(&old.raw, &new.raw).map_err(Failure::input)?;
        Ok((
            Texts::with(Arc::new(raw), old.vocabulary.clone()),
            increment,
        ))
    }

    fn append(old: &Texts, new: &Texts) -> Result<(Texts, [Vec<usize>; 2]), Failure> {
        let joined = Texts::with(Arc::new(old.raw.append(&new.raw)), old.vocabulary.clone());
        let parts = followed(old.n_samples(), joined.n_samples());
        Ok((joined, parts))
    }

    fn n_equal(data: &Texts, increment: &Increment) -> Result<usize, Failure> {
        Ok(data.raw.n_equal(increment))
    }

    fn checksum(data: &Texts) -> String {
        data.raw.checksum()
    }
}
