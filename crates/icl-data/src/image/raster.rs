//! One decoded image.

/// A decoded image: 8 bits a channel, grey or RGB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    channels: usize,
    pixels: Vec<u8>,
}

impl Image {
    /// An image of `pixels` `[height, width, channels]`, row after row.
    ///
    /// # Panics
    /// If a side is 0, `channels` is neither 1 (grey) nor 3 (RGB), or the pixels do not fill it.
    pub fn new(width: usize, height: usize, channels: usize, pixels: Vec<u8>) -> Self {
        assert!(
            width > 0 && height > 0 && matches!(channels, 1 | 3),
            "an image cannot be {width} x {height} pixels of {channels} channels, expected sides of \
             at least 1 and 1 or 3 channels"
        );
        assert_eq!(
            pixels.len(),
            width * height * channels,
            "an image of {width} x {height} x {channels} holds as many bytes as on the right"
        );
        Self {
            width,
            height,
            channels,
            pixels,
        }
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// 1 for grey, 3 for RGB.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The bytes `[height, width, channels]`, row after row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }
}
