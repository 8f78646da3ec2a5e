//! Tables that the papers print, kept as CSV files in the folder `data` of this crate.

use csv::ReaderBuilder;
use serde::de::DeserializeOwned;

/// Reads the rows of a file of this crate, whose first lines are comments on its source.
///
/// # Panics
/// If a row is malformed, which the tests of each file rule out.
pub(crate) fn rows<R: DeserializeOwned>(text: &str) -> Vec<R> {
    let mut reader = ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.expect("the rows of a file of this crate are well-formed")
}
