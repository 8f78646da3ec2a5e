//! The choice of the old samples that are kept.

use std::fmt;
use std::str::FromStr;

use crate::error::TrainError;

/// Choice of the old samples that later updates of a stream may use.
///
/// | text | kept |
/// |---|---|
/// | `all` | all samples |
/// | `reservoir:N` | N samples, each that has come with the same probability (Vitter, 1985) |
/// | `equal:N` | N samples, as many of each experience |
/// | `exponential:N` | N samples, of each experience half as many as of the next |
/// | `fifo:N` | the N samples of the last experiences |
///
/// An experience with fewer samples than its share leaves the rest to the others.
///
/// Sources: `equal` and `exponential` are Cumulative-Equal and Cumulative-Exp of TiC-CLIP (Garg et al., 2024); `fifo` is
/// compared with `reservoir` for online contrastive learning by SOLAR (2026).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keep {
    /// All samples.
    All,
    /// A uniform sample of all that have come.
    Reservoir(usize),
    /// The same number of each experience.
    Equal(usize),
    /// Half as many of each experience as of the next.
    Exponential(usize),
    /// The last samples.
    Fifo(usize),
}

/// Least number of samples of a buffer: an anchor needs another sample as its negative.
const LEAST: usize = 2;

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Reservoir(n) => write!(f, "reservoir:{n}"),
            Self::Equal(n) => write!(f, "equal:{n}"),
            Self::Exponential(n) => write!(f, "exponential:{n}"),
            Self::Fifo(n) => write!(f, "fifo:{n}"),
        }
    }
}

impl FromStr for Keep {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let wrong = || {
            let found: String = text.chars().take(100).collect();
            let expected = format!(
                "`all`, `reservoir:N`, `equal:N`, `exponential:N` or `fifo:N` with N of at least {LEAST}"
            );
            TrainError::new("keep", format!("{found:?}"), expected)
        };
        let Some((name, n)) = text.split_once(':') else {
            return (text == "all").then_some(Self::All).ok_or_else(wrong);
        };
        let n: usize = n.parse().map_err(|_| wrong())?;
        match name {
            _ if n < LEAST => Err(wrong()),
            "reservoir" => Ok(Self::Reservoir(n)),
            "equal" => Ok(Self::Equal(n)),
            "exponential" => Ok(Self::Exponential(n)),
            "fifo" => Ok(Self::Fifo(n)),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_its_text() {
        for text in [
            "all",
            "reservoir:2",
            "equal:100",
            "exponential:7",
            "fifo:512",
        ] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "some",
            "all:3",
            "reservoir",
            "reservoir:1",
            "equal:-3",
            "fifo:x",
            "newest:5",
        ] {
            let error = text.parse::<Keep>().unwrap_err().to_string();
            assert!(error.starts_with("keep: found"), "{error}");
        }
    }
}
