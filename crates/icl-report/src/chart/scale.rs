//! Axes: places of quantities on a chart.
//!
//! Records may hold any number that a double can be, and axes answer them all with finite places and few ticks:
//! quantities beyond ±10³⁰⁰ lie at the axis' end, and no range is so narrow that doubles could not tell its ticks
//! apart.

use std::ops::RangeInclusive;

use crate::text::number::{axis_count, rounded};

/// Largest absolute value that an axis tells apart from larger ones; sums and products of a few remain finite.
const LARGEST: f64 = 1e300;
/// Smallest positive value on a logarithmic axis.
const SMALLEST: f64 = 1e-300;
/// Smallest range in proportion to its values. A double tells 10⁶ values apart in it.
const NARROWEST: f64 = 1e-9;
/// Pixels within which all places lie, far outside every chart.
const FARTHEST: f64 = 1e6;
/// Largest number of labels along an axis that counts.
const MOST_COUNTED: usize = 10;
/// Width of the place for 0 on a logarithmic axis.
const GUTTER: f64 = 30.0;
/// Margin above and below the values of an axis, as a share of their range.
const MARGIN: f64 = 0.06;
/// Smallest range of a padded axis in proportion to its values, on a logarithmic one in powers of ten.
const LEAST_RANGE: f64 = 0.02;
/// Powers of ten below which a logarithmic axis has the round values of a linear one.
const FEW_DECADES: f64 = 0.5;
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
        let (low, high) = match high > low {
            true => (low, high),
            false => (low - 0.5, low + 0.5),
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
}

/// Scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisScale {
    /// Linear.
    Linear,
    /// Logarithmic; points that are not above 0 are left out.
    Logarithmic,
    /// Logarithmic with a place for 0 at its start.
    FromZero,
    /// Whole numbers from 1 on, such as experiences; a line is broken where a number is missing.
    Counted,
}

impl AxisScale {
    /// Returns the quantity that is linear along the axis.
    pub(super) fn of(self, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Counted => value,
            Self::Logarithmic | Self::FromZero => value.log10(),
        }
    }

    /// Returns the range of finite values, in what is linear along the axis, with a margin on both sides: that of 0 and
    /// 1 without any, and `(0, 1)` where all are 0.
    pub(super) fn padded(self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        let (low, high) = ends(values.map(|value| self.of(value)));
        // Around one value, or values that luck alone may part, the axis shows their size and not their difference.
        let least = match self {
            Self::Linear | Self::Counted => LEAST_RANGE * low.abs().max(high.abs()),
            Self::Logarithmic | Self::FromZero => LEAST_RANGE,
        };
        let margin = (MARGIN * (high - low)).max((least - (high - low)) / 2.0);
        match low == high && margin == 0.0 {
            true => (0.0, 1.0),
            false => (low - margin, high + margin),
        }
    }
}

/// Axis between two pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    scale: AxisScale,
    linear: Linear,
    start: f64,
}

impl Axis {
    /// Creates an axis from pixel `from` to pixel `to` that holds these values, from 0 to 1 (1 to 10 on a logarithmic
    /// one) without any.
    pub(super) fn holding(
        scale: AxisScale,
        values: impl Iterator<Item = f64>,
        pixels: (f64, f64),
    ) -> Self {
        Self::new(scale, ends(values.map(|value| scale.of(value))), pixels)
    }

    /// Creates an axis from pixel `from` to pixel `to` over a range of what is linear along it.
    pub(super) fn new(scale: AxisScale, range: (f64, f64), (from, to): (f64, f64)) -> Self {
        let gutter = match scale {
            AxisScale::FromZero => GUTTER,
            _ => 0.0,
        };
        Self {
            scale,
            linear: Linear::new(range, (from + gutter, to)),
            start: from,
        }
    }

    /// Returns the pixel of a value; 0 and less lie at the start of an axis with a place for 0.
    pub(super) fn at(&self, value: f64) -> f64 {
        match self.scale {
            AxisScale::FromZero if value.is_nan() || value <= 0.0 => self.start,
            scale => self.linear.at(scale.of(value)),
        }
    }

