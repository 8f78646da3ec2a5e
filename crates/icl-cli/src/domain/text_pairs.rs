//! Pairs of texts that belong together, and means of word embeddings as encoder of both.

use anyhow::anyhow;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed};
use icl_data::{
    Found, Outliers, Split, TextPairCollate, TextPairDataset, TextPairViews, TextPairs, Vocabulary,
};
use icl_models::{StoredEncoder, WordTower, WordTowerConfig};

use crate::domain::Collated;
use crate::domain::data::Data;
use crate::domain::{Codec, Domain};
use crate::options::bounds::check_weights;
use crate::options::encoder::EncoderOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Least number of pairs that a word of the vocabulary is in.
const MIN_PAIRS: usize = 3;

/// Pairs of texts in the words of a vocabulary.
#[derive(Debug)]
pub struct PairedTexts {
    encoder: WordTowerConfig,
    vocabulary: Vocabulary,
}

impl PairedTexts {
    /// Returns the encoder with the options that are given and the words of all pairs, and the pairs.
    ///
    /// The negatives are the other pairs of a batch: the losses that separate old noise from new take no others.
    ///
    /// # Errors
    /// If an option is not valid, or no word is in enough pairs.
    pub fn of(
        raw: TextPairs,
        options: &EncoderOptions,
    ) -> Result<(Self, TextPairDataset), Failure> {
        let defaults = WordTowerConfig::new(1);
        let encoder = WordTowerConfig {
            d: options.width.unwrap_or(defaults.d),
            d_hidden: options.width.unwrap_or(defaults.d_hidden),
            catalogue: false,
            ..defaults
        };
        let words = Vocabulary::new(raw.pairs(), MIN_PAIRS);
        let (domain, data) = Self::fitted(encoder, &raw, words)?;
        domain.encoder.check().map_err(Failure::input)?;
        check_weights(domain.encoder.tensors())?;
        tell_unknown(&data);
        Ok((domain, data))
    }

    /// Returns the encoder with a vocabulary, and the pairs in its words.
    fn fitted(
        encoder: WordTowerConfig,
        raw: &TextPairs,
        vocabulary: Vocabulary,
    ) -> Result<(Self, TextPairDataset), Failure> {
        let n_words = vocabulary.words().len();
        if n_words == 0 {
            return Err(Failure::input(anyhow!(
                "data set {}: found no word that is in {MIN_PAIRS} pairs of texts, expected at least one",
                Found::new(raw.name())
            )));
        }
        let data = TextPairDataset::new(raw, &vocabulary);
        let domain = Self {
            encoder: WordTowerConfig { n_words, ..encoder },
            vocabulary,
        };
        Ok((domain, data))
    }
}

/// Reports the number of words that are not in the vocabulary, if there are any: no encoder sees them.
fn tell_unknown(data: &TextPairDataset) {
    if let Some(note) = data.note() {
        tell(format_args!("note: {note}"));
    }
}

impl Codec for PairedTexts {
    const ENCODER: &'static str = "word-tower";

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
            vocabulary,
        })
    }
}

impl Domain for PairedTexts {
    type Data = TextPairDataset;
    type Views = TextPairViews;
    type Collate = TextPairCollate;
    type Encoder<B: Backend> = WordTower<B>;
    type Trained<B: AutodiffBackend> = WordTower<B>;

    fn prepared(&self, data: Data, _: Outliers) -> Result<Option<TextPairDataset>, Failure> {
        let Data::TextPairs(raw) = data else {
            return Ok(None);
        };
        let data = TextPairDataset::new(&raw, &self.vocabulary);
        tell_unknown(&data);
        Ok(Some(data))
    }

    fn views(&self) -> &TextPairViews {
        &TextPairViews
    }

    fn collate(&self) -> Collated<TextPairCollate> {
        Collated(TextPairCollate::new(self.vocabulary.words().len()))
    }

    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<WordTower<B>, anyhow::Error> {
        Ok(self.encoder.try_init(seed, device)?)
    }

    fn refitted(
        &self,
        data: &TextPairDataset,
        _: &Split,
        old: &[usize],
    ) -> Result<Option<(Self, TextPairDataset)>, Failure> {
        let of_old = old.iter().map(|&at| &data.raw().pairs()[at]);
        let words = Vocabulary::new(of_old, MIN_PAIRS);
        Self::fitted(self.encoder.clone(), data.raw(), words).map(Some)
    }
}
