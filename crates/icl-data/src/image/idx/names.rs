//! Which files belong to an IDX pair.

use std::path::Path;

use crate::error::DataError;
use crate::place::Found;

/// The two spellings of what follows a pair's name in its file of images, and of labels.
const ENDINGS: [(&str, &str); 2] = [
    ("-images-idx3-ubyte", "-labels-idx1-ubyte"),
    ("-images.idx3-ubyte", "-labels.idx1-ubyte"),
];

/// What the end of a packed file's name is.
pub(in super::super) const PACKED: &str = ".gz";

/// The pairs of which the first is read if a folder holds both and no other.
const TRAIN_AND_TEST: [&str; 2] = ["train", "t10k"];

/// The name of a file of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct IdxName<'a> {
    stem: &'a str,
    /// Which of the spellings.
    spelling: usize,
    is_packed: bool,
}

impl<'a> IdxName<'a> {
    /// The parts of a file's name, if it is that of images.
    ///
    /// A name that begins with a dot is none: macOS puts such names beside the files' own.
    pub(in super::super) fn of_images(file: &'a str) -> Option<Self> {
        let plain = file.strip_suffix(PACKED);
        let name = plain.unwrap_or(file);
        let with = |spelling: usize| Some((name.strip_suffix(ENDINGS[spelling].0)?, spelling));
        let (stem, spelling) = (0..ENDINGS.len()).find_map(with)?;
        (!stem.is_empty() && !stem.starts_with('.')).then_some(Self {
            stem,
            spelling,
            is_packed: plain.is_some(),
        })
    }

    /// The name of the pair.
    pub(super) fn stem(self) -> &'a str {
        self.stem
    }

    /// What the labels of these images may be called: the spelling of the images first, and in each
    /// spelling the plain file first.
    pub(super) fn labels_files(self) -> Vec<String> {
        let spellings = [self.spelling, 1 - self.spelling];
        let file = |spelling: usize, end| format!("{}{}{end}", self.stem, ENDINGS[spelling].1);
        let both = |spelling| [file(spelling, ""), file(spelling, PACKED)];
        spellings.into_iter().flat_map(both).collect()
    }
}

/// The file of the images of the one pair among the names of a folder's files, if there is one.
///
/// # Errors
/// [`DataError::SeveralDataSets`] in `folder`, if there are more.
pub(in super::super) fn images_file<'a>(
    folder: &Path,
    files: &'a [String],
) -> Result<Option<&'a str>, DataError> {
    let mut found: Vec<(IdxName<'a>, &'a str)> = files
        .iter()
        .filter_map(|file| Some((IdxName::of_images(file)?, file.as_str())))
        .collect();
    // Of one pair the plain file comes first, and the others are the same again.
    found.sort_unstable_by_key(|(name, _)| (name.stem, name.is_packed, name.spelling));
    found.dedup_by_key(|(name, _)| name.stem);
    let [train, test] = TRAIN_AND_TEST;
    match &found[..] {
        [] => Ok(None),
        [(_, only)] => Ok(Some(only)),
        [(first, _), (second, file)] if first.stem == test && second.stem == train => {
            Ok(Some(file))
        }
        [(_, first), (_, second), ..] => Err(DataError::SeveralDataSets {
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
}
