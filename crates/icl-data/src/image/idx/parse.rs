//! The contents of IDX files.

use super::super::error::ImagesError;
use super::super::raster::Image;
use crate::error::DataError;
use crate::place::FileRef;

/// The magic numbers: two zero bytes, the type (8: unsigned bytes) and the number of dimensions.
const IMAGES_MAGIC: u32 = 0x0000_0803;
const LABELS_MAGIC: u32 = 0x0000_0801;

/// The greatest number of images: a packed file of a few megabytes may speak of more of them than
/// memory has room for, even if each is one pixel.
const MAX_IMAGES: usize = 1 << 25;

/// The images of a file `[n, rows, columns]` of unsigned bytes.
pub(super) fn images(file: &FileRef, bytes: &[u8]) -> Result<Vec<Image>, DataError> {
    let names = ["images", "rows", "columns"];
    let ([n, rows, columns], values) = dimensions(file, bytes, IMAGES_MAGIC, "images", names)?;
    if n > MAX_IMAGES {
        return Err(DataError::TooMany {
            file: file.clone(),
            what: "images",
            found: n,
            limit: MAX_IMAGES,
        });
    }
    let image = |pixels: &[u8]| Image::new(columns, rows, 1, pixels.to_vec());
    Ok(values.chunks_exact(rows * columns).map(image).collect())
}

/// The labels of a file `[n]` of unsigned bytes.
pub(super) fn labels<'a>(file: &FileRef, bytes: &'a [u8]) -> Result<&'a [u8], DataError> {
    let (_, values) = dimensions(file, bytes, LABELS_MAGIC, "labels", ["labels"])?;
    Ok(values)
}

/// The sizes of the dimensions, none of which is 0, and the values, which fill them.
fn dimensions<'a, const N: usize>(
    file: &FileRef,
    bytes: &'a [u8],
    magic: u32,
    what: &'static str,
    names: [&'static str; N],
) -> Result<([usize; N], &'a [u8]), DataError> {
    let n_header = 4 * (1 + N);
    let Some((header, values)) = bytes.split_at_checked(n_header) else {
        return Err(ImagesError::IdxHeader {
            file: file.clone(),
            found: bytes.len(),
            expected: n_header,
            what,
        }
        .into());
    };
    let word = |index: usize| {
        let bytes = &header[4 * index..4 * index + 4];
        bytes
            .iter()
            .fold(0, |word, &byte| word << 8 | u32::from(byte))
    };
    if word(0) != magic {
        return Err(ImagesError::IdxMagic {
            file: file.clone(),
            found: word(0),
            expected: magic,
            what,
        }
        .into());
    }
    let sizes: [usize; N] = std::array::from_fn(|index| word(1 + index) as usize);
    if let Some(empty) = (0..N).find(|&index| sizes[index] == 0) {
        return Err(ImagesError::IdxEmpty {
            file: file.clone(),
            what: names[empty],
        }
        .into());
    }
    // Three numbers of 32 bits fill 96.
    let n_values: u128 = sizes.iter().map(|&size| size as u128).product();
    if values.len() as u128 != n_values {
        return Err(ImagesError::IdxLength {
            file: file.clone(),
            found: bytes.len(),
            expected: n_values + n_header as u128,
        }
        .into());
    }
    Ok((sizes, values))
}
