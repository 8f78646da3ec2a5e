//! Axes: places of quantities on a chart.

/// Linear axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linear {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Linear {
    /// Creates an axis on which `low` lies at pixel `from` and `high` at pixel `to`. An empty range is
    /// widened to 1.
    pub(crate) fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let (low, high) = if high > low {
            (low, high)
        } else {
            (low - 0.5, low + 0.5)
        };
        Self {
            low,
            high,
            from,
            to,
        }
    }

    /// Returns the range of finite values with a margin on both sides; `(0, 1)` without any.
    pub(crate) fn padded(values: impl Iterator<Item = f64>) -> (f64, f64) {
        let (low, high) = values
            .filter(|x| x.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
        if low > high {
            return (0.0, 1.0);
        }
        let margin = if high > low { 0.06 * (high - low) } else { 0.5 };
        (low - margin, high + margin)
    }

    /// Returns the pixel of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Returns about `n` round values and the digits that they need.
    pub(crate) fn ticks(&self, n: usize) -> (Vec<f64>, usize) {
        let rough = (self.high - self.low) / n as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough * (1.0 - 1e-9))
            .unwrap_or(10.0 * power);
        let digits = (0..6)
            .find(|&digits| {
                let scaled = step * 10f64.powi(digits);
                (scaled - scaled.round()).abs() < 1e-6 * scaled
            })
            .unwrap_or(6);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        let ticks = (first..=last).map(|i| i as f64 * step).collect();
        (ticks, digits as usize)
    }

    /// Returns powers of ten, and where these are few their double and fivefold, whose logarithms lie
    /// on the axis.
    pub(crate) fn decades(&self) -> Vec<f64> {
        round_factors(10f64.powf(self.low), 10f64.powf(self.high))
    }
}

/// Logarithmic axis that begins with a place for 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FromZero {
    zero: f64,
    positive: Linear,
    low: f64,
    high: f64,
}

impl FromZero {
    /// Creates an axis with 0 at pixel `from` and the logarithms of the positive values between
    /// `from + gutter` and `to`. Without positive values it runs from 1 to 10.
    pub(crate) fn new(
        values: impl Iterator<Item = f64>,
        (from, to): (f64, f64),
        gutter: f64,
    ) -> Self {
        let (low, high) = values
            .filter(|x| x.is_finite() && *x > 0.0)
            .fold((f64::INFINITY, 0.0f64), |(low, high), x| {
                (low.min(x), high.max(x))
            });
        let (low, high) = match (low, high) {
            (low, high) if low > high => (1.0, 10.0),
            (low, high) if low == high => (low / 2.0, high * 2.0),
            range => range,
        };
        Self {
            zero: from,
            positive: Linear::new((low.log10(), high.log10()), (from + gutter, to)),
            low,
            high,
        }
    }

    /// Returns the pixel of a value; 0 and less lie at the axis' start.
    pub(crate) fn at(&self, value: f64) -> f64 {
        if value > 0.0 {
            self.positive.at(value.log10())
        } else {
            self.zero
        }
    }

    /// Returns the pixel at which the logarithms begin.
    pub(crate) fn break_at(&self) -> f64 {
        self.at(self.low)
    }

    /// Returns round values along the axis.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        round_factors(self.low, self.high)
    }
}

/// Returns powers of ten between two positive values and, where these are few, round multiples.
fn round_factors(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let factors: &[f64] = match decades {
        d if d < 0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
        d if d < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let power = |power: i32, factor: f64| match power {
        power if power < 0 => factor / 10f64.powi(-power),
        power => factor * 10f64.powi(power),
    };
    (first..=last)
        .flat_map(|exponent| factors.iter().map(move |factor| power(exponent, *factor)))
        .filter(|tick| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(tick))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round() {
        let axis = Linear::new((1.97, 3.42), (100.0, 0.0));
        let (ticks, digits) = axis.ticks(6);
        assert_eq!(digits, 2);
        assert_eq!(ticks.len(), 6);
        assert!((ticks[0] - 2.0).abs() < 1e-12 && (ticks[1] - 2.25).abs() < 1e-12);
        assert_eq!((axis.at(1.97), axis.at(3.42)), (100.0, 0.0));
        assert_eq!(Linear::new((5.0, 5.0), (0.0, 10.0)).at(5.0), 5.0);
        assert_eq!(Linear::padded([f64::NAN].into_iter()), (0.0, 1.0));
    }

    #[test]
    fn zero_has_a_place_on_a_logarithmic_axis() {
        let axis = FromZero::new([0.0, 10.0, 1000.0].into_iter(), (50.0, 450.0), 20.0);
        assert_eq!(
            (axis.at(0.0), axis.at(10.0), axis.at(1000.0)),
            (50.0, 70.0, 450.0)
        );
        assert!((axis.at(100.0) - 260.0).abs() < 1e-9);
        assert_eq!(axis.break_at(), 70.0);
        assert_eq!(axis.ticks().len(), 7);
        let nothing = FromZero::new([0.0].into_iter(), (0.0, 100.0), 20.0);
        assert!(nothing.at(0.0) == 0.0 && nothing.at(5.0).is_finite());
        let one = FromZero::new([4.0].into_iter(), (0.0, 100.0), 20.0);
        assert!((one.at(4.0) - 60.0).abs() < 1e-9);
    }
}
