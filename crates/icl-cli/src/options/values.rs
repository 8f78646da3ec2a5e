//! Checks of values that several commands take.

use anyhow::anyhow;
use icl_train::{Method, Objective, TrainingSettings};

use crate::process::failure::Failure;

/// Returns the settings if all of them are valid; errors name them as the options are named.
///
/// # Errors
/// At the first that is not.
pub fn settings(settings: TrainingSettings) -> Result<TrainingSettings, Failure> {
    settings.check().map_err(|error| {
        let option = error.field.replace('_', "-");
        Failure::input(anyhow!(
            "{option}: found {}, expected {}",
            error.found,
            error.expected
        ))
    })?;
    Ok(settings)
}

/// Returns the method of this name.
///
/// # Errors
/// If there is none.
pub fn method(name: &str) -> Result<Method, Failure> {
    icl_train::method(name).ok_or_else(|| {
        let known: Vec<&str> = icl_train::methods()
            .iter()
            .map(|method| method.name)
            .collect();
        Failure::input(anyhow!(
            "method: found \"{name}\", expected one of {}",
            known.join(", ")
        ))
    })
}

/// Checks that at least one of the methods uses the queue of old noise, if there is one.
///
/// # Errors
/// If none does.
pub fn check_old_queue(settings: &TrainingSettings, methods: &[Method]) -> Result<(), Failure> {
    match settings.old_queue {
        Some(found) if !methods.iter().any(has_old_noise) => {
            let known = icl_train::methods();
            let known: Vec<&str> = known
                .iter()
                .filter(|method| has_old_noise(method))
                .map(|method| method.name)
                .collect();
            Err(Failure::input(anyhow!(
                "old-queue: found {found} and no method that separates old from new noise, expected one of {}",
                known.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

/// Whether a method separates old from new noise.
pub fn has_old_noise(method: &Method) -> bool {
    method.objective.is_some_and(Objective::is_stratified)
}
