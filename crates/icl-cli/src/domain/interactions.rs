//! Interactions of users with items: histories with the item that follows, and a recommender of two towers as encoder.

use std::collections::HashSet;

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, Seed};
use icl_data::{Found, Interactions, NextItemCollate, NextItemDataset, NextItemViews, Outliers};
use icl_models::{StoredEncoder, TwoTower, TwoTowerConfig};

use crate::domain::Collated;
use crate::domain::data::Data;
use crate::domain::{Codec, Domain};
use crate::options::bounds::check_weights;
use crate::options::encoder::EncoderOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Histories with the items that follow, of a fixed list of items.
#[derive(Debug)]
pub struct NextItems {
    encoder: TwoTowerConfig,
    /// Names of the items, in the order of the encoder's table.
    items: Vec<String>,
    views: NextItemViews,
}

impl NextItems {
    /// Returns the encoder of all items with the options that are given, and the samples of all interactions.
    ///
    /// The negatives are the other pairs of a batch: the losses that separate old noise from new take no others.
    ///
    /// # Errors
    /// If an option is not valid, or there are too many items.
    pub fn of(
        log: Interactions,
        options: &EncoderOptions,
    ) -> Result<(Self, NextItemDataset), Failure> {
        let defaults = TwoTowerConfig::new(log.items().len());
        let encoder = TwoTowerConfig {
            d: options.width.unwrap_or(defaults.d),
            catalogue: false,
            ..defaults
        };
        encoder.check().map_err(Failure::input)?;
        check_weights(encoder.tensors())?;
        let domain = Self {
            encoder,
            items: log.items().to_vec(),
            views: NextItemViews::default(),
        };
        Ok((domain, NextItemDataset::of_all(&log)))
    }
}

impl Codec for NextItems {
    const ENCODER: &'static str = "two-tower";

    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.encoder.tensors()
    }

    fn encoder_name(&self) -> String {
        format!("two towers of {} items", self.encoder.n_items)
    }

    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
        Ok(vec![
            ("config", serde_json::to_string(&self.encoder)?),
            ("items", serde_json::to_string(&self.items)?),
            ("n_recent", self.views.n_recent().to_string()),
        ])
    }

    fn from_file(file: &StoredEncoder) -> Result<Self, Error> {
        let expected = "the configuration of two towers";
        let encoder: TwoTowerConfig = file.parsed("config", expected)?;
        encoder
            .check()
            .map_err(|error| file.unreadable("config", error, expected))?;
        let items: Vec<String> = file.parsed("items", "the names of items")?;
        if items.len() != encoder.n_items {
            return Err(file.wrong(
                format!("{} names of items", items.len()),
                format!(
                    "{}, the number of items of its configuration",
                    encoder.n_items
                ),
            ));
        }
        let mut known = HashSet::with_capacity(items.len());
        if let Some(twice) = items.iter().find(|item| !known.insert(item.as_str())) {
            return Err(file.wrong(
                format!("the item {} twice", Found::new(twice)),
                "each item once",
            ));
        }
        let n_recent: usize = file.parsed("n_recent", "the number of last items of a history")?;
        Ok(Self {
            encoder,
            items,
            views: NextItemViews::default().with_n_recent(n_recent),
        })
    }
}

impl Domain for NextItems {
    type Data = NextItemDataset;
    type Views = NextItemViews;
    type Collate = NextItemCollate;
    type Encoder<B: Backend> = TwoTower<B>;
    type Trained<B: AutodiffBackend> = TwoTower<B>;

    /// Numbers the items as the encoder does; those that it lacks follow.
    fn prepared(&self, data: Data, _: Outliers) -> Result<Option<NextItemDataset>, Failure> {
        Ok(match data {
            Data::Interactions(log) => Some(NextItemDataset::of_all(&log.numbered_by(&self.items))),
            _ => None,
        })
    }

    fn views(&self) -> &NextItemViews {
        &self.views
    }

    fn collate(&self) -> Collated<NextItemCollate> {
        Collated(NextItemCollate::new(self.items.len()))
    }

    fn random<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<TwoTower<B>, anyhow::Error> {
        Ok(self.encoder.try_init(seed, device)?)
    }

    fn grown(&self, data: &NextItemDataset) -> Option<Self> {
        let items = data.interactions().items();
        let n_new = items.len().checked_sub(self.items.len())?;
        if n_new == 0 {
            return None;
        }
        tell(format_args!(
            "note: {}: {n_new} of {} items are new; the encoder gets a row for each",
            data.interactions().name(),
            items.len()
        ));
        Some(Self {
            encoder: TwoTowerConfig {
                n_items: items.len(),
                ..self.encoder.clone()
            },
            items: items.to_vec(),
            views: self.views.clone(),
        })
    }

    fn grow<B: AutodiffBackend>(&self, encoder: TwoTower<B>, seed: Seed) -> TwoTower<B> {
        encoder.grown(self.encoder.n_items, seed)
    }

    fn check(&self, data: &NextItemDataset) -> Result<(), Error> {
        match data.interactions().items().get(self.items.len()..) {
            None | Some([]) => Ok(()),
            Some([first, ..]) => Err(Error::new(
                "",
                format!(
                    "{} items that the encoder does not have, such as {}",
                    data.interactions().items().len() - self.items.len(),
                    Found::new(first)
                ),
                format!("none but the {} items of the encoder", self.items.len()),
            )),
        }
    }
}
