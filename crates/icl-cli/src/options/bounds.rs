//! Bounds of sizes and numbers, checked while options are parsed, on the command line and in a file.
//!
//! A size beyond its bound is a slip of the keyboard: it would end in an allocation that no machine grants, long
//! after the command has begun to work. A number beyond its bounds is 0 or infinite in single precision, or its
//! products are. What is not above 0 is left to the check of the settings that the options fill, which names it.

use std::fmt::Display;

use anyhow::anyhow;
use icl_core::Error;

use crate::process::failure::Failure;

/// Largest width of a layer or of a projection head: two layers of it share 2²⁶ weights, 256 MiB.
pub const WIDTH: usize = 1 << 13;
/// Largest number of layers: a step keeps the values of all of them for its gradient.
pub const LAYERS: usize = 1 << 10;
/// Largest number of weights of an encoder: 1 GiB in single precision, 4 GiB with their gradient and Adam's moments.
const WEIGHTS: usize = 1 << 28;
/// Largest side of a view in pixels: a batch of 128 views of it takes 6 GiB before the first layer.
pub const IMAGE_SIDE: usize = 1 << 11;
/// Largest batch: its similarities are a square matrix, of 16 GiB at this size.
pub const BATCH: usize = 1 << 16;
/// Largest number of epochs, and of steps that are compared: records and states hold several numbers of each.
pub const EPOCHS: usize = 1_000_000;
/// Largest number of samples, which the program would have to hold in memory.
pub const SAMPLES: usize = u32::MAX as usize;
/// Largest number of samples for which kept ones stand: an epoch is a list of as many.
pub const REPRESENTED: usize = 100_000_000;
/// K: a batch holds fewer negatives, and larger factors lose the loss to rounding in single precision; of smaller ones
/// nothing is left but the positive.
pub const NEGATIVES: Range = Range::new(1e-9, 1e9);
/// Learning rates: LARS takes up to about 16; products with gradients are 0 below and infinite above in single
/// precision.
pub const RATE: Range = Range::new(1e-30, 1e4);
/// Weight decays: beyond, nothing is left of a weight after a step at a learning rate of 0.01; below, single precision
/// changes no weight at any.
pub const WEIGHT_DECAY: Range = Range::new(1e-12, 100.0);
/// Temperatures: similarities are divided by them, whose rounding in single precision is then 1e-3 nats; above,
/// all samples have the same similarity.
pub const TEMPERATURE: Range = Range::new(1e-4, 1e4);
/// Weights of a term of the loss, and norms: beyond, single precision holds the one term or the other, not both.
pub const WEIGHT: Range = Range::new(1e-9, 1e9);
/// Shares of the risk: no gain is more than all of it.
pub const SHARE: Range = Range::new(1e-30, 1.0);
/// Noise on values of standard deviation 1, of which nothing is left at a thousand times that.
pub const SIGMA: Range = Range::new(1e-30, 1e3);
/// Largest memory for decoded images in MiB: 4 TiB, more than the machines have on which the program runs.
pub const CACHE_MIB: usize = 1 << 22;
/// Largest number of seeds: each is a run of every method, and a point in the charts.
pub const SEEDS: u64 = 10_000;

/// Smallest and largest of the numbers above 0 that an option takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    smallest: f64,
    largest: f64,
}

impl Range {
    const fn new(smallest: f64, largest: f64) -> Self {
        Self { smallest, largest }
    }
}

/// Returns the parser of a whole number from 0 to a bound.
pub fn at_most<T>(largest: T) -> impl Fn(&str) -> Result<T, Error> + Clone
where
    T: std::str::FromStr + PartialOrd + Display + Copy,
{
    move |text| {
        let number = text.parse().ok().filter(|number| *number <= largest);
        let error = || Error::message(format!("expected a whole number from 0 to {largest}"));
        number.ok_or_else(error)
    }
}

/// Returns the parser of a largest number of samples, which may be the word `all`.
pub fn samples_or_all(text: &str) -> Result<usize, Error> {
    match text {
        "all" => Ok(SAMPLES),
        _ => at_most(SAMPLES)(text).map_err(|error| Error::message(format!("{error}, or all"))),
    }
}

/// Returns the parser of a number within bounds. Numbers that are not above 0 are left to the check of the settings,
/// which names their range.
pub fn number_in(range: Range) -> impl Fn(&str) -> Result<f64, Error> + Clone {
    let Range { smallest, largest } = range;
    move |text| {
        let is_taken = |number: &f64| {
            number.is_nan()
                || (-largest..=0.0).contains(number)
                || (smallest..=largest).contains(number)
        };
        let number = text.parse().ok().filter(is_taken);
        let error = || {
            Error::message(format!(
                "expected a number from {smallest:e} to {largest:e}"
            ))
        };
        number.ok_or_else(error)
    }
}

/// Checks the number of weights of a new encoder, given the names and shapes of its tensors, before any of them is
/// created.
///
/// # Errors
/// If there are more than 2²⁸.
pub fn check_weights(tensors: impl Iterator<Item = (String, Vec<usize>)>) -> Result<(), Failure> {
    let sizes = tensors.map(|(_, shape)| shape.into_iter().fold(1, usize::saturating_mul));
    let found = sizes.fold(0, usize::saturating_add);
    match found <= WEIGHTS {
        true => Ok(()),
        false => Err(Failure::input(anyhow!(
            "encoder: found {found} weights with these layers, widths and views, expected at most {WEIGHTS}, which \
             take 1 GiB"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_at_the_bound_is_taken_and_one_above_is_not() {
        let width = at_most(WIDTH);
        assert_eq!((width("0"), width("8192")), (Ok(0), Ok(8192)));
        for wrong in ["8193", "18446744073709551615", "1e3", "-1", "", "ten"] {
            let error = width(wrong).unwrap_err().to_string();
            assert_eq!(error, "expected a whole number from 0 to 8192", "{wrong}");
        }
    }

    #[test]
    fn a_number_within_its_bounds_is_taken() {
        let temperature = number_in(TEMPERATURE);
        for taken in ["1e-4", "0.1", "1e4"] {
            assert_eq!(temperature(taken), Ok(taken.parse().unwrap()), "{taken}");
        }
        // The check of the settings names these.
        assert_eq!((temperature("0"), temperature("-1")), (Ok(0.0), Ok(-1.0)));
        assert!(temperature("nan").unwrap().is_nan());
        for wrong in ["1.1e4", "inf", "-inf", "0.99e-4", "1e-320", "many", ""] {
            let error = temperature(wrong).unwrap_err().to_string();
            assert_eq!(error, "expected a number from 1e-4 to 1e4", "{wrong}");
        }
    }

    #[test]
    fn an_encoder_has_at_most_so_many_weights() {
        let tensors = |n: usize| (0..n).map(|_| ("w".to_owned(), vec![WIDTH, WIDTH]));
        assert!(check_weights(tensors(4)).is_ok());
        assert!(check_weights(tensors(5)).is_err());
        let endless = std::iter::once(("w".to_owned(), vec![usize::MAX, 2]));
        assert!(check_weights(endless).is_err());
    }
}
