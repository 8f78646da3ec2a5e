//! The text of a division into experiences.

use std::fmt;
use std::str::FromStr;

use icl_core::Error;

use crate::experiences::stream_split::StreamSplit;
use crate::place::Found;

/// Largest number of experiences.
const MAX_EXPERIENCES: usize = 100_000;

impl fmt::Display for StreamSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(n) => write!(f, "data:{n}"),
            Self::Size(n) => write!(f, "size:{n}"),
            Self::Class(n) => write!(f, "class:{n}"),
            Self::Time { column, n: None } => write!(f, "time:{column}"),
            Self::Time { column, n: Some(n) } => write!(f, "time:{column}:{n}"),
            Self::Blurred { n, share } => write!(f, "blurred:{n}:{share}"),
            Self::Imbalanced { n, ratio } => write!(f, "imbalanced:{n}:{ratio}"),
            Self::Concurrent { n, width } => write!(f, "concurrent:{n}:{width}"),
        }
    }
}

impl FromStr for StreamSplit {
    type Err = Error;

    /// Parses the text of a division. The last part of `time:A:B` is a number of experiences if it is one.
    fn from_str(text: &str) -> Result<Self, Error> {
        let expected = "`data:T`, `class:T`, `size:T`, `time:COLUMN`, `time:COLUMN:T`, `blurred:T:SHARE`, \
                        `imbalanced:T:RATIO` or `concurrent:T:N`";
        parse(text).ok_or_else(|| Error::new("split", Found::new(text), expected))
    }
}

fn parse(text: &str) -> Option<StreamSplit> {
    let count = |text: &str| {
        let n: usize = text.parse().ok()?;
        (2..=MAX_EXPERIENCES).contains(&n).then_some(n)
    };
    let number = |text: &str, is_valid: fn(f64) -> bool| {
        let value: f64 = text.parse().ok()?;
        (value.is_finite() && is_valid(value)).then_some(value)
    };
    let (name, rest) = text.split_once(':')?;
    if name == "time" {
        let (column, n) = match rest.rsplit_once(':') {
            Some((column, last)) if last.parse::<usize>().is_ok() => (column, Some(count(last)?)),
            _ => (rest, None),
        };
        let column = column.trim();
        return (!column.is_empty()).then(|| StreamSplit::Time {
            column: column.to_owned(),
            n,
        });
    }
    let (n, argument) = match rest.split_once(':') {
        Some((n, argument)) => (count(n)?, Some(argument)),
        None => (count(rest)?, None),
    };
    Some(match (name, argument) {
        ("data", None) => StreamSplit::Data(n),
        ("size", None) => StreamSplit::Size(n),
        ("class", None) => StreamSplit::Class(n),
        ("blurred", Some(share)) => StreamSplit::Blurred {
            n,
            share: number(share, |it| (0.0..=1.0).contains(&it))?,
        },
        ("imbalanced", Some(ratio)) => StreamSplit::Imbalanced {
            n,
            ratio: number(ratio, |it| it >= 1.0)?,
        },
        ("concurrent", Some(width)) => StreamSplit::Concurrent {
            n,
            width: width.parse().ok().filter(|width| (1..=n).contains(width))?,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_division_is_its_text() {
        for text in [
            "data:5",
            "size:2",
            "class:10",
            "time:month",
            "time:a:b",
            "time:a:b:12",
            "blurred:5:0.5",
            "imbalanced:4:10",
            "concurrent:5:2",
        ] {
            assert_eq!(text.parse::<StreamSplit>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "data",
            "data:",
            "data:1",
            "data:5:2",
            "class:x",
            "class:100001",
            "time:",
            "time: :3",
            "time:a:1",
            "blurred:5",
            "blurred:5:1.5",
            "blurred:5:NaN",
            "imbalanced:5:0.5",
            "imbalanced:5:inf",
            "concurrent:5:0",
            "concurrent:5:6",
            "shuffled:5",
        ] {
            let error = text.parse::<StreamSplit>().unwrap_err();
            assert!(
                error.to_string().contains("expected `data:T`"),
                "{text}: {error}"
            );
        }
    }
}
