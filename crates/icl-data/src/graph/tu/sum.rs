//! Sum over the tables of a data set, by which its contents are recognised in any archive.

use std::path::Path;

use super::files::TuFiles;
use super::names::TuTable;
use crate::error::DataError;

/// Returns the MD5 sum in hexadecimal digits of the tables that [`read_tu`](super::read_tu) reads, unpacked and one
/// after the other in the order of its documentation.
///
/// # Errors
/// If the archive or folder cannot be read, or a table is too large.
pub(crate) fn tables_md5(path: &Path) -> Result<String, DataError> {
    let mut files = TuFiles::open(path)?;
    let mut sum = md5::Context::new();
    for table in TuTable::ALL {
        if let Some(table) = files.optional(table)? {
            table.each_part(|part| sum.consume(part))?;
        }
    }
    Ok(format!("{:x}", sum.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_files_one_after_the_other() {
        let at = tempfile::tempdir().unwrap();
        // Not in the order of their names; the last is no table.
        for (ending, text) in [
            ("A", "The quick brown "),
            ("graph_indicator", "fox jumps "),
            ("graph_labels", "over "),
            ("node_attributes", "lazy dog"),
            ("node_labels", "the "),
            ("edge_labels", "anything"),
        ] {
            std::fs::write(at.path().join(format!("X_{ending}.txt")), text).unwrap();
        }
        // That of "The quick brown fox jumps over the lazy dog", which is well known.
        assert_eq!(
            tables_md5(at.path()).unwrap(),
            "9e107d9d372bb6826bd81d3542a419d6"
        );
        assert!(tables_md5(&at.path().join("none")).is_err());
    }
}
