//! A method as a point: one value on each of five axes.

use std::fmt;
use std::str::FromStr;

use icl_core::RateChoice;

use crate::error::TrainError;
use crate::method::loss::{Loss, LossKind};
use crate::method::optimizer_choice::OptimizerChoice;
use crate::method::sampling::Sampling;
use crate::method::start::Start;

/// Method of updating an encoder: a name, and one choice on each of five axes.
///
/// | axis | field | question | values |
/// |---|---|---|---|
/// | start | [`start`](Self::start) | From which encoder does the run start? | [`Start`] |
/// | sampling | [`sampling`](Self::sampling) | Which samples are anchors and noise, in which proportion? | [`Sampling`] |
/// | loss | [`loss`](Self::loss) | Which loss does a step minimise? | [`Loss`], or none |
/// | optimizer | [`optimizer`](Self::optimizer) | Which rule turns gradients into an update? | [`OptimizerChoice`] |
/// | rate | [`rate`](Self::rate) | Which source does the learning rate have? | [`RateChoice`] |
///
/// Every method of the paper, every baseline and every method of this project is such a point.
/// [`methods`](crate::methods) returns the points that have a name, and [`Method::named`] finds one of
/// them. Any other combination can be created from its choices, or from its text:
///
/// ```
/// use icl_train::Method;
///
/// let method: Method = "sampling=share:0.2,loss=corrected,rate=cosine".parse()?;
/// assert_eq!(
///     method.to_string(),
///     "start=trained,sampling=share:0.2,loss=corrected,optimizer=plain,rate=cosine"
/// );
/// # Ok::<(), icl_train::TrainError>(())
/// ```
///
/// Axes that are left out of a text have the value of a warm start, `start=trained`, `sampling=all`,
/// `loss=info-nce`, `optimizer=plain` and `rate=fixed`.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Name in programs and records. A point that was read from a text has that point as its name.
    pub name: String,
    /// Encoder from which a run starts.
    pub start: Start,
    /// Samples of an epoch, which are anchors and noise.
    pub sampling: Sampling,
    /// Loss that a step minimises. A method without a loss trains nothing.
    pub loss: Option<Loss>,
    /// Rule that turns gradients into an update.
    pub optimizer: OptimizerChoice,
    /// Source of the learning rate.
    pub rate: RateChoice,
}

impl Method {
    /// Creates a method named "unnamed" that starts from θ₀ and has the plain optimizer and a fixed
    /// learning rate. Change its other fields as needed.
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

    /// Returns whether the loss separates the noise of old data from that of new data, as Eq. 9 does.
    pub fn separates_noise(&self) -> bool {
        self.loss.is_some_and(Loss::separates_noise)
    }

    /// Checks that the choices fit each other.
    ///
    /// # Errors
    /// For meta-optimization of NCE-I, which has neither support nor query, and for a loss of Eq. 9 with a sampling
    /// whose batches do not hold both old and new samples in known proportion.
    pub fn check(&self) -> Result<(), TrainError> {
        let Some(loss) = self.loss else {
            return Ok(());
        };
        TrainError::unless(
            !self.optimizer.is_meta() || loss.separates_noise(),
            "",
            "meta-optimization with a loss that does not separate old data from new",
            "loss=published or loss=corrected (Eq. 9)",
        )?;
        TrainError::unless(
            !loss.separates_noise() || self.sampling.has_parts(),
            "",
            format!(
                "the loss {loss} with the sampling {}, whose batches do not hold both old and new data in known \
                 proportion",
                self.sampling
            ),
            "stratified, share:F, widening, widening:F or buffer",
        )
    }

    /// Checks that the method can train with batches in so many shards
    /// ([`TrainingSettings::n_shards`](crate::TrainingSettings::n_shards)).
    ///
    /// # Errors
    /// For more than one under meta-optimization or with a learned rate: their gradients and comparisons take whole
    /// batches.
    pub fn check_shards(&self, n_shards: usize) -> Result<(), TrainError> {
        let what = match self.rate {
            _ if n_shards == 1 => return Ok(()),
            _ if self.optimizer.is_meta() => "meta-optimization",
            RateChoice::Learned | RateChoice::LearnedAsPublished => "a learned rate",
            _ => return Ok(()),
        };
        Err(TrainError::message(format!(
            "found batches in {n_shards} shards with {what}, whose gradients need whole batches; expected one process and no \
             chunk"
        )))
    }
}

/// Writes the five choices as `axis=value`, comma-separated, in the order of the axes.
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

/// Text of the loss of a method that trains nothing.
const NONE: &str = "none";

/// Reads a point: a comma-separated list of `axis=value`. An axis that is left out has the value of a warm
/// start: `start=trained,sampling=all,loss=info-nce,optimizer=plain,rate=fixed`. The complete point, in the
/// order of the axes, becomes the method's name. Names of the registry are read by [`Method::named`].
impl FromStr for Method {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let mut method = Self::new(Sampling::All, LossKind::InfoNce);
        let mut seen: Vec<&str> = Vec::new();
        for choice in text.split(',') {
            let (axis, value) = choice.split_once('=').ok_or_else(|| no_axis(choice))?;
            let (axis, value) = (axis.trim(), value.trim());
            if seen.contains(&axis) {
                let found = format!("the axis {axis} twice in {text}");
                return Err(TrainError::new("", found, "it once"));
            }
            seen.push(axis);
            match axis {
                "start" => method.start = value.parse()?,
                "sampling" => method.sampling = value.parse()?,
                "loss" if value == NONE => method.loss = None,
                "loss" => method.loss = Some(value.parse()?),
                "optimizer" => method.optimizer = value.parse()?,
                "rate" => method.rate = rate(value)?,
                _ => return Err(no_axis(axis)),
            }
        }
        method.check()?;
        method.name = method.to_string();
        Ok(method)
    }
}

/// Reads a value of the rate axis.
fn rate(text: &str) -> Result<RateChoice, TrainError> {
    text.parse()
        .map_err(|expected: &str| TrainError::new("rate", text, expected))
}

fn no_axis(found: &str) -> TrainError {
    let expected = "start, sampling, loss, optimizer or rate";
    TrainError::new("", format!("the axis {found}"), expected)
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
                "does not separate old data from new",
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
