//! Two towers, an encoder of users' histories and of items.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::bags::HistoryBatch;
use icl_core::{Catalogue, Encoder, Error, Mode, PairEmbeddings, Seed};

use crate::checks::check_fields;
use crate::embedding_table::{EmbeddingTable, table_tensor};
use crate::linear::{Linear, linear_tensors};

/// Name of the stream from which the embeddings of items are drawn.
const ITEMS: &str = "items";

/// Configuration of [`TwoTower`].
#[derive(Config, Debug, PartialEq)]
pub struct TwoTowerConfig {
    /// Number m of items.
    pub n_items: usize,
    /// Width d of the embeddings.
    #[config(default = 64)]
    pub d: usize,
    /// Negatives of a pair: unseen items of the whole catalogue, or, if `false`, the other pairs of the batch.
    #[config(default = true)]
    pub catalogue: bool,
}

impl TwoTowerConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if the number of items or the width is 0.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([("n_items", self.n_items), ("d", self.d)])
    }

    /// Creates an encoder with weights drawn from `seed`, the same on every backend.
    ///
    /// Embeddings of items are normal with variance 1/d; weights of the affine map are uniform in ±1/√d.
    ///
    /// # Errors
    /// [`Error`] if the number of items or the width is 0.
    pub fn try_init<B: Backend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<TwoTower<B>, Error> {
        self.check()?;
        Ok(TwoTower {
            items: EmbeddingTable::new([self.n_items, self.d], seed.child(ITEMS), device),
            query: Linear::new([self.d; 2], seed.child("query"), device),
            catalogue: self.catalogue,
        })
    }

    /// Creates an encoder with weights drawn from `seed`, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> TwoTower<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the name and the shape of each tensor of the encoder, in the order and with the names
    /// that collecting the tensors of the module gives.
    ///
    /// No tensor is allocated, so a file can be checked before an encoder is created from it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let items = table_tensor("items", [self.n_items, self.d]);
        std::iter::once(items).chain(linear_tensors("query", [self.d; 2]))
    }
}

/// Two towers as encoder φ(·; θ) of users' histories and of items, which share the embeddings of items.
///
/// ```text
/// φ(history) = W·(1/|history| · Σ over items of the history of eᵢ) + b
/// φ(item)    = eᵢ
/// ```
///
/// The empty history has the mean 0, so its embedding is b. The encoder has no randomness, so training does not use the
/// generator of [`Mode::Training`].
///
/// With a catalogue, [`encode_pairs`](Encoder::encode_pairs) scores each history against all items but its target
/// and the items that its user has seen (see [`Catalogue`]). Without one, the negatives of a pair are the other pairs of
/// the batch; they follow the popularity of items.
///
/// Source: the query tower is the mean of DSSM-like recommenders (Covington, Adams and Sargin, 2016, section 3.2, without
/// their hidden layers), for sequences of the last items as in the experiments with item recommendation of Wu, Wu and Huang
/// (2022), whose encoder is BERT4Rec. Views make the histories, and decide how many items each holds.
///
/// ```
/// use burn::backend::Flex;
/// use icl_core::bags::{HistoryBatch, HostHistories, means};
/// use icl_core::{Encoder, Mode, Seed};
/// use icl_models::{TwoTower, TwoTowerConfig};
///
/// let device = Default::default();
/// let encoder: TwoTower<Flex> = TwoTowerConfig::new(5).with_d(8).init(Seed::new(1), &device);
/// // One pair: a user who has seen items 0 and 3, and then chooses item 2.
/// let pair = HostHistories {
///     histories: means([&[0, 3][..]], 5),
///     items: vec![2],
///     is_item: vec![false, true],
///     excluded: vec![vec![0, 2, 3]],
/// };
/// let pairs = encoder.encode_pairs(HistoryBatch::new(pair, &device), Mode::Evaluation);
/// assert_eq!(pairs.anchors.dims(), [1, 8]);
/// assert_eq!(pairs.catalogue.unwrap().embeddings.dims(), [5, 8]);
/// ```
#[derive(Module, Debug)]
pub struct TwoTower<B: Backend> {
    items: EmbeddingTable<B>,
    query: Linear<B>,
    #[module(skip)]
    catalogue: bool,
}

impl<B: Backend> TwoTower<B> {
    /// Returns the embeddings of all items `[n_items, d]`.
    pub fn items(&self) -> Tensor<B, 2> {
        self.items.all()
    }

    /// Returns the encoder with a table of `n_items` items, for a catalogue that has grown. The embeddings of the items that it
    /// had stay as they are, to the bit. The others are those that an encoder of `n_items` items has at their places when it is
    /// [created](TwoTowerConfig::try_init) with this seed: the embedding of a new item depends on the seed and on the number of
    /// the item alone, not on how many items come with it.
    ///
    /// Without a catalogue, an item that no batch holds has no gradient. If `seed` is that of the encoder, training
    /// without the new items and growing then give the same table in either order.
    ///
    /// # Panics
    /// If the encoder has more items.
    ///
    /// ```
    /// use burn::backend::Flex;
    /// use icl_core::Seed;
    /// use icl_models::{TwoTower, TwoTowerConfig};
    ///
    /// let (seed, device) = (Seed::new(1), Default::default());
    /// let encoder: TwoTower<Flex> = TwoTowerConfig::new(5).with_d(8).init(seed, &device);
    /// assert_eq!(encoder.grown(7, seed).items().dims(), [7, 8]);
    /// ```
    #[must_use]
    pub fn grown(self, n_items: usize, seed: Seed) -> Self {
        Self {
            items: self.items.grown(n_items, seed.child(ITEMS)),
            ..self
        }
    }

    /// Encodes the histories of a batch `[n_histories, d]`.
    fn histories(&self, batch: &HistoryBatch<B>) -> Tensor<B, 2> {
        self.query.forward(self.items.means(&batch.histories))
    }
}

impl<B: Backend> Encoder<B> for TwoTower<B> {
    type Batch = HistoryBatch<B>;

    /// Encodes histories and items, each by its tower, in the order of the batch.
    ///
    /// # Panics
    /// If the batch is of another number of items.
    fn encode(&self, batch: HistoryBatch<B>, _: Mode<'_>) -> Tensor<B, 2> {
        let rows = match (batch.histories.n_rows(), batch.items.n_rows()) {
            (_, 0) => self.histories(&batch),
            (0, _) => self.items.means(&batch.items),
            _ => Tensor::cat(
                vec![self.histories(&batch), self.items.means(&batch.items)],
                0,
            ),
        };
        match batch.order {
            Some(order) => rows.select(0, order),
            None => rows,
        }
    }

    fn has_catalogue(&self) -> bool {
        self.catalogue
    }

    /// Encodes pairs of a history and an item, with all items as catalogue if the configuration says so.
    ///
    /// # Panics
    /// If the batch is not n histories and then n items, if it is of another number of items, or if an excluded item is
    /// none of them.
    fn encode_pairs(&self, batch: HistoryBatch<B>, mode: Mode<'_>) -> PairEmbeddings<B> {
        if !self.catalogue {
            return PairEmbeddings::of_halves(self.encode(batch, mode));
        }
        let (n_histories, n_items) = (batch.histories.n_rows(), batch.items.n_rows());
        assert!(
            n_histories == n_items && batch.order.is_none(),
            "pairs must be histories and, after them, as many items, found {n_histories} and {n_items}"
        );
        PairEmbeddings {
            anchors: self.histories(&batch),
            positives: self.items.means(&batch.items),
            catalogue: Some(Catalogue::new(self.items(), batch.excluded)),
        }
    }
}
