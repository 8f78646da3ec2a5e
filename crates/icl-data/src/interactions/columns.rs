//! Columns of a file of interactions, by its format.

use crate::error::DataError;
use crate::place::{FileRef, Found};

/// Name and type of each column of a typed header that is used: users, items, times, ratings.
const TYPED: [&str; 4] = [
    "user_id:token",
    "item_id:token",
    "timestamp:float",
    "rating:float",
];
/// Number of columns of the formats of MovieLens: user, item, rating, time.
const MOVIELENS_WIDTH: usize = 4;

/// Positions of the columns of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    /// Text between the values of a line.
    pub(super) separator: &'static str,
    /// Number of values of a line.
    pub(super) width: usize,
    pub(super) user: usize,
    pub(super) item: usize,
    pub(super) time: usize,
    /// Position of the ratings; a typed header may have none.
    pub(super) rating: Option<usize>,
    /// Presence of a header, which is no interaction.
    pub(super) has_header: bool,
}

impl Columns {
    /// Detects the format on the first line that is not empty, which is line `at`.
    ///
    /// # Errors
    /// [`DataError`] if it is of no known format, or a column of a typed header is missing or repeated.
    pub(super) fn detect(file: &FileRef, at: usize, first_line: &str) -> Result<Self, DataError> {
        let is_typed = |value: &str| value.trim().ends_with(":token");
        if first_line.split('\t').any(is_typed) {
            return Self::typed(file, at, first_line);
        }
        let separator = if first_line.contains("::") {
            "::"
        } else if first_line.contains('\t') {
            "\t"
        } else {
            return Err(DataError::new(
                file.line(at),
                Found::new(first_line),
                "a header with `user_id:token` (RecBole), or user, item, rating and time, separated by tabs or by \
                 `::` (MovieLens)",
            ));
        };
        Ok(Self {
            separator,
            width: MOVIELENS_WIDTH,
            user: 0,
            item: 1,
            time: 3,
            rating: Some(2),
            has_header: false,
        })
    }

    /// Reads a typed header.
    fn typed(file: &FileRef, at: usize, header: &str) -> Result<Self, DataError> {
        let find = |wanted: &'static str| {
            let mut found = header.split('\t').map(str::trim).enumerate();
            let mut positions = found.by_ref().filter(|(_, name)| *name == wanted);
            let first = positions.next().map(|(position, _)| position);
            match positions.next() {
                None => Ok(first),
                Some(_) => Err(DataError::new(
                    file.line(at),
                    format!("the column `{wanted}` twice in the header"),
                    "it once",
                )),
            }
        };
        let needed = |expected: &'static str| {
            find(expected)?.ok_or_else(|| {
                DataError::new(
                    file.line(at),
                    format!("no column `{expected}` in the header"),
                    "it once",
                )
            })
        };
        let [user, item, time, rating] = TYPED;
        Ok(Self {
            separator: "\t",
            width: header.split('\t').count(),
            user: needed(user)?,
            item: needed(item)?,
            time: needed(time)?,
            rating: find(rating)?,
            has_header: true,
        })
    }
}
