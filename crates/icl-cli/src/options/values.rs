//! Values of options that several commands take, checked in one way.

use std::path::Path;

use anyhow::anyhow;
use icl_train::{Method, StopRule, TrainingSettings};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::backend;
use crate::backend::BACKENDS;
use crate::process::failure::Failure;

/// The paper's patience, in epochs.
pub const PAPER_PATIENCE: usize = 50;

/// A value by the name that it has in the TOML file.
pub fn named<T: DeserializeOwned>(name: &str) -> Result<T, serde::de::value::Error> {
    T::deserialize(name.into_deserializer())
}

/// The options in a TOML file.
///
/// # Errors
/// If the file cannot be read, or holds an unknown key or a value of the wrong type.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::input(anyhow!(
            "{}: found no readable file ({error}), expected a TOML file",
            path.display()
        ))
    })?;
    parse_toml(path, &text)
}

/// The options in a text, which is named by `path`.
///
/// # Errors
/// If it holds an unknown key or a value of the wrong type.
pub fn parse_toml<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Failure> {
    toml::from_str(text).map_err(|error| {
        let error = error.to_string();
        Failure::input(anyhow!("{}: {}", path.display(), error.trim_end()))
    })
}

/// The settings, if every one of them can be; they are named as the options are.
///
/// # Errors
/// At the first that cannot be.
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

/// The patience of those who name none.
pub fn patience(stop: StopRule) -> usize {
    match stop {
        StopRule::TrainingLoss => PAPER_PATIENCE,
        StopRule::ExactRisk | StopRule::Never => TrainingSettings::default().patience,
    }
}

/// Finds the method of this name, or reads a point of the five axes.
///
/// # Errors
/// If there is none.
pub fn method(text: &str) -> Result<Method, Failure> {
    Method::named(text).map_err(|error| Failure::input(anyhow!("method: {error}")))
}

/// That one of the methods at least has a use for the queue of old noise, if there is one.
///
/// # Errors
/// If none has.
pub fn check_old_queue(settings: &TrainingSettings, methods: &[Method]) -> Result<(), Failure> {
    match settings.old_queue {
        Some(found) if !methods.iter().any(Method::separates_noise) => {
            let known = icl_train::methods();
            let known: Vec<&str> = known
                .iter()
                .filter(|method| method.separates_noise())
                .map(|method| method.name.as_str())
                .collect();
            Err(Failure::input(anyhow!(
                "old-queue: found {found} and no method that tells old noise from new, expected one of {}",
                known.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

/// The backend of this name, with or without a device, or the default.
///
/// # Errors
/// If this binary does not hold it, or it has no device of that name.
pub fn backend(name: Option<String>) -> Result<String, Failure> {
    let name = name.unwrap_or_else(|| BACKENDS[0].to_owned());
    backend::check(&name)?;
    Ok(name)
}

/// That data are named.
///
/// # Errors
/// If the name of `option` is empty.
pub fn check_data(option: &str, data: &str) -> Result<(), Failure> {
    if data.is_empty() {
        return Err(Failure::input(anyhow!(
            "{option}: found no name, expected that of a data set, a zip or a folder"
        )));
    }
    Ok(())
}

/// That a folder can be named in `config.toml`.
///
/// # Errors
/// If it cannot.
pub fn check_out(out: &Path) -> Result<(), Failure> {
    match out.to_str() {
        Some("") => Err(Failure::input(anyhow!(
            "out: found no name, expected that of a folder"
        ))),
        Some(_) => Ok(()),
        None => Err(Failure::input(anyhow!(
            "out: found {}, expected a name in UTF-8",
            out.display()
        ))),
    }
}
