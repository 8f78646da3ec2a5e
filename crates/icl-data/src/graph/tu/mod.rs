//! Reader of the TU file format (Morris et al., 2020, <https://chrsmrrs.github.io/datasets/>).

mod archive;
mod assemble;
mod distinct;
mod features;
mod files;
mod lines;
mod names;
mod sum;
mod table;
mod write;

use std::io::Cursor;
use std::path::Path;

use super::dataset::GraphDataset;
use crate::error::DataError;
use files::TuFiles;
pub(crate) use names::is_edge_list;
pub(crate) use sum::tables_md5;

/// Reads a data set in the TU file format from a zip archive or a folder.
///
/// A folder holds either the files or one folder with the files. The name of the data set is the
/// part before `_A.txt`; there must be exactly one such file. Nodes, graphs and lines are counted
/// from 1.
///
/// | file | content of a line | |
/// |---|---|---|
/// | `NAME_A.txt` | two nodes: a directed edge | required |
/// | `NAME_graph_indicator.txt` | the graph of a node | required |
/// | `NAME_graph_labels.txt` | the class of a graph, any integer | optional |
/// | `NAME_node_labels.txt` | the label of a node, any integer | optional |
/// | `NAME_node_attributes.txt` | the attributes of a node, the same number on every line | optional |
///
/// Without a file of classes the graphs have no labels ([`GraphDataset::has_labels`]). Other files are ignored. Lines
/// may end in LF or CRLF, white space around fields and blank lines at the end are ignored, and the nodes of a graph
/// need not be consecutive.
///
/// **Edges** become undirected: duplicates are removed, the missing opposite of an edge is added,
/// and self loops are dropped. [`GraphDataset::counts`] returns the number of each.
///
/// **Node features** are the node labels, with one 0/1 column each, followed by the attributes,
/// standardised per column over all nodes of the data set: `(x − mean) / std`, where constant
/// columns become 0. Without labels and attributes they are the local degree profile
/// ([`Graph::degree_profile`](crate::Graph::degree_profile)). Deviation from Cai and Wang (2018):
/// each of its values is transformed by `log(1 + x)` and then standardised in the same way, because
/// degrees in social networks span three orders of magnitude and would dominate the other columns.
///
/// Means and standard deviations are those of the whole data set and therefore include the nodes of
/// new data from the beginning, as is usual with these data sets. They do not depend on the classes.
///
/// # Errors
/// A [`DataError`] that names the file, the archive's entry, the line where there is one, what was
/// found and what was expected, if
/// - a file does not have the contents of the table above, or the lengths of two files disagree;
/// - an edge joins two graphs, or a graph has no nodes;
/// - an archive is cut or damaged, or has an entry, needed or not, that points outside it;
/// - there is no data set, or more than one;
/// - a file is larger than 2 GiB, or unpacks to more than 4 MiB and 32 times the size of its archive, or has a line
///   of more than 1 MiB;
/// - there are more than 2^28 feature values, or distinct node labels make more than 2^24 and 128 for each node.
pub fn read_tu(path: impl AsRef<Path>) -> Result<GraphDataset, DataError> {
    assemble::assemble(TuFiles::open(path.as_ref())?)
}

/// Reads a data set from an archive in memory. Error messages call it by `path`.
pub(crate) fn read_tu_bytes(path: &Path, bytes: &'static [u8]) -> Result<GraphDataset, DataError> {
    assemble::assemble(TuFiles::open_archive(path, Box::new(Cursor::new(bytes)))?)
}
