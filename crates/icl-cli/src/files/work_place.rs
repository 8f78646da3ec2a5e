//! The place of the work on an output folder: next to the folder while there is none, in it if there is one; and the
//! names of the results of `icl run` in it.

use std::path::{Path, PathBuf};

use icl_core::PartialFolder;

/// Options of the command, in the output folder and in that of work in progress.
pub const CONFIG: &str = "config.toml";
/// Folder of work in progress in an output folder that is there already.
pub const INSIDE: &str = ".icl-work";

/// Record of `icl run`, a line for each method and seed, or of `icl compare-backends`, a line for each backend.
pub const RECORD: &str = "record.jsonl";
/// Comparison of the methods of `icl run` over the seeds.
pub const COMPARISON: &str = "comparison.json";
/// Page of a command.
pub const REPORT: &str = "report.html";
/// Coordinates of the map of its report.
pub const MAP: &str = "map.json";
/// Beginning of the names of its encoders.
pub const ENCODER: &str = "encoder-";

/// Returns the folder of the work on an output folder.
pub fn place(target: &Path) -> PathBuf {
    let (inside, next_to) = (target.join(INSIDE), PartialFolder::next_to(target));
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    // Work that was begun before somebody created the folder stays where it is.
    match target.is_dir() && (is_there(&inside) || !is_there(&next_to)) {
        true => inside,
        false => next_to,
    }
}

/// Returns the path of the options of interrupted work on an output folder. Without them there is none, or all that is left to
/// do is to publish its results.
pub fn options(target: &Path) -> PathBuf {
    place(target).join(CONFIG)
}

/// Returns the folders of an output folder with work on it, each with its path in a copy that is one folder.
pub fn folders(target: &Path) -> Vec<(PathBuf, PathBuf)> {
    let (place, is_there) = (place(target), target.is_dir());
    let whole = is_there.then(|| (target.to_owned(), PathBuf::new()));
    let work = (!place.starts_with(target)).then(|| (place, PathBuf::from(INSIDE)));
    whole.into_iter().chain(work).collect()
}

/// Returns whether `icl run` writes a file of this name.
pub fn is_result(name: &str) -> bool {
    [CONFIG, RECORD, COMPARISON, REPORT, MAP].contains(&name)
        || name.starts_with(ENCODER) && name.ends_with(".safetensors")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_found_wherever_it_is() {
        let at = tempfile::tempdir().unwrap();
        let out = at.path().join("out");
        let [inside, next_to] = [out.join(INSIDE), at.path().join(".icl-out.partial")];
        let work = (next_to.clone(), PathBuf::from(INSIDE));
        let whole = (out.clone(), PathBuf::new());
        assert_eq!(options(&out), next_to.join(CONFIG));
        std::fs::create_dir(&next_to).unwrap();
        assert_eq!(folders(&out), std::slice::from_ref(&work));
        std::fs::create_dir(&out).unwrap();
        assert_eq!(options(&out), next_to.join(CONFIG));
        assert_eq!(folders(&out), [whole.clone(), work]);
        std::fs::remove_dir(&next_to).unwrap();
        assert_eq!(options(&out), inside.join(CONFIG));
        assert_eq!(folders(&out), [whole]);
    }
}
