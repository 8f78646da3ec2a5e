//! The choice of the moment of an update.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::TrainError;

/// Smallest drift that counts where none is given, in nats.
const EFFECT: f64 = 0.05;

/// Rule that decides whether pending data trigger an update.
///
/// | text | updates |
/// |---|---|
/// | `always` | at every experience |
/// | `every:N` | when N experiences are pending |
/// | `samples:N` | when N samples are pending |
/// | `drift`, `drift:NATS` | when a drift of the noise is larger than chance and than NATS (0.05) |
/// | `regret:L` | when what the live encoder has cost its users, in nats summed over samples, reaches L times the passes of the last update |
/// | `never` | never |
///
/// Experiences for which there is no update stay pending: they are merged into the next update, never dropped.
///
/// Sources: triggers by time, amount and drift, and by cost, are those of Modyn (Böther et al., 2025), with the bias of inference and its
/// permutation test ([`icl_core::drift`]) in place of a distance of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum When {
    /// At every experience.
    Always,
    /// When so many experiences are pending.
    Every(usize),
    /// When so many samples are pending.
    Samples(usize),
    /// When the drift is larger than chance and than this effect, in nats.
    Drift(f64),
    /// When the regret reaches so many nats for each pass of the last update.
    Regret(f64),
    /// Never.
    Never,
}

impl When {
    /// Returns whether a decision needs a measurement of the drift.
    pub fn needs_drift(self) -> bool {
        matches!(self, Self::Drift(_) | Self::Regret(_))
    }

    /// Returns the smallest drift that counts, in nats.
    pub fn effect(self) -> f64 {
        match self {
            Self::Drift(effect) => effect,
            _ => EFFECT,
        }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always => f.write_str("always"),
            Self::Every(n) => write!(f, "every:{n}"),
            Self::Samples(n) => write!(f, "samples:{n}"),
            Self::Drift(nats) => write!(f, "drift:{nats}"),
            Self::Regret(of_pass) => write!(f, "regret:{of_pass}"),
            Self::Never => f.write_str("never"),
        }
    }
}

impl FromStr for When {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        parse(text).ok_or_else(|| {
            let found: String = text.chars().take(100).collect();
            let expected = "`always`, `every:N`, `samples:N`, `drift`, `drift:NATS`, `regret:L` or `never`, with N of at least \
                            1, NATS from 0 and L above 0";
            TrainError::new("when", format!("{found:?}"), expected)
        })
    }
}

impl From<When> for String {
    fn from(when: When) -> Self {
        when.to_string()
    }
}

impl TryFrom<String> for When {
    type Error = TrainError;

    fn try_from(text: String) -> Result<Self, TrainError> {
        text.parse()
    }
}

fn parse(text: &str) -> Option<When> {
    let count = |text: &str| text.parse().ok().filter(|n| *n >= 1);
    let number = |text: &str| text.parse().ok().filter(|it: &f64| it.is_finite());
    Some(match text.split_once(':') {
        None if text == "always" => When::Always,
        None if text == "never" => When::Never,
        None if text == "drift" => When::Drift(EFFECT),
        Some(("every", n)) => When::Every(count(n)?),
        Some(("samples", n)) => When::Samples(count(n)?),
        Some(("drift", nats)) => When::Drift(number(nats).filter(|it| *it >= 0.0)?),
        Some(("regret", of_pass)) => When::Regret(number(of_pass).filter(|it| *it > 0.0)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_its_text() {
        for text in [
            "always",
            "every:3",
            "samples:100",
            "drift:0.1",
            "regret:0.5",
            "never",
        ] {
            assert_eq!(text.parse::<When>().unwrap().to_string(), text);
        }
        assert_eq!("drift".parse(), Ok(When::Drift(0.05)));
        for text in [
            "",
            "now",
            "always:1",
            "every",
            "every:0",
            "samples:-1",
            "drift:-1",
            "drift:NaN",
            "regret:0",
            "regret",
        ] {
            let error = text.parse::<When>().unwrap_err().to_string();
            assert!(error.starts_with("when: found"), "{error}");
        }
    }
}
