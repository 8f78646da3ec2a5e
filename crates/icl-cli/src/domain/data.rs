//! Data by name or path, of whatever kind they are.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use icl_data::{GraphDataset, ImageDataset, embedded, looks_like_images};

use crate::domain::{Domain, Graphs, Images};
use crate::options::images::Selection;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// The variable that names the folder of all data sets.
pub const DATA_DIR: &str = "ICL_DATA_DIR";
/// Where they are without it, seen from the project's root.
const DEFAULT_DATA_DIR: &str = "../shared/data";

/// The folder of all data sets: the one that is named, else that of the variable, else the default.
pub fn data_dir(named: Option<&Path>) -> PathBuf {
    match named {
        Some(folder) => folder.to_owned(),
        None => std::env::var_os(DATA_DIR).map_or_else(|| DEFAULT_DATA_DIR.into(), PathBuf::from),
    }
}

/// What was read.
pub enum Data {
    Graphs(GraphDataset),
    Images(ImageDataset),
}

impl Data {
    /// An embedded data set, or one on the disk.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or images are selected among graphs.
    pub fn read(name: &str, selection: &Selection) -> Result<Self, Failure> {
        let is_one_of = |known: &[&str]| known.iter().any(|own| own.eq_ignore_ascii_case(name));
        if is_one_of(embedded::image_names()) {
            let images = embedded::images(name).map_err(Failure::input)?;
            let options = selection.options();
            return images
                .select(&options.classes, options.limit)
                .map(Self::Images)
                .map_err(Failure::input);
        }
        let path = Path::new(name);
        if !is_one_of(embedded::graph_names()) && !path.exists() {
            return Err(Failure::input(anyhow!(
                "{name}: found no such file or folder, expected an embedded data set ({}), a TU data \
                 set, an IDX or CIFAR file, or a folder of images",
                embedded::names().join(", ")
            )));
        }
        if looks_like_images(path) {
            let images =
                icl_data::read_images(path, &selection.options()).map_err(Failure::input)?;
            tell_what_was_left_out(&images);
            return Ok(Self::Images(images));
        }
        selection.check_unused(name)?;
        let graphs = if is_one_of(embedded::graph_names()) {
            embedded::graphs(name)
        } else {
            icl_data::read_tu(name)
        };
        graphs.map(Self::Graphs).map_err(Failure::input)
    }

    /// What the samples are.
    pub fn samples(&self) -> &'static str {
        match self {
            Self::Graphs(_) => Graphs::SAMPLES,
            Self::Images(_) => Images::SAMPLES,
        }
    }
}

/// Says how many files of a folder are not among the images.
fn tell_what_was_left_out(images: &ImageDataset) {
    let counts = images.counts();
    for (n, what) in [
        (
            counts.n_hidden,
            "hidden files or folders were not looked at",
        ),
        (counts.n_other, "files of other types were not read"),
        (counts.n_broken, "broken images were left out"),
    ] {
        if n > 0 {
            tell(format_args!("note: {}: {n} {what}", images.name()));
        }
    }
}
