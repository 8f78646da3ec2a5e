//! Axes: places of quantities on a chart.
//!
//! Records may hold any number that a double can be, and axes answer them all with finite places and few ticks:
//! quantities beyond ±10³⁰⁰ lie at the axis' end, and no range is so narrow that doubles could not tell its ticks
//! apart.

use std::ops::RangeInclusive;

use crate::text::number::{axis_value, rounded};

/// Largest absolute value that an axis tells apart from larger ones; sums and products of a few remain finite.
const LARGEST: f64 = 1e300;
/// Smallest positive value on a logarithmic axis.
const SMALLEST: f64 = 1e-300;
/// Smallest range in proportion to its values. A double tells 10⁶ values apart in it.
const NARROWEST: f64 = 1e-9;
/// Pixels within which all places lie, far outside every chart.
const FARTHEST: f64 = 1e6;
/// Largest number of powers of ten on an axis.
const MOST_DECADES: i32 = 12;

/// Linear axis.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Linear {
    /// Creates an axis on which `low` lies at pixel `from` and `high` at pixel `to`. An empty range is
    /// widened to 1, a range that is too narrow for its values to a billionth of them.
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let bounded = |value: f64| match value.is_nan() {
            true => 0.0,
            false => value.clamp(-LARGEST, LARGEST),
        };
        let (low, high) = (bounded(low), bounded(high));
        let (low, high) = if high > low {
            (low, high)
        } else {
            (low - 0.5, low + 0.5)
        };
        let narrowest = (NARROWEST * low.abs().max(high.abs())).max(SMALLEST);
        let (low, high) = if high - low < narrowest {
            let middle = low + (high - low) / 2.0;
            (middle - narrowest, middle + narrowest)
        } else {
            (low, high)
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

    /// Returns the pixel of a value; one that is not a number lies at the axis' start.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        let place = self.from + share * (self.to - self.from);
        match place.is_nan() {
            true => self.from,
            false => place.clamp(-FARTHEST, FARTHEST),
        }
    }

    /// Returns about `n` round values, at most twice as many, in ascending order, and the digits that they need.
    pub(crate) fn ticks(&self, n: usize) -> (Vec<f64>, usize) {
        let n = n.max(1);
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
        // Both are exact: the range is at least a billionth of its values, the step a share of the range.
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let ticks = (0..2 * n)
            .map(|i| first + i as f64)
            .take_while(|&i| i <= last)
            .map(|i| i * step)
            .collect();
        (ticks, digits as usize)
    }

    /// Returns powers of ten, and where these are few their double and fivefold, whose logarithms lie
    /// on the axis.
    pub(crate) fn decades(&self) -> Vec<f64> {
        round_factors(self.low, self.high)
    }
}

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Linear.
    Linear,
    /// Logarithmic; points that are not above 0 are left out.
    Logarithmic,
}

impl AxisScale {
    /// Returns the quantity that is linear along the axis.
    pub(super) fn of(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.log10(),
        }
    }

    /// Returns places along the axis with their labels.
    pub(super) fn ticks(self, axis: &Linear) -> Vec<(f64, String)> {
        match self {
            Self::Linear => {
                let (places, digits) = axis.ticks(6);
                let label = |place: f64| (place, rounded(place, digits));
                places.into_iter().map(label).collect()
            }
            Self::Logarithmic => {
                let label = |value: f64| (value.log10(), axis_value(value));
                axis.decades().into_iter().map(label).collect()
            }
        }
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
            .map(|x| x.clamp(SMALLEST, LARGEST))
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
        round_factors(self.low.log10(), self.high.log10())
    }
}

