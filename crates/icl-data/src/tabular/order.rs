//! Order of the rows by the values of a column.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::date_forms::iso_form;
use super::exact;
use super::raw_column::{Contents, RawColumn, Value};
use super::table::RawTable;
use crate::error::DataError;
use crate::instant::moment;
use crate::place::Found;
use crate::tabular::error::unknown_column;

impl RawTable {
    /// Returns the rank of each row by its value in a column; equal values have equal ranks, and that of missing values
    /// is the least.
    ///
    /// Numbers are in their order, to the last digit. Texts are in the order of time if all of them are dates of ISO
    /// 8601, with a time or not, and else in that of their bytes.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if there is no such column;
    /// - if its texts are dates in another form, or only some of them state their offset from UTC.
    pub fn ranks(&self, column: &str) -> Result<Vec<usize>, DataError> {
        let found = self.column(column);
        let names: Vec<String> = self.column_names().into_iter().map(str::to_owned).collect();
        let found = found.ok_or_else(|| unknown_column(&self.name, column, &names))?;
        let texts: Vec<_> = (0..self.n_rows()).map(|row| text(found, row)).collect();
        let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
        if found.contents == Contents::Numbers {
            let numbers: Vec<_> = texts.iter().map(|text| text.map(exact::written)).collect();
            return Ok(ranks_of(&numbers, exact::compare));
        }
        ranks_of_texts(&texts).map_err(|(text, expected)| {
            DataError::new(
                format!("{}, column {}", Found::new(&self.name), Found::new(column)),
                format!(
                    "{}, a date whose text is not in the order of time",
                    Found::new(text)
                ),
                format!("its form {}", Found::new(&expected)),
            )
        })
    }

    /// Returns whether rows are ordered by the bytes of their texts in a column, which holds neither numbers nor dates;
    /// `false` if there is no such column.
    pub fn is_ordered_as_text(&self, column: &str) -> bool {
        self.column(column).is_some_and(|found| {
            let is_date = |row| text(found, row).is_none_or(|text| moment(&text).is_some());
            found.contents != Contents::Numbers && !(0..self.n_rows()).all(is_date)
        })
    }
}

/// Returns the rank of each text, see [`RawTable::ranks`].
///
/// # Errors
/// With the first text that is not in the order of time, and the form in which it would be.
fn ranks_of_texts<'a>(texts: &[Option<&'a str>]) -> Result<Vec<usize>, (&'a str, String)> {
    let n_texts = texts.iter().flatten().count();
    let moments: Vec<Option<(i128, bool)>> = texts.iter().map(|text| moment((*text)?)).collect();
    let n_moments = moments.iter().flatten().count();
    if n_moments == n_texts {
        let states_offset = |of: &Option<(i128, bool)>| of.is_some_and(|(_, states)| states);
        let is_local = |(_, of): &(&Option<&str>, &Option<(i128, bool)>)| !states_offset(of);
        let mut known = texts
            .iter()
            .zip(&moments)
            .filter(|(text, _)| text.is_some());
        if let Some((Some(text), _)) = known
            .find(is_local)
            .filter(|_| moments.iter().any(states_offset))
        {
            return Err((text, format!("{text}+00:00")));
        }
        let keys: Vec<Option<i128>> = moments.iter().map(|of| Some(of.as_ref()?.0)).collect();
        return Ok(ranks_of(&keys, Ord::cmp));
    }
    let mut others = texts
        .iter()
        .flatten()
        .filter_map(|&text| Some((text, iso_form(text)?)));
    let first = others.next();
    // A few texts may look like dates by chance: the column is one of dates only if at least half of all do.
    let are_dates = 2 * (n_moments + 1 + others.count()) >= n_texts;
    match first.filter(|_| are_dates) {
        Some(first) => Err(first),
        None => Ok(ranks_of(texts, Ord::cmp)),
    }
}

/// Returns the text of a value; `None` if it is missing.
fn text(column: &RawColumn, row: usize) -> Option<Cow<'_, str>> {
    let is_missing = column.value(row) == Value::Missing;
    (!is_missing).then(|| column.fields.trimmed(row))
}

/// Returns the rank of each key, and of each missing one the least.
fn ranks_of<K>(keys: &[Option<K>], compare: impl Fn(&K, &K) -> Ordering) -> Vec<usize> {
    let compare = |a: usize, b: usize| match (&keys[a], &keys[b]) {
        (Some(a), Some(b)) => compare(a, b),
        (a, b) => a.is_some().cmp(&b.is_some()),
    };
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| compare(a, b));
    let mut ranks = vec![0; keys.len()];
    for pair in order.windows(2) {
        let is_greater = compare(pair[0], pair[1]) == Ordering::Less;
        ranks[pair[1]] = ranks[pair[0]] + usize::from(is_greater);
    }
    ranks
}
