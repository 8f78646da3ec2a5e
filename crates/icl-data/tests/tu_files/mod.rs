//! Small data sets in the TU format, as a folder or as a zip archive.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The files of a data set `T`, by the ending of their names.
#[derive(Clone)]
pub struct TuFiles(BTreeMap<&'static str, Vec<u8>>);

impl TuFiles {
    /// Two graphs of two and three nodes; node 5 has no edge.
    pub fn valid() -> Self {
        Self(BTreeMap::new())
            .with("A", "1, 2\n2, 1\n3, 4\n")
            .with("graph_indicator", "1\n1\n2\n2\n2\n")
            .with("graph_labels", "1\n-1\n")
            .with("node_labels", "7\n-3\n7\n7\n100\n")
            .with(
                "node_attributes",
                "1.0, 5\n2.0, 5\n3.0, 5\n4.0, 5\n5.0, 5\n",
            )
    }

    /// With other contents of one file.
    pub fn with(mut self, ending: &'static str, contents: impl Into<Vec<u8>>) -> Self {
        self.0.insert(ending, contents.into());
        self
    }

    /// Without one file.
    pub fn without(mut self, ending: &'static str) -> Self {
        self.0.remove(ending);
        self
    }

    /// Writes the files into the folder `folder`.
    pub fn into_folder(self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        for (ending, contents) in self.0 {
            fs::write(folder.join(format!("T_{ending}.txt")), contents).unwrap();
        }
    }

    /// The files and `others` as a zip archive, below the folder `T`.
    pub fn into_zip(self, others: &[(&str, &str)]) -> Vec<u8> {
        self.into_zip_below("T", others)
    }

    /// The files, below `folder`, and `others` as a zip archive.
    pub fn into_zip_below(self, folder: &str, others: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        for (ending, contents) in self.0 {
            zip.start_file(format!("{folder}/T_{ending}.txt"), options)
                .unwrap();
            zip.write_all(&contents).unwrap();
        }
        for (name, contents) in others {
            zip.start_file(*name, options).unwrap();
            zip.write_all(contents.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }
}

/// Writes `bytes` into a file of `folder`.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// `bytes` with each `from` replaced by `to`, which is as long: neither sizes nor sums of an
/// archive's entries change when their names do.
pub fn replaced(mut bytes: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> = (0..=bytes.len() - from.len())
        .filter(|&at| bytes[at..].starts_with(from.as_bytes()))
        .collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}
