//! The square on which a view is painted.

use pulp::{Arch, WithSimd};

use super::blur::{Blur, BlurPlane};
use super::jitter::{Jitter, JitterStep};
use super::normalisation::Normalisation;
use super::resample::{Resampler, Window};
use super::{colour, hue};
use crate::image::raster::Image;

/// A view in the making: planes `[channels, size, size]` of bytes, and the buffers around them.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    planes: Vec<u8>,
    size: usize,
    /// Scratch: the planes before they are taken apart, `[size, size, channels]`.
    interleaved: Vec<u8>,
    resampler: Resampler,
    blur: Blur,
}

impl Canvas {
    /// Begins with the window of the image, resized.
    pub(super) fn paint(&mut self, image: &Image, window: &Window, size: usize) {
        self.size = size;
        self.planes.resize(image.channels() * size * size, 0);
        if image.channels() == 1 {
            self.resampler.run(image, window, size, &mut self.planes);
            return;
        }
        self.interleaved.resize(self.planes.len(), 0);
        self.resampler
            .run(image, window, size, &mut self.interleaved);
        let planes = colour::split(&mut self.planes);
        vectorised(|| colour::take_apart(&self.interleaved, planes));
    }

    /// Three equal channels.
    pub(super) fn grey(&mut self) {
        if let Some(planes) = self.colours() {
            vectorised(|| colour::grey(planes));
        }
    }

    /// Brightness, contrast, saturation and hue, in the order that was drawn.
    pub(super) fn jitter(&mut self, jitter: &Jitter) {
        for step in jitter.order {
            let (factor, none) = match step {
                JitterStep::Brightness => (jitter.brightness, 1.0),
                JitterStep::Contrast => (jitter.contrast, 1.0),
                JitterStep::Saturation => (jitter.saturation, 1.0),
                JitterStep::Hue => (jitter.hue, 0.0),
            };
            // That is, if its strength is 0. (A hue that is turned by 0 would lose some colour on
            // the way there and back; torchvision leaves out a step without strength as well.)
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
                        vectorised(hue::Turn { planes, steps });
                    }
                }
            }
        }
    }

    /// Blurs every plane.
    pub(super) fn blur(&mut self, sigma: f64) {
        self.blur.prepare(self.size, sigma);
        for plane in self.planes.chunks_exact_mut(self.size * self.size) {
            let blur = &mut self.blur;
            vectorised(BlurPlane { blur, plane });
        }
    }

    /// Writes the normalised values.
    pub(super) fn write(&self, normalisation: &Normalisation, flip: bool, values: &mut [f32]) {
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
        let mean = total as f64 / (self.size * self.size) as f64;
        let middle = (mean + 0.5) as u8;
        vectorised(|| colour::blend(&mut self.planes, middle, factor));
    }

    /// Red, green and blue, unless the view is of a grey image.
    fn colours(&mut self) -> Option<[&mut [u8]; 3]> {
        match self.planes.len() == self.size * self.size {
            true => None,
            false => Some(colour::split(&mut self.planes)),
        }
    }
}

/// Runs `kernel`, which must be inlined, compiled for the vector instructions that are found.
fn vectorised<K: WithSimd>(kernel: K) -> K::Output {
    Arch::new().dispatch(kernel)
}
