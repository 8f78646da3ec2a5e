//! Stamps of files and folders, by which a change is seen without reading the content.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Sizes, times and names of a file, or of all that is in a folder, as one number. It is compared within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64);

/// Returns the stamp of a file or folder; `None` if there is none.
pub fn stamp(path: &Path) -> Option<Stamp> {
    let mut hasher = DefaultHasher::new();
    add(path, &mut hasher).ok()?;
    Some(Stamp(hasher.finish()))
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    let metadata = fs::metadata(path)?;
    metadata.is_dir().hash(hasher);
    if !metadata.is_dir() {
        metadata.len().hash(hasher);
        metadata.modified().ok().hash(hasher);
        return Ok(());
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name());
    }
    names.sort_unstable();
    for name in names {
        name.hash(hasher);
        let path = path.join(name);
        // A link may lead to a folder above it.
        match path.is_symlink() && path.is_dir() {
            true => fs::read_link(path)?.hash(hasher),
            // What has gone meanwhile is missing at the next look.
            false => add(&path, hasher).unwrap_or_default(),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_seen() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a");
        assert_eq!(stamp(&path), None);
        fs::create_dir(&path).unwrap();
        let mut stamps = vec![stamp(&path).unwrap()];
        for (name, text) in [("x", ""), ("y", ""), ("x", "1"), ("x", "12")] {
            fs::write(path.join(name), text).unwrap();
            stamps.push(stamp(&path).unwrap());
        }
        fs::create_dir(path.join("deep")).unwrap();
        stamps.push(stamp(&path).unwrap());
        fs::write(path.join("deep/x"), "").unwrap();
        stamps.push(stamp(&path).unwrap());
        fs::rename(path.join("y"), path.join("z")).unwrap();
        stamps.push(stamp(&path).unwrap());
        // The same size and another time.
        let file = fs::File::options()
            .write(true)
            .open(path.join("x"))
            .unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        stamps.push(stamp(&path).unwrap());
        for (at, one) in stamps.iter().enumerate() {
            assert!(!stamps[..at].contains(one), "{at}");
        }
        assert_eq!(stamp(&path), stamps.last().copied());
    }
}
