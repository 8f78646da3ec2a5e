//! Data of any kind, by name or path.

use std::path::Path;

use anyhow::anyhow;
use icl_data::{GraphDataset, ImageDataset, embedded, looks_like_images};

use crate::options::data::ImageOptions;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Name of graphs in messages.
pub const GRAPHS: &str = "graphs";
/// Name of images in messages.
pub const IMAGES: &str = "images";

/// Data of one of the kinds.
pub enum Data {
    Graphs(GraphDataset),
    Images(ImageDataset),
}

impl Data {
    /// Reads an embedded data set, or one on the disk.
    ///
    /// # Errors
    /// If it does not exist or cannot be read, or images are selected in a data set of graphs.
    pub fn read(name: &str, selection: &ImageOptions) -> Result<Self, Failure> {
        let is_one_of = |known: &[&str]| known.iter().any(|own| own.eq_ignore_ascii_case(name));
        if is_one_of(embedded::image_names()) {
            let images = embedded::images(name).map_err(Failure::input)?;
            let options = selection.of_readers();
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
                icl_data::read_images(path, &selection.of_readers()).map_err(Failure::input)?;
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

    /// Returns the name of the kind of samples.
    pub fn samples(&self) -> &'static str {
        match self {
            Self::Graphs(_) => GRAPHS,
            Self::Images(_) => IMAGES,
        }
    }
}

/// Reports the number of files in a folder that are not among the images.
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
