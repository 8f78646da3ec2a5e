//! Texts of the rows of a column.

/// Texts of the rows of a column, to the byte as their file has them, one after the other in one string.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    text: String,
    /// Last 32 bits of the end of each field in the text. Short fields, such as digits, take more memory for it than
    /// for the text.
    ends: Vec<u32>,
    /// For each whole 2^32 bytes of text, the first row that ends behind them; for most tables none.
    turns: Vec<usize>,
}

impl Fields {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn push(&mut self, field: &str) {
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

    /// Returns the field of a row.
    pub(super) fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.end(before));
        &self.text[start..self.end(row)]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|row| self.get(row))
    }
}

impl<'a> Extend<&'a str> for Fields {
    fn extend<T: IntoIterator<Item = &'a str>>(&mut self, fields: T) {
        fields.into_iter().for_each(|field| self.push(field));
    }
}

impl<'a> FromIterator<&'a str> for Fields {
    fn from_iter<T: IntoIterator<Item = &'a str>>(fields: T) -> Self {
        let mut all = Self::default();
        all.extend(fields);
        all
    }
}
