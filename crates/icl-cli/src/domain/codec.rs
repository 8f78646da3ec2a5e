//! The configuration of an encoder in its file.

use std::fmt::Debug;

use icl_core::Error;
use icl_models::StoredEncoder;

/// Configuration of views and encoder as an encoder's file holds it next to the tensors: how it is written and read.
pub trait Codec: Debug + Sized {
    /// Name of the encoder in files.
    const ENCODER: &'static str;

    /// Returns the names and shapes of the encoder's tensors without allocating them: a damaged
    /// configuration may ask for more than the memory holds.
    fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)>;

    /// Returns the description of the encoder.
    fn encoder_name(&self) -> String;

    /// Returns the metadata of an encoder's file about views and encoder: keys and values.
    ///
    /// # Errors
    /// If a value cannot be written as text.
    fn describe(&self) -> Result<Vec<(&'static str, String)>, serde_json::Error>;

    /// Reads the metadata that [`describe`](Self::describe) returns.
    ///
    /// # Errors
    /// If they are missing, or are not those of such an encoder.
    fn from_file(file: &StoredEncoder) -> Result<Self, Error>;
}
