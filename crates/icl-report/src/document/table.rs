//! Tables with typed cells.

use crate::chart::Colour;
use crate::summary::{Outcome, SpeedUp, Summary};
use crate::text::number::{MISSING, NEVER, range, range_of_speed_up, speed_up};
use crate::text::rich_text::RichText;

/// Number of columns on a terminal by default, the first one included.
const N_BY_DEFAULT: usize = 4;

/// Table whose columns may be in groups with a common heading.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Heading of the first column.
    pub corner: RichText,
    /// Columns after the first.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Row>,
}

/// Column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Heading shared with neighbouring columns; may be empty.
    pub group: RichText,
    /// Heading.
    pub name: RichText,
    /// Importance, the smallest number first: the most important columns are shown on a terminal.
    pub priority: usize,
}

/// Row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the row.
    pub head: RichText,
    /// Colour of the row's series in the charts.
    pub colour: Option<Colour>,
    /// Cells, one per column.
    pub cells: Vec<TableCell>,
    /// Whether the row is there for comparison only.
    pub is_floor: bool,
}

/// Cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCell {
    /// Nothing was measured.
    Missing,
    /// The target was not reached; with the range over the seeds.
    Never(Option<String>),
    /// A number as text, with its range over the seeds or another addition.
    Value(String, Option<String>),
    /// A word or a sentence.
    Word(String),
}

impl Table {
    /// Returns the indices of the most important columns, in order.
    pub(crate) fn default_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = (0..self.columns.len()).collect();
        columns.sort_by_key(|&i| self.columns[i].priority);
        columns.truncate(N_BY_DEFAULT - 1);
        columns.sort_unstable();
        columns
    }

    /// Returns whether a column has another group than the one before it.
    pub(crate) fn begins_group(&self, column: usize) -> bool {
        column == 0 || self.columns[column].group != self.columns[column - 1].group
    }

    /// Returns the rows with those for comparison at the end.
    pub(crate) fn ordered_rows(&self) -> impl Iterator<Item = &Row> {
        let rows = |floors: bool| self.rows.iter().filter(move |row| row.is_floor == floors);
        rows(false).chain(rows(true))
    }
}

impl Column {
    /// Creates a column without a group, of the lowest priority.
    pub fn new(name: impl Into<RichText>) -> Self {
        Self {
            group: RichText::default(),
            name: name.into(),
            priority: usize::MAX,
        }
    }

    /// Creates columns in a group.
    pub fn group(group: impl Into<RichText>, names: &[&'static str]) -> Vec<Self> {
        let group = group.into();
        let column = |name: &&'static str| Self {
            group: group.clone(),
            ..Self::new(RichText::marked(name))
        };
        names.iter().map(column).collect()
    }

    /// Sets the priority.
    pub fn priority(self, priority: usize) -> Self {
        Self { priority, ..self }
    }
}

impl Row {
    /// Creates a row without a colour.
    pub fn new(head: impl Into<RichText>, cells: Vec<TableCell>) -> Self {
        Self {
            head: head.into(),
            colour: None,
            cells,
            is_floor: false,
        }
    }

    /// Marks the row with a colour.
    pub(crate) fn coloured(self, colour: Colour) -> Self {
        Self {
            colour: Some(colour),
            ..self
        }
    }

    /// Makes the row one for comparison only.
    pub fn floor(self) -> Self {
        Self {
            is_floor: true,
            ..self
        }
    }
}

impl TableCell {
    /// Creates a cell with a median and, where seeds differ, its range.
    pub fn of(summary: Option<Summary>, format: impl Fn(f64) -> String) -> Self {
        let Some(summary) = summary else {
            return Self::Missing;
        };
        let range = range(&summary, &format).map(|range| format!("[{range}]"));
        match summary.median {
            Some(median) => Self::Value(format(median), range),
            None => Self::Never(range),
        }
    }

    /// Creates a cell with the median of a speed-up and `[slowest–quickest]` where the seeds differ.
    pub fn of_speed_up(of: Option<SpeedUp>) -> Self {
        let Some(of) = of else {
            return Self::Missing;
        };
        let range = range_of_speed_up(&of).map(|range| format!("[{range}]"));
        match of.median {
            Outcome::Never => Self::Never(range),
            median => Self::Value(speed_up(median), range),
        }
    }

    /// Creates a cell with a number; one that is not finite is missing.
    pub fn number(value: f64, format: impl Fn(f64) -> String) -> Self {
        match value.is_finite() {
            true => Self::Value(format(value), None),
            false => Self::Missing,
        }
    }

    /// Returns the content.
    pub(crate) fn main(&self) -> &str {
        match self {
            Self::Missing => MISSING,
            Self::Never(_) => NEVER,
            Self::Value(text, _) | Self::Word(text) => text,
        }
    }

    /// Returns the addition to the content.
    pub(crate) fn addition(&self) -> Option<&str> {
        match self {
            Self::Never(addition) | Self::Value(_, addition) => addition.as_deref(),
            Self::Missing | Self::Word(_) => None,
        }
    }

    /// Returns content and addition in a line.
    pub fn in_line(&self) -> String {
        match self.addition() {
            Some(addition) => format!("{} {addition}", self.main()),
            None => self.main().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::number::seconds;

    #[test]
    fn cells_say_never_where_they_must() {
        let show = |values: &[Option<f64>]| {
            let summary = Summary::new(values.iter().copied());
            TableCell::of(summary, |x| format!("{} s", seconds(x))).in_line()
        };
        assert_eq!(
            show(&[Some(0.31), Some(0.28), None]),
            "0.31 s [0.28 s–never]"
        );
        assert_eq!(show(&[Some(0.31), None, None]), "never [0.31 s–never]");
        assert_eq!(show(&[None, None]), "never");
        assert_eq!(show(&[Some(0.5)]), "0.50 s");
        assert_eq!(show(&[]), "–");
        assert_eq!(TableCell::number(f64::NAN, seconds), TableCell::Missing);
    }

    #[test]
    fn words_stand_where_a_speed_up_is_no_number() {
        use Outcome::{AtStart, Never, Ratio};
        let in_words = |outcomes: &[Outcome]| {
            TableCell::of_speed_up(SpeedUp::over(outcomes.iter().copied())).in_line()
        };
        assert_eq!(in_words(&[]), "–");
        assert_eq!(in_words(&[Ratio(10.06)]), "10.1×");
        assert_eq!(in_words(&[Ratio(0.123)]), "0.12×");
        assert_eq!(
            in_words(&[Never, Ratio(2.0), AtStart]),
            "2.0× [never–at start]"
        );
        assert_eq!(in_words(&[Never, Never]), "never");
    }

    #[test]
    fn the_most_important_columns_keep_their_order() {
        let column = |name: &'static str| Column::new(name);
        let table = Table {
            corner: "corner".into(),
            columns: vec![
                column("a"),
                column("b").priority(3),
                column("c"),
                column("d").priority(1),
                column("e").priority(2),
            ],
            rows: Vec::new(),
        };
        assert_eq!(table.default_columns(), [1, 3, 4]);
        let few = Table {
            columns: vec![column("a"), column("b")],
            ..table
        };
        assert_eq!(few.default_columns(), [0, 1]);
    }
}
