//! Where the paper's data sets are, or what stands for them.

use std::path::{Path, PathBuf};

use icl_report::paper::DataSet;

use crate::commands::reproduce::arguments::ReproduceArguments;
use crate::domain::data::{DATA_DIR, data_dir};
use crate::process::failure::Failure;

/// The photographs that stand for ImageNet-2: two of ImageNet's classes.
const PHOTOS: &str = "ants-bees";

/// The digits that stand for MNIST-2. The paper does not say which two it takes.
const DIGITS: &str = "1,7";

/// Where a data set is.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// What a run is told as its data.
    pub path: PathBuf,
    /// The classes that are taken of it, all if none are named.
    pub classes: Option<&'static str>,
    /// The archive that has to be unpacked first.
    archive: Option<PathBuf>,
}

impl Source {
    /// Looks for a data set.
    ///
    /// # Errors
    /// In words, if it is not there.
    pub fn find(set: DataSet, arguments: &ReproduceArguments) -> Result<Self, String> {
        let folder = data_dir(arguments.data_dir.as_deref());
        match set {
            DataSet::Proteins | DataSet::Reddit => graphs(set.name(), &folder),
            DataSet::Mnist2 => digits(&folder),
            DataSet::ImageNet2 => photos(&folder, &arguments.out),
        }
    }

    /// Unpacks the archive, if there is one and it is not unpacked yet.
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

/// The zip, else the folder.
fn graphs(name: &str, folder: &Path) -> Result<Source, String> {
    let graphs = folder.join("graphs");
    [format!("{name}.zip"), name.to_owned()]
        .map(|file| graphs.join(file))
        .into_iter()
        .find(|path| path.exists())
        .map(at)
        .ok_or_else(|| {
            format!(
                "{}: found neither {name}.zip nor a folder {name}, expected one of them (--data-dir \
                 or {DATA_DIR} names the folder above)",
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
         {DATA_DIR} names the folder above; icl fetch MNIST gets them)",
        path.display()
    ))
}

/// A folder of the user's, else photographs of ants and bees, which may have to be unpacked.
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
