//! Normalisation of bytes.

/// Normalisation (x / 255 − mean) / std of each channel, as one product and one sum.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::image::views) struct Normalisation {
    /// Maps of red, green and blue; then of grey.
    maps: [AffineMap; 4],
}

/// x ↦ slope · x + offset.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AffineMap {
    slope: f32,
    offset: f32,
}

impl Normalisation {
    /// For a grey image, the means of the three values are used.
    pub(in crate::image::views) fn new(mean: [f32; 3], std: [f32; 3]) -> Self {
        let middle = |values: [f32; 3]| values.map(f64::from).iter().sum::<f64>() / 3.0;
        let map = |mean: f64, std: f64| AffineMap {
            slope: (1.0 / (255.0 * std)) as f32,
            offset: (-mean / std) as f32,
        };
        let channel = |at: usize| map(mean[at].into(), std[at].into());
        let grey = map(middle(mean), middle(std));
        Self {
            maps: [channel(0), channel(1), channel(2), grey],
        }
    }

    /// Writes planes `[channels, size, size]` of bytes as values, mirrored if `flip` is `true`.
    #[inline(always)]
    pub(super) fn write(&self, planes: &[u8], size: usize, flip: bool, values: &mut [f32]) {
        let area = size * size;
        let maps = match planes.len() / area {
            1 => &self.maps[3..],
            _ => &self.maps[..3],
        };
        let planes = planes.chunks_exact(area).zip(values.chunks_exact_mut(area));
        for (&AffineMap { slope, offset }, (plane, values)) in maps.iter().zip(planes) {
            let normalised = |byte: u8| f32::from(byte) * slope + offset;
            if flip {
                let rows = plane.chunks_exact(size);
                for (row, values) in rows.zip(values.chunks_exact_mut(size)) {
                    for (value, &byte) in values.iter_mut().zip(row.iter().rev()) {
                        *value = normalised(byte);
                    }
                }
            } else {
                for (value, &byte) in values.iter_mut().zip(plane) {
                    *value = normalised(byte);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_normalised_values() {
        let mean = [0.485, 0.456, 0.406];
        let std = [0.229, 0.224, 0.225];
        let normalisation = Normalisation::new(mean, std);
        let planes: Vec<u8> = (0..=255).cycle().take(3 * 256).collect();
        let mut values = vec![0.0; planes.len()];
        let mut mirrored = values.clone();
        normalisation.write(&planes, 16, false, &mut values);
        normalisation.write(&planes, 16, true, &mut mirrored);
        for (at, &value) in values.iter().enumerate() {
            let channel = at / 256;
            let exact = (f64::from(planes[at]) / 255.0 - f64::from(mean[channel]))
                / f64::from(std[channel]);
            assert!((f64::from(value) - exact).abs() < 5e-7, "{value} {exact}");
            let column = at % 16;
            assert_eq!(mirrored[at - column + 15 - column], value);
        }
        let mut grey = vec![0.0; 256];
        normalisation.write(&planes[..256], 16, false, &mut grey);
        for (at, &value) in grey.iter().enumerate() {
            let exact = (at as f64 / 255.0 - 0.449) / 0.226;
            assert!((f64::from(value) - exact).abs() < 5e-7, "{value} {exact}");
        }
    }
}
