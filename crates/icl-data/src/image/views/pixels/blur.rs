//! Gaussian blur.

use pulp::{Simd, WithSimd};

use super::colour::truncate;

/// A Gaussian filter of a square plane, with its buffers.
#[derive(Debug, Default)]
pub(super) struct Blur {
    size: usize,
    /// Weights, an odd number of them.
    kernel: Vec<f32>,
    /// Scratch: the plane blurred along its columns, with each row continued on both sides.
    columns: Vec<f32>,
    /// Scratch: one row of the blurred plane.
    row: Vec<f32>,
}

impl Blur {
    /// Prepares the kernel of torchvision's `GaussianBlur`: the normalised density at whole
    /// distances.
    ///
    /// Its length is the odd number nearest to a tenth of the plane's side, 23 for 224 (Chen et al.,
    /// 2020), but at least 3. A plane of one pixel, which has no surroundings, gets one weight.
    pub(super) fn prepare(&mut self, size: usize, sigma: f64) {
        let reach = match size {
            1 => 0,
            _ => (size / 20).max(1),
        };
        let density = |distance: f64| (-0.5 * (distance / sigma).powi(2)).exp();
        let distances = (0..=2 * reach).map(|at| at as f64 - reach as f64);
        let total: f64 = distances.clone().map(density).sum();
        self.kernel.clear();
        self.kernel
            .extend(distances.map(|distance| (density(distance) / total) as f32));
        self.size = size;
        self.columns.resize(size * (size + 2 * reach), 0.0);
        self.row.resize(size, 0.0);
    }
}

/// Blurs a plane, which is continued by its mirror image without repeating the border.
///
/// This is a type because a closure of this length would not be inlined into the code for the
/// vector instructions of the machine.
pub(super) struct BlurPlane<'a> {
    pub(super) blur: &'a mut Blur,
    pub(super) plane: &'a mut [u8],
}

impl WithSimd for BlurPlane<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Blur {
            size,
            kernel,
            columns,
            row: blurred,
        } = self.blur;
        let (size, reach, plane) = (*size, kernel.len() / 2, self.plane);
        let stride = size + 2 * reach;
        for (at, padded) in columns.chunks_exact_mut(stride).enumerate() {
            let row = &mut padded[reach..reach + size];
            row.fill(0.0);
            for (offset, &weight) in kernel.iter().enumerate() {
                let other = mirrored(at + offset, reach, size);
                let bytes = &plane[other * size..][..size];
                for (value, &byte) in row.iter_mut().zip(bytes) {
                    *value += weight * f32::from(byte);
                }
            }
            for offset in 0..reach {
                padded[offset] = padded[2 * reach - offset];
                padded[stride - 1 - offset] = padded[stride - 1 - 2 * reach + offset];
            }
        }
        let padded = columns.chunks_exact(stride);
        for (bytes, padded) in plane.chunks_exact_mut(size).zip(padded) {
            blurred.fill(0.0);
            for (offset, &weight) in kernel.iter().enumerate() {
                for (value, other) in blurred.iter_mut().zip(&padded[offset..]) {
                    *value += weight * other;
                }
            }
            for (byte, value) in bytes.iter_mut().zip(blurred.iter()) {
                *byte = truncate(value.round_ties_even());
            }
        }
    }
}

/// Returns the position `padded − reach`, mirrored into 0 to `size − 1`.
fn mirrored(padded: usize, reach: usize, size: usize) -> usize {
    let place = padded.abs_diff(reach);
    match place < size {
        true => place,
        false => 2 * (size - 1) - place,
    }
}
