//! Folders of images.

use std::io::Cursor;

use anyhow::Result;
use image::{ImageFormat, Rgb, RgbImage};

use super::idx;
use super::reader::Format;
use crate::parts::{Part, Valid};

/// Returns the format.
pub fn format() -> Result<Format> {
    let encoded = |format: ImageFormat, side: u32| -> Result<Vec<u8>> {
        let image = RgbImage::from_fn(side, side + 1, |x, y| Rgb([x as u8 * 20, y as u8 * 20, 7]));
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format)?;
        Ok(bytes.into_inner())
    };
    let parts = |format: ImageFormat, extension: &str| -> Result<Vec<Part>> {
        let part = |name: &str, side| {
            encoded(format, side).map(|bytes| Part::new(&format!("{name}.{extension}"), bytes))
        };
        Ok(vec![
            part("ants/a", 8)?,
            part("ants/b", 6)?,
            part("bees/c", 7)?,
            part("bees/d", 1)?,
        ])
    };
    Ok(Format {
        name: "images",
        valid: vec![
            Valid::plain(parts(ImageFormat::Jpeg, "jpg")?),
            Valid::plain(parts(ImageFormat::Png, "png")?),
            Valid::plain(parts(ImageFormat::WebP, "webp")?),
        ],
        words: &[
            "\u{ff}", "IHDR", "IDAT", "PLTE", "tRNS", "acTL", "iCCP", "VP8X", "VP8L", "VP8 ",
            "Exif\0\0", "ANIM",
        ],
        // The pixels of the largest image that is decoded, and the decoder's own memory.
        memory: 2 << 30,
        read: Box::new(idx::read),
    })
}
