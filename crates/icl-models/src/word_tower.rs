//! Means of word embeddings, an encoder of texts.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::bags::TextBatch;
use icl_core::{Catalogue, Encoder, Error, Mode, PairEmbeddings, Seed};

use crate::checks::check_fields;
use crate::embedding_table::{EmbeddingTable, table_tensor};
use crate::linear::{Linear, linear_tensors};

/// Configuration of [`WordTower`].
#[derive(Config, Debug, PartialEq)]
pub struct WordTowerConfig {
    /// Number of words of the vocabulary.
    pub n_words: usize,
    /// Width d of the embeddings of words and of texts.
    #[config(default = 64)]
    pub d: usize,
    /// Width of the hidden layer.
    #[config(default = 64)]
    pub d_hidden: usize,
    /// Negatives of a pair: the second texts of the batch without those of pairs that share a text with it, or, if `false`,
    /// both texts of all other pairs of the batch.
    #[config(default = true)]
    pub catalogue: bool,
}

impl WordTowerConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if the number of words or a width is 0.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([
            ("n_words", self.n_words),
            ("d", self.d),
            ("d_hidden", self.d_hidden),
        ])
    }

    /// Creates an encoder with weights drawn from `seed`, the same on every backend.
    ///
    /// Embeddings of words are normal with variance 1/d; weights of a layer are uniform in ±1/√ of its input's width.
    ///
    /// # Errors
    /// [`Error`] if the number of words or a width is 0.
    pub fn try_init<B: Backend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<WordTower<B>, Error> {
        self.check()?;
        let [first, second] = self.widths();
        Ok(WordTower {
            words: EmbeddingTable::new([self.n_words, self.d], seed.child("words"), device),
            first: Linear::new(first, seed.child("first"), device),
            second: Linear::new(second, seed.child("second"), device),
            catalogue: self.catalogue,
        })
    }

    /// Creates an encoder with weights drawn from `seed`, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> WordTower<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the name and the shape of each tensor of the encoder, in the order and with the names
    /// that collecting the tensors of the module gives.
    ///
    /// No tensor is allocated, so a file can be checked before an encoder is created from it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let [first, second] = self.widths();
        let words = table_tensor("words", [self.n_words, self.d]);
        std::iter::once(words)
            .chain(linear_tensors("first", first))
            .chain(linear_tensors("second", second))
    }

    /// Returns the widths of the input and the output of both layers.
    fn widths(&self) -> [[usize; 2]; 2] {
        [[self.d, self.d_hidden], [self.d_hidden, self.d]]
    }
}

/// A Siamese encoder φ(·; θ) of texts: the same for both texts of a pair, such as a title and its body.
///
/// ```text
/// x = 1/|text| · Σ over words of the text of e_w
/// φ = W₂·relu(W₁·x + b₁) + b₂
/// ```
///
/// A text without a word of the vocabulary has x = 0. The encoder has no randomness, so training does not use the
/// generator of [`Mode::Training`].
///
/// With a catalogue, [`encode_pairs`](Encoder::encode_pairs) scores each anchor against the positives of its batch but its own
/// and those of pairs that share a text with it, which would be false negatives (Wu, Wu and Huang, 2022, footnote 7). Without
/// one, the negatives are the other pairs of the batch, false ones among them, for losses that separate old noise from new.
///
/// Source: the matching of titles and bodies of Wu, Wu and Huang (2022). Deviation: their encoders are a
/// Transformer, an LSTM and a CNN; a mean of word embeddings costs a fraction of them.
#[derive(Module, Debug)]
pub struct WordTower<B: Backend> {
    words: EmbeddingTable<B>,
    first: Linear<B>,
    second: Linear<B>,
    #[module(skip)]
    catalogue: bool,
}

impl<B: Backend> Encoder<B> for WordTower<B> {
    type Batch = TextBatch<B>;

    /// Encodes texts `[n, d]`.
    ///
    /// # Panics
    /// If the batch is of another number of words.
    fn encode(&self, batch: TextBatch<B>, _: Mode<'_>) -> Tensor<B, 2> {
        let hidden = relu(self.first.forward(self.words.means(&batch.words)));
        self.second.forward(hidden)
    }

    fn has_catalogue(&self) -> bool {
        self.catalogue
    }

    /// Encodes pairs of texts, with the positives of the batch as catalogue if the configuration says so.
    ///
    /// # Panics
    /// If the batch has an odd number of texts or is of another number of words, or if the positives that it
    /// excludes are not those of its pairs.
    fn encode_pairs(&self, batch: TextBatch<B>, mode: Mode<'_>) -> PairEmbeddings<B> {
        if !self.catalogue {
            return PairEmbeddings::of_halves(self.encode(batch, mode));
        }
        let excluded = batch.excluded.clone();
        let pairs = PairEmbeddings::of_halves(self.encode(batch, mode));
        assert_eq!(
            excluded.len(),
            pairs.anchors.dims()[0],
            "each anchor of a batch of pairs must have its list of excluded positives"
        );
        let catalogue = Catalogue::new(pairs.positives.clone(), excluded);
        PairEmbeddings {
            catalogue: Some(catalogue),
            ..pairs
        }
    }
}
