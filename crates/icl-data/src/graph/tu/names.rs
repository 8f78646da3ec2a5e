//! File names of the TU format.

use std::path::Path;

use crate::error::{DataError, several_data_sets};

/// A table of the TU format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TuTable {
    Edges,
    GraphIndicator,
    GraphLabels,
    NodeLabels,
    NodeAttributes,
}

impl TuTable {
    /// All tables, in the order of the documentation of the format.
    pub(super) const ALL: [Self; 5] = [
        Self::Edges,
        Self::GraphIndicator,
        Self::GraphLabels,
        Self::NodeLabels,
        Self::NodeAttributes,
    ];

    /// Returns the part of the file name after the name of the data set.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Edges => "_A.txt",
            Self::GraphIndicator => "_graph_indicator.txt",
            Self::GraphLabels => "_graph_labels.txt",
            Self::NodeLabels => "_node_labels.txt",
            Self::NodeAttributes => "_node_attributes.txt",
        }
    }

    /// Returns the content of each line of the file, for error messages.
    pub(super) fn line_holds(self) -> &'static str {
        match self {
            Self::Edges => "two nodes on each line",
            Self::GraphIndicator => "the graph of a node on each line",
            Self::GraphLabels => "the class of a graph on each line",
            Self::NodeLabels => "the label of a node on each line",
            Self::NodeAttributes => "the attributes of a node on each line",
        }
    }
}

/// Common beginning of the paths of a data set's files: `FOLDER/NAME` or `NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePrefix(String);

impl FilePrefix {
    /// Returns the prefix if the file is the edge list of a data set. Folders are separated by `/`.
    ///
    /// A name that begins with a dot is not accepted: macOS adds `._NAME_A.txt` to archives.
    fn of_edge_list(file: &str) -> Option<Self> {
        let prefix = file.strip_suffix(TuTable::Edges.ending())?;
        let name = prefix.rsplit('/').next()?;
        (!name.is_empty() && !name.starts_with('.')).then(|| Self(prefix.to_owned()))
    }

    /// Returns the name of the data set.
    pub(super) fn data_set(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the path of one of the data set's files.
    pub(super) fn file(&self, table: TuTable) -> String {
        format!("{}{}", self.0, table.ending())
    }
}

/// Returns `true` if a file is the edge list of a data set, by its name.
pub(crate) fn is_edge_list(file: &str) -> bool {
    FilePrefix::of_edge_list(file).is_some()
}

/// Returns the prefix of the only data set among these files, if there is one.
///
/// # Errors
/// [`DataError`] in `path`, if there are more.
pub(super) fn only_data_set<'a>(
    path: &Path,
    files: impl IntoIterator<Item = &'a str>,
) -> Result<Option<FilePrefix>, DataError> {
    let mut prefixes = files.into_iter().filter_map(FilePrefix::of_edge_list);
    match (prefixes.next(), prefixes.next()) {
        (Some(first), Some(second)) => Err(several_data_sets(
            path,
            [&first.file(TuTable::Edges), &second.file(TuTable::Edges)],
        )),
        (first, _) => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_list_names_the_data_set() {
        let prefix = |file| FilePrefix::of_edge_list(file);
        let mutag = prefix("x/MUTAG_A.txt").unwrap();
        assert_eq!(mutag.data_set(), "MUTAG");
        assert_eq!(mutag.file(TuTable::NodeLabels), "x/MUTAG_node_labels.txt");
        assert_eq!(prefix("A_A_A.txt").unwrap().data_set(), "A_A");
        for other in [
            "MUTAG_A.txt~",
            "_A.txt",
            "x/_A.txt",
            "__MACOSX/._M_A.txt",
            "A.txt",
        ] {
            assert_eq!(prefix(other), None, "{other}");
        }
    }

    #[test]
    fn two_data_sets_are_an_error() {
        let of = |files: &[&'static str]| only_data_set(Path::new("p"), files.iter().copied());
        assert_eq!(of(&["README", "B_graph_labels.txt"]).unwrap(), None);
        let found = of(&["README", "B_A.txt"]).unwrap().unwrap();
        assert_eq!(found.data_set(), "B");
        assert_eq!(
            of(&["a/B_A.txt", "c/D_A.txt"]).unwrap_err().to_string(),
            "p: found more than one data set, \"a/B_A.txt\" and \"c/D_A.txt\", expected one"
        );
    }
}
