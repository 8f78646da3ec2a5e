//! Listing of the images of a folder and of their classes.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::real_folders::RealFolders;
use crate::error::{DataError, unreadable};
use crate::image::error::{no_such_images, not_images};
use crate::image::stored::name_bytes;

/// Endings of the names of images, after the last dot.
const ENDINGS: [&str; 6] = ["jpg", "jpeg", "jpe", "jfif", "png", "webp"];

/// Common names of the parts of a data set.
const PARTS: [&str; 7] = [
    "train",
    "training",
    "val",
    "valid",
    "validation",
    "test",
    "testing",
];

/// Depth to which a folder is searched to determine whether it holds images.
const MAX_LOOK_DEPTH: usize = 4;

/// A file that should be an image.
pub(super) struct ListedFile {
    /// Path relative to the folder that is read.
    pub(super) relative: PathBuf,
    pub(super) n_bytes: u64,
    /// Index of its class among the names of the classes.
    pub(super) class: usize,
}

/// Classes and images of a folder.
pub(super) struct Listing {
    /// Sorted by the bytes of the names. Every class has a file. In a flat folder it is one without a name.
    pub(super) class_names: Vec<String>,
    /// Whether the images are in the folder itself, without classes.
    pub(super) is_flat: bool,
    /// Sorted by the bytes of the relative paths.
    pub(super) files: Vec<ListedFile>,
    pub(super) n_hidden: usize,
    pub(super) n_other: usize,
}

impl Listing {
    pub(super) fn read(root: &Path) -> Result<Self, DataError> {
        let mut listing = Self {
            class_names: Vec::new(),
            is_flat: false,
            files: Vec::new(),
            n_hidden: 0,
            n_other: 0,
        };
        listing.find_classes(root)?;
        if listing.is_flat {
            // The folder itself; what is next to its images is counted there.
            (listing.n_hidden, listing.n_other) = (0, 0);
            listing.class_names.push(String::new());
        } else {
            check_parts(root, &listing.class_names)?;
        }
        for class in 0..listing.class_names.len() {
            listing.read_class(root, class)?;
        }
        listing
            .files
            .sort_by_cached_key(|file| name_bytes(&file.relative));
        Ok(listing)
    }

    /// Adds every folder in `root` as a class, or finds that it is flat.
    fn find_classes(&mut self, root: &Path) -> Result<(), DataError> {
        let entries = fs::read_dir(root).map_err(|error| match error.kind() {
            ErrorKind::NotFound => no_such_images(root),
            ErrorKind::NotADirectory => not_images(root),
            _ => unreadable(root.display(), error),
        })?;
        let mut outside = None;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(root.display(), error))?;
            let path = entry.path();
            if is_hidden(&entry.file_name()) {
                self.n_hidden += 1;
            } else if fs::metadata(&path)
                .map_err(|error| unreadable(path.display(), error))?
                .is_dir()
            {
                match entry.file_name().into_string() {
                    Ok(name) => self.class_names.push(name),
                    Err(_) => {
                        return Err(DataError::new(
                            path.display(),
                            "a folder whose name is not UTF-8",
                            "the name of a class",
                        ));
                    }
                }
            } else if is_image_name(&entry.file_name()) {
                // The first by name, independently of the file system.
                outside = Some(outside.map_or(path.clone(), |other: PathBuf| other.min(path)));
            } else {
                self.n_other += 1;
            }
        }
        self.class_names.sort_unstable();
        match outside {
            Some(_) if self.class_names.is_empty() => {
                self.is_flat = true;
                Ok(())
            }
            Some(path) => Err(DataError::new(
                path.display(),
                "an image next to folders",
                "it in the folder of a class, or images alone",
            )),
            None if self.class_names.is_empty() => Err(DataError::new(
                root.display(),
                "neither an image nor a folder in it",
                "images, or a folder of images for each class",
            )),
            None => Ok(()),
        }
    }

    /// Adds the images in the folder of a class, at any depth. A folder to which several links lead is entered
    /// once.
    fn read_class(&mut self, root: &Path, class: usize) -> Result<(), DataError> {
        let folder = root.join(&self.class_names[class]);
        let n_before = self.files.len();
        let mut folders = RealFolders::default();
        folders.is_new(&folder);
        let mut entries = WalkDir::new(&folder)
            .follow_links(true)
            .min_depth(1)
            .sort_by_file_name()
            .into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                // The target of a hidden link does not matter.
                Err(error)
                    if error
                        .path()
                        .and_then(Path::file_name)
                        .is_some_and(is_hidden) =>
                {
                    self.n_hidden += 1;
                    continue;
                }
                Err(error) => return Err(walk_error(&folder, error)),
            };
            let kind = entry.file_type();
            if is_hidden(entry.file_name()) {
                self.n_hidden += 1;
                if kind.is_dir() {
                    entries.skip_current_dir();
                }
            } else if kind.is_file() && is_image_name(entry.file_name()) {
                let metadata = entry.metadata();
                let metadata = metadata.map_err(|error| walk_error(entry.path(), error))?;
                let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
                self.files.push(ListedFile {
                    relative: relative.to_path_buf(),
                    n_bytes: metadata.len(),
                    class,
                });
            } else if !kind.is_dir() {
                self.n_other += 1;
            } else if !folders.is_new(entry.path()) {
                entries.skip_current_dir();
            }
        }
        if self.files.len() == n_before {
            return Err(DataError::new(
                folder.display(),
                "no image in this class",
                "at least one JPEG, PNG or WebP file",
            ));
        }
        Ok(())
    }
}

