//! The names of classes, for messages.

use std::fmt;

/// The names of the classes of a data set.
///
/// Printed as `a, b, c`; of more than 20 only the first 20 are printed and the rest is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassList(Box<[String]>);

impl ClassList {
    /// The number of names that are printed.
    pub const MAX_NAMES: usize = 20;

    pub(super) fn new(names: &[String]) -> Self {
        Self(names.into())
    }

    /// All names.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for ClassList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_printed = self.0.len().min(Self::MAX_NAMES);
        f.write_str(&self.0[..n_printed].join(", "))?;
        match self.0.len() - n_printed {
            0 => Ok(()),
            n_more => write!(f, " and {n_more} more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_cut() {
        let of = |n: usize| {
            let names: Vec<String> = (0..n).map(|name| name.to_string()).collect();
            ClassList::new(&names).to_string()
        };
        assert_eq!(of(3), "0, 1, 2");
        assert!(of(20).ends_with(", 18, 19"));
        assert!(of(100).ends_with(", 18, 19 and 80 more"));
    }
}
