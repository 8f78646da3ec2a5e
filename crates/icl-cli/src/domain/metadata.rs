//! Values of the metadata of an encoder's file that are JSON.

use std::fmt::Display;

use serde::de::DeserializeOwned;

use crate::domain::{Text, Wrong};
use crate::options::bounds::IMAGE_SIDE;

/// Reads the value of a key. `expected` describes it.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn parsed<T: DeserializeOwned>(text: &Text<'_>, key: &str, expected: &str) -> Result<T, Wrong> {
    serde_json::from_str(&text(key, expected)?).map_err(|error| unreadable(key, &error, expected))
}

/// Returns the error of a value that cannot be read.
pub fn unreadable(key: &str, error: &dyn Display, expected: &str) -> Wrong {
    let found = format!("metadata \"{key}\" that cannot be read ({error})");
    (found, expected.to_owned())
}

/// Checks the side of the views of images: those of a batch are in memory at once.
///
/// # Errors
/// If it is larger than the option may be.
pub fn check_side(size: usize) -> Result<(), Wrong> {
    match size <= IMAGE_SIDE {
        true => Ok(()),
        false => Err((
            format!("views of {size} pixels a side"),
            format!("at most {IMAGE_SIDE}"),
        )),
    }
}
