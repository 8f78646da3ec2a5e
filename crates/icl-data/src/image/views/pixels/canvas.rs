//! The pixels of a view in progress.

use pulp::{Arch, WithSimd};

use super::blur::{Blur, BlurPlane};
use super::normalisation::Normalisation;
use super::resample::{Resampler, SourceRegion};
use super::{colour, hue};
use crate::image::raster::Image;
use crate::image::views::jitter::{Jitter, JitterStep};

/// A view in progress: planes `[channels, size, size]` of bytes, with the buffers of the operations.
#[derive(Debug, Default)]
pub(in crate::image::views) struct Canvas {
    planes: Vec<u8>,
    size: usize,
    /// Scratch: interleaved pixels `[size, size, channels]`.
    interleaved: Vec<u8>,
    resampler: Resampler,
    blur: Blur,
}

impl Canvas {
    /// Starts with the resized region of the image.
    pub(in crate::image::views) fn paint(
        &mut self,
        image: &Image,
        region: &SourceRegion,
        size: usize,
    ) {
        self.size = size;
        self.planes.resize(image.channels() * size * size, 0);
        if image.channels() == 1 {
            self.resampler.run(image, region, size, &mut self.planes);
            return;
        }
        self.interleaved.resize(self.planes.len(), 0);
        self.resampler
            .run(image, region, size, &mut self.interleaved);
        let planes = colour::split(&mut self.planes);
        vectorised(|| colour::deinterleave(&self.interleaved, planes));
    }

    /// Converts to grey: three equal channels.
    pub(in crate::image::views) fn grey(&mut self) {
        if let Some(planes) = self.colours() {
            vectorised(|| colour::grey(planes));
        }
    }

    /// Changes brightness, contrast, saturation and hue in the order of the jitter.
    pub(in crate::image::views) fn jitter(&mut self, jitter: &Jitter) {
        for step in jitter.order {
            let (factor, none) = match step {
                JitterStep::Brightness => (jitter.brightness, 1.0),
                JitterStep::Contrast => (jitter.contrast, 1.0),
                JitterStep::Saturation => (jitter.saturation, 1.0),
                JitterStep::Hue => (jitter.hue, 0.0),
            };
            // The strength of this step is 0. (The conversion to hue and back would change some
            // colours; torchvision skips a step without strength as well.)
            if factor == none {
                continue;
            }
            match step {
                JitterStep::Brightness => self.brightness(factor as f32),
                JitterStep::Contrast => self.contrast(factor as f32),
                JitterStep::Saturation => {
                    if let Some(planes) = self.colours() {
                        vectorised(|| colour::saturate(planes, factor as f32));
                    }
                }
                JitterStep::Hue => {
                    let steps = hue::steps(factor);
                    if let Some(planes) = self.colours() {
                        vectorised(hue::HueRotation { planes, steps });
                    }
                }
            }
        }
    }

    /// Blurs every plane.
    pub(in crate::image::views) fn blur(&mut self, sigma: f64) {
        self.blur.prepare(self.size, sigma);
        for plane in self.planes.chunks_exact_mut(self.size * self.size) {
            let blur = &mut self.blur;
            vectorised(BlurPlane { blur, plane });
        }
    }

    /// Writes the normalised values.
    pub(in crate::image::views) fn write(
        &self,
        normalisation: &Normalisation,
        flip: bool,
        values: &mut [f32],
    ) {
        vectorised(|| normalisation.write(&self.planes, self.size, flip, values));
    }

    fn brightness(&mut self, factor: f32) {
        vectorised(|| colour::blend(&mut self.planes, 0, factor));
    }

    fn contrast(&mut self, factor: f32) {
        let total: u64 = match self.colours() {
            Some(planes) => vectorised(|| colour::total_lightness(planes)),
            None => self.planes.iter().map(|&byte| u64::from(byte)).sum(),
        };
        // Pillow rounds the mean to a whole level, halves up.
        let mean = total as f64 / (self.size * self.size) as f64;
        let middle = (mean + 0.5) as u8;
        vectorised(|| colour::blend(&mut self.planes, middle, factor));
    }

    /// Returns red, green and blue, or `None` for the view of a grey image.
    fn colours(&mut self) -> Option<[&mut [u8]; 3]> {
        match self.planes.len() == self.size * self.size {
            true => None,
            false => Some(colour::split(&mut self.planes)),
        }
    }
}

/// Runs `kernel`, which must be inlined, compiled for the vector instructions of the machine.
fn vectorised<K: WithSimd>(kernel: K) -> K::Output {
    Arch::new().dispatch(kernel)
}