    /// Returns whether a value has a place: it is finite and, on a logarithmic axis, above 0.
    pub(super) fn has_place(&self, value: f64) -> bool {
        match self.scale {
            AxisScale::FromZero => value.is_finite(),
            scale => scale.of(value).is_finite(),
        }
    }

    /// Returns the pixel in the middle of the place for 0, where the axis is cut; `None` without such a place.
    pub(super) fn cut(&self) -> Option<f64> {
        let has_zero = self.scale == AxisScale::FromZero;
        has_zero.then_some(self.start + 0.5 * GUTTER)
    }

    /// Returns pixels with their labels, about `n` on a linear axis; `size` is the length of a label along the axis,
    /// and none overlap.
    pub(super) fn ticks(&self, n: usize, size: impl Fn(&str) -> f64) -> Vec<(f64, String)> {
        let Linear { low, high, .. } = self.linear;
        let labelled = |values: Vec<f64>| -> Vec<(f64, String)> {
            values
                .into_iter()
                .map(|x| (self.at(x), axis_count(x)))
                .collect()
        };
        let round = |(values, digits): (Vec<f64>, usize)| -> Vec<(f64, String)> {
            let label = |value: f64| match value >= 1e4 {
                true => axis_count(value),
                false => rounded(value, digits),
            };
            values.into_iter().map(|x| (self.at(x), label(x))).collect()
        };
        let ticks = match self.scale {
            AxisScale::Linear => round(self.linear.ticks(n)),
            AxisScale::Logarithmic if high - low < FEW_DECADES => {
                let ends = Linear::new((10f64.powf(low), 10f64.powf(high)), (0.0, 1.0));
                let (mut values, digits) = ends.ticks(n);
                values.retain(|value| (low..=high).contains(&value.log10()));
                round((values, digits))
            }
            AxisScale::Counted => labelled(counted(high as usize, MOST_COUNTED).collect()),
            AxisScale::Logarithmic => labelled(round_factors(low, high)),
            AxisScale::FromZero => labelled([vec![0.0], round_factors(low, high)].concat()),
        };
        let mut apart: Vec<(f64, String)> = Vec::new();
        for (at, label) in ticks {
            let is_free = |last: &(f64, String)| {
                (at - last.0).abs() >= (size(&last.1) + size(&label)) / 2.0 + 3.0
            };
            if apart.last().is_none_or(is_free) {
                apart.push((at, label));
            }
        }
        apart
    }
}

/// Returns the least and the greatest finite value; `(0, 1)` without any.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|x| x.is_finite());
    match finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    }) {
        (low, high) if low > high => (0.0, 1.0),
        ends => ends,
    }
}

/// Returns the numbers from 1 to `n` that are labelled: at most `most`, at a round distance.
pub(super) fn counted(n: usize, most: usize) -> impl Iterator<Item = f64> {
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|of| of * 10_usize.saturating_pow(power)));
    let step = steps.into_iter().find(|step| n / step <= most);
    let step = step.unwrap_or(n.max(1));
    (1..=n / step).map(move |i| (i * step) as f64)
}

