//! The method, and the settings of its parts.

use anyhow::anyhow;
use clap::Args;
use icl_train::{Distance, MetaOrder, Method, TrainError, TrainErrorKind, TrainingSettings};
use serde::{Serialize, Serializer};

use crate::options::choice::suggestion;
use crate::options::{bounds, choice};
use crate::process::failure::Failure;

/// Names of the methods that a comparison runs unless others are chosen, besides the default of updates: to keep the
/// encoder, to train it on the new data alone or on all data, and to train a new one.
const COMPARED: [&str; 4] = ["inference", "fine-tuning", "warm", icl_train::REFERENCE];

/// Help of the option of the method.
pub const HELP: &str = "Method as listed by `icl methods`, or a point of the axes that it lists, such as \
                        sampling=share:0.2,loss=corrected,rate=cosine";

/// Name of all methods of the registry.
const ALL: &str = "all";

fn one_or_many<S: Serializer>(names: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match names {
        [name] => name.serialize(serializer),
        names => names.serialize(serializer),
    }
}

/// One method or several, and the settings of the parts of which methods are made.
#[derive(Debug, Clone, PartialEq, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(next_help_heading = "Method")]
pub struct MethodOptions {
    #[arg(long, alias = "methods", value_name = "NAME", help = HELP)]
    #[serde(serialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    method: Vec<String>,
    /// Order of the meta-gradient: first neglects the derivative of the inner steps, second includes it
    /// (meta-optimization only)
    #[arg(
        long,
        value_name = "ORDER",
        value_parser = choice::any::<MetaOrder>(),
        default_value = choice::name(&defaults().meta_order)
    )]
    pub meta_order: MetaOrder,
    /// Learning rate of the inner steps (meta-optimization only)
    #[arg(
        long,
        value_name = "RATE",
        value_parser = bounds::number_in(bounds::RATE),
        default_value_t = defaults().support_learning_rate
    )]
    pub support_learning_rate: f64,
    /// Number of old samples in the replay buffer (replay only). Without it, a fifth of the old samples
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::SAMPLES))]
    pub replay_size: Option<usize>,
    /// Weight of the distance between the embeddings of the encoder and those of the encoder before the
    /// update (distillation only)
    #[arg(
        long,
        value_name = "WEIGHT",
        value_parser = bounds::number_in(bounds::WEIGHT),
        default_value_t = defaults().distillation_weight
    )]
    pub distillation_weight: f64,
    /// Measure of the distance between the embeddings (distillation only)
    #[arg(
        long,
        value_name = "DISTANCE",
        value_parser = choice::any::<Distance>(),
        default_value = choice::name(&defaults().distillation_distance)
    )]
    pub distillation_distance: Distance,
}

impl MethodOptions {
    /// Returns the one method of a command that takes no more.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn one(&self) -> Result<Method, Failure> {
        let name = self.method.last().map_or(icl_train::DEFAULT, |name| name);
        named(name)
    }

    /// Returns the methods: those of the registry in its order, then points of the axes; the compared five if none
    /// are named, and all of the registry under `all`. Fills in their names.
    ///
    /// # Errors
    /// If a text is neither a name of the registry nor a point.
    pub fn fill(&mut self) -> Result<Vec<Method>, Failure> {
        let mut methods = icl_train::methods();
        let mut requested = Vec::new();
        for text in &self.method {
            match text.as_str() {
                ALL => requested.extend(methods.clone()),
                text => requested.extend(listed(text)?),
            }
        }
        let is_compared = |name: &str| COMPARED.contains(&name) || name == icl_train::DEFAULT;
        methods.retain(|method| match requested.is_empty() {
            true => is_compared(&method.name),
            false => requested.contains(method),
        });
        for method in requested {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        self.method = methods.iter().map(|method| method.name.clone()).collect();
        Ok(methods)
    }
}

/// Finds the method of this name, or reads a point of the five axes.
///
/// # Errors
/// If there is none.
pub fn named(text: &str) -> Result<Method, Failure> {
    Method::named(text).map_err(|error| unknown(&error))
}

/// Reads a list of names and points, separated by commas.
///
/// # Errors
/// If one of them is neither.
fn listed(texts: &str) -> Result<Vec<Method>, Failure> {
    icl_train::parse_methods(texts).map_err(|error| unknown(&error))
}

/// Returns the failure to find a method, with a similar name if there is one.
pub fn unknown(error: &TrainError) -> Failure {
    let similar = match error.kind() {
        TrainErrorKind::UnknownMethod => {
            let known = icl_train::methods();
            let names = known.iter().map(|method| method.name.as_str());
            suggestion(error.found().trim_matches('"'), names)
        }
        _ => String::new(),
    };
    Failure::input(anyhow!("method: {error}{similar}"))
}

/// Checks that every method fits the settings of a training by so many members.
///
/// # Errors
/// At the first method that does not.
pub fn check_methods(
    settings: &TrainingSettings,
    n_members: usize,
    methods: &[Method],
) -> Result<(), Failure> {
    for method in methods {
        method
            .check()
            .and_then(|()| method.check_shards(settings.n_shards(n_members)))
            .map_err(Failure::input)?;
    }
    Ok(())
}

fn defaults() -> TrainingSettings {
    TrainingSettings::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    use clap::{Command, FromArgMatches};

    fn filled(method: &[&str]) -> Vec<String> {
        let words = method.iter().flat_map(|name| ["--method", name]);
        let command = MethodOptions::augment_args(Command::new("run").no_binary_name(true));
        let mut option = MethodOptions::from_arg_matches(&command.get_matches_from(words)).unwrap();
        let methods = option.fill().unwrap();
        let names: Vec<String> = methods.into_iter().map(|method| method.name).collect();
        assert_eq!(option.method, names);
        names
    }

    #[test]
    fn five_methods_are_compared_unless_others_are_chosen() {
        let five = ["inference", "retraining", "warm", "fine-tuning", "icl"];
        assert_eq!(filled(&[]), five);
        assert_eq!(filled(&["warm,inference"]), ["inference", "warm"]);
        assert_eq!(filled(&["all"]).len(), icl_train::methods().len());
        let point = "start=trained,sampling=share:0.5,loss=corrected,optimizer=plain,rate=cosine";
        let all = filled(&["all", point]);
        assert_eq!(all.len(), icl_train::methods().len() + 1);
        assert_eq!(all.last().map(String::as_str), Some(point));
    }
}
