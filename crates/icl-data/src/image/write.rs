//! Writer of images: IDX files, PNG files, copies of files.

use std::fs;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use image::{ExtendedColorType, ImageFormat};

use super::dataset::ImageDataset;
use super::raster::Image;
use super::stored::StoredImage;
use crate::error::DataError;
use crate::new_folder::{create_folder, unwritable};

impl ImageDataset {
    /// Writes some images, in this order, into a new folder for [`read_images`](crate::read_images). The
    /// folder is whole or absent.
    ///
    /// Grey images, which come from IDX files, become a pair of IDX files. Colour images in memory, which
    /// come from CIFAR files, become PNG files in one folder for each class. Image files are copied under
    /// their names, the second of one name with a number; images without labels get no folder of a class. The pixels
    /// are the same when they are read again; the classes have the same names, and those of PNG files are sorted by the
    /// bytes of their names.
    ///
    /// # Errors
    /// [`DataError`] if the path exists already, or if it cannot be written.
    ///
    /// # Panics
    /// If an index is not below [`n_images`](Self::n_images).
    pub fn write(&self, images: &[usize], folder: impl AsRef<Path>) -> Result<(), DataError> {
        create_folder(folder.as_ref(), |folder| match self.channels() {
            1 => self.write_idx(images, folder),
            _ => self.write_files(images, folder),
        })
    }

    fn write_idx(&self, images: &[usize], folder: &Path) -> Result<(), DataError> {
        let (mut pixels, mut labels, mut sides) = (Vec::new(), Vec::new(), [0, 0]);
        for &index in images {
            let image = self.images[index].image()?;
            sides = [image.height(), image.width()];
            pixels.extend_from_slice(image.pixels());
            // Grey images come from IDX files, whose classes are numbers from 0 to 255.
            labels.push(
                self.class_names[self.labels[index]]
                    .parse()
                    .unwrap_or_default(),
            );
        }
        let write = |what: &str, sizes: &[usize], values: &[u8]| {
            let path = folder.join(format!("{}-{what}-idx{}-ubyte.gz", self.name, sizes.len()));
            let write = || -> std::io::Result<()> {
                use std::io::Write;
                let mut file = GzEncoder::new(fs::File::create(&path)?, Compression::default());
                file.write_all(&[0, 0, 8, sizes.len() as u8])?;
                for size in sizes {
                    file.write_all(&(*size as u32).to_be_bytes())?;
                }
                file.write_all(values)?;
                file.finish()?.sync_all()
            };
            write().map_err(unwritable(&path))
        };
        write("images", &[images.len(), sides[0], sides[1]], &pixels)?;
        write("labels", &[images.len()], &labels)
    }

    fn write_files(&self, images: &[usize], folder: &Path) -> Result<(), DataError> {
        let n_digits = images.len().to_string().len();
        for (at, &index) in images.iter().enumerate() {
            let class = match self.has_labels {
                true => folder.join(&self.class_names[self.labels[index]]),
                false => folder.to_path_buf(),
            };
            fs::create_dir_all(&class).map_err(unwritable(&class))?;
            match &self.images[index] {
                StoredImage::Held(image) => {
                    write_png(image, &class.join(format!("{at:0n_digits$}.png")))?;
                }
                StoredImage::File { files, index } => {
                    let (from, relative) = files.location(*index);
                    // The first part is the class.
                    let n_skipped = usize::from(self.has_labels);
                    let to = class.join(relative.iter().skip(n_skipped).collect::<PathBuf>());
                    copy_new(&from, &free(to))?;
                }
            }
        }
        Ok(())
    }
}

fn write_png(image: &Image, path: &Path) -> Result<(), DataError> {
    let (width, height) = (image.width() as u32, image.height() as u32);
    let colour = ExtendedColorType::Rgb8;
    image::save_buffer_with_format(
        path,
        image.pixels(),
        width,
        height,
        colour,
        ImageFormat::Png,
    )
    .map_err(|error| match error {
        image::ImageError::IoError(source) => unwritable(path)(source),
        other => unwritable(path)(std::io::Error::other(other)),
    })
}

/// Returns a path at which nothing is: this one, or one with a number before its ending. Files of joined data sets may
/// have one name.
fn free(path: PathBuf) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|it| it.to_string_lossy());
    let numbered = |number: usize| match &ending {
        Some(ending) => path.with_file_name(format!("{stem}-{number}.{ending}")),
        None => path.with_file_name(format!("{stem}-{number}")),
    };
    let is_free = |path: &PathBuf| path.symlink_metadata().is_err();
    let mut others = (2..).map(numbered);
    match is_free(&path) {
        true => path,
        false => others.find(is_free).unwrap_or_else(|| path.clone()),
    }
}

/// Copies a file to a path at which there is none.
fn copy_new(from: &Path, to: &Path) -> Result<(), DataError> {
    let copy = || -> std::io::Result<()> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut new = fs::File::create_new(to)?;
        std::io::copy(&mut fs::File::open(from)?, &mut new)?;
        Ok(())
    };
    copy().map_err(unwritable(to))
}