/// Returns `true` if a file is an image by the ending of its name.
pub(super) fn is_image_name(name: &OsStr) -> bool {
    let ending = Path::new(name).extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(ending))
    })
}

/// Returns `true` if a folder holds an image, at most a few folders deep.
pub(super) fn holds_images(folder: &Path) -> bool {
    let mut folders = RealFolders::default();
    WalkDir::new(folder)
        .follow_links(true)
        .max_depth(MAX_LOOK_DEPTH)
        .into_iter()
        .filter_entry(|entry| {
            let is_hidden = entry.depth() > 0 && is_hidden(entry.file_name());
            !is_hidden && (!entry.file_type().is_dir() || folders.is_new(entry.path()))
        })
        .filter_map(Result::ok)
        .any(|entry| entry.file_type().is_file() && is_image_name(entry.file_name()))
}

/// Checks whether a name begins with a dot or is that of a folder of another program.
fn is_hidden(name: &OsStr) -> bool {
    let is_foreign = FOREIGN.iter().any(|known| name.eq_ignore_ascii_case(known));
    is_foreign || name.as_encoded_bytes().first() == Some(&b'.')
}

/// Names of folders in which file servers, archives and systems keep thumbnails, previews and deleted files.
const FOREIGN: [&str; 9] = [
    "@eaDir",
    "@Recycle",
    "@Recently-Snapshot",
    "#recycle",
    "#snapshot",
    "$RECYCLE.BIN",
    "System Volume Information",
    "__MACOSX",
    "lost+found",
];

/// Checks that the folders are not the parts of a data set, whose own folders are the classes.
fn check_parts(root: &Path, folders: &[String]) -> Result<(), DataError> {
    let mut parts = Vec::new();
    for folder in folders {
        let is_known = PARTS.iter().any(|part| part.eq_ignore_ascii_case(folder));
        if is_known && holds_folders_only(&root.join(folder))? {
            parts.push(folder.clone());
        }
    }
    // A class may have the name of a part and may contain folders.
    if parts.len() >= 2 || (!parts.is_empty() && parts.len() == folders.len()) {
        return Err(DataError::new(
            root.display(),
            format!("the parts {} of a data set", parts.join(", ")),
            format!(
                "the path of one of them, for example {}",
                root.join(&parts[0]).display()
            ),
        ));
    }
    Ok(())
}

/// Returns `true` if a folder holds folders and no images besides them.
fn holds_folders_only(folder: &Path) -> Result<bool, DataError> {
    let mut holds_folder = false;
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder.display(), error))? {
        let entry = entry.map_err(|error| unreadable(folder.display(), error))?;
        if is_image_name(&entry.file_name()) {
            return Ok(false);
        }
        holds_folder |= !is_hidden(&entry.file_name()) && entry.path().is_dir();
    }
    Ok(holds_folder)
}

fn walk_error(folder: &Path, error: walkdir::Error) -> DataError {
    let path = error.path().unwrap_or(folder).to_path_buf();
    if let Some(to) = error.loop_ancestor() {
        let to = to.to_path_buf();
        return DataError::new(
            path.display(),
            format!("a symbolic link to {}, which contains it", to.display()),
            "no loop of links",
        );
    }
    let kind = error.io_error().map_or(ErrorKind::Other, |io| io.kind());
    unreadable(
        path.display(),
        error.into_io_error().unwrap_or_else(|| kind.into()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_their_endings() {
        for name in ["a.jpg", "a.JPEG", "a.b.Png", "é.webp", "a.jfif"] {
            assert!(is_image_name(OsStr::new(name)), "{name}");
        }
        for name in ["jpg", "a.jpg~", "a.gif", "a.png.txt", "", "a."] {
            assert!(!is_image_name(OsStr::new(name)), "{name}");
        }
    }
}
