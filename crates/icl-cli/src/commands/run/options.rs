//! What a run is told: flags and a TOML file, in this order of weight.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use icl_models::Stem;
use icl_train::{Distance, MetaOrder, StopRule, UpdateRule};
use serde::{Deserialize, Serialize};

use crate::options::images::Classes;
use crate::options::values::{named, read_toml};
use crate::process::failure::Failure;

/// Every option of `icl run`: as flags, and under the same names in the TOML file.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunOptions {
    /// An embedded data set (MUTAG, MNIST-1v7), or the path of one: a TU data set (a zip or a
    /// folder), an IDX file, a CIFAR file or folder, a folder of class folders with images
    /// [default: MUTAG]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Of images: only these classes, as 1,7
    #[arg(long, value_name = "NAMES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Classes>,
    /// Of images: at most N, as evenly of each class as can be
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Of images: leave out those that cannot be decoded [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[serde(alias = "skip_broken", skip_serializing_if = "Option::is_none")]
    pub skip_broken: Option<bool>,
    /// Of images: the side of a view in pixels [default: that of IDX and CIFAR images
    /// themselves, 224 for folders]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    #[serde(alias = "image_size", skip_serializing_if = "Option::is_none")]
    pub image_size: Option<usize>,
    /// Of images: how the encoder begins: small (3x3, for small images) or standard (7x7 with
    /// stride 2, then pooling) [default: small up to 32 pixels and without
    /// --weights]
    #[arg(long, value_name = "STEM", value_parser = named::<Stem>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stem: Option<Stem>,
    /// Of images: the width of a projection head on the encoder [default: none]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projection: Option<usize>,
    /// Of images: the probability that a view is blurred [default: 0]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blur: Option<f64>,
    /// Of images: torchvision's weights of a ResNet-18 to begin with
    #[arg(long, value_name = "FILE.pth|FILE.safetensors")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
    /// A method to run; may be repeated. `icl methods` lists them [default: all]
    #[arg(long = "method", value_name = "NAME")]
    #[serde(default, alias = "methods", deserialize_with = "one_or_many")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub method: Vec<String>,
    /// Growth ratio α, the share of the data that is new, from 0 to 1 [default: 0.5]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// How old and new are told apart: random, size or class [default: random]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Run the seeds 0 to N − 1 [default: 3]
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "seed",
        allow_negative_numbers = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u64>,
    /// Run this one seed
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The most epochs of each training run [default: 300]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,
    /// Samples a batch [default: 32]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(alias = "batch_size", skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<usize>,
    /// adam or sgd [default: adam]
    #[arg(long, value_parser = named::<UpdateRule>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimizer: Option<UpdateRule>,
    /// Learning rate [default: 0.003]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(alias = "learning_rate", skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,
    /// Temperature τ [default: 0.1]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// K, the number of negatives in the formulas; batches may hold more or fewer [default: 31]
    #[arg(
        long,
        visible_alias = "k",
        value_name = "K",
        allow_negative_numbers = true
    )]
    #[serde(alias = "k", alias = "K", skip_serializing_if = "Option::is_none")]
    pub negatives: Option<f64>,
    /// What ends a run early: exact-risk, training-loss (the paper's rule) or never
    /// [default: exact-risk]
    #[arg(long, value_parser = named::<StopRule>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopRule>,
    /// Evaluations (epochs under training-loss) without a new minimum that end a run
    /// [default: 20, or 50 under training-loss]
    #[arg(long, allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Epochs between evaluations of the exact risk [default: about 32 steps, later a tenth of
    /// the epochs so far]
    #[arg(long, value_name = "EPOCHS", allow_negative_numbers = true)]
    #[serde(alias = "evaluate_every", skip_serializing_if = "Option::is_none")]
    pub evaluate_every: Option<usize>,
    /// Decay of the moving average of the parameters, which is what is evaluated and written; 0 for
    /// none [default: 0.99]
    #[arg(long, value_name = "DECAY", allow_negative_numbers = true)]
    #[serde(alias = "average_decay", skip_serializing_if = "Option::is_none")]
    pub average_decay: Option<f64>,
    /// Under meta-optimization, whether the gradient goes through the inner steps: first (no) or
    /// second (yes) [default: first]
    #[arg(long, value_name = "ORDER", value_parser = named::<MetaOrder>)]
    #[serde(alias = "meta_order", skip_serializing_if = "Option::is_none")]
    pub meta_order: Option<MetaOrder>,
    /// Under meta-optimization, the learning rate of the inner steps, which are plain gradient
    /// descent [default: 0.003]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    #[serde(
        alias = "support_learning_rate",
        skip_serializing_if = "Option::is_none"
    )]
    pub support_learning_rate: Option<f64>,
    /// How many old samples replay keeps [default: a fifth of them]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(alias = "replay_size", skip_serializing_if = "Option::is_none")]
    pub replay_size: Option<usize>,
    /// How many recent embeddings of old samples serve as old noise beside the batch; of methods
    /// that tell old noise from new [default: none]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(alias = "old_queue", skip_serializing_if = "Option::is_none")]
    pub old_queue: Option<usize>,
    /// The weight of the distance to the first encoder's embeddings under distillation [default: 1]
    #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
    #[serde(alias = "distillation_weight", skip_serializing_if = "Option::is_none")]
    pub distillation_weight: Option<f64>,
    /// That distance: cosine or mean-squared [default: cosine]
    #[arg(long, value_name = "DISTANCE", value_parser = named::<Distance>)]
    #[serde(
        alias = "distillation_distance",
        skip_serializing_if = "Option::is_none"
    )]
    pub distillation_distance: Option<Distance>,
    /// The backend to run on, and which of its devices; `icl backends` lists them [default: the
    /// first that this binary holds]
    #[arg(long, value_name = "NAME[:DEVICE]")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The folder to write [default: the first free icl-runs/NAME-1, -2, …]
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// Replace what an earlier run left in the folder
    #[arg(long)]
    #[serde(skip)]
    pub force: bool,
    /// Go on with a run that was stopped, with the options that it was begun with
    #[arg(long, value_name = "DIR", exclusive = true)]
    #[serde(skip)]
    pub resume: Option<PathBuf>,
    /// Read options from this TOML file; flags win
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

