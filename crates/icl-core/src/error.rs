//! The error of this crate and of the crates above it.

use std::fmt;
use std::sync::Arc;

use crate::samples::SampleError;

/// Kind of an error, as far as a caller may act on it. Whatever else is wrong is [`Invalid`](Self::Invalid), and its
/// message says what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Input, or a setting, that is not what is expected; the message says what.
    #[default]
    Invalid,
    /// Fewer samples than are needed: what needs them can be left out.
    TooFew,
    /// A member has left a [`Group`](crate::Group), after an error of its own or because it was ended.
    Left,
    /// The members of a group cannot continue together for another reason: they are not set up alike or out of step.
    Group,
}

/// A rejected setting or input, or a group of members that cannot continue.
pub type Error = ErrorOf<ErrorKind>;

/// Rejected input: where, what was found and what was expected, and a kind if callers act on it. Prints as
///
/// ```text
/// PLACE: found FOUND, expected EXPECTED
/// ```
///
/// Each crate has one alias of it, with its own kinds, such as [`Error`]. A new message needs no new type: it is
/// written where the fault is found.
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
pub struct ErrorOf<K>(Box<Parts<K>>);

#[derive(Debug, Clone)]
struct Parts<K> {
    kind: K,
    place: String,
    found: String,
    /// Empty if `found` is the whole message.
    expected: String,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl<K: Default> ErrorOf<K> {
    /// Creates an error of the default kind. The place is a file with its line and column, a field or a data set; it
    /// may be empty.
    pub fn new(
        place: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self(Box::new(Parts {
            kind: K::default(),
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
}

impl<K> ErrorOf<K> {
    /// Returns the error with another kind, which may be that of another crate.
    pub fn with_kind<L>(self, kind: L) -> ErrorOf<L> {
        let Parts {
            place,
            found,
            expected,
            source,
            ..
        } = *self.0;
        ErrorOf(Box::new(Parts {
            kind,
            place,
            found,
            expected,
            source,
        }))
    }

    /// Returns the error with the one that caused it.
    pub fn with_source(mut self, source: impl Into<SampleError>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
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
    pub fn kind(&self) -> K
    where
        K: Copy,
    {
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

impl<K> fmt::Display for ErrorOf<K> {
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

impl<K: fmt::Debug> std::error::Error for ErrorOf<K> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Kinds of the errors of a crate that depends on this one. `?` converts an [`Error`] to an error of such a kind.
pub trait KindAbove: Default {
    /// Converts the kind of an error of this crate. The default is the default kind, that of rejected input.
    fn above(_: ErrorKind) -> Self {
        Self::default()
    }
}

impl<K: KindAbove> From<Error> for ErrorOf<K> {
    fn from(error: Error) -> Self {
        let kind = K::above(error.kind());
        error.with_kind(kind)
    }
}

/// Equal kinds and messages; causes are not compared.
impl<K: PartialEq> PartialEq for ErrorOf<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind == other.0.kind && self.to_string() == other.to_string()
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
