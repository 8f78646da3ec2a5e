//! The record of `scripts/reference/image_views.py`.

use std::path::Path;

use icl_data::Image;
use serde::Deserialize;

#[derive(Deserialize)]
pub struct Record {
    pub pictures: Vec<WholePicture>,
    pub single_steps: Vec<SingleStep>,
    pub orders: Vec<Order>,
    pub all_colours: Vec<AllColours>,
    pub crops: Vec<Crop>,
    pub plains: Vec<Plain>,
    pub blurs: Vec<Blur>,
    pub chains: Vec<Chain>,
    pub n_draws: usize,
    pub drawn_crops: Vec<DrawnCrops>,
    pub drawn_jitters: DrawnJitters,
}

#[derive(Debug, Deserialize)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    #[serde(default)]
    channels: usize,
}

#[derive(Deserialize)]
pub struct WholePicture {
    #[serde(flatten)]
    pub picture: Picture,
    pub crc32: u32,
}

#[derive(Debug, Deserialize)]
pub struct SingleStep {
    #[serde(flatten)]
    pub picture: Picture,
    pub step: usize,
    pub factor: f64,
    pub crc32: u32,
}

#[derive(Debug, Deserialize)]
pub struct Order {
    #[serde(flatten)]
    pub picture: Picture,
    pub grey: bool,
    pub order: [usize; 4],
    pub factors: [f64; 4],
    pub flip: bool,
    pub crc32: u32,
}

#[derive(Debug, Deserialize)]
pub struct AllColours {
    pub name: String,
    pub factor: f64,
    pub crc32: u32,
}

#[derive(Deserialize)]
pub struct Crop {
    #[serde(flatten)]
    pub picture: Picture,
    pub crop: [usize; 4],
    pub size: usize,
    #[serde(flatten)]
    pub samples: Samples,
}

#[derive(Deserialize)]
pub struct Plain {
    #[serde(flatten)]
    pub picture: Picture,
    pub size: usize,
    #[serde(flatten)]
    pub samples: Samples,
}

#[derive(Deserialize)]
pub struct Blur {
    #[serde(flatten)]
    pub picture: Picture,
    pub sigma: f64,
    #[serde(flatten)]
    pub samples: Samples,
}

#[derive(Deserialize)]
pub struct Chain {
    #[serde(flatten)]
    pub picture: Picture,
    pub crop: [usize; 4],
    pub size: usize,
    pub grey: bool,
    pub order: [usize; 4],
    pub factors: [f64; 4],
    pub sigma: Option<f64>,
    pub flip: bool,
    #[serde(flatten)]
    pub samples: Samples,
}

#[derive(Deserialize)]
pub struct DrawnCrops {
    #[serde(flatten)]
    pub picture: Picture,
    pub scale: [f64; 2],
    pub ratio: [f64; 2],
    pub area: Distribution,
    pub log_ratio: Distribution,
    pub left: Distribution,
    pub top: Distribution,
    pub centre: Centre,
}

#[derive(Deserialize)]
pub struct Centre {
    pub crop: [usize; 4],
    pub count: usize,
}

#[derive(Deserialize)]
pub struct DrawnJitters {
    pub strengths: [f64; 4],
    pub order_counts: Vec<usize>,
    pub factors: [Distribution; 4],
}

/// Every `stride`-th row and column of a result, and the mean of all of it.
#[derive(Deserialize)]
pub struct Samples {
    pub stride: usize,
    bytes: String,
    pub mean: f64,
}

/// Number of values below or at each of evenly spaced thresholds.
#[derive(Deserialize)]
pub struct Distribution {
    low: f64,
    high: f64,
    pub counts: Vec<usize>,
}

pub fn record() -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/image_views.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

impl Picture {
    /// Slopes that rise and fall, and noise on them: the formula of the script.
    pub fn draw(&self) -> Image {
        let mut pixels = Vec::with_capacity(self.width * self.height * self.channels);
        for y in 0..self.height as u32 {
            for x in 0..self.width as u32 {
                for c in 0..self.channels as u32 {
                    let slope = ((3 * x + 2 * y + 170 * c) % 510).abs_diff(255);
                    let mixed = x.wrapping_mul(73_856_093)
                        ^ y.wrapping_mul(19_349_663)
                        ^ c.wrapping_mul(83_492_791);
                    let noise = mixed.wrapping_mul(2_654_435_761) >> 24;
                    pixels.push(((3 * slope + noise) / 4) as u8);
                }
            }
        }
        Image::new(self.width, self.height, self.channels, pixels)
    }
}

impl Samples {
    /// The bytes `[channels, rows, columns]`.
    pub fn bytes(&self) -> Vec<u8> {
        let digits = self.bytes.as_bytes().chunks(2);
        digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }
}

impl Distribution {
    pub fn thresholds(&self) -> impl Iterator<Item = f64> + '_ {
        let n = self.counts.len();
        let step = move |at: usize| (at + 1) as f64 / (n + 1) as f64;
        (0..n).map(move |at| self.low + (self.high - self.low) * step(at))
    }
}
