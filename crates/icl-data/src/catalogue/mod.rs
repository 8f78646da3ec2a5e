//! Public data sets that can be downloaded, with their addresses, lengths and checksums.
//!
//! This module does not access the network.

mod folder;
mod verify;

pub use folder::{DATA_DIR, folder};

use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::place::Found;

/// Kind of the samples of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatalogueKind {
    /// Graphs, for [`read_tu`](crate::read_tu).
    Graphs,
    /// Images, for [`read_images`](crate::read_images).
    Images,
}

/// A data set that can be downloaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Name by which [`find`] finds it.
    pub name: &'static str,
    /// Kind of its samples.
    pub kind: CatalogueKind,
    /// Folder of its files, relative to the folder of all data sets.
    pub folder: &'static str,
    /// Files to download.
    pub files: &'static [CatalogueFile],
    /// Path for the reader, relative to [`folder`](Self::folder): a file or, if empty, the folder
    /// itself.
    opened: &'static str,
    /// Authors and year.
    pub source: &'static str,
}

/// A file to download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueFile {
    /// Address of the file.
    pub url: &'static str,
    /// Name of the file on disk.
    pub name: &'static str,
    /// Length in bytes, if known.
    pub n_bytes: Option<u64>,
    /// MD5 sum as 32 hexadecimal digits, if the publisher states one.
    ///
    /// The sum detects files that were cut or damaged during the download. It does not protect
    /// against deliberate manipulation, because MD5 sums can be forged.
    pub md5: Option<&'static str>,
    /// MD5 sum of the tables of a data set of graphs as 32 hexadecimal digits, if known: of the files that
    /// [`read_tu`](crate::read_tu) reads, unpacked and one after the other in the order of its documentation.
    ///
    /// The publishers state no sum of their archives, which have been packed again more than once; the tables stayed
    /// the same. A shell computes the sum by
    ///
    /// ```text
    /// for t in A graph_indicator graph_labels node_labels node_attributes; do unzip -p X.zip "*_$t.txt"; done | md5sum
    /// ```
    pub tables_md5: Option<&'static str>,
    /// `true` for a gzip-compressed tar archive, which must be unpacked into the folder.
    pub is_tar_gz: bool,
}

/// Compressed files of the IDX format: name, length and MD5 sum.
macro_rules! idx_files {
    ($at:literal; $($name:literal $n_bytes:literal $md5:literal;)+) => {
        &[$(CatalogueFile {
            url: concat!($at, $name),
            name: $name,
            n_bytes: Some($n_bytes),
            md5: Some($md5),
            tables_md5: None,
            is_tar_gz: false,
        }),+]
    };
}

/// A data set of the TU collection, whose publishers state neither lengths nor sums, with the sum of its tables.
macro_rules! tu_entry {
    ($name:literal $source:literal $tables_md5:expr) => {
        CatalogueEntry {
            name: $name,
            kind: CatalogueKind::Graphs,
            folder: "graphs",
            files: &[CatalogueFile {
                url: concat!(
                    "https://www.chrsmrrs.com/graphkerneldatasets/",
                    $name,
                    ".zip"
                ),
                name: concat!($name, ".zip"),
                n_bytes: None,
                md5: None,
                tables_md5: $tables_md5,
                is_tar_gz: false,
            }],
            opened: concat!($name, ".zip"),
            source: concat!($source, "; Morris et al., 2020"),
        }
    };
}

const ENTRIES: &[CatalogueEntry] = &[
    CatalogueEntry {
        name: "MNIST",
        kind: CatalogueKind::Images,
        folder: "mnist",
        // The authors' own site is offline; these are the same files, with the sums by which
        // torchvision checks them.
        files: idx_files! {
            "https://ossci-datasets.s3.amazonaws.com/mnist/";
            "train-images-idx3-ubyte.gz" 9_912_422 "f68b3c2dcbeaaa9fbdd348bbdeb94873";
            "train-labels-idx1-ubyte.gz" 28_881 "d53e105ee54ea40749a09fcbcd1e9432";
            "t10k-images-idx3-ubyte.gz" 1_648_877 "9fb629c4189551a2d022fa330f9573f3";
            "t10k-labels-idx1-ubyte.gz" 4_542 "ec29112dd5afa0611ce80d1b7f02629c";
        },
        opened: "",
        source: "LeCun, Cortes, Burges, 1998 (CC BY-SA 3.0)",
    },
    CatalogueEntry {
        name: "Fashion-MNIST",
        kind: CatalogueKind::Images,
        folder: "fashion-mnist",
        files: idx_files! {
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/";
            "train-images-idx3-ubyte.gz" 26_421_880 "8d4fb7e6c68d591d4c3dfef9ec88bf0d";
            "train-labels-idx1-ubyte.gz" 29_515 "25c81989df183df01b3e8a0aad5dffbe";
            "t10k-images-idx3-ubyte.gz" 4_422_102 "bef4ecab320f06d8554ea6380940ec79";
            "t10k-labels-idx1-ubyte.gz" 5_148 "bb300cfdad3c16e7a12a480ee83cd310";
        },
        opened: "",
        source: "Xiao, Rasul, Vollgraf, 2017 (MIT)",
    },
    CatalogueEntry {
        name: "CIFAR-10",
        kind: CatalogueKind::Images,
        folder: "cifar10",
        files: &[CatalogueFile {
            url: "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            name: "cifar-10-binary.tar.gz",
            n_bytes: Some(170_052_171),
            md5: Some("c32a1d4ab5d03f1284b67883e8d87530"),
            tables_md5: None,
            is_tar_gz: true,
        }],
        opened: "cifar-10-batches-bin",
        source: "Krizhevsky, 2009",
    },
    tu_entry! { "MUTAG" "Debnath et al., 1991" Some("86f16163884fab8899afb3e7db288402") },
    tu_entry! { "PTC_MR" "Helma et al., 2001" Some("9b48b22e6f0f9e9172eae5a55f17f7ee") },
    tu_entry! { "PROTEINS" "Borgwardt et al., 2005; Dobson, Doig, 2003" Some("67932da70832b968d26a3f72d5d58b6c") },
    tu_entry! { "PROTEINS_full" "Borgwardt et al., 2005; Dobson, Doig, 2003" Some("99f2ad3b1dd572e433343d7ca7509ee2") },
    tu_entry! { "IMDB-BINARY" "Yanardag, Vishwanathan, 2015" Some("6051dade606a81cd5fb1fd227aa2fec8") },
    tu_entry! { "IMDB-MULTI" "Yanardag, Vishwanathan, 2015" Some("f62dfa7c0308c804a1e339e153b622ae") },
    // The tables at hand were converted from another format; the publishers' order of lines is not known.
    tu_entry! { "REDDIT-BINARY" "Yanardag, Vishwanathan, 2015" None },
];

