//! Checks of values that several commands take.

use anyhow::anyhow;
use icl_train::{Method, MethodError, TrainingSettings};

use crate::options::similar::suggestion;
use crate::process::failure::Failure;
use crate::process::group::group;
use crate::process::terminal::tell;

/// Number of samples of a shard below which its batch statistics are noisy.
const FEW_SAMPLES: usize = 32;

/// Returns the settings if all of them are valid; errors name them as the options are named. Warns of shards with few samples.
///
/// # Errors
/// At the first that is not.
pub fn settings(settings: TrainingSettings) -> Result<TrainingSettings, Failure> {
    settings.check().map_err(|error| {
        let option = error.field.replace("step_", "");
        let option = option.replace(['_', '.'], "-");
        Failure::input(anyhow!(
            "{option}: found {}, expected {}",
            error.found,
            error.expected
        ))
    })?;
    settings.check_negatives().map_err(Failure::input)?;
    let n_shards = settings.n_shards(group().size());
    let n_samples = settings.batch_size / n_shards;
    if n_shards > 1 && n_samples < FEW_SAMPLES {
        tell(format_args!(
            "warning: {n_shards} shards of {n_samples} samples: batch statistics of normalisation are those of a shard, and noisy below {FEW_SAMPLES}"
        ));
    }
    Ok(settings)
}

/// Finds the method of this name, or reads a point of the five axes.
///
/// # Errors
/// If there is none.
pub fn method(text: &str) -> Result<Method, Failure> {
    Method::named(text).map_err(|error| unknown(&error))
}

/// Reads a list of names and points, separated by commas.
///
/// # Errors
/// If one of them is neither.
pub fn methods(texts: &str) -> Result<Vec<Method>, Failure> {
    icl_train::parse_methods(texts).map_err(|error| unknown(&error))
}

/// Returns the failure to find a method, with a similar name if there is one.
fn unknown(error: &MethodError) -> Failure {
    let similar = match error {
        MethodError::Name { found, known } => suggestion(found, known.iter().map(String::as_str)),
        _ => String::new(),
    };
    Failure::input(anyhow!("method: {error}{similar}"))
}

/// Checks that every method fits the settings.
///
/// # Errors
/// At the first method that does not.
pub fn check_methods(settings: &TrainingSettings, methods: &[Method]) -> Result<(), Failure> {
    for method in methods {
        method
            .check()
            .and_then(|()| method.check_shards(settings.n_shards(group().size())))
            .map_err(|error| Failure::input(anyhow!("{}", error.to_string().replace('_', "-"))))?;
    }
    Ok(())
}
