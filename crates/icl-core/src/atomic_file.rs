//! Files that are whole or not there.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Writes a file beside its place, syncs it and renames it, so that no reader and no crash ever
/// meets half of it.
///
/// # Errors
/// That of the file system; the earlier file is still there then.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let beside = path.with_file_name(name);
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    // The new name, too, has to survive a loss of power; not every system can sync a folder.
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
    Ok(())
}
