//! Interactions of users with items: histories with the item that follows, and a recommender of two towers as encoder.

use std::borrow::Cow;
use std::collections::HashSet;

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Error, GrowthRatio, Increment, SampleError, Samples, Seed};
use icl_data::{
    Found, Interactions, JoinedInteractions, NextItem, NextItemCollate, NextItemDataset,
    NextItemViews, Outliers, Split, StreamKey,
};
use icl_models::{StoredEncoder, TwoTower, TwoTowerConfig};

use crate::domain::data::{Data, INTERACTIONS};
use crate::domain::{Domain, no_keys};
use crate::options::bounds::check_weights;
use crate::options::encoder::EncoderOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Name of the column by which a stream orders interactions.
const TIME: &str = "timestamp";

/// Interactions in the order of time, and each that has a history as a sample.
#[derive(Debug)]
pub struct Histories {
    log: Interactions,
    pairs: NextItemDataset,
}

impl Histories {
    /// Returns the samples of interactions of one part.
    fn of(log: Interactions) -> Self {
        let rows = (0..log.rows().len()).collect();
        let pairs = NextItemDataset::new(&log, &[rows]);
        Self { log, pairs }
    }

    /// Returns the samples of old and new interactions, and the numbers of each.
    fn joined(joined: JoinedInteractions) -> (Self, [Vec<usize>; 2]) {
        tell_late(&joined);
        let JoinedInteractions {
            interactions: log,
            parts,
        } = joined;
        let pairs = NextItemDataset::new(&log, &parts);
        let numbers = [0, 1].map(|part| pairs.part(part).collect());
        (Self { log, pairs }, numbers)
    }
}

impl Samples for Histories {
    type Sample = NextItem;

    fn n_samples(&self) -> usize {
        self.pairs.n_samples()
    }

    fn sample(&self, index: usize) -> Result<Cow<'_, NextItem>, SampleError> {
        self.pairs.sample(index)
    }
}

/// Histories with the items that follow, for certain items.
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
    pub fn of(log: Interactions, options: &EncoderOptions) -> Result<(Self, Histories), Failure> {
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
        Ok((domain, Histories::of(log)))
    }
}

impl Domain for NextItems {
    const SAMPLES: &'static str = "pairs of a history and an item";
    const ENCODER: &'static str = "two-tower";

    type Data = Histories;
    type Views = NextItemViews;
    type Collate = NextItemCollate;
    type Encoder<B: Backend> = TwoTower<B>;
    type Trained<B: AutodiffBackend> = TwoTower<B>;

    /// Numbers the items as the encoder does; those that it lacks follow.
    fn taken(&self, data: Data, _: Outliers) -> Result<Option<Histories>, Failure> {
        Ok(match data {
            Data::Interactions(log) => Some(Histories::of(log.numbered_by(&self.items))),
            _ => None,
        })
    }

    fn views(&self) -> &NextItemViews {
        &self.views
    }

    fn collate(&self) -> NextItemCollate {
        NextItemCollate::new(self.items.len())
    }

    fn fresh<B: AutodiffBackend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<TwoTower<B>, Failure> {
        self.encoder.try_init(seed, device).map_err(Failure::input)
    }

    fn shape<B: AutodiffBackend>(&self, device: &B::Device) -> Result<TwoTower<B>, anyhow::Error> {
        Ok(self.encoder.try_init(Seed::new(0), device)?)
    }

    fn grown(&self, data: &Histories) -> Option<Self> {
        let items = data.log.items();
        let n_new = items.len().checked_sub(self.items.len())?;
        if n_new == 0 {
            return None;
        }
        tell(format_args!(
            "note: {}: {n_new} of {} items are new; the encoder gets a row for each",
            data.log.name(),
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

    fn check(&self, data: &Histories) -> Result<(), Error> {
        match data.log.items().get(self.items.len()..) {
            None | Some([]) => Ok(()),
            Some([first, ..]) => Err(Error::new(
                "",
                format!(
                    "{} items that the encoder does not have, such as {}",
                    data.log.items().len() - self.items.len(),
                    Found::new(first)
                ),
                format!("none but the {} items of the encoder", self.items.len()),
            )),
        }
    }

    fn name(data: &Histories) -> &str {
        data.log.name()
    }

    /// Returns `false`: interactions have no classes.
    fn has_labels(_: &Histories) -> bool {
        false
    }

    fn labels(data: &Histories) -> Vec<usize> {
        vec![0; data.n_samples()]
    }

    fn original_labels(data: &Histories) -> Vec<i64> {
        vec![0; data.n_samples()]
    }

    fn increment(
        data: &Histories,
        split: &Split,
        alpha: GrowthRatio,
        seed: Seed,
    ) -> Result<Increment, Failure> {
        let rows = data.log.increment(split.clone(), alpha, seed);
        let rows = rows.map_err(Failure::input)?;
        let mut is_new = vec![false; data.log.rows().len()];
        for &row in rows.new_data() {
            is_new[row] = true;
        }
        let (new, old): (Vec<usize>, Vec<usize>) =
            (0..data.n_samples()).partition(|&sample| is_new[data.pairs.rows()[sample]]);
        Increment::try_new(old, new).map_err(Failure::input)
    }

    /// Returns the ranks of the times for a column of this name, [`TIME`].
    fn stream_keys(data: &Histories, key: &StreamKey) -> Result<Vec<usize>, Failure> {
        match key {
            StreamKey::Nothing => Ok(vec![0; data.n_samples()]),
            StreamKey::Column(name) if name == TIME => {
                let rows = data.log.rows();
                let mut times: Vec<f64> = rows.iter().map(|row| row.time).collect();
                times.sort_unstable_by(f64::total_cmp);
                times.dedup();
                let rank = |&row: &usize| times.partition_point(|time| *time < rows[row].time);
                Ok(data.pairs.rows().iter().map(rank).collect())
            }
            _ => Err(no_keys::<Self>(data, key)),
        }
    }

    /// Joins the interactions by the names of users and items: the history of a new pair holds what its user did before, in
    /// the old data and in the new.
    fn join(old: &Histories, new: &Histories) -> Result<(Histories, Increment), Failure> {
        let joined = Interactions::join(&old.log, &new.log).map_err(Failure::input)?;
        let (joined, [of_old, of_new]) = Histories::joined(joined);
        let increment = Increment::try_new(of_old, of_new).map_err(Failure::input)?;
        Ok((joined, increment))
    }

    fn append(old: &Histories, new: &Histories) -> Result<(Histories, [Vec<usize>; 2]), Failure> {
        Ok(Histories::joined(old.log.append(&new.log)))
    }

    fn n_equal(data: &Histories, increment: &Increment) -> Result<usize, Failure> {
        let rows = |samples: &[usize]| samples.iter().map(|&at| data.pairs.rows()[at]).collect();
        let (old, new) = (rows(increment.old()), rows(increment.new_data()));
        let increment = Increment::try_new(old, new).map_err(Failure::input)?;
        Ok(data.log.n_equal(&increment))
    }

    fn checksum(data: &Histories) -> String {
        data.log.checksum()
    }
}

/// Reports the number of new interactions that are earlier than old ones, if there are any.
fn tell_late(joined: &JoinedInteractions) {
    let n_late = joined.n_late();
    if n_late > 0 {
        tell(format_args!(
            "note: {}: {n_late} of {} new {INTERACTIONS} are earlier than the last old one; histories of old pairs do \
             not hold them",
            joined.interactions.name(),
            joined.parts[1].len()
        ));
    }
}
