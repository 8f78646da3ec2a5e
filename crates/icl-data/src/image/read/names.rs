//! File names of the IDX and CIFAR formats.

use std::path::Path;

use crate::error::{DataError, several_data_sets};

/// Ending of the name of a compressed file.
const PACKED: &str = ".gz";

/// The two spellings of what follows the name of an IDX pair in its file of images and of labels.
const IDX_ENDINGS: [(&str, &str); 2] = [
    ("-images-idx3-ubyte", "-labels-idx1-ubyte"),
    ("-images.idx3-ubyte", "-labels.idx1-ubyte"),
];
/// The training pair and the test pair of MNIST. A folder of both is read as the first.
const TRAIN_AND_TEST: [&str; 2] = ["train", "t10k"];

/// Ending of the name of a CIFAR file, before `.gz` if it is compressed.
const CIFAR_ENDING: &str = ".bin";
/// Beginning of the name of a batch of CIFAR-10, before the number of the batch.
const BATCH: &str = "data_batch_";
/// Number of batches, which are counted from 1.
const N_BATCHES: usize = 5;

/// Name of a file of IDX images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IdxName<'a> {
    stem: &'a str,
    /// Index into [`IDX_ENDINGS`].
    spelling: usize,
    is_packed: bool,
}

impl<'a> IdxName<'a> {
    /// Parses the name of a file; `None` if it is not a name of images.
    ///
    /// A name that begins with a dot is not accepted: macOS adds files of such names to archives.
    pub(super) fn of_images(file: &'a str) -> Option<Self> {
        let plain = file.strip_suffix(PACKED);
        let name = plain.unwrap_or(file);
        let with = |spelling: usize| Some((name.strip_suffix(IDX_ENDINGS[spelling].0)?, spelling));
        let (stem, spelling) = (0..IDX_ENDINGS.len()).find_map(with)?;
        (!stem.is_empty() && !stem.starts_with('.')).then_some(Self {
            stem,
            spelling,
            is_packed: plain.is_some(),
        })
    }

    /// Returns the name of the pair.
    pub(super) fn stem(self) -> &'a str {
        self.stem
    }

    /// Returns the possible names of the file of labels, in the order of preference: the spelling of
    /// the images first, and in each spelling the uncompressed file first.
    pub(super) fn labels_files(self) -> Vec<String> {
        let spellings = [self.spelling, 1 - self.spelling];
        let file = |spelling: usize, end| format!("{}{}{end}", self.stem, IDX_ENDINGS[spelling].1);
        let both = |spelling| [file(spelling, ""), file(spelling, PACKED)];
        spellings.into_iter().flat_map(both).collect()
    }
}

/// Returns the file of images of the only IDX pair among the names of a folder's files, if there is
/// one.
///
/// # Errors
/// [`DataError`] in `folder`, if there are more.
pub(super) fn images_file<'a>(
    folder: &Path,
    files: &'a [String],
) -> Result<Option<&'a str>, DataError> {
    let mut found: Vec<(IdxName<'a>, &'a str)> = files
        .iter()
        .filter_map(|file| Some((IdxName::of_images(file)?, file.as_str())))
        .collect();
    // The uncompressed file of a pair comes first, and the others have the same contents.
    found.sort_unstable_by_key(|(name, _)| (name.stem, name.is_packed, name.spelling));
    found.dedup_by_key(|(name, _)| name.stem);
    let [train, test] = TRAIN_AND_TEST;
    match &found[..] {
        [] => Ok(None),
        [(_, only)] => Ok(Some(only)),
        [(first, _), (second, file)] if first.stem == test && second.stem == train => {
            Ok(Some(file))
        }
        [(_, first), (_, second), ..] => Err(several_data_sets(folder, [first, second])),
    }
}

