//! Rows on interactions: a recommender with two towers.

use std::path::Path;

use crate::pages::ans::{AnsCourse, AnsMeasures, AnsRow, AnsSettings};
use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_cli::parts::{Failure, OnBackend};
use icl_core::{Seed, Views, host_values};
use icl_data::{NextItem, NextItemCollate, NextItemDataset, NextItemViews, read_interactions};
use icl_eval::{Matrix, RankedTarget, TargetPosition};
use icl_models::{TwoTower, TwoTowerConfig};
use rand::seq::SliceRandom;

use crate::commands::ans::measured::{Measured, encoded, ranked, trained, training_settings};

/// Number of first items that count as a hit.
const HITS: usize = 10;
/// Number of training pairs over which the training AUC is measured.
const N_TRAINING_QUERIES: usize = 2000;

/// Interactions, divided for training, validation and test.
#[derive(Debug)]
pub struct DividedInteractions {
    /// Name of the data set.
    pub name: String,
    /// Training pairs.
    pub train: NextItemDataset,
    /// Second last item of each user.
    pub validation: NextItemDataset,
    /// Last item of each user.
    pub test: NextItemDataset,
}

impl DividedInteractions {
    /// Reads a file of interactions.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let all = read_interactions(path).map_err(Failure::input)?;
        let split = all.leave_one_out();
        Ok(Self {
            name: all.name().to_owned(),
            train: NextItemDataset::new(&all, &[split.train]),
            validation: NextItemDataset::held_out(&all, &split.validation),
            test: NextItemDataset::held_out(&all, &split.test),
        })
    }
}

/// A row to compute.
#[derive(Debug)]
pub struct InteractionsRow<'a> {
    /// Data.
    pub data: &'a DividedInteractions,
    /// Row.
    pub row: &'a AnsRow,
    /// Root seed.
    pub seed: u64,
    /// Settings.
    pub settings: &'a AnsSettings,
}

impl OnBackend for InteractionsRow<'_> {
    type Output = Measured;

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Measured, Failure> {
        let device = &devices[0];
        if self.row.course == AnsCourse::Popularity {
            return Ok(self.popularity());
        }
        let (root, train) = (Seed::new(self.seed), &self.data.train);
        let fresh: TwoTower<B> = TwoTowerConfig::new(train.n_items())
            .with_d(self.settings.width)
            .init(root.child("encoder"), device);
        let test = self.data.test.samples();
        let untrained = self.measured(&fresh.valid(), test, None, device)?;
        let collate = NextItemCollate::new(train.n_items());
        let outcome = trained::<B, _, _, _, _>(
            (train, NextItemViews::default(), collate),
            fresh,
            training_settings(self.settings, self.row),
            (self.seed, device),
        )?;
        let encoder = &outcome.encoder;
        let mut queries: Vec<NextItem> = train.samples().to_vec();
        queries.shuffle(&mut root.child("training queries").rng());
        queries.truncate(N_TRAINING_QUERIES);
        let validation = self.data.validation.samples();
        Ok(Measured {
            training_auc: Some(self.measured(encoder, &queries, None, device)?.auc),
            validation: self.measured(encoder, validation, None, device)?,
            test: self.measured(encoder, test, None, device)?,
            sampled: Some(self.measured(encoder, test, Some(root.child("candidates")), device)?),
            untrained: Some(untrained),
            parameter_change: outcome.parameter_change,
            n_steps: outcome.record.n_steps,
            step_negatives: outcome.record.step_negatives,
        })
    }
}

impl InteractionsRow<'_> {
    /// Measures the order of items by their number of training pairs, without an encoder.
    fn popularity(&self) -> Measured {
        let mut counts = vec![0_u32; self.data.train.n_items()];
        for sample in self.data.train.samples() {
            counts[sample.target() as usize] += 1;
        }
        let of = |samples: &[NextItem]| {
            let position = |sample: &NextItem| {
                let is_other = |item: &u32| {
                    *item != sample.target() && sample.seen().binary_search(item).is_err()
                };
                let others = (0..counts.len() as u32).filter(is_other);
                let score = |item: u32| f64::from(counts[item as usize]);
                TargetPosition::among(score(sample.target()), others.map(score))
            };
            let positions: Vec<TargetPosition> = samples.iter().map(position).collect();
            let mean = |of: &dyn Fn(&TargetPosition) -> f64| {
                positions.iter().map(of).sum::<f64>() / positions.len() as f64
            };
            AnsMeasures {
                auc: mean(&TargetPosition::auc),
                hit_rate: mean(&|of| of.hit_rate(HITS)),
                ndcg: mean(&|of| of.ndcg(10)),
            }
        };
        let test = of(self.data.test.samples());
        Measured {
            training_auc: None,
            validation: of(self.data.validation.samples()),
            test,
            sampled: None,
            untrained: None,
            parameter_change: 0.0,
            n_steps: 0,
            step_negatives: Vec::new(),
        }
    }

    /// Ranks the items that follow histories among all items that their users have not seen.
    fn measured<B: Backend>(
        &self,
        encoder: &TwoTower<B>,
        samples: &[NextItem],
        sampled: Option<Seed>,
        device: &B::Device,
    ) -> Result<AnsMeasures, Failure> {
        let views = NextItemViews::default();
        let histories: Vec<_> = samples.iter().map(|sample| views.plain(sample)).collect();
        let collate = NextItemCollate::new(self.data.train.n_items());
        let queries = encoded(encoder, &collate, &histories, device)?;
        let items = Matrix::try_new(host_values(encoder.items()), self.settings.width)
            .map_err(|error| Failure::Other(error.into()))?;
        let targets: Vec<RankedTarget<'_>> = samples
            .iter()
            .map(|sample| RankedTarget {
                target: sample.target(),
                excluded: sample.seen(),
            })
            .collect();
        ranked((&queries, &items), &targets, HITS, sampled)
    }
}
