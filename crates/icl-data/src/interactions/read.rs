//! Reader of files of interactions.

use std::collections::HashMap;
use std::path::Path;

use super::columns::Columns;
use super::log::{Interaction, Interactions};
use crate::disk::{read_unpacked, text_of};
use crate::error::{DataError, DataErrorKind};
use crate::place::{FileRef, Found};

/// Beginning of text that some programs put before UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads interactions of users with items from a file of RecBole (`NAME.inter`) or MovieLens (`u.data`, `ratings.dat`),
/// plain or compressed by gzip.
///
/// The first line determines the format:
///
/// | format | first line |
/// |---|---|
/// | RecBole | a header of names and types, separated by tabs, with `user_id:token`, `item_id:token` and `timestamp:float`, in any order; other columns are ignored, but for a `rating:float`, which must hold numbers |
/// | MovieLens 100K | `user item rating time`, separated by tabs |
/// | MovieLens 1M and 10M | `user::item::rating::time` |
///
/// Every interaction is a positive, whatever its rating. Users and items are names, also where they look like numbers.
/// Lines may end in CRLF, empty lines are skipped, and blanks around a value are dropped. A user may interact with an
/// item several times at different times. Memory is in proportion to the size of the file.
///
/// ```no_run
/// use icl_data::read_interactions;
///
/// let ratings = read_interactions("ml-100k.inter")?;
/// println!("{} users, {} items", ratings.users().len(), ratings.items().len());
/// # Ok::<(), icl_data::DataError>(())
/// ```
///
/// # Errors
/// A [`DataError`] that names the file and the line, what was found and what was expected, if the file is unreadable or
/// malformed, holds more than 2 GiB, or unpacks to more than 64 MiB and to more than 200 times its size. Malformed are,
/// among others, a last line without line end, which may be cut within its time, and two lines of the same user, item
/// and time.
pub fn read_interactions(path: impl AsRef<Path>) -> Result<Interactions, DataError> {
    let path = path.as_ref();
    let file = FileRef::on_disk(path);
    read_bytes(&file, name_of(path), &read_unpacked(&file)?)
}

/// Returns `true` if `path` is for [`read_interactions`], by its name only; a folder never is.
pub fn looks_like_interactions(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    (plain.ends_with(".inter") || plain == "u.data" || plain == "ratings.dat") && !path.is_dir()
}

/// Returns the name of a file without its endings.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = plain.rsplit_once('.').map_or(plain, |(stem, _)| stem);
    stem.to_owned()
}

fn read_bytes(file: &FileRef, name: String, bytes: &[u8]) -> Result<Interactions, DataError> {
    let text = text_of(bytes, file)?;
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let numbered = text.split('\n').enumerate();
    let mut lines = numbered
        .map(|(index, line)| (index + 1, line.strip_suffix('\r').unwrap_or(line)))
        .filter(|(_, line)| !line.is_empty())
        .peekable();
    let empty = || {
        DataError::new(file, "no interactions", "at least one line of values")
            .with_kind(DataErrorKind::Empty)
    };
    let &(at, first_line) = lines.peek().ok_or_else(empty)?;
    let columns = Columns::detect(file, at, first_line)?;
    if columns.has_header {
        lines.next();
    }
    let mut rows = Rows::new(file, columns);
    for (at, line) in lines {
        rows.push(at, line)?;
    }
    let Some(&last) = rows.lines.last() else {
        return Err(empty());
    };
    if !text.ends_with('\n') {
        let at = file.line(last as usize);
        return Err(DataError::new(
            at,
            "a last line without line end",
            "one: the file may be cut",
        ));
    }
    rows.check_distinct()?;
    let [users, items] = [&rows.users.names, &rows.items.names];
    Ok(Interactions::new(name, users, items, rows.rows))
}

/// Rows of a file, in its order.
struct Rows<'a> {
    file: &'a FileRef,
    columns: Columns,
    /// Values of a line.
    values: Vec<&'a str>,
    users: Names<'a>,
    items: Names<'a>,
    rows: Vec<Interaction>,
    /// Line of each row, counted from 1. A file of at most 2 GiB has fewer than 2^32 lines.
    lines: Vec<u32>,
}

impl<'a> Rows<'a> {
    fn new(file: &'a FileRef, columns: Columns) -> Self {
        Self {
            file,
            columns,
            values: Vec::new(),
            users: Names::default(),
            items: Names::default(),
            rows: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Adds line `at`, counted from 1.
    fn push(&mut self, at: usize, line: &'a str) -> Result<(), DataError> {
        let columns = self.columns;
        self.values.clear();
        // One value too many shows that a line is too long: a line of separators alone must take no memory.
        let values = line.split(columns.separator).map(str::trim);
        self.values.extend(values.take(columns.width + 1));
        if self.values.len() != columns.width {
            return Err(DataError::new(
                self.file.line(at),
                format!("{} values", line.split(columns.separator).count()),
                columns.width,
            ));
        }
        if let Some(rating) = columns.rating {
            self.number(at, "rating", self.values[rating])?;
        }
        let time = self.number(at, "time", self.values[columns.time])?;
        for (what, column) in [("user", columns.user), ("item", columns.item)] {
            if self.values[column].is_empty() {
                let at = self.file.line(at);
                return Err(DataError::new(at, format!("no name of the {what}"), "one"));
            }
        }
        self.rows.push(Interaction {
            user: self.users.number(self.values[columns.user]),
            item: self.items.number(self.values[columns.item]),
            // −0 and 0 are the same time.
            time: time + 0.0,
        });
        self.lines.push(at as u32);
        Ok(())
    }

    fn number(&self, at: usize, what: &'static str, text: &str) -> Result<f64, DataError> {
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| {
            DataError::new(
                self.file.line(at),
                format!("the {what} {}", Found::new(text)),
                "a finite number",
            )
        })
    }

    /// Checks that no two rows are the same, and names the first line that is a second one.
    fn check_distinct(&self) -> Result<(), DataError> {
        let key = |index: u32| {
            let row = self.rows[index as usize];
            (row.user, row.item, row.time.to_bits())
        };
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_unstable_by_key(|&index| (key(index), index));
        let equal = order.windows(2).filter(|pair| key(pair[0]) == key(pair[1]));
        match equal.min_by_key(|pair| pair[1]) {
            None => Ok(()),
            Some(pair) => Err(DataError::new(
                self.file.line(self.lines[pair[1] as usize] as usize),
                format!(
                    "the user, item and time of line {} again",
                    self.lines[pair[0] as usize] as usize
                ),
                "each interaction once",
            )),
        }
    }
}

/// Names in the order in which they are found.
#[derive(Default)]
struct Names<'a> {
    names: Vec<&'a str>,
    numbers: HashMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    /// Returns the number of a name, and a new one of a new name.
    fn number(&mut self, name: &'a str) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }
}
