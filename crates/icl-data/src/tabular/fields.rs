//! Texts of the rows of a column.

use std::borrow::Cow;
use std::mem;

use super::decimal::Decimal;
use super::values::number;

/// Texts of the rows of a column, to the byte as their file has them.
#[derive(Debug, Clone)]
pub(super) struct Fields(Store);

/// Form in which the fields of a column are kept: the first of these that holds all of them.
#[derive(Debug, Clone)]
enum Store {
    /// Decimal numbers of up to 8 digits, and empty fields.
    Short(Vec<u32>),
    /// Decimal numbers of up to 17 digits, and empty fields.
    Long(Vec<u64>),
    Texts(Texts),
}

/// Any texts, one after the other in one string.
#[derive(Debug, Clone, Default)]
struct Texts {
    text: String,
    /// Last 32 bits of the end of each field in the text. Short fields, such as names of classes, take more memory for
    /// it than for the text.
    ends: Vec<u32>,
    /// For each whole 2^32 bytes of text, the first row that ends behind them; for most tables none.
    turns: Vec<usize>,
}

impl Default for Fields {
    fn default() -> Self {
        Self(Store::Short(Vec::new()))
    }
}

impl Fields {
    pub(super) fn len(&self) -> usize {
        match &self.0 {
            Store::Short(codes) => codes.len(),
            Store::Long(codes) => codes.len(),
            Store::Texts(texts) => texts.ends.len(),
        }
    }

    pub(super) fn push(&mut self, field: &str) {
        loop {
            let decimal = match &mut self.0 {
                Store::Texts(texts) => return texts.push(field),
                Store::Short(_) | Store::Long(_) => Decimal::of(field),
            };
            let is_held = match (&mut self.0, decimal) {
                (Store::Short(codes), Some(decimal)) => push_code(codes, decimal.short()),
                (Store::Long(codes), Some(decimal)) => push_code(codes, decimal.long()),
                _ => false,
            };
            if is_held {
                return;
            }
            self.widen(decimal.is_some_and(|decimal| decimal.long().is_some()));
        }
    }

    /// Keeps the fields in a form that holds more: long codes if a new field has one, else texts.
    fn widen(&mut self, has_code: bool) {
        let fields = mem::take(self);
        self.0 = match fields.0 {
            Store::Short(codes) if has_code => {
                let long = |code| Decimal::of_short(code).long();
                Store::Long(codes.into_iter().filter_map(long).collect())
            }
            _ => {
                let mut texts = Texts::default();
                fields.iter().for_each(|field| texts.push(&field));
                Store::Texts(texts)
            }
        };
    }

    /// Returns the field of a row.
    pub(super) fn get(&self, row: usize) -> Cow<'_, str> {
        match &self.0 {
            Store::Short(codes) => Decimal::of_short(codes[row]).text().into(),
            Store::Long(codes) => Decimal::of_long(codes[row]).text().into(),
            Store::Texts(texts) => texts.get(row).into(),
        }
    }

    /// Returns the field of a row without blanks around it.
    pub(super) fn trimmed(&self, row: usize) -> Cow<'_, str> {
        match self.get(row) {
            Cow::Borrowed(field) => field.trim().into(),
            // Decimal numbers have no blanks.
            field => field,
        }
    }

    /// Returns the number in the field of a row, which may be infinite; `None` for text and missing values.
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        match &self.0 {
            Store::Short(codes) => Decimal::of_short(codes[row]).number(),
            Store::Long(codes) => Decimal::of_long(codes[row]).number(),
            Store::Texts(texts) => number(texts.get(row).trim()),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Returns the fields of the rows with these indices, in their order.
    pub(super) fn rows(&self, indices: &[usize]) -> Self {
        Self(match &self.0 {
            Store::Short(codes) => Store::Short(indices.iter().map(|&row| codes[row]).collect()),
            Store::Long(codes) => Store::Long(indices.iter().map(|&row| codes[row]).collect()),
            Store::Texts(texts) => {
                let mut of_rows = Texts::default();
                indices.iter().for_each(|&row| of_rows.push(texts.get(row)));
                Store::Texts(of_rows)
            }
        })
    }
}

/// Adds a code if there is one, and returns whether there is.
fn push_code<T>(codes: &mut Vec<T>, code: Option<T>) -> bool {
    let is_held = code.is_some();
    codes.extend(code);
    is_held
}

impl Texts {
    fn push(&mut self, field: &str) {
        let before = self.text.len() as u64;
        self.text.push_str(field);
        let end = self.text.len() as u64;
        for _ in before >> 32..end >> 32 {
            self.turns.push(self.ends.len());
        }
        self.ends.push(end as u32);
    }

    fn end(&self, row: usize) -> usize {
        let n_turns = self.turns.partition_point(|first| *first <= row);
        ((n_turns as u64) << 32 | u64::from(self.ends[row])) as usize
    }

    fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.end(before));
        &self.text[start..self.end(row)]
    }
}

impl<'a> FromIterator<&'a str> for Fields {
    fn from_iter<T: IntoIterator<Item = &'a str>>(fields: T) -> Self {
        let mut all = Self::default();
        fields.into_iter().for_each(|field| all.push(field));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_kept_to_the_byte() {
        let short = ["0", "-0", "0.10", "-7.25", "", "12345678", "0.00000001"];
        let long = ["3.141592653589793", "-12345678901234567", "123456789"];
        let others = [
            " 1",
            "+1",
            "01",
            "1.",
            ".5",
            "1e3",
            "-",
            "a",
            "123456789012345678",
            "−1",
            "99999999999999999999",
        ];
        for last in [&short[..1], &long, &others] {
            for last in last {
                let mut all = short.to_vec();
                all.push(last);
                all.extend(short);
                let fields: Fields = all.iter().copied().collect();
                assert_eq!(fields.len(), all.len());
                assert!(fields.iter().eq(all.iter().copied()), "{last}");
                for (row, text) in all.iter().enumerate() {
                    let expected: Option<f64> = text.trim().parse().ok();
                    let bits = |number: Option<f64>| number.map(f64::to_bits);
                    assert_eq!(bits(fields.number(row)), bits(expected), "{text}");
                }
                let rows = fields.rows(&[7, 0, 7, 4]);
                let expected = [*last, "0", *last, ""];
                assert!(rows.iter().eq(expected), "{last}");
            }
        }
    }
}
