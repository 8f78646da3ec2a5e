//! The check that no output of a command is one of its inputs.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_data::embedded;

use crate::process::failure::Failure;

/// Checks that a file or folder to be written is none of the inputs, holds none and lies in none, whatever links, dots and second
/// names (hard links) their paths have. An input is given with the name of its option; names of embedded data sets are none.
///
/// # Errors
/// At the first input that it is, holds or lies in.
pub fn check_apart<'a>(
    out: &Path,
    inputs: impl IntoIterator<Item = (&'a str, &'a Path)>,
) -> Result<(), Failure> {
    let id_of_out = id(out);
    let above_out = ids_above(out);
    let is_file = out.is_file();
    for (option, input) in inputs {
        let is_embedded = |name: &&str| input.as_os_str().eq_ignore_ascii_case(name);
        if embedded::names().iter().any(is_embedded) {
            continue;
        }
        let Some(id_of_input) = id(input) else {
            // An input that is not there is reported by its reader.
            continue;
        };
        let found = match &id_of_out {
            Some(out) if *out == id_of_input => "is",
            Some(out) if ids_above(input).contains(out) => "holds",
            Some(out) if is_file && reaches(input, out) => "is part of",
            Some(out) if input.is_dir() && reaches(input, out) => "holds part of",
            _ if input.is_dir() && above_out.contains(&id_of_input) => "lies in",
            _ => continue,
        };
        return Err(Failure::input(anyhow!(
            "out: found {}, which {found} the input --{option} {}, expected a file or folder apart from all inputs",
            out.display(),
            input.display()
        )));
    }
    Ok(())
}

/// Identity of a file or folder under all of its names.
#[cfg(unix)]
fn id(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;

    path.metadata().ok().map(|it| (it.dev(), it.ino()))
}

/// Elsewhere the standard library knows no better one than the path.
#[cfg(not(unix))]
fn id(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

#[cfg(unix)]
type Id = (u64, u64);
#[cfg(not(unix))]
type Id = PathBuf;

/// Returns the identities of a file or folder and of all folders that it is in, as far as they are there.
fn ids_above(path: &Path) -> Vec<Id> {
    let there = path
        .ancestors()
        .find_map(|it| match it.as_os_str().is_empty() {
            true => Path::new(".").canonicalize().ok(),
            false => it.canonicalize().ok(),
        });
    let there = there.unwrap_or_default();
    there.ancestors().filter_map(id).collect()
}

/// Whether a folder holds a second name of `out`, or a link to it or into it.
fn reaches(folder: &Path, out: &Id) -> bool {
    let Ok(entries) = folder.read_dir() else {
        return false;
    };
    entries.flatten().any(|entry| {
        let path: PathBuf = entry.path();
        match entry.file_type() {
            Ok(it) if it.is_symlink() => ids_above(&path).contains(out),
            Ok(it) if it.is_dir() => reaches(&path, out),
            _ => id(&path).as_ref() == Some(out),
        }
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_name_of_an_input_is_known() {
        let at = tempfile::tempdir().unwrap();
        let path = |name: &str| at.path().join(name);
        for folder in ["data/deep", "x", "out", "free"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        for file in ["data/deep/a.csv", "d.csv", "out/e.csv", "free.csv", "y.csv"] {
            fs::write(path(file), "").unwrap();
        }
        fs::hard_link(path("d.csv"), path("hard.csv")).unwrap();
        fs::hard_link(path("data/deep/a.csv"), path("second.csv")).unwrap();
        symlink(path("d.csv"), path("link.csv")).unwrap();
        symlink(path("data"), path("linked")).unwrap();
        symlink(path("y.csv"), path("data/y.csv")).unwrap();
        symlink(path("out/e.csv"), path("data/e.csv")).unwrap();
        for (out, input, found) in [
            ("d.csv", "d.csv", Some("is")),
            ("x/../d.csv", "d.csv", Some("is")),
            ("hard.csv", "d.csv", Some("is")),
            ("link.csv", "d.csv", Some("is")),
            ("d.csv", "link.csv", Some("is")),
            ("data", "data", Some("is")),
            ("linked", "data", Some("is")),
            ("x/../data", "linked", Some("is")),
            ("data", "data/deep/a.csv", Some("holds")),
            ("linked", "data/deep", Some("holds")),
            ("out", "data", Some("holds part of")),
            (".", "d.csv", Some("holds")),
            ("data/new", "data", Some("lies in")),
            ("linked/new/newer", "data", Some("lies in")),
            ("data/deep/a.csv", "data", Some("is part of")),
            ("second.csv", "data", Some("is part of")),
            ("y.csv", "data", Some("is part of")),
            ("free.csv", "data", None),
            ("free.csv", "d.csv", None),
            ("free", "data", None),
            ("new", "data", None),
            ("new/newer", "d.csv", None),
            ("d.csv", "not-there.csv", None),
            ("datum", "data", None),
        ] {
            let checked = check_apart(&path(out), [("data", path(input).as_path())]);
            let message = checked.err().map(|failure| {
                assert!(matches!(failure, Failure::Input(_)));
                failure.to_string()
            });
            let expected = found.map(|found| format!("which {found} the input --data "));
            assert_eq!(
                message.is_some(),
                expected.is_some(),
                "{out} {input} {message:?}"
            );
            if let (Some(message), Some(expected)) = (message, expected) {
                assert!(message.contains(&expected), "{out} {input} {message}");
            }
        }
    }

    #[test]
    fn a_name_of_an_embedded_data_set_is_no_path() {
        let here = Path::new(".");
        assert!(check_apart(here, [("data", Path::new("mutag"))]).is_ok());
        assert!(check_apart(here, [("data", here)]).is_err());
    }
}
