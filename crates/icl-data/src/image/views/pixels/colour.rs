//! Changes of colour, equal bit by bit to those of Pillow.

/// Splits the planes into red, green and blue.
pub(super) fn split(planes: &mut [u8]) -> [&mut [u8]; 3] {
    let area = planes.len() / 3;
    let (red, others) = planes.split_at_mut(area);
    let (green, blue) = others.split_at_mut(area);
    [red, green, blue]
}

/// Converts interleaved pixels into the planes of red, green and blue.
#[inline(always)]
pub(super) fn deinterleave(pixels: &[u8], planes: [&mut [u8]; 3]) {
    let [red, green, blue] = planes;
    let channels = red.iter_mut().zip(green).zip(blue);
    for (pixel, ((red, green), blue)) in pixels.chunks_exact(3).zip(channels) {
        *red = pixel[0];
        *green = pixel[1];
        *blue = pixel[2];
    }
}

/// Replaces every channel by the lightness.
#[inline(always)]
pub(super) fn grey(planes: [&mut [u8]; 3]) {
    for_each_pixel(planes, |pixel| [lightness(pixel) as u8; 3]);
}

/// Scales the difference of every pixel from the grey of the same lightness.
#[inline(always)]
pub(super) fn saturate(planes: [&mut [u8]; 3], factor: f32) {
    for_each_pixel(planes, |pixel| {
        let grey = lightness(pixel) as f32;
        pixel.map(|byte| away(grey, byte, factor))
    });
}

/// Scales the difference of every byte from one level.
#[inline(always)]
pub(super) fn blend(bytes: &mut [u8], level: u8, factor: f32) {
    let level = f32::from(level);
    for byte in bytes {
        *byte = away(level, *byte, factor);
    }
}

/// Returns the sum of the lightness of all pixels.
#[inline(always)]
pub(super) fn total_lightness(planes: [&mut [u8]; 3]) -> u64 {
    /// Number of values whose sum fits in 32 bits.
    const BLOCK: usize = 1 << 16;
    let [red, green, blue] = planes;
    let (red, green, blue) = (red.chunks(BLOCK), green.chunks(BLOCK), blue.chunks(BLOCK));
    red.zip(green)
        .zip(blue)
        .map(|((red, green), blue)| {
            let pixels = red.iter().zip(green).zip(blue);
            let total: u32 = pixels
                .map(|((&red, &green), &blue)| lightness([red, green, blue]))
                .sum();
            u64::from(total)
        })
        .sum()
}

/// Returns 0.299 R + 0.587 G + 0.114 B in 16 binary places, rounded (ITU-R BT.601).
#[inline(always)]
fn lightness([red, green, blue]: [u8; 3]) -> u32 {
    let sum = 19_595 * u32::from(red) + 38_470 * u32::from(green) + 7_471 * u32::from(blue);
    (sum + 0x8000) >> 16
}

/// Returns level + factor · (byte − level), clamped to 0 to 255 and truncated.
#[inline(always)]
fn away(level: f32, byte: u8, factor: f32) -> u8 {
    truncate(level + factor * (f32::from(byte) - level))
}

/// Returns the value clamped to 0 to 255 and rounded down.
#[inline(always)]
pub(super) fn truncate(value: f32) -> u8 {
    /// 2^23: the last bits of a sum with it are those of the added whole number. The conversions of
    /// the language check for numbers that do not fit, which prevents vector code.
    const WHOLE: f32 = 8_388_608.0;
    (value.clamp(0.0, 255.0).floor() + WHOLE).to_bits() as u8
}

/// Replaces every pixel.
#[inline(always)]
pub(super) fn for_each_pixel(planes: [&mut [u8]; 3], change: impl Fn([u8; 3]) -> [u8; 3]) {
    let [red, green, blue] = planes;
    for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
        [*red, *green, *blue] = change([*red, *green, *blue]);
    }
}
