//! Data sets that are part of the program, so that it runs without any file and any network.
//!
//! Each stands in the crate's folder `data` beside a notice of where it comes from and what its
//! licence is.

use std::path::Path;

use crate::error::DataError;
use crate::graph::{GraphDataset, read_tu_bytes};
use crate::place::Found;

/// The data sets of graphs: name, and archive in the TU format.
const GRAPHS: [(&str, &[u8]); 1] = [("MUTAG", include_bytes!("../data/MUTAG.zip"))];

/// The names of the embedded data sets.
pub fn names() -> [&'static str; GRAPHS.len()] {
    GRAPHS.map(|(name, _)| name)
}

/// The embedded data set of graphs with this name, in upper or lower case.
///
/// It is read by the same reader as files are, see [`read_tu`](crate::read_tu).
///
/// ```
/// let mutag = icl_data::embedded::graphs("mutag")?;
/// assert_eq!(mutag.graphs().len(), 188);
/// assert_eq!(mutag.class_labels(), [-1, 1]);
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// [`DataError::UnknownEmbedded`] if there is no such data set.
pub fn graphs(name: &str) -> Result<GraphDataset, DataError> {
    let (name, bytes) = GRAPHS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .ok_or_else(|| DataError::UnknownEmbedded {
            found: Found::new(name),
        })?;
    read_tu_bytes(Path::new(&format!("embedded {name}.zip")), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = graphs("MUTAGEN").unwrap_err().to_string();
        assert_eq!(
            error,
            "embedded data: found \"MUTAGEN\", expected one of MUTAG"
        );
    }

    #[test]
    fn every_embedded_set_can_be_read() {
        for name in names() {
            assert_eq!(graphs(name).unwrap().name(), name);
        }
    }
}
