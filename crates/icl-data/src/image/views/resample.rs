//! Resizing a part of an image to a square, as Pillow's bilinear filter with antialiasing does.

use fast_image_resize::images::{TypedCroppedImage, TypedImage, TypedImageRef};
use fast_image_resize::pixels::{U8, U8x3};
use fast_image_resize::{FilterType, PixelTrait, ResizeAlg, ResizeOptions, Resizer};

use super::crop::CropBox;
use crate::image::raster::Image;

/// What of an image is resized.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Window {
    /// The pixels that the filter may see.
    seen: CropBox,
    /// The columns of `seen` that are resized.
    columns: Span,
    /// The rows of `seen` that are resized.
    rows: Span,
}

/// A part of a side, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    first: f64,
    length: f64,
}

impl Window {
    /// A crop, whose surroundings the filter does not see (torchvision crops, then resizes).
    pub(super) fn of(crop: CropBox) -> Self {
        let whole = |side: usize| Span {
            first: 0.0,
            length: side as f64,
        };
        Self {
            seen: crop,
            columns: whole(crop.width),
            rows: whole(crop.height),
        }
    }

    /// The centre of an image whose short side becomes `size`, and whose surroundings the filter
    /// sees (torchvision resizes, then crops). What would be cropped away is not computed.
    pub(super) fn centre(image: &Image, size: usize) -> Self {
        let short = image.width().min(image.height());
        let span = |side: usize| {
            // The long side is truncated and the margin rounded, halves to even, as in torchvision.
            let resized = (size as f64 * side as f64 / short as f64).floor();
            let margin = ((resized - size as f64) / 2.0).round_ties_even();
            let scale = side as f64 / resized;
            let first = margin * scale;
            Span {
                first,
                length: (size as f64 * scale).min(side as f64 - first),
            }
        };
        Self {
            seen: CropBox::whole(image),
            columns: span(image.width()),
            rows: span(image.height()),
        }
    }
}

/// Resizes; keeps the buffers for it.
#[derive(Debug, Default)]
pub(super) struct Resampler {
    resizer: Resizer,
}

impl Resampler {
    /// Resizes the window to `size` x `size` pixels, whose bytes are written to `resized`.
    ///
    /// Bytes are rounded between the two directions. The library resizes down the columns first;
    /// Pillow begins along the rows or, in version 13 and depending on the sizes, in either way.
    /// Where the two begin differently, about a quarter of the bytes are one level off.
    pub(super) fn run(&mut self, image: &Image, window: &Window, size: usize, resized: &mut [u8]) {
        match image.channels() {
            1 => self.resize::<U8>(image, window, size, resized),
            _ => self.resize::<U8x3>(image, window, size, resized),
        }
    }

    fn resize<P: PixelTrait>(
        &mut self,
        image: &Image,
        window: &Window,
        size: usize,
        resized: &mut [u8],
    ) {
        let Window {
            seen,
            columns,
            rows,
        } = window;
        let (width, height) = (side(image.width()), side(image.height()));
        let whole = TypedImageRef::<P>::from_buffer(width, height, image.pixels())
            .expect("as many bytes as the image has");
        let seen = TypedCroppedImage::from_ref(
            &whole,
            side(seen.left),
            side(seen.top),
            side(seen.width),
            side(seen.height),
        )
        .expect("a crop within the image");
        let mut resized = TypedImage::<P>::from_buffer(side(size), side(size), resized)
            .expect("as many bytes as the view has");
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Bilinear))
            .crop(columns.first, rows.first, columns.length, rows.length);
        self.resizer
            .resize_typed(&seen, &mut resized, &options)
            .expect("a window within the pixels that are seen");
    }
}

fn side(length: usize) -> u32 {
    u32::try_from(length).expect("a side of at most u32::MAX pixels")
}
