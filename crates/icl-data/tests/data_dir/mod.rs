//! Location of the data for tests.

use std::path::PathBuf;

/// A file below the folder that `ICL_DATA_DIR` names, else below `../shared/data` next to the
/// project; `None`, with a line on the standard error, if it is not there.
pub fn shared(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ICL_DATA_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(file);
    if path.exists() {
        Some(path)
    } else {
        eprintln!(
            "SKIPPED: {} is not there; set ICL_DATA_DIR to the folder of the data",
            path.display()
        );
        None
    }
}
