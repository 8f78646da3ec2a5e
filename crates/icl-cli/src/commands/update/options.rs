//! What an update is told, checked.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_train::{Distance, MetaOrder, Method, TrainingSettings};

use crate::files::encoder_work::ENCODER;
use crate::options::images::{Classes, Selection};
use crate::options::training::{Training, TrainingOptions, given, training_options};
use crate::options::values;
use crate::options::values::named;
use crate::process::failure::Failure;

training_options! {
    /// Every option of `icl update`: as flags, and under the same names in the TOML file.
    pub struct UpdateOptions {
        /// The encoder to update, which icl wrote
        #[arg(long, value_name = "ENCODER.safetensors")]
        pub from: String,
        /// The data that it was trained on: an embedded data set, or the path of one, as for
        /// `icl train`
        #[arg(long, value_name = "DATA")]
        pub old: String,
        /// The data that have arrived
        #[arg(long, value_name = "DATA")]
        pub new: String,
        /// Of images: only these classes, as 1,7; of old and new data
        #[arg(long, value_name = "NAMES")]
        pub classes: Classes,
        /// Of images: at most N of old and of new data, as evenly of each class as can be
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        pub limit: usize,
        /// Of images: leave out those that cannot be decoded [default: false]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
        #[serde(alias = "skip_broken")]
        pub skip_broken: bool,
        /// The method. `icl methods` lists them [default: icl]
        #[arg(long, value_name = "NAME")]
        pub method: String,
        /// Under meta-optimization, whether the gradient goes through the inner steps: first (no)
        /// or second (yes) [default: first]
        #[arg(long, value_name = "ORDER", value_parser = named::<MetaOrder>)]
        #[serde(alias = "meta_order")]
        pub meta_order: MetaOrder,
        /// Under meta-optimization, the learning rate of the inner steps, which are plain gradient
        /// descent [default: 0.003]
        #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
        #[serde(alias = "support_learning_rate")]
        pub support_learning_rate: f64,
        /// How many old samples replay keeps [default: a fifth of them]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        #[serde(alias = "replay_size")]
        pub replay_size: usize,
        /// How many recent embeddings of old samples serve as old noise beside the batch; of methods
        /// that tell old noise from new [default: none]
        #[arg(long, value_name = "N", allow_negative_numbers = true)]
        #[serde(alias = "old_queue")]
        pub old_queue: usize,
        /// The weight of the distance to the first encoder's embeddings under distillation
        /// [default: 1]
        #[arg(long, value_name = "WEIGHT", allow_negative_numbers = true)]
        #[serde(alias = "distillation_weight")]
        pub distillation_weight: f64,
        /// That distance: cosine or mean-squared [default: cosine]
        #[arg(long, value_name = "DISTANCE", value_parser = named::<Distance>)]
        #[serde(alias = "distillation_distance")]
        pub distillation_distance: Distance,
    }
}

/// Options that have been checked.
#[derive(Debug)]
pub struct Resolved {
    /// All of them with every default, as they are written to `config.toml`.
    pub options: UpdateOptions,
    /// The file of the encoder, as it was named.
    pub from: String,
    /// The names or paths of the old and of the new data.
    pub data: [String; 2],
    /// Which images of them.
    pub selection: Selection,
    /// The method.
    pub method: Method,
    /// What every training run is told.
    pub training: Training,
}

impl UpdateOptions {
    /// Fills in the defaults and checks every value.
    ///
    /// # Errors
    /// At the first value that cannot be.
    pub fn resolve(mut self) -> Result<Resolved, Failure> {
        let defaults = TrainingSettings::default();
        let (weight, distance) = (defaults.distillation_weight, defaults.distillation_distance);
        let defaults = TrainingSettings {
            meta_order: *self.meta_order.get_or_insert(defaults.meta_order),
            support_learning_rate: *self
                .support_learning_rate
                .get_or_insert(defaults.support_learning_rate),
            replay_size: self.replay_size,
            old_queue: self.old_queue,
            distillation_weight: *self.distillation_weight.get_or_insert(weight),
            distillation_distance: *self.distillation_distance.get_or_insert(distance),
            ..defaults
        };
        let training = self.fill(defaults)?;
        let name = self
            .method
            .get_or_insert_with(|| icl_train::DEFAULT.to_owned());
        let method = values::method(name)?;
        values::check_old_queue(&training.settings, std::slice::from_ref(&method))?;
        let from = given("from", "the .safetensors file of an encoder", &self.from)?;
        check_out(&training.out, Path::new(&from))?;
        let data = [("old", &self.old), ("new", &self.new)].map(|(option, name)| {
            let name = given(option, "a data set, a zip or a folder", name)?;
            values::check_data(option, &name)?;
            Ok(name)
        });
        let [old, new] = data;
        Ok(Resolved {
            from,
            data: [old?, new?],
            selection: Selection {
                classes: self.classes.clone(),
                limit: self.limit,
                skip_broken: self.skip_broken.unwrap_or(false),
            },
            method,
            training,
            options: self,
        })
    }
}

/// That the updated encoder does not take the place of the one that it comes from, which is needed
/// until the end.
fn check_out(out: &Path, from: &Path) -> Result<(), Failure> {
    let path: PathBuf = out.join(ENCODER);
    if matches!((path.canonicalize(), from.canonicalize()), (Ok(a), Ok(b)) if a == b) {
        return Err(Failure::input(anyhow!(
            "out: found the encoder itself at {}, expected another folder",
            path.display()
        )));
    }
    Ok(())
}
