//! Errors in graphs and in the settings of their views.

use std::path::PathBuf;

use zip::result::ZipError;

use crate::place::{FileRef, Found, Place};

/// Rejected graphs, or a rejected setting of their views.
///
/// Every message about a file names the file (and the archive's entry), the line where there is
/// one, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphsError {
    /// The limit on the number of graphs is too small.
    #[error("limit: found {found} graphs, expected at least {expected}")]
    Limit {
        /// Requested number.
        found: usize,
        /// Smallest accepted number.
        expected: usize,
    },
    /// No file or folder exists at the path.
    #[error("{}: found no such file or folder, expected a zip archive or a folder of a TU data set", path.display())]
    NoSuchPath {
        /// Path as it was given.
        path: PathBuf,
    },
    /// The path is neither a zip archive nor a folder.
    #[error("{}: found neither a zip archive nor a folder, expected one of them with a TU data set", path.display())]
    NotADataSet {
        /// Path as it was given.
        path: PathBuf,
    },
    /// The central directory of a zip archive is cut or damaged.
    #[error("{}: found a cut or damaged zip archive, expected an intact one", path.display())]
    Archive {
        /// Path of the archive.
        path: PathBuf,
        /// Error of the decoder.
        source: ZipError,
    },
    /// A zip entry is cut, damaged, encrypted or packed by an unsupported method.
    #[error(
        "{file}: found an entry that cannot be unpacked, expected an intact one, stored or deflated"
    )]
    Entry {
        /// Entry of the archive.
        file: FileRef,
        /// Error of the decoder.
        source: ZipError,
    },
    /// A zip entry points outside the archive.
    #[error(
        "{file}: found an entry that points outside the archive, expected a relative path without `..`"
    )]
    EntryOutside {
        /// Entry of the archive.
        file: FileRef,
    },
    /// A zip entry is a symbolic link.
    #[error("{file}: found a symbolic link, expected only files and folders in the archive")]
    EntryLink {
        /// Entry of the archive.
        file: FileRef,
    },
    /// A zip archive lists the same name twice.
    #[error("{}: found an archive that lists an entry twice, expected every name once", path.display())]
    RepeatedEntry {
        /// Path of the archive.
        path: PathBuf,
    },
    /// The archive or folder has no file `NAME_A.txt`.
    #[error("{}: found no file `NAME_A.txt`, expected the files of one TU data set", path.display())]
    NoDataSet {
        /// Path of the archive or folder.
        path: PathBuf,
    },
    /// A number of a graph is left out in a data set without labels.
    #[error("{file}: found no node of graph {graph}, expected one of each graph up to {last}")]
    SkippedGraph {
        /// File of the graphs of the nodes.
        file: FileRef,
        /// First graph without nodes, counted from 1.
        graph: usize,
        /// Last graph that has nodes.
        last: usize,
    },
    /// Graphs without labels are used where classes are needed.
    #[error(
        "{data}: found no classes for {needed_by}, expected them in a file `NAME_graph_labels.txt`"
    )]
    NoLabels {
        /// Name of the data set.
        data: Found,
        /// Use of the classes.
        needed_by: String,
    },
    /// A file contains only white space.
    #[error("{at}: found an empty file, expected {expected}")]
    EmptyFile {
        /// First line of the file.
        at: Place,
        /// Expected content of each line.
        expected: &'static str,
    },
    /// A text file contains bytes that are not UTF-8.
    #[error(
        "{at}: found bytes that are not UTF-8 (byte {byte} of the file, counted from 0), expected text"
    )]
    NotUtf8 {
        /// Line of the first such byte.
        at: Place,
        /// Position of this byte in the file, counted from 0.
        byte: usize,
    },
    /// A line is longer than the longest that is read.
    #[error("{at}: found a line of more than {limit} bytes, expected at most that many")]
    LongLine {
        /// Line in question.
        at: Place,
        /// Length of the longest line that is read, in bytes.
        limit: usize,
    },
    /// A line or field is not an integer.
    #[error("{at}: found {found}, expected an integer of at most 64 bits")]
    NotAnInteger {
        /// Line that holds it.
        at: Place,
        /// Text of the line or field.
        found: Found,
    },
    /// A field is not a number, is NaN or infinite, or exceeds the range of `f32`.
    #[error("{at}: found {found}, expected a finite number that a 32-bit float can hold")]
    NotANumber {
        /// Line that holds the field.
        at: Place,
        /// Text of the field.
        found: Found,
    },
    /// A line has the wrong number of fields.
    #[error("{at}: found {found} columns, expected {expected}, separated by commas")]
    Columns {
        /// Line in question.
        at: Place,
        /// Number of fields found.
        found: usize,
        /// Number of fields expected.
        expected: usize,
    },
    /// A file has too few or too many lines.
    #[error("{at}: found {found} lines in this file, expected {expected}, one for each {each}")]
    LineCount {
        /// First missing or first superfluous line.
        at: Place,
        /// Number of lines found.
        found: usize,
        /// Number of lines expected.
        expected: usize,
        /// Object that each line describes.
        each: &'static str,
    },
    /// An edge names a node that does not exist.
    #[error("{at}: found node {found}, expected a node from 1 to {n_nodes}")]
    NodeOutOfRange {
        /// Line of the edge.
        at: Place,
        /// Node that the edge names.
        found: i64,
        /// Number of nodes of the data set.
        n_nodes: usize,
    },
    /// A node names a graph that does not exist.
    #[error(
        "{at}: found graph {found}, expected a graph from 1 to {n_graphs}, the number of graph labels"
    )]
    GraphOutOfRange {
        /// Line of the node.
        at: Place,
        /// Graph that the node names.
        found: i64,
        /// Number of graphs, which equals the number of graph labels.
        n_graphs: usize,
    },
    /// An edge joins nodes of different graphs.
    #[error(
        "{at}: found an edge from node {from} of graph {from_graph} to node {to} of graph {to_graph}, expected both in one graph"
    )]
    EdgeBetweenGraphs {
        /// Line of the edge.
        at: Place,
        /// First node of the edge, counted from 1.
        from: usize,
        /// Graph of the first node, counted from 1.
        from_graph: usize,
        /// Second node of the edge, counted from 1.
        to: usize,
        /// Graph of the second node, counted from 1.
        to_graph: usize,
    },
    /// A graph has a label but no nodes.
    #[error(
        "{at}: found the label of graph {graph}, to which no node belongs, expected at least one node"
    )]
    GraphWithoutNodes {
        /// Line of the graph's label.
        at: Place,
        /// Graph, counted from 1.
        graph: usize,
    },
    /// A table of features does not fit the nodes of its graph.
    #[error(
        "graph: found {found} feature values, expected {n_nodes} nodes x {d_features} features, with at least 1 node"
    )]
    GraphFeatures {
        /// Number of values found.
        found: usize,
        /// Number of nodes.
        n_nodes: usize,
        /// Width of the node features.
        d_features: usize,
    },
    /// An edge names a node that its graph does not have.
    #[error("graph: found node {found} in edge {edge}, expected a node from 0 to {last}")]
    GraphEdge {
        /// Index of the edge, counted from 0.
        edge: usize,
        /// Node that the edge names.
        found: u32,
        /// Last node of the graph, counted from 0.
        last: usize,
    },
    /// A node feature is NaN or infinite.
    #[error("graph: found {found} as feature {column} of node {node}, expected a finite number")]
    GraphFeatureValue {
        /// Node, counted from 0.
        node: usize,
        /// Column, counted from 0.
        column: usize,
        /// Rejected value.
        found: f32,
    },
    /// A ratio of the graph views lies outside its interval.
    #[error("views: found {found} as {name}, expected a number {expected}")]
    ViewRatio {
        /// Name of the setting.
        name: &'static str,
        /// Rejected value.
        found: f64,
        /// Interval of accepted values.
        expected: &'static str,
    },
    /// The list of graph augmentations is empty.
    #[error("views: found no kind of augmentation, expected at least one")]
    NoViewKinds,
    /// No graph augmentation has this name.
    #[error(
        "view kind: found {found}, expected `node-dropping`, `attribute-masking` or `subgraph`"
    )]
    UnknownViewKind {
        /// Rejected name.
        found: Found,
    },
}