/// Returns powers of ten between two logarithms and, where these are few, round multiples.
fn round_factors(low: f64, high: f64) -> Vec<f64> {
    let factors: &[f64] = match high - low {
        decades if decades < 0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
        decades if decades < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    multiples(factors, low, high)
}

/// Returns the multiples of powers of ten by these factors whose logarithms lie between two others, in ascending
/// order; of many powers every second, third and so on.
pub fn multiples(factors: &[f64], low: f64, high: f64) -> Vec<f64> {
    let powers = power_of(low.floor())..=power_of(high.ceil());
    let stride = decade_stride(&powers);
    let range = (low - 1e-9)..=(high + 1e-9);
    powers
        .filter(|power| power % stride == 0)
        .flat_map(|power| factors.iter().map(move |&factor| (factor, power)))
        .map(|(factor, power)| match power {
            power if power < 0 => factor / 10f64.powi(-power),
            power => factor * 10f64.powi(power),
        })
        .filter(|tick| range.contains(&tick.log10()))
        .collect()
}

/// Returns a power of ten that doubles have.
fn power_of(logarithm: f64) -> i32 {
    logarithm.clamp(SMALLEST.log10(), LARGEST.log10()) as i32
}

/// Returns the distance of powers of ten at which there are at most [`MOST_DECADES`] and one.
fn decade_stride(powers: &RangeInclusive<i32>) -> i32 {
    let decades = powers.end() - powers.start();
    (decades / MOST_DECADES + i32::from(decades % MOST_DECADES > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::{Rng, Seed};
    use rand::Rng as _;

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

    /// Doubles of random bits: all magnitudes alike, with subnormal numbers, infinities and what is no number.
    fn any_double(rng: &mut Rng) -> f64 {
        const EDGES: [f64; 8] = [
            0.0,
            5e-324,
            f64::MIN_POSITIVE,
            1e308,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NAN,
        ];
        match rng.next_u64() {
            choice if choice % 8 == 0 => EDGES[(choice / 8 % 8) as usize],
            _ => f64::from_bits(rng.next_u64()),
        }
    }

    #[track_caller]
    fn assert_ascending(ticks: &[f64], most: usize) {
        assert!(ticks.len() <= most, "{} ticks", ticks.len());
        assert!(ticks.iter().all(|tick| tick.is_finite()), "{ticks:?}");
        assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
    }

    #[test]
    fn axes_of_any_doubles_have_few_finite_ticks() {
        let mut rng = Seed::new(15).rng();
        let pixels = (40.0, 460.0);
        let near = |place: f64| (-FARTHEST..=FARTHEST).contains(&place);
        for _ in 0..20_000 {
            let first = any_double(&mut rng);
            let second = match rng.next_u64() % 4 {
                0 => first.next_up(),
                1 => first * (1.0 + 1e-12),
                _ => any_double(&mut rng),
            };
            let other = any_double(&mut rng);
            let range = Linear::padded([first, second].into_iter());
            for range in [(first, second), range] {
                let axis = Linear::new(range, pixels);
                for n in [0, 1, 4, 6] {
                    let (ticks, digits) = axis.ticks(n);
                    assert_ascending(&ticks, 2 * n.max(1));
                    assert!(digits <= 6);
                    for tick in ticks {
                        let at = axis.at(tick);
                        assert!((39.9..460.1).contains(&at), "{tick} of {range:?} at {at}");
                    }
                }
                assert!(near(axis.at(other)), "{other} of {range:?}");
                let decades = axis.decades();
                assert_ascending(&decades, 7 * (MOST_DECADES as usize + 2));
            }
            let axis = FromZero::new([first, second].into_iter(), pixels, 20.0);
            assert_ascending(&axis.ticks(), 7 * (MOST_DECADES as usize + 2));
            assert!(near(axis.at(other)) && near(axis.break_at()));
        }
    }

    #[test]
    fn many_decades_have_every_second_power() {
        let all = multiples(&[1.0], 0.0, 12.0);
        assert_eq!((all.len(), all[1]), (13, 10.0));
        let some = multiples(&[1.0], -6.0, 14.0);
        assert_eq!((some.len(), some[0], some[1]), (11, 1e-6, 1e-4));
    }
}
