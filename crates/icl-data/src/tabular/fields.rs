//! Texts of the rows of a column.

/// Texts of the rows of a column, to the byte as their file has them. They stand one after the other in memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    text: String,
    /// End of each field in the text.
    ends: Vec<usize>,
}

impl Fields {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn push(&mut self, field: &str) {
        self.text.push_str(field);
        self.ends.push(self.text.len());
    }

    /// Returns the field of a row.
    pub(super) fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
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