/// Returns `true` if a file may be in the CIFAR format, by its name.
pub(super) fn is_cifar_name(file: &str) -> bool {
    let name = file.strip_suffix(PACKED).unwrap_or(file);
    let name = name.strip_suffix(CIFAR_ENDING);
    name.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('.'))
}

/// Returns the name of a CIFAR file without its endings.
pub(super) fn cifar_stem(file: &str) -> &str {
    let name = file.strip_suffix(PACKED).unwrap_or(file);
    name.strip_suffix(CIFAR_ENDING).unwrap_or(name)
}

/// Returns the names of the CIFAR files to read among the sorted names of a folder's files, if there
/// are any.
///
/// If one of the five batches of CIFAR-10 is there, all five are returned; some may be missing.
///
/// # Errors
/// [`DataError`] in `folder`, if the choice is ambiguous.
pub(super) fn cifar_files(
    folder: &Path,
    files: &[String],
) -> Result<Option<Vec<String>>, DataError> {
    let mut found: Vec<&str> = files.iter().map(String::as_str).collect();
    found.retain(|file| is_cifar_name(file));
    // The uncompressed file comes first; the compressed one has the same contents.
    found.sort_unstable_by_key(|file| (cifar_stem(file), file.len()));
    found.dedup_by_key(|file| cifar_stem(file));
    let with_stem = |wanted: &str| found.iter().find(|file| cifar_stem(file) == wanted);
    let batch = |number: usize| format!("{BATCH}{number}");
    if (1..=N_BATCHES).any(|number| with_stem(&batch(number)).is_some()) {
        let file = |number| {
            let stem = batch(number);
            let found = with_stem(&stem).map(|file| (*file).to_owned());
            found.unwrap_or_else(|| format!("{stem}{CIFAR_ENDING}"))
        };
        return Ok(Some((1..=N_BATCHES).map(file).collect()));
    }
    if let Some(train) = with_stem("train") {
        return Ok(Some(vec![(*train).to_owned()]));
    }
    match found[..] {
        [] => Ok(None),
        [only] => Ok(Some(vec![only.to_owned()])),
        [first, second, ..] => Err(several_data_sets(folder, [first, second])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_understood_in_both_spellings() {
        let labels = |file| IdxName::of_images(file).unwrap().labels_files();
        assert_eq!(
            labels("train-images-idx3-ubyte.gz"),
            [
                "train-labels-idx1-ubyte",
                "train-labels-idx1-ubyte.gz",
                "train-labels.idx1-ubyte",
                "train-labels.idx1-ubyte.gz"
            ]
        );
        assert_eq!(labels("a-b-images.idx3-ubyte")[0], "a-b-labels.idx1-ubyte");
        for other in [
            "train-labels-idx1-ubyte",
            "-images-idx3-ubyte",
            "._train-images-idx3-ubyte.gz",
            "train-images-idx3-ubyte.zip",
            "train-images-idx1-ubyte",
        ] {
            assert_eq!(IdxName::of_images(other), None, "{other}");
        }
    }

    #[test]
    fn one_pair_or_the_training_pair_is_found() {
        let of = |files: &[&str]| {
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            let found = images_file(Path::new("p"), &files);
            found.map(|file| file.map(str::to_owned))
        };
        let (train, test) = ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz");
        assert_eq!(of(&["README"]).unwrap(), None);
        assert_eq!(of(&[test]).unwrap().as_deref(), Some(test));
        assert_eq!(of(&[train, test]).unwrap().as_deref(), Some(train));
        let packed = "train-images-idx3-ubyte.gz";
        assert_eq!(of(&[packed, train, test]).unwrap().as_deref(), Some(train));
        assert_eq!(
            of(&[train, "new-images-idx3-ubyte"])
                .unwrap_err()
                .to_string(),
            "p: found more than one data set, \"new-images-idx3-ubyte\" and \
             \"train-images-idx3-ubyte\", expected one"
        );
    }

    #[test]
    fn the_training_part_of_cifar_is_found() {
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
