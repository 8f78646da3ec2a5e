//! The message about a file that is not there.

use std::path::Path;

use icl_data::catalogue::DATA_DIR;

use crate::pages::dacl::DaclDataSet;

/// Returns the message that the file of a data set was not found.
pub fn missing(data: DaclDataSet, path: &Path) -> String {
    format!(
        "{}: found no {}, expected it there (--data-dir or {DATA_DIR} names the folder above)",
        data.name(),
        path.display()
    )
}