impl RunOptions {
    /// Reads the TOML file, if one is named, and puts these flags over it.
    ///
    /// # Errors
    /// If the file cannot be read, or holds an unknown key or a value of the wrong type.
    pub fn over_file(self) -> Result<Self, Failure> {
        let Some(path) = &self.config else {
            return Ok(self);
        };
        let file: Self = read_toml(path)?;
        if file.seed.is_some() && file.seeds.is_some() {
            return Err(Failure::input(anyhow!(
                "{}: found both seed and seeds, expected one of them",
                path.display()
            )));
        }
        // One of the two seeds' forms on the command line replaces either form in the file.
        let has_seed = self.seed.is_some() || self.seeds.is_some();
        Ok(Self {
            data: self.data.or(file.data),
            classes: self.classes.or(file.classes),
            limit: self.limit.or(file.limit),
            skip_broken: self.skip_broken.or(file.skip_broken),
            image_size: self.image_size.or(file.image_size),
            stem: self.stem.or(file.stem),
            projection: self.projection.or(file.projection),
            blur: self.blur.or(file.blur),
            weights: self.weights.or(file.weights),
            method: if self.method.is_empty() {
                file.method
            } else {
                self.method
            },
            alpha: self.alpha.or(file.alpha),
            split: self.split.or(file.split),
            seeds: if has_seed { self.seeds } else { file.seeds },
            seed: if has_seed { self.seed } else { file.seed },
            epochs: self.epochs.or(file.epochs),
            batch_size: self.batch_size.or(file.batch_size),
            optimizer: self.optimizer.or(file.optimizer),
            learning_rate: self.learning_rate.or(file.learning_rate),
            temperature: self.temperature.or(file.temperature),
            negatives: self.negatives.or(file.negatives),
            stop: self.stop.or(file.stop),
            patience: self.patience.or(file.patience),
            evaluate_every: self.evaluate_every.or(file.evaluate_every),
            average_decay: self.average_decay.or(file.average_decay),
            meta_order: self.meta_order.or(file.meta_order),
            support_learning_rate: self.support_learning_rate.or(file.support_learning_rate),
            replay_size: self.replay_size.or(file.replay_size),
            old_queue: self.old_queue.or(file.old_queue),
            distillation_weight: self.distillation_weight.or(file.distillation_weight),
            distillation_distance: self.distillation_distance.or(file.distillation_distance),
            backend: self.backend.or(file.backend),
            out: self.out.or(file.out),
            force: self.force,
            resume: None,
            config: None,
        })
    }
}

/// `method = "warm"` as well as `method = ["warm", "retraining"]`.
fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a name or a list of names")]
    enum Names {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Names::deserialize(deserializer)? {
        Names::One(name) => vec![name],
        Names::Many(names) => names,
    })
}
