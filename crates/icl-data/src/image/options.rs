//! How images are read.

/// What to read of a data set of images, and how.
///
/// ```
/// use icl_data::ImageOptions;
///
/// let options = ImageOptions {
///     classes: vec!["1".into(), "7".into()],
///     limit: Some(500),
///     ..ImageOptions::default()
/// };
/// assert!(!options.skip_broken);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOptions {
    /// The classes that are kept, in any order; all if there are none here. See
    /// [`ImageDataset::select`](crate::ImageDataset::select).
    pub classes: Vec<String>,
    /// The number of images that are kept; all if it is `None`. See
    /// [`ImageDataset::select`](crate::ImageDataset::select).
    pub limit: Option<usize>,
    /// Whether broken image files are left out and counted, instead of being errors.
    ///
    /// To find them, every image of a folder is decoded once when it is read. It changes nothing
    /// for IDX and CIFAR files, which are whole or wrong.
    pub skip_broken: bool,
    /// The greatest size of the decoded images of a folder that are held in memory, in bytes.
    ///
    /// IDX and CIFAR files are held as a whole.
    pub cache_bytes: usize,
}

impl Default for ImageOptions {
    /// Everything, broken images are errors, and 1 GiB of decoded images.
    fn default() -> Self {
        Self {
            classes: Vec::new(),
            limit: None,
            skip_broken: false,
            cache_bytes: 1 << 30,
        }
    }
}
