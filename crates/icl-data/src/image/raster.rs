//! Decoded images.

/// A decoded image with 8 bits per channel, grey or RGB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    channels: usize,
    pixels: Vec<u8>,
}

impl Image {
    /// Creates an image of `pixels` `[height, width, channels]`, row by row.
    ///
    /// # Panics
    /// If a side is 0, if `channels` is neither 1 (grey) nor 3 (RGB), or if the number of bytes is
    /// not `height * width * channels`.
    pub fn new(width: usize, height: usize, channels: usize, pixels: Vec<u8>) -> Self {
        assert!(
            width > 0 && height > 0 && matches!(channels, 1 | 3),
            "an image cannot be {width} x {height} pixels of {channels} channels, expected sides of \
             at least 1 and 1 or 3 channels"
        );
        assert_eq!(
            pixels.len(),
            width * height * channels,
            "an image of {width} x {height} x {channels} needs as many bytes as on the right"
        );
        Self {
            width,
            height,
            channels,
            pixels,
        }
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of channels: 1 for grey, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the bytes `[height, width, channels]`, row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }
}
