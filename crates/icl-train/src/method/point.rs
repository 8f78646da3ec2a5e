//! A method is one value on each of five axes.

use std::fmt;
use std::str::FromStr;

use icl_meta::RateChoice;

use crate::method::axes::{OptimizerChoice, Start};
use crate::method::error::MethodError;
use crate::method::loss::{Loss, LossKind};
use crate::sampling::choice::Sampling;

/// A method: its name and its five choices.
///
/// It is written, and read, as a point of the five axes:
///
/// ```
/// use icl_train::Method;
///
/// let method: Method = "sampling=share:0.2,loss=corrected,rate=cosine".parse()?;
/// assert_eq!(
///     method.to_string(),
///     "start=trained,sampling=share:0.2,loss=corrected,optimizer=plain,rate=cosine"
/// );
/// # Ok::<(), icl_train::MethodError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Name in programs and records.
    pub name: String,
    /// The encoder that a run starts from.
    pub start: Start,
    /// The samples of an epoch.
    pub sampling: Sampling,
    /// What a step minimises; without it, nothing is trained.
    pub loss: Option<Loss>,
    /// How gradients become an update.
    pub optimizer: OptimizerChoice,
    /// Source of the learning rate.
    pub rate: RateChoice,
}

impl Method {
    /// Creates a method that no registry names: from θ₀, with the plain optimizer and a fixed learning
    /// rate.
    pub fn new(sampling: Sampling, loss: impl Into<Loss>) -> Self {
        Self {
            name: "unnamed".to_owned(),
            start: Start::Trained,
            sampling,
            loss: Some(loss.into()),
            optimizer: OptimizerChoice::Plain,
            rate: RateChoice::Fixed,
        }
    }

    /// Returns whether the method keeps the noise of old data apart from that of new data, as Eq. 9
    /// does.
    pub fn separates_noise(&self) -> bool {
        self.loss.is_some_and(Loss::separates_noise)
    }

    /// Checks that the choices go together.
    ///
    /// # Errors
    /// - [`MethodError::NoSupport`] for meta-optimization of NCE-I;
    /// - [`MethodError::NoParts`] for Eq. 9 on batches that do not tell old from new.
    pub fn check(&self) -> Result<(), MethodError> {
        let Some(loss) = self.loss else {
            return Ok(());
        };
        if self.optimizer.is_meta() && !loss.separates_noise() {
            return Err(MethodError::NoSupport);
        }
        if loss.separates_noise() && !self.sampling.has_parts() {
            return Err(MethodError::NoParts {
                loss: loss.to_string(),
                sampling: self.sampling.to_string(),
            });
        }
        Ok(())
    }
}

/// The five choices as `axis=value`, separated by commas, in the order of the axes.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loss = self
            .loss
            .map_or_else(|| NONE.to_owned(), |loss| loss.to_string());
        write!(
            f,
            "start={},sampling={},loss={loss},optimizer={},rate={}",
            self.start, self.sampling, self.optimizer, self.rate
        )
    }
}

/// The loss of a method that trains nothing.
const NONE: &str = "none";

/// Reads a point: `axis=value`, separated by commas. An axis that is left out has the value of a warm
/// start: `start=trained,sampling=all,loss=info-nce,optimizer=plain,rate=fixed`. The point, whole and in
/// the order of the axes, is the method's name.
impl FromStr for Method {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        let mut method = Self::new(Sampling::All, LossKind::InfoNce);
        let mut seen: Vec<&str> = Vec::new();
        for choice in text.split(',') {
            let (axis, value) = choice.split_once('=').ok_or_else(|| MethodError::Axis {
                found: choice.to_owned(),
            })?;
            let (axis, value) = (axis.trim(), value.trim());
            if seen.contains(&axis) {
                return Err(MethodError::Twice {
                    axis: axis.to_owned(),
                    found: text.to_owned(),
                });
            }
            seen.push(axis);
            match axis {
                "start" => method.start = value.parse()?,
                "sampling" => method.sampling = value.parse()?,
                "loss" if value == NONE => method.loss = None,
                "loss" => method.loss = Some(value.parse()?),
                "optimizer" => method.optimizer = value.parse()?,
                "rate" => method.rate = rate(value)?,
                _ => {
                    return Err(MethodError::Axis {
                        found: axis.to_owned(),
                    });
                }
            }
        }
        method.check()?;
        method.name = method.to_string();
        Ok(method)
    }
}

fn rate(text: &str) -> Result<RateChoice, MethodError> {
    text.parse().map_err(|expected| MethodError::Value {
        axis: "rate",
        found: text.to_owned(),
        expected,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::registry::methods;

    #[test]
    fn every_method_of_the_registry_is_a_point() {
        for method in methods() {
            let point: Method = method.to_string().parse().unwrap();
            let name = point.name.clone();
            assert_eq!(name, method.to_string());
            let expected = Method {
                name,
                ..method.clone()
            };
            assert_eq!(point, expected);
            assert_eq!(method.check(), Ok(()));
        }
    }

    #[test]
    fn axes_that_are_left_out_are_those_of_a_warm_start() {
        let warm: Method = "rate=fixed".parse().unwrap();
        assert_eq!(
            warm.to_string(),
            "start=trained,sampling=all,loss=info-nce,optimizer=plain,rate=fixed"
        );
    }

    #[test]
    fn points_that_cannot_be_are_named() {
        for (text, expected) in [
            ("speed=high", "the axis speed"),
            ("warm", "the axis warm"),
            ("loss=nce", "loss: found nce"),
            ("rate=high", "rate: found high"),
            ("optimizer=adam", "optimizer: found adam"),
            ("start=here", "start: found here"),
            ("sampling=some", "sampling: found some"),
            ("rate=fixed,rate=cosine", "the axis rate twice"),
            (
                "optimizer=meta,sampling=stratified",
                "does not tell old data from new",
            ),
            ("loss=corrected", "loss corrected with the sampling all"),
            (
                "loss=published+distillation,sampling=new",
                "with the sampling new",
            ),
        ] {
            let error = text.parse::<Method>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
