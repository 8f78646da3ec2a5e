//! CIFAR-10 or CIFAR-100.

use super::super::error::ImagesError;
use super::N_PIXEL_BYTES;
use super::names::stem;
use crate::error::DataError;
use crate::place::FileRef;

/// The English names of the classes of CIFAR-10, and what the classes are called here.
const CIFAR10_NAMES: [(&str, &str); 10] = [
    ("airplane", "0"),
    ("automobile", "1"),
    ("bird", "2"),
    ("cat", "3"),
    ("deer", "4"),
    ("dog", "5"),
    ("frog", "6"),
    ("horse", "7"),
    ("ship", "8"),
    ("truck", "9"),
];

/// Which of the two data sets a file has the form of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CifarKind {
    Cifar10,
    Cifar100,
}

impl CifarKind {
    /// What the file's name says or, if that says nothing, its length of `n_bytes`, which must be
    /// one or more whole rows.
    pub(super) fn of(file: &FileRef, n_bytes: usize) -> Result<Self, DataError> {
        let name = file.path().file_name().and_then(|name| name.to_str());
        let named = name.and_then(Self::of_name);
        let fits = |kind: Self| n_bytes > 0 && n_bytes.is_multiple_of(kind.n_row_bytes());
        let wrong = |expected| ImagesError::CifarLength {
            file: file.clone(),
            found: n_bytes,
            expected,
        };
        let fitting = match (named, fits(Self::Cifar10), fits(Self::Cifar100)) {
            (Some(Self::Cifar10), true, _) | (None, true, false) => Ok(Self::Cifar10),
            (Some(Self::Cifar100), _, true) | (None, false, true) => Ok(Self::Cifar100),
            (Some(Self::Cifar10), false, _) => Err(wrong("3073")),
            (Some(Self::Cifar100), _, false) => Err(wrong("3074")),
            (None, false, false) => Err(wrong("3073 (CIFAR-10) or 3074 (CIFAR-100)")),
            (None, true, true) => Err(ImagesError::CifarKind {
                file: file.clone(),
                found: n_bytes,
            }),
        };
        Ok(fitting?)
    }

    fn of_name(file: &str) -> Option<Self> {
        let name: String = stem(file)
            .to_ascii_lowercase()
            .chars()
            .filter(|letter| !matches!(letter, '-' | '_' | ' '))
            .collect();
        // The shorter name begins the longer one, so that the longer one is looked for first.
        if name.contains("cifar100") || matches!(name.as_str(), "train" | "test") {
            return Some(Self::Cifar100);
        }
        let known = ["cifar10", "databatch", "testbatch"];
        let is_known = known.iter().any(|known| name.contains(known));
        is_known.then_some(Self::Cifar10)
    }

    /// The labels that a row begins with, the class last: what each is, and its greatest value.
    pub(super) fn labels(self) -> &'static [(&'static str, u8)] {
        match self {
            Self::Cifar10 => &[("label", 9)],
            Self::Cifar100 => &[("coarse label", 19), ("fine label", 99)],
        }
    }

    /// The length of a row.
    pub(super) fn n_row_bytes(self) -> usize {
        self.labels().len() + N_PIXEL_BYTES
    }

    /// Further names of the classes.
    pub(super) fn aliases(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Cifar10 => &CIFAR10_NAMES,
            Self::Cifar100 => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_name_decides_and_then_the_length() {
        let of = |name: &str, n_bytes| {
            let kind = CifarKind::of(&FileRef::on_disk(Path::new(name)), n_bytes);
            kind.map_err(|error| error.to_string())
        };
        let both = 3073 * 3074;
        for name in ["data_batch_1.bin", "test_batch.bin.gz", "my-CIFAR-10.bin"] {
            assert_eq!(of(name, both), Ok(CifarKind::Cifar10), "{name}");
        }
        for name in ["train.bin", "test.bin.gz", "cifar_100_new.bin"] {
            assert_eq!(of(name, both), Ok(CifarKind::Cifar100), "{name}");
        }
        assert_eq!(of("x.bin", 2 * 3073), Ok(CifarKind::Cifar10));
        assert_eq!(of("x.bin", 2 * 3074), Ok(CifarKind::Cifar100));
        assert_eq!(
            of("x.bin", both).unwrap_err(),
            "x.bin: found 9446402 bytes, which are whole rows of CIFAR-10 and of CIFAR-100, \
             expected a name with `cifar10` or `cifar100` in it"
        );
        for (name, expected) in [
            ("x.bin", "3073 (CIFAR-10) or 3074 (CIFAR-100)"),
            ("cifar10.bin", "3073"),
            ("train.bin", "3074"),
        ] {
            for n_bytes in [0, 3072, 3073 * 2 + 1] {
                assert_eq!(
                    of(name, n_bytes).unwrap_err(),
                    format!(
                        "{name}: found {n_bytes} bytes, expected one or more rows of {expected} bytes"
                    )
                );
            }
        }
    }
}
