//! The options of a run with every default filled in, checked.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::anyhow;
use icl_data::Split;
use icl_train::{Method, TrainingSettings};

use crate::commands::run::options::RunOptions;
use crate::options::images::{EncoderChoice, Selection};
use crate::options::values;
use crate::process::failure::Failure;

pub use crate::options::values::PAPER_PATIENCE;

/// Options that have been checked, with every default filled in.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// All of them again, as they are written to `config.toml`.
    pub options: RunOptions,
    /// The data set's name or path.
    pub data: String,
    /// Which of its images.
    pub selection: Selection,
    /// What the encoder of images is.
    pub encoder: EncoderChoice,
    /// The methods to run.
    pub methods: Vec<Method>,
    /// α as asked for; a split of whole samples comes close to it.
    pub alpha: f64,
    /// The split.
    pub split: Split,
    /// The seeds to run.
    pub seeds: RangeInclusive<u64>,
    /// The settings of every training run.
    pub settings: TrainingSettings,
    /// The backend's name.
    pub backend: String,
    /// The folder to write, if one was named.
    pub out: Option<PathBuf>,
    /// Whether what is there may be replaced.
    pub force: bool,
}

impl RunOptions {
    /// Fills in the defaults and checks every value.
    ///
    /// # Errors
    /// At the first value that cannot be.
    pub fn resolve(self) -> Result<Resolved, Failure> {
        let defaults = TrainingSettings::default();
        let stop = self.stop.unwrap_or(defaults.stop);
        let settings = values::settings(TrainingSettings {
            epochs: self.epochs.unwrap_or(defaults.epochs),
            batch_size: self.batch_size.unwrap_or(defaults.batch_size),
            optimizer: self.optimizer.unwrap_or(defaults.optimizer),
            learning_rate: self.learning_rate.unwrap_or(defaults.learning_rate),
            temperature: self.temperature.unwrap_or(defaults.temperature),
            negatives: self.negatives.unwrap_or(defaults.negatives),
            stop,
            patience: self.patience.unwrap_or(values::patience(stop)),
            evaluate_every: self.evaluate_every.or(defaults.evaluate_every),
            average_decay: self.average_decay.unwrap_or(defaults.average_decay),
            meta_order: self.meta_order.unwrap_or(defaults.meta_order),
            support_learning_rate: self
                .support_learning_rate
                .unwrap_or(defaults.support_learning_rate),
            replay_size: self.replay_size.or(defaults.replay_size),
            old_queue: self.old_queue.or(defaults.old_queue),
            distillation_weight: self
                .distillation_weight
                .unwrap_or(defaults.distillation_weight),
            distillation_distance: self
                .distillation_distance
                .unwrap_or(defaults.distillation_distance),
        })?;
        let alpha = self.alpha.unwrap_or(0.5);
        icl_core::GrowthRatio::try_new(alpha).map_err(Failure::input)?;
        let split = self.split.as_deref().unwrap_or("random");
        let split: Split = split.parse().map_err(Failure::input)?;
        let n_seeds = self.seeds.unwrap_or(3);
        let seeds = match (self.seed, n_seeds) {
            (Some(seed), _) => seed..=seed,
            (None, 0) => {
                return Err(Failure::input(anyhow!(
                    "seeds: found 0, expected at least 1"
                )));
            }
            (None, n) => 0..=n - 1,
        };
        let methods = methods(&self.method)?;
        values::check_old_queue(&settings, &methods)?;
        let backend = values::backend(self.backend)?;
        let data = self.data.unwrap_or_else(|| "MUTAG".to_owned());
        values::check_data("data", &data)?;
        if let Some(out) = &self.out {
            values::check_out(out)?;
        }
        let selection = Selection {
            classes: self.classes.clone(),
            limit: self.limit,
            skip_broken: self.skip_broken.unwrap_or(false),
        };
        let encoder = EncoderChoice {
            image_size: self.image_size,
            stem: self.stem,
            projection: self.projection,
            blur: self.blur,
            weights: self.weights.clone(),
        };
        let options = Self {
            data: Some(data.clone()),
            classes: self.classes.clone(),
            limit: self.limit,
            skip_broken: self.skip_broken,
            image_size: self.image_size,
            stem: self.stem,
            projection: self.projection,
            blur: self.blur,
            weights: self.weights.clone(),
            method: methods.iter().map(|method| method.name.clone()).collect(),
            alpha: Some(alpha),
            split: Some(split.to_string()),
            seeds: self.seed.is_none().then_some(n_seeds),
            seed: self.seed,
            epochs: Some(settings.epochs),
            batch_size: Some(settings.batch_size),
            optimizer: Some(settings.optimizer),
            learning_rate: Some(settings.learning_rate),
            temperature: Some(settings.temperature),
            negatives: Some(settings.negatives),
            stop: Some(settings.stop),
            patience: Some(settings.patience),
            evaluate_every: settings.evaluate_every,
            average_decay: Some(settings.average_decay),
            meta_order: Some(settings.meta_order),
            support_learning_rate: Some(settings.support_learning_rate),
            replay_size: settings.replay_size,
            old_queue: settings.old_queue,
            distillation_weight: Some(settings.distillation_weight),
            distillation_distance: Some(settings.distillation_distance),
            backend: Some(backend.clone()),
            out: self.out.clone(),
            force: false,
            resume: None,
            config: None,
        };
        Ok(Resolved {
            options,
            data,
            selection,
            encoder,
            methods,
            alpha,
            split,
            seeds,
            settings,
            backend,
            out: self.out,
            force: self.force,
        })
    }
}

/// The methods of these texts, which are the pieces between the commas of a list: those of the registry
/// in its order, then points in theirs; all of the registry if there are none.
fn methods(pieces: &[String]) -> Result<Vec<Method>, Failure> {
    let mut all = icl_train::methods();
    if pieces.is_empty() {
        return Ok(all);
    }
    let asked = icl_train::parse_methods(&pieces.join(","))
        .map_err(|error| Failure::input(anyhow!("method: {error}")))?;
    all.retain(|method| asked.contains(method));
    for method in asked {
        if !all.contains(&method) {
            all.push(method);
        }
    }
    Ok(all)
}
