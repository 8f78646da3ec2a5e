//! The error of this crate and of the crates above it.

use std::fmt;
use std::sync::Arc;

/// Kind of an error, as far as a caller may act on it. Whatever else is wrong is [`Invalid`](Self::Invalid), and its message says
/// what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Input, or a setting, that is not what is expected.
    Invalid,
    /// Fewer samples than are needed: what needs them can be left out.
    TooFew,
}

/// Rejected input: where, what was found and what was expected. Prints as
///
/// ```text
/// PLACE: found FOUND, expected EXPECTED
/// ```
///
/// A new message needs no new type: it is written where the fault is found.
///
/// ```
/// use icl_core::Error;
///
/// let error = Error::new("points.csv, line 3", "2 values", 4);
/// assert_eq!(error.to_string(), "points.csv, line 3: found 2 values, expected 4");
/// let error = Error::new("line 3", "2 values", 4).within("points.csv");
/// assert_eq!(error.place(), "points.csv: line 3");
/// ```
#[derive(Debug, Clone)]
pub struct Error(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    kind: ErrorKind,
    place: String,
    found: String,
    /// Empty if `found` is the whole message.
    expected: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of kind [`Invalid`](ErrorKind::Invalid). The place is a file with its line and column, a field or
    /// a data set; it may be empty.
    pub fn new(
        place: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self(Box::new(Parts {
            kind: ErrorKind::Invalid,
            place: place.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
            source: None,
        }))
    }

    /// Creates an error whose message is not of the form `found X, expected Y`, such as a list of several.
    pub fn message(message: impl fmt::Display) -> Self {
        Self::new("", message, "")
    }

    /// Checks a condition on what was found.
    ///
    /// # Errors
    /// [`new`](Self::new) of the other arguments if the condition does not hold.
    pub fn unless(
        holds: bool,
        place: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Result<(), Self> {
        match holds {
            true => Ok(()),
            false => Err(Self::new(place, found, expected)),
        }
    }

    /// Returns the error with another kind.
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Returns the error with the one that caused it.
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Returns the error at another place, such as the option that set a field.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.place = place.to_string();
        self
    }

    /// Returns the error with its place within another one: `OUTER: PLACE`.
    pub fn within(mut self, outer: impl fmt::Display) -> Self {
        let place = &mut self.0.place;
        *place = match place.is_empty() {
            true => outer.to_string(),
            false => format!("{outer}: {place}"),
        };
        self
    }

    /// Returns what a caller may act on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the place: a file with its line and column, a field or a data set. May be empty.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Returns what was found, or the whole of a [`message`](Self::message).
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Returns what was expected; empty for a [`message`](Self::message).
    pub fn expected(&self) -> &str {
        &self.0.expected
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts {
            place,
            found,
            expected,
            ..
        } = &*self.0;
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        match expected.is_empty() {
            true => f.write_str(found),
            false => write!(f, "found {found}, expected {expected}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Equal kinds and messages; causes are not compared.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

/// Checks the temperature τ and, if it is given, the number of negatives K of a loss.
///
/// # Errors
/// If a value is not a finite number above 0.
pub(crate) fn check_loss(temperature: f64, negatives: Option<f64>) -> Result<(), Error> {
    let above_0 = |place: &str, found: f64| {
        let holds = found.is_finite() && found > 0.0;
        Error::unless(holds, place, found, "a number above 0")
    };
    above_0("temperature", temperature)?;
    negatives.map_or(Ok(()), |found| above_0("negatives (K)", found))
}
