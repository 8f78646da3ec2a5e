//! Which files belong to a data set in the CIFAR format.

use std::path::Path;

use super::super::idx::PACKED;
use crate::error::DataError;
use crate::place::Found;

/// What the name of a file ends in, before `.gz` if it is packed.
const ENDING: &str = ".bin";
/// What the names of the batches of CIFAR-10 begin with, before the number of the batch.
const BATCH: &str = "data_batch_";
/// The number of batches, counted from 1.
const N_BATCHES: usize = 5;

/// Whether a file may be in the CIFAR format, by its name.
pub(in super::super) fn is_cifar_name(file: &str) -> bool {
    let name = file.strip_suffix(PACKED).unwrap_or(file);
    let name = name.strip_suffix(ENDING);
    name.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.'))
}

/// A file's name without its endings.
pub(in super::super) fn stem(file: &str) -> &str {
    let name = file.strip_suffix(PACKED).unwrap_or(file);
    name.strip_suffix(ENDING).unwrap_or(name)
}

/// The names of the files to be read among the sorted names of a folder's files, if there are any.
///
/// Of the five batches of CIFAR-10 all are named, if one is there; others may be missing.
///
/// # Errors
/// [`DataError::SeveralDataSets`] in `folder`, if it is not clear which is meant.
pub(in super::super) fn cifar_files(
    folder: &Path,
    files: &[String],
) -> Result<Option<Vec<String>>, DataError> {
    let mut found: Vec<&str> = files.iter().map(String::as_str).collect();
    found.retain(|file| is_cifar_name(file));
    // The plain file comes before the packed one, which is the same again.
    found.sort_unstable_by_key(|file| (stem(file), file.len()));
    found.dedup_by_key(|file| stem(file));
    let with_stem = |wanted: &str| found.iter().find(|file| stem(file) == wanted);
    let batch = |number: usize| format!("{BATCH}{number}");
    if (1..=N_BATCHES).any(|number| with_stem(&batch(number)).is_some()) {
        let file = |number| {
            let stem = batch(number);
            let found = with_stem(&stem).map(|file| (*file).to_owned());
            found.unwrap_or_else(|| format!("{stem}{ENDING}"))
        };
        return Ok(Some((1..=N_BATCHES).map(file).collect()));
    }
    if let Some(train) = with_stem("train") {
        return Ok(Some(vec![(*train).to_owned()]));
    }
    match found[..] {
        [] => Ok(None),
        [only] => Ok(Some(vec![only.to_owned()])),
        [first, second, ..] => Err(DataError::SeveralDataSets {
            path: folder.to_path_buf(),
            first: Found::new(first),
            second: Found::new(second),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_training_part_of_a_folder_is_found() {
        let of = |files: &[&str]| {
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            cifar_files(Path::new("p"), &files).map_err(|error| error.to_string())
        };
        let found = |files: &[&str]| of(files).unwrap().unwrap();
        assert_eq!(of(&["batches.meta.txt", "._x.bin", ".bin"]), Ok(None));
        assert_eq!(
            found(&["data_batch_3.bin.gz", "test_batch.bin"]),
            [
                "data_batch_1.bin",
                "data_batch_2.bin",
                "data_batch_3.bin.gz",
                "data_batch_4.bin",
                "data_batch_5.bin"
            ]
        );
        assert_eq!(found(&["test.bin", "train.bin"]), ["train.bin"]);
        assert_eq!(found(&["cifar10.bin.gz"]), ["cifar10.bin.gz"]);
        assert_eq!(found(&["a.bin", "a.bin.gz"]), ["a.bin"]);
        assert_eq!(
            of(&["a.bin", "b.bin"]).unwrap_err(),
            "p: found more than one data set, \"a.bin\" and \"b.bin\", expected one"
        );
    }
}