/// Returns all data sets of the catalogue.
pub fn entries() -> &'static [CatalogueEntry] {
    ENTRIES
}

/// Finds a data set by its name, ignoring case.
///
/// ```
/// use std::path::Path;
///
/// let mnist = icl_data::catalogue::find("mnist")?;
/// assert_eq!(mnist.files.len(), 4);
/// assert_eq!(mnist.path(Path::new("data")), Path::new("data/mnist"));
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// [`DataError`] if the catalogue has no data set of this name.
pub fn find(name: &str) -> Result<&'static CatalogueEntry, DataError> {
    let is_named = |entry: &&CatalogueEntry| entry.name.eq_ignore_ascii_case(name);
    let unknown = || DataError::new("catalogue", Found::new(name), format!("one of {}", names()));
    ENTRIES.iter().find(is_named).ok_or_else(unknown)
}

/// Returns the path for the reader of a data set: of a downloaded one, which has the name of an entry of the catalogue,
/// or `data` itself, a path.
///
/// # Errors
/// [`DataError`] if `data` is a name and the data set is not in [`folder`], or if it
/// is a path that leads nowhere.
pub fn locate(data: &str) -> Result<PathBuf, DataError> {
    let entry = find(data).ok();
    let path = entry.map_or_else(|| PathBuf::from(data), |entry| entry.path(&folder()));
    if path.exists() {
        return Ok(path);
    }
    let expected = match entry {
        Some(CatalogueEntry { name, .. }) => format!(
            "the data set {name}; `icl fetch {name}` downloads it, and ICL_DATA_DIR names another folder"
        ),
        None => format!(
            "a data set, or one of the names that `icl fetch` downloads: {}",
            names()
        ),
    };
    Err(DataError::new(path.display(), "nothing", expected))
}

/// Returns the names of all data sets, separated by commas.
fn names() -> String {
    let names: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
    names.join(", ")
}

impl CatalogueEntry {
    /// Returns the path for the reader, if `root` is the folder of all data sets.
    pub fn path(&self, root: &Path) -> PathBuf {
        let folder = root.join(self.folder);
        if self.opened.is_empty() {
            folder
        } else {
            folder.join(self.opened)
        }
    }

    /// Returns the path of one of the files, if `root` is the folder of all data sets.
    pub fn file_path(&self, root: &Path, file: &CatalogueFile) -> PathBuf {
        root.join(self.folder).join(file.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_well_formed() {
        for entry in entries() {
            assert_eq!(find(&entry.name.to_ascii_lowercase()).unwrap(), entry);
            assert!(!entry.files.is_empty() && !entry.folder.contains(['/', '\\', '.']));
            for file in entry.files {
                assert!(file.url.starts_with("https://") && file.url.ends_with(file.name));
                let is_hex = |sum: &str| {
                    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                    sum.len() == 32 && sum.chars().all(is_digit)
                };
                assert!(file.md5.is_none_or(is_hex) && file.tables_md5.is_none_or(is_hex));
                assert!(file.n_bytes.is_none() || file.max_bytes() == file.n_bytes.unwrap());
            }
        }
        let mut unique: Vec<_> = entries().iter().map(|entry| entry.name).collect();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), entries().len());
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        assert_eq!(
            find("SVHN").unwrap_err().to_string(),
            "catalogue: found \"SVHN\", expected one of MNIST, Fashion-MNIST, CIFAR-10, MUTAG, \
             PTC_MR, PROTEINS, PROTEINS_full, IMDB-BINARY, IMDB-MULTI, REDDIT-BINARY"
        );
    }

    #[test]
    fn files_are_put_and_opened_below_one_folder() {
        let root = Path::new("d");
        let cifar = find("CIFAR-10").unwrap();
        assert_eq!(cifar.path(root), root.join("cifar10/cifar-10-batches-bin"));
        let file = cifar.file_path(root, &cifar.files[0]);
        assert_eq!(file, root.join("cifar10/cifar-10-binary.tar.gz"));
        let proteins = find("proteins").unwrap();
        assert_eq!(proteins.path(root), root.join("graphs/PROTEINS.zip"));
        assert_eq!(
            proteins.file_path(root, &proteins.files[0]),
            proteins.path(root)
        );
    }

    #[test]
    fn a_path_leads_to_itself_or_nowhere() {
        let here = env!("CARGO_MANIFEST_DIR");
        assert_eq!(locate(here).unwrap(), PathBuf::from(here));
        let error = locate("no/such/place").unwrap_err().to_string();
        let expected = "no/such/place: found nothing, expected a data set, or one of the names that `icl fetch` \
                        downloads: MNIST, Fashion-MNIST,";
        assert!(error.starts_with(expected), "{error}");
    }
}
