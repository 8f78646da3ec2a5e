//! The data sets of the paper, or substitutes for them, on the disk.

use std::path::{Path, PathBuf};

use icl_cli::parts::Failure;
use icl_data::catalogue::DATA_DIR;

use crate::commands::options::ReproduceOptions;
use crate::pages::paper::DataSet;

/// Photographs that replace ImageNet-2: two classes of ImageNet.
const PHOTOS: &str = "ants-bees";

/// Digits of MNIST-2. The paper does not say which two it takes.
const DIGITS: &str = "1,7";

/// A data set on the disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Path for the option `--data` of a run.
    pub path: PathBuf,
    /// Classes that are used, all if none are named.
    pub classes: Option<&'static str>,
    /// Archive to unpack first.
    archive: Option<PathBuf>,
}

impl Source {
    /// Finds a data set.
    ///
    /// # Errors
    /// A message, if it does not exist.
    pub fn find(set: DataSet, options: &ReproduceOptions) -> Result<Self, String> {
        let folder = options.sets.folder();
        match set {
            DataSet::Proteins | DataSet::Reddit => graph_files(set.name(), &folder).map(at),
            DataSet::Mnist2 => digits(&folder),
            DataSet::ImageNet2 => photos(&folder, &options.rows.out),
        }
    }

    /// Unpacks the archive, if there is one that is not unpacked yet.
    ///
    /// # Errors
    /// If it cannot be read, or its files not be written.
    pub fn unpack(&self) -> Result<(), Failure> {
        match (&self.archive, self.path.parent()) {
            (Some(archive), Some(folder)) if !self.path.is_dir() => {
                icl_data::unpack_tar(archive, folder.parent().unwrap_or(folder))
                    .map_err(Failure::input)
            }
            _ => Ok(()),
        }
    }
}

fn at(path: PathBuf) -> Source {
    Source {
        path,
        classes: None,
        archive: None,
    }
}

/// Finds the zip of a data set of graphs, else the folder.
///
/// # Errors
/// A message, if neither exists.
pub fn graph_files(name: &str, folder: &Path) -> Result<PathBuf, String> {
    let graphs = folder.join("graphs");
    [format!("{name}.zip"), name.to_owned()]
        .map(|file| graphs.join(file))
        .into_iter()
        .find(|path| path.exists())
        .ok_or_else(|| {
            format!(
                "{}: found neither {name}.zip nor a folder {name}, expected one of them (--data-dir \
                 or {DATA_DIR} names the folder above; icl fetch {name} downloads it)",
                graphs.display()
            )
        })
}

fn digits(folder: &Path) -> Result<Source, String> {
    let path = folder.join("mnist");
    if icl_data::looks_like_images(&path) {
        return Ok(Source {
            classes: Some(DIGITS),
            ..at(path)
        });
    }
    Err(format!(
        "{}: found none of MNIST's four files, expected them there for MNIST-2 (--data-dir or \
         {DATA_DIR} names the folder above; icl fetch MNIST downloads them)",
        path.display()
    ))
}

/// Finds a folder of the user, else photographs of ants and bees, which may have to be unpacked.
fn photos(folder: &Path, out: &Path) -> Result<Source, String> {
    let own = folder.join("imagenet-2");
    let unpacked = folder.join("photos").join(PHOTOS).join("train");
    let archive = folder.join("photos").join(format!("{PHOTOS}-256.tar.gz"));
    if let Some(path) = [&own, &unpacked].into_iter().find(|path| path.is_dir()) {
        return Ok(at(path.clone()));
    }
    if archive.is_file() {
        return Ok(Source {
            archive: Some(archive),
            ..at(out.join("data").join(PHOTOS).join("train"))
        });
    }
    Err(format!(
        "{}: found no such folder and no {}, expected one of them for ImageNet-2: a folder for each \
         of two classes (--data-dir or {DATA_DIR} names the folder above)",
        own.display(),
        archive.display()
    ))
}
