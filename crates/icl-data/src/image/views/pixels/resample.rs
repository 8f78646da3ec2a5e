//! Resizing of a part of an image to a square by Pillow's bilinear filter with antialiasing.

use fast_image_resize::images::{TypedCroppedImage, TypedImage, TypedImageRef};
use fast_image_resize::pixels::{U8, U8x3};
use fast_image_resize::{FilterType, PixelTrait, ResizeAlg, ResizeOptions, Resizer};

use crate::image::raster::Image;
use crate::image::views::crop::CropBox;

/// Part of an image that is resized.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::image::views) struct SourceRegion {
    /// Pixels that the filter may use.
    seen: CropBox,
    /// Columns of `seen` that are resized.
    columns: Extent,
    /// Rows of `seen` that are resized.
    rows: Extent,
}

/// A part of a side, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extent {
    first: f64,
    length: f64,
}

impl SourceRegion {
    /// Takes a crop, whose surroundings the filter does not use (torchvision crops, then resizes).
    pub(in crate::image::views) fn of(crop: CropBox) -> Self {
        let whole = |side: usize| Extent {
            first: 0.0,
            length: side as f64,
        };
        Self {
            seen: crop,
            columns: whole(crop.width),
            rows: whole(crop.height),
        }
    }

    /// Takes the centre of an image whose short side becomes `size`, and whose surroundings the filter
    /// uses (torchvision resizes, then crops). Pixels that would be cropped away are not computed.
    pub(in crate::image::views) fn centre(image: &Image, size: usize) -> Self {
        let short = image.width().min(image.height());
        let span = |side: usize| {
            // The long side is truncated and the margin rounded half to even, as in torchvision.
            let resized = (size as f64 * side as f64 / short as f64).floor();
            let margin = ((resized - size as f64) / 2.0).round_ties_even();
            let scale = side as f64 / resized;
            let first = margin * scale;
            Extent {
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

/// Resizing, with its buffers.
#[derive(Debug, Default)]
pub(super) struct Resampler {
    resizer: Resizer,
}

impl Resampler {
    /// Resizes the region to `size` x `size` pixels, whose bytes are written to `resized`.
    ///
    /// Bytes are rounded between the two directions. The library resizes down the columns first;
    /// Pillow begins along the rows or, in version 13, in either direction depending on the
    /// sizes. Where the two begin differently, about a quarter of the bytes differ by one level.
    pub(super) fn run(
        &mut self,
        image: &Image,
        region: &SourceRegion,
        size: usize,
        resized: &mut [u8],
    ) {
        match image.channels() {
            1 => self.resize::<U8>(image, region, size, resized),
            _ => self.resize::<U8x3>(image, region, size, resized),
        }
    }

    fn resize<P: PixelTrait>(
        &mut self,
        image: &Image,
        region: &SourceRegion,
        size: usize,
        resized: &mut [u8],
    ) {
        let SourceRegion {
            seen,
            columns,
            rows,
        } = region;
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
            .expect("a region within the pixels that are seen");
    }
}

fn side(length: usize) -> u32 {
    u32::try_from(length).expect("a side of at most u32::MAX pixels")
}
