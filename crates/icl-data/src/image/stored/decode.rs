//! Decoding of image files.

use std::io::{Cursor, Read};

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::jpeg_end;
use crate::disk::{open_file, read_file};
use crate::error::{DataError, DataErrorKind, unreadable};
use crate::image::raster::Image;
use crate::place::FileRef;

/// Size of the largest image that is decoded, in bytes: 512 MiB, or 179 million RGB pixels.
///
/// A file of a few kilobytes can decode to any size.
const MAX_DECODED_BYTES: u64 = 512 << 20;

/// Maximum memory of a decoder besides the pixels that it returns.
const MAX_DECODER_BYTES: u64 = 3 * MAX_DECODED_BYTES;

/// Length of the beginning of a file in which its header is searched first.
const HEADER_BYTES: u64 = 16 << 10;

/// Decodes an image to RGB.
pub(super) fn image(file: &FileRef, bytes: &[u8]) -> Result<Image, DataError> {
    let (format, decoder) = decoder(file, bytes)?;
    let decoded = DynamicImage::from_decoder(decoder).map_err(|source| broken(file, source))?;
    if format == ImageFormat::Jpeg && !jpeg_end::has_end(bytes) {
        return Err(DataError::new(
            file,
            "a JPEG file that is cut before its end marker",
            "an intact one",
        )
        .with_kind(DataErrorKind::Damaged));
    }
    let rgb = decoded.into_rgb8();
    let (width, height) = (rgb.width() as usize, rgb.height() as usize);
    Ok(Image::new(width, height, 3, rgb.into_raw()))
}

/// Returns the width and height of an image file by its header, neither 0 nor too large.
pub(super) fn sides(file: &FileRef) -> Result<(u32, u32), DataError> {
    let unreadable = |source| unreadable(file, source);
    let metadata = std::fs::metadata(file.path()).map_err(unreadable)?;
    if metadata.is_file() && metadata.len() > HEADER_BYTES {
        let mut beginning = Vec::with_capacity(HEADER_BYTES as usize);
        let read = open_file(file)?
            .take(HEADER_BYTES)
            .read_to_end(&mut beginning);
        read.map_err(unreadable)?;
        if let Ok((_, decoder)) = decoder(file, &beginning) {
            return Ok(decoder.dimensions());
        }
        // The data before the end of the header, such as a preview, may be longer.
    }
    let bytes = read_file(file)?;
    let (_, decoder) = decoder(file, &bytes)?;
    Ok(decoder.dimensions())
}

/// Creates a decoder, reads the header and checks that the sides are neither 0 nor too large.
fn decoder<'a>(
    file: &FileRef,
    bytes: &'a [u8],
) -> Result<(ImageFormat, impl ImageDecoder + 'a), DataError> {
    let format = match image::guess_format(bytes) {
        Ok(format @ (ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP)) => format,
        _ => {
            return Err(DataError::new(
                file,
                "contents of an unknown format",
                "a JPEG, PNG or WebP image",
            )
            .with_kind(DataErrorKind::Damaged));
        }
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    let decoder = reader
        .into_decoder()
        .map_err(|source| broken(file, source))?;
    let (width, height) = decoder.dimensions();
    let n_rgb_bytes = 3 * u64::from(width) * u64::from(height);
    let n_bytes = n_rgb_bytes.max(decoder.total_bytes());
    if n_bytes == 0 || n_bytes > MAX_DECODED_BYTES {
        return Err(DataError::new(
            file,
            format!("an image of {width} x {height} pixels"),
            format!("at least 1 x 1 and at most {MAX_DECODED_BYTES} bytes when decoded"),
        )
        .with_kind(DataErrorKind::Damaged));
    }
    Ok((format, decoder))
}

fn broken(file: &FileRef, source: image::ImageError) -> DataError {
    DataError::new(file, "a cut or damaged image", "an intact one")
        .with_source(source)
        .with_kind(DataErrorKind::Damaged)
}
