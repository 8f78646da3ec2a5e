//! Rows on pairs of texts: one tower for titles and bodies.

use std::path::Path;

use crate::pages::ans::{AnsMeasures, AnsRow, AnsSettings};
use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_cli::parts::{Failure, OnBackend};
use icl_core::{Seed, Side};
use icl_data::{
    TextPair, TextPairCollate, TextPairDataset, TextPairOptions, TextPairView, TextPairViews,
    TextPairs, Vocabulary, read_text_pairs,
};
use icl_eval::RankedTarget;
use icl_models::{WordTower, WordTowerConfig};
use rand::seq::SliceRandom;

use crate::commands::ans::measured::{Measured, encoded, ranked, trained, training_settings};

/// Number of first bodies that count as a hit.
const HITS: usize = 5;
/// Numbers of validation and of test pairs.
const N_HELD_OUT: usize = 800;
/// Number of pairs in which a word must be.
const MIN_PAIRS: usize = 3;

/// Pairs of texts, divided by a seed.
#[derive(Debug)]
pub struct DividedTexts {
    /// Training pairs.
    pub train: Vec<TextPair>,
    validation: Vec<TextPair>,
    /// Test pairs.
    pub test: Vec<TextPair>,
    n_words: usize,
}

/// Reads titles and bodies.
///
/// # Errors
/// If the file cannot be used.
pub fn read(path: &Path) -> Result<TextPairs, Failure> {
    read_text_pairs(path, &TextPairOptions::new("title", "description")).map_err(Failure::input)
}

impl DividedTexts {
    /// Divides pairs at random.
    pub fn new(pairs: &TextPairs, seed: Seed) -> Self {
        let n = pairs.pairs().len();
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut seed.child("division").rng());
        let n_train = n.saturating_sub(2 * N_HELD_OUT);
        let of_training = order[..n_train].iter().map(|&at| &pairs.pairs()[at]);
        let vocabulary = Vocabulary::new(of_training, MIN_PAIRS);
        let samples = TextPairDataset::new(pairs, &vocabulary);
        let part = |range: &[usize]| -> Vec<TextPair> {
            range
                .iter()
                .map(|&at| samples.samples()[at].clone())
                .collect()
        };
        let end = (n_train + N_HELD_OUT).min(n);
        Self {
            train: part(&order[..n_train]),
            validation: part(&order[n_train..end]),
            test: part(&order[end..]),
            n_words: vocabulary.words().len(),
        }
    }
}

/// A row to compute.
#[derive(Debug)]
pub struct TextsRow<'a> {
    /// Data.
    pub data: &'a DividedTexts,
    /// Row.
    pub row: &'a AnsRow,
    /// Root seed.
    pub seed: u64,
    /// Settings.
    pub settings: &'a AnsSettings,
}

impl OnBackend for TextsRow<'_> {
    type Output = Measured;

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Measured, Failure> {
        let device = &devices[0];
        let (root, data) = (Seed::new(self.seed), self.data);
        let fresh: WordTower<B> = WordTowerConfig::new(data.n_words)
            .with_d(self.settings.width)
            .init(root.child("encoder"), device);
        let untrained = self.measured(&fresh.valid(), &data.test, None, device)?;
        let collate = TextPairCollate::new(data.n_words);
        let outcome = trained::<B, _, _, _, _>(
            (&data.train, TextPairViews, collate),
            fresh,
            training_settings(self.settings, self.row),
            (self.seed, device),
        )?;
        let encoder = &outcome.encoder;
        let training = &data.train[..data.train.len().min(N_HELD_OUT)];
        Ok(Measured {
            training_auc: Some(self.measured(encoder, training, None, device)?.auc),
            validation: self.measured(encoder, &data.validation, None, device)?,
            test: self.measured(encoder, &data.test, None, device)?,
            sampled: Some(self.measured(
                encoder,
                &data.test,
                Some(root.child("candidates")),
                device,
            )?),
            untrained: Some(untrained),
            parameter_change: outcome.parameter_change,
            n_steps: outcome.record.n_steps,
            step_negatives: outcome.record.step_negatives,
        })
    }
}

impl TextsRow<'_> {
    /// Ranks the body of each title among the bodies of all pairs, without those of an equal title or body.
    fn measured<B: Backend>(
        &self,
        encoder: &WordTower<B>,
        pairs: &[TextPair],
        sampled: Option<Seed>,
        device: &B::Device,
    ) -> Result<AnsMeasures, Failure> {
        let collate = TextPairCollate::new(self.data.n_words);
        let side = |side: Side| {
            let view = |pair: &TextPair| TextPairView {
                pair: pair.clone(),
                side,
            };
            let views: Vec<TextPairView> = pairs.iter().map(view).collect();
            encoded(encoder, &collate, &views, device)
        };
        let (titles, bodies) = (side(Side::First)?, side(Side::Second)?);
        let equal: Vec<Vec<u32>> = pairs
            .iter()
            .map(|pair| {
                let others = pairs.iter().enumerate();
                let equal = others.filter(|(_, other)| pair.shares_a_text(other));
                equal.map(|(at, _)| at as u32).collect()
            })
            .collect();
        let targets: Vec<RankedTarget<'_>> = equal
            .iter()
            .enumerate()
            .map(|(at, excluded)| RankedTarget {
                target: at as u32,
                excluded,
            })
            .collect();
        ranked((&titles, &bodies), &targets, HITS, sampled)
    }
}
