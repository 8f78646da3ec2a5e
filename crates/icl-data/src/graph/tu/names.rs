//! Which of the names in a folder or an archive belong to a data set.

use std::path::Path;

use crate::error::DataError;
use crate::place::Found;

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
    /// What follows the data set's name in the file's name.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Edges => "_A.txt",
            Self::GraphIndicator => "_graph_indicator.txt",
            Self::GraphLabels => "_graph_labels.txt",
            Self::NodeLabels => "_node_labels.txt",
            Self::NodeAttributes => "_node_attributes.txt",
        }
    }

    /// What each line of the file holds.
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

/// What stands before the ending of each of a data set's files: `FOLDER/NAME` or `NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stem(String);

impl Stem {
    /// The stem, if the file is the edge list of a data set. Folders are parted by `/`.
    ///
    /// A file whose name begins with a dot is none: macOS puts `._NAME_A.txt` into archives.
    fn of_edge_list(file: &str) -> Option<Self> {
        let stem = file.strip_suffix(TuTable::Edges.ending())?;
        let name = stem.rsplit('/').next()?;
        (!name.is_empty() && !name.starts_with('.')).then(|| Self(stem.to_owned()))
    }

    /// The data set's name.
    pub(super) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The path of one of the data set's files.
    pub(super) fn file(&self, table: TuTable) -> String {
        format!("{}{}", self.0, table.ending())
    }
}

/// Whether a file is the edge list of a data set, by its name.
pub(crate) fn is_edge_list(file: &str) -> bool {
    Stem::of_edge_list(file).is_some()
}

/// The stem of the one data set among these files, if there is one.
///
/// # Errors
/// [`DataError::SeveralDataSets`] in `path`, if there are more.
pub(super) fn only_data_set<'a>(
    path: &Path,
    files: impl IntoIterator<Item = &'a str>,
) -> Result<Option<Stem>, DataError> {
    let mut stems = files.into_iter().filter_map(Stem::of_edge_list);
    match (stems.next(), stems.next()) {
        (Some(first), Some(second)) => Err(DataError::SeveralDataSets {
            path: path.to_path_buf(),
            first: Found::new(&first.file(TuTable::Edges)),
            second: Found::new(&second.file(TuTable::Edges)),
        }),
        (first, _) => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_list_names_the_data_set() {
        let stem = |file| Stem::of_edge_list(file);
        let mutag = stem("x/MUTAG_A.txt").unwrap();
        assert_eq!(mutag.name(), "MUTAG");
        assert_eq!(mutag.file(TuTable::NodeLabels), "x/MUTAG_node_labels.txt");
        assert_eq!(stem("A_A_A.txt").unwrap().name(), "A_A");
        for other in [
            "MUTAG_A.txt~",
            "_A.txt",
            "x/_A.txt",
            "__MACOSX/._M_A.txt",
            "A.txt",
        ] {
            assert_eq!(stem(other), None, "{other}");
        }
    }

    #[test]
    fn two_data_sets_are_an_error() {
        let of = |files: &[&'static str]| only_data_set(Path::new("p"), files.iter().copied());
        assert_eq!(of(&["README", "B_graph_labels.txt"]).unwrap(), None);
        assert_eq!(of(&["README", "B_A.txt"]).unwrap().unwrap().name(), "B");
        assert_eq!(
            of(&["a/B_A.txt", "c/D_A.txt"]).unwrap_err().to_string(),
            "p: found more than one data set, \"a/B_A.txt\" and \"c/D_A.txt\", expected one"
        );
    }
}
