//! The TU file format (Morris et al., 2020, <https://chrsmrrs.github.io/datasets/>).

mod archive;
mod assemble;
mod features;
mod files;
mod names;
mod table;

use std::io::Cursor;
use std::path::Path;

use super::dataset::GraphDataset;
use crate::error::DataError;
use files::TuFiles;
pub(crate) use names::is_edge_list;

/// Reads a data set in the TU file format from a zip archive or a folder.
///
/// A folder either holds the files or holds one folder that does. The data set's name is what
/// stands before `_A.txt`; there must be exactly one such file. Nodes, graphs and lines are counted
/// from 1.
///
/// | file | a line holds | |
/// |---|---|---|
/// | `NAME_A.txt` | two nodes: a directed edge | needed |
/// | `NAME_graph_indicator.txt` | the graph of a node | needed |
/// | `NAME_graph_labels.txt` | the class of a graph, any integer | needed |
/// | `NAME_node_labels.txt` | the label of a node, any integer | optional |
/// | `NAME_node_attributes.txt` | the attributes of a node, equally many on every line | optional |
///
/// Other files are not looked at. Both kinds of line ends are understood, blank space around fields
/// and blank lines at the end are ignored, and the nodes of a graph need not stand together.
///
/// **Edges** become undirected: duplicates are removed, the missing opposite of an edge is added
/// and self loops are dropped; [`GraphDataset::counts`] says how many.
///
/// **Node features** are the node labels, one 0/1 column for each, and then the attributes,
/// standardised per column over all nodes of the data set: `(x − mean) / std`, constant columns
/// become 0. Without labels and attributes they are the local degree profile
/// ([`Graph::degree_profile`](super::Graph::degree_profile)). Deviation from Cai and Wang (2018):
/// each of its values is taken as `log(1 + x)` and then standardised in the same way, since degrees
/// in social networks span three orders of magnitude and would drown the rest.
///
/// Mean and std are those of the whole data set, so they know the nodes of new data from the
/// beginning, as is usual with these data sets; no class label enters them.
///
/// # Errors
/// A [`DataError`] that names the file, the archive's entry, the line where there is one, what was
/// found and what was expected: for every file that does not hold exactly what the table says, for
/// files whose lengths do not agree, an edge between two graphs, a graph without nodes, an archive
/// that is cut or damaged or has an entry that points outside of it (also one that is not needed),
/// no or more than one data set, more than 2 GiB in one file, and more than 2^28 feature values.
pub fn read_tu(path: impl AsRef<Path>) -> Result<GraphDataset, DataError> {
    assemble::assemble(TuFiles::open(path.as_ref())?)
}

/// Reads a data set from an archive in memory; messages call it by `path`.
pub(crate) fn read_tu_bytes(path: &Path, bytes: &'static [u8]) -> Result<GraphDataset, DataError> {
    assemble::assemble(TuFiles::open_archive(path, Box::new(Cursor::new(bytes)))?)
}
