//! Columns that number the rows.

use std::collections::HashSet;

use crate::tabular::fields::Fields;

/// Least number of rows that are counted on purpose: fewer values may count by chance.
const MIN_ROWS: usize = 10;

/// Returns `true` if a column of numbers numbers the rows, see
/// [`RawTable::index_columns`](crate::RawTable::index_columns).
pub(super) fn numbers_rows(
    name: &str,
    heading: Option<&str>,
    is_first: bool,
    fields: &Fields,
) -> bool {
    let whole = || fields.iter().map(|field| field.trim().parse::<i128>().ok());
    let is_unnamed = is_first && heading.is_some_and(|heading| heading.trim().is_empty());
    if is_unnamed || name.starts_with("Unnamed: 0") {
        // Rows that were filtered or shuffled keep their numbers.
        let mut seen = HashSet::new();
        return whole().all(|number| number.is_some_and(|number| seen.insert(number)));
    }
    let counts = || {
        let numbers = whole().zip(whole().skip(1));
        numbers.into_iter().all(|pair| match pair {
            (Some(a), Some(b)) => a.checked_add(1) == Some(b),
            _ => false,
        })
    };
    fields.len() >= MIN_ROWS && counts()
}

/// Returns `true` if a column is the index of a data frame by its name, whatever it holds.
pub(super) fn is_index_name(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_");
    let level = level.and_then(|level| level.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|it| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, heading: Option<&str>, is_first: bool, numbers: &[&str]) -> bool {
        numbers_rows(name, heading, is_first, &numbers.iter().copied().collect())
    }

    #[test]
    fn rows_are_numbered_by_counting_or_by_a_data_frame() {
        let counting = ["7", "8", "09", " 10", "11", "12", "13", "14", "15", "16"];
        assert!(of("id", None, false, &counting));
        // By chance.
        assert!(!of("id", None, false, &counting[..9]));
        let mut gap = counting;
        gap[9] = "17";
        assert!(!of("id", None, true, &gap));
        let mut fraction = counting;
        fraction[9] = "16.0";
        assert!(!of("id", None, true, &fraction));
        for (name, heading, is_first) in [
            ("1", Some(""), true),
            ("1", Some(" "), true),
            ("Unnamed: 0", None, false),
            ("Unnamed: 0.1", None, true),
        ] {
            assert!(of(name, heading, is_first, &["5", "0", "3"]), "{name}");
            assert!(!of(name, heading, is_first, &["5", "0", "5"]), "{name}");
            assert!(!of(name, heading, is_first, &["5", "0", ""]), "{name}");
        }
        assert!(!of("2", Some(""), false, &["0", "1", "2"]));
        assert!(!of("1", None, true, &["0", "1", "2"]));
    }

    #[test]
    fn pyarrow_names_an_index() {
        assert!(is_index_name("__index_level_0__") && is_index_name("__index_level_12__"));
        for name in ["__index_level___", "__index_level_a__", "index_level_0", ""] {
            assert!(!is_index_name(name), "{name}");
        }
    }
}