/// Returns powers of ten between two logarithms and, where these are few, round multiples.
fn round_factors(low: f64, high: f64) -> Vec<f64> {
    let factors: &[f64] = match high - low {
        decades if decades < 1.0 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
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
    ((powers.end() - powers.start() + MOST_DECADES - 1) / MOST_DECADES).max(1)
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
    }

    /// Labels of an axis around these values.
    fn labels(scale: AxisScale, values: &[f64]) -> Vec<String> {
        let range = scale.padded(values.iter().copied());
        let axis = Axis::new(scale, range, (200.0, 0.0));
        for value in values {
            assert!((0.0..=200.0).contains(&axis.at(*value)), "{values:?}");
        }
        axis.ticks(5, |_| 12.0)
            .into_iter()
            .map(|tick| tick.1)
            .collect()
    }

    #[test]
    fn an_axis_lies_around_its_values() {
        use AxisScale::{Linear, Logarithmic};
        assert_eq!(
            labels(Linear, &[0.91, 0.93, 0.92]),
            ["0.910", "0.915", "0.920", "0.925", "0.930"]
        );
        // One value, and values that are nearly equal: not from 0, and no rounding over the whole height.
        assert_eq!(labels(Linear, &[3.0]), ["2.98", "3.00", "3.02"]);
        assert_eq!(labels(Linear, &[3.0, 3.001]), labels(Linear, &[3.0]));
        assert_eq!(labels(Linear, &[-3.0]), ["−3.02", "−3.00", "−2.98"]);
        assert_eq!(
            labels(Linear, &[0.0]),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(Linear.padded([f64::NAN].into_iter()), (-0.06, 1.06));
        // Less than half a power of ten has values between.
        assert_eq!(
            labels(Logarithmic, &[2.2, 2.8]),
            ["2.2", "2.4", "2.6", "2.8"]
        );
        assert_eq!(
            labels(Logarithmic, &[0.7, 3.9]),
            ["0.7", "1", "1.5", "2", "3", "4"]
        );
    }

    #[test]
    fn zero_has_a_place_on_a_logarithmic_axis() {
        let of = |values: &[f64], pixels| {
            Axis::holding(AxisScale::FromZero, values.iter().copied(), pixels)
        };
        let axis = of(&[0.0, 10.0, 1000.0], (50.0, 450.0));
        assert_eq!(
            (axis.at(0.0), axis.at(10.0), axis.at(1000.0)),
            (50.0, 80.0, 450.0)
        );
        assert!((axis.at(100.0) - 265.0).abs() < 1e-9);
        assert_eq!(axis.cut(), Some(65.0));
        // 0 and seven more: 10, 20, 50, …, 1000.
        assert_eq!(axis.ticks(4, |_| 1.0).len(), 8);
        let labels = axis.ticks(4, |_| 60.0).into_iter().map(|tick| tick.1);
        assert_eq!(labels.collect::<Vec<_>>(), ["0", "20", "50", "200", "500"]);
        let nothing = of(&[0.0], (0.0, 100.0));
        assert!(nothing.at(0.0) == 0.0 && nothing.at(5.0).is_finite());
        let one = of(&[4.0], (0.0, 100.0));
        assert!((one.at(4.0) - 65.0).abs() < 1e-9);
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
            let range = AxisScale::Linear.padded([first, second].into_iter());
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
            }
            for scale in [AxisScale::Logarithmic, AxisScale::FromZero] {
                let axis = Axis::holding(scale, [first, second].into_iter(), pixels);
                let ticks = axis.ticks(4, |_| -3.0).into_iter().map(|tick| tick.0);
                assert_ascending(
                    &ticks.collect::<Vec<_>>(),
                    7 * (MOST_DECADES as usize + 2) + 1,
                );
                assert!(near(axis.at(other)));
            }
        }
    }

    #[test]
    fn labels_are_whole_numbers_at_a_round_distance() {
        let of = |n| counted(n, 10).collect::<Vec<_>>();
        assert_eq!(of(0), [0.0; 0]);
        assert_eq!(of(1), [1.0]);
        assert_eq!(of(5), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(of(13), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        assert_eq!(of(40), [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]);
        assert_eq!(of(300), [50.0, 100.0, 150.0, 200.0, 250.0, 300.0]);
    }

    #[test]
    fn large_values_are_written_in_thousands() {
        let of = |range| {
            let axis = Axis::new(AxisScale::Linear, range, (0.0, 400.0));
            axis.ticks(2, |_| 1.0).into_iter().map(|tick| tick.1)
        };
        let labels: Vec<String> = of((0.0, 25_000.0)).chain(of((0.0, 0.5))).collect();
        assert_eq!(labels, ["0", "20 k", "0.00", "0.25", "0.50"]);
    }

    #[test]
    fn many_decades_have_every_second_power() {
        let all = multiples(&[1.0], 0.0, 12.0);
        assert_eq!((all.len(), all[1]), (13, 10.0));
        let some = multiples(&[1.0], -6.0, 14.0);
        assert_eq!((some.len(), some[0], some[1]), (11, 1e-6, 1e-4));
    }
}
