//! Upper bounds of sizes, checked while options are parsed, on the command line and in a file.
//!
//! A size beyond its bound is a slip of the keyboard: it would end in an allocation that no machine grants, long
//! after the command has begun to work. Lower bounds are those of the settings that the options fill.

use std::fmt::Display;

use anyhow::anyhow;

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
/// Largest K: a batch holds fewer negatives, and larger factors lose the loss to rounding in single precision.
pub const NEGATIVES: f64 = 1e9;
/// Largest memory for decoded images in MiB: 4 TiB, more than the machines have on which the program runs.
pub const CACHE_MIB: usize = 1 << 22;
/// Largest number of seeds: each is a run of every method, and a point in the charts.
pub const SEEDS: u64 = 10_000;

/// Error in a size that is no number, or beyond its bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {kind} from 0 to {largest}")]
pub struct BoundError {
    kind: &'static str,
    largest: String,
}

/// Returns the parser of a whole number from 0 to a bound.
pub fn at_most<T>(largest: T) -> impl Fn(&str) -> Result<T, BoundError> + Clone
where
    T: std::str::FromStr + PartialOrd + Display + Copy,
{
    move |text| bounded(text, largest, "a whole number")
}

/// Returns the parser of a number to a bound. Numbers below 0 and what is no number are left to the check of the
/// settings, which names their range.
pub fn number_at_most(largest: f64) -> impl Fn(&str) -> Result<f64, BoundError> + Clone {
    move |text| match text.parse::<f64>() {
        Ok(number) if number.is_nan() => Ok(number),
        _ => bounded(text, largest, "a number"),
    }
}

fn bounded<T>(text: &str, largest: T, kind: &'static str) -> Result<T, BoundError>
where
    T: std::str::FromStr + PartialOrd + Display + Copy,
{
    let number = text.parse().ok().filter(|number| *number <= largest);
    number.ok_or_else(|| BoundError {
        kind,
        largest: largest.to_string(),
    })
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
        let negatives = number_at_most(NEGATIVES);
        assert_eq!((negatives("1e9"), negatives("-1")), (Ok(1e9), Ok(-1.0)));
        assert!(negatives("nan").unwrap().is_nan());
        for wrong in ["1.1e9", "inf", "many"] {
            let error = negatives(wrong).unwrap_err().to_string();
            assert_eq!(error, "expected a number from 0 to 1000000000", "{wrong}");
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
