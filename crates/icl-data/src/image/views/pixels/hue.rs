//! Rotation of the hue, equal bit by bit to that of Pillow.

use pulp::{Simd, WithSimd};

use super::colour::for_each_pixel;

/// Converts a rotation in circles into steps of Pillow's 256 hues (torchvision counts 255).
pub(super) fn steps(rotation: f64) -> u8 {
    // A rotation back equals a rotation forward by the rest of the circle.
    (rotation * 255.0) as i32 as u8
}

/// Rotates the hue of every pixel.
///
/// This is a type because a closure of this length would not be inlined into the code for the
/// vector instructions of the machine.
pub(super) struct HueRotation<'a> {
    pub(super) planes: [&'a mut [u8]; 3],
    pub(super) steps: u8,
}

impl WithSimd for HueRotation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { planes, steps } = self;
        for_each_pixel(planes, |pixel| {
            let [hue, saturation, value] = to_hsv(pixel);
            to_rgb([hue.wrapping_add(steps), saturation, value])
        });
    }
}

/// Converts to hue, saturation and value (Smith, 1978) as bytes, truncated.
///
/// Each step uses the precision of Pillow's, 32 or 64 bits, which determines the last level.
#[inline(always)]
fn to_hsv([red, green, blue]: [u8; 3]) -> [u8; 3] {
    let most = red.max(green).max(blue);
    let range = most - red.min(green).min(blue);
    // Grey has no hue; a range of 1 instead of 0 makes it 0.
    let divisor = f32::from(range.max(1));
    let below = |byte: u8| f64::from(f32::from(most - byte) / divisor);
    let (r, g, b) = (below(red), below(green), below(blue));
    let sixths = if red == most {
        b - g
    } else if green == most {
        2.0 + r - b
    } else {
        4.0 + g - r
    };
    let circles = f64::from(sixths as f32) / 6.0 + 1.0;
    let circles = (circles - circles.floor()) as f32;
    let saturation = f32::from(range) / f32::from(most.max(1));
    let byte = |share: f32| truncate(f64::from(share) * 255.0);
    [byte(circles), byte(saturation), most]
}

/// Converts to red, green and blue, rounded.
#[inline(always)]
fn to_rgb([hue, saturation, value]: [u8; 3]) -> [u8; 3] {
    let sixths = f64::from(hue) * 6.0 / 255.0;
    let part = (sixths - sixths.floor()) as f32;
    let saturation = (f64::from(saturation) / 255.0) as f32;
    let less = |share: f64| truncate(f64::from(value) * (1.0 - share) + 0.5);
    let low = less(saturation.into());
    let falling = less((saturation * part).into());
    let rising = less(f64::from(saturation) * (1.0 - f64::from(part)));
    // The sixth sector, which holds a single hue, equals the first.
    let sector = truncate(sixths);
    let sector = if sector == 6 { 0 } else { sector };
    // Each channel follows the same course, two sectors after the previous channel.
    let channel = |high: [u8; 2], falls: u8, rises: u8| {
        if sector == high[0] || sector == high[1] {
            value
        } else if sector == falls {
            falling
        } else if sector == rises {
            rising
        } else {
            low
        }
    };
    [
        channel([5, 0], 1, 4),
        channel([1, 2], 3, 0),
        channel([3, 4], 5, 2),
    ]
}

/// Returns the value, which is from 0 to 255, rounded down.
#[inline(always)]
fn truncate(value: f64) -> u8 {
    /// 2^52: the last bits of a sum with it are those of the added whole number. The conversions of
    /// the language would prevent vector code.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    (value.floor() + WHOLE).to_bits() as u8
}
