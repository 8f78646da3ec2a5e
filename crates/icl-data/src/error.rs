//! What can be wrong with data and with the values that say how to use them.

use std::io;
use std::path::PathBuf;

use icl_core::CoreError;
use zip::result::ZipError;

use crate::graph::JoinError;
use crate::image::{ImagesError, JoinImagesError};
use crate::place::{FileRef, Found, Place};
use crate::split::Split;

/// Rejected data, or a rejected setting of views or splits.
///
/// Every message about a file names the file (and the archive's entry), the line where there is
/// one, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// Nothing is there.
    #[error("{}: found no such file or folder, expected a zip archive or a folder of a TU data set", path.display())]
    NoSuchPath {
        /// The path as it was given.
        path: PathBuf,
    },
    /// A file that is no zip archive, or something that is neither file nor folder.
    #[error("{}: found neither a zip archive nor a folder, expected one of them with a TU data set", path.display())]
    NotADataSet {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The operating system could not read a file or folder.
    #[error("{file}: found a file or folder that cannot be read, expected a readable one")]
    Unreadable {
        /// The file or folder.
        file: FileRef,
        /// What the system said.
        source: io::Error,
    },
    /// The archive's own tables are cut or damaged.
    #[error("{}: found a cut or damaged zip archive, expected an intact one", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What the decoder said.
        source: ZipError,
    },
    /// A tar archive is cut or damaged, or cannot be unpacked where it should go.
    #[error("{}: found a tar archive that cannot be unpacked, expected an intact one and a folder that can be written", path.display())]
    Tar {
        /// The archive.
        path: PathBuf,
        /// What the decoder or the system said.
        source: io::Error,
    },
    /// An entry is cut, damaged, encrypted or packed by a method that is not supported.
    #[error(
        "{file}: found an entry that cannot be unpacked, expected an intact one, stored or deflated"
    )]
    Entry {
        /// The entry.
        file: FileRef,
        /// What the decoder said.
        source: ZipError,
    },
    /// An entry points outside the archive.
    #[error(
        "{file}: found an entry that points outside the archive, expected a relative path without `..`"
    )]
    EntryOutside {
        /// The entry.
        file: FileRef,
    },
    /// An entry is a symbolic link.
    #[error("{file}: found a symbolic link, expected only files and folders in the archive")]
    EntryLink {
        /// The entry.
        file: FileRef,
    },
    /// The archive lists one name twice.
    #[error("{}: found an archive that lists an entry twice, expected every name once", path.display())]
    RepeatedEntry {
        /// The archive.
        path: PathBuf,
    },
    /// A file unpacks to more than is read.
    #[error("{file}: found more than {limit} bytes, expected at most that many")]
    TooLarge {
        /// The file or entry.
        file: FileRef,
        /// The greatest size that is read, in bytes.
        limit: u64,
    },
    /// No `NAME_A.txt` is there.
    #[error("{}: found no file `NAME_A.txt`, expected the files of one TU data set", path.display())]
    NoDataSet {
        /// The archive or folder.
        path: PathBuf,
    },
    /// More than one `NAME_A.txt` is there.
    #[error("{}: found more than one data set, {first} and {second}, expected one", path.display())]
    SeveralDataSets {
        /// The archive or folder.
        path: PathBuf,
        /// One of them.
        first: Found,
        /// Another one.
        second: Found,
    },
    /// A file that every data set needs is not there.
    #[error("{file}: found no such file, expected it beside {beside}")]
    MissingFile {
        /// Where it was expected.
        file: FileRef,
        /// The file that names the data set.
        beside: Found,
    },
    /// A file holds nothing but blank space.
    #[error("{at}: found an empty file, expected {expected}")]
    EmptyFile {
        /// Its first line.
        at: Place,
        /// What each of its lines should hold.
        expected: &'static str,
    },
    /// A file is not text.
    #[error(
        "{at}: found bytes that are not UTF-8 (byte {byte} of the file, counted from 0), expected text"
    )]
    NotUtf8 {
        /// The line of the first such byte.
        at: Place,
        /// Its position in the file, counted from 0.
        byte: usize,
    },
    /// A line or field is no integer.
    #[error("{at}: found {found}, expected an integer of at most 64 bits")]
    NotAnInteger {
        /// The line.
        at: Place,
        /// The line or field.
        found: Found,
    },
    /// A field is no number, is NaN or infinite, or exceeds what an f32 holds.
    #[error("{at}: found {found}, expected a finite number that a 32-bit float can hold")]
    NotANumber {
        /// The line.
        at: Place,
        /// The field.
        found: Found,
    },
    /// A line holds a wrong number of fields.
    #[error("{at}: found {found} columns, expected {expected}, separated by commas")]
    Columns {
        /// The line.
        at: Place,
        /// The number of fields found.
        found: usize,
        /// The number of fields expected.
        expected: usize,
    },
    /// A file has fewer or more lines than it must have.
    #[error("{at}: found {found} lines in this file, expected {expected}, one for each {each}")]
    LineCount {
        /// The first line that is missing, or the first that is too many.
        at: Place,
        /// The number of lines found.
        found: usize,
        /// The number of lines expected.
        expected: usize,
        /// What a line stands for.
        each: &'static str,
    },
    /// An edge names a node that does not exist.
    #[error("{at}: found node {found}, expected a node from 1 to {n_nodes}")]
    NodeOutOfRange {
        /// The line of the edge.
        at: Place,
        /// The node it names.
        found: i64,
        /// The number of nodes of the data set.
        n_nodes: usize,
    },
    /// A node names a graph that does not exist.
    #[error(
        "{at}: found graph {found}, expected a graph from 1 to {n_graphs}, the number of graph labels"
    )]
    GraphOutOfRange {
        /// The line of the node.
        at: Place,
        /// The graph it names.
        found: i64,
        /// The number of graphs, which is the number of graph labels.
        n_graphs: usize,
    },
    /// An edge joins nodes of different graphs.
    #[error(
        "{at}: found an edge from node {from} of graph {from_graph} to node {to} of graph {to_graph}, expected both in one graph"
    )]
    EdgeBetweenGraphs {
        /// The line of the edge.
        at: Place,
        /// Its first node, counted from 1.
        from: usize,
        /// The graph of the first node, counted from 1.
        from_graph: usize,
        /// Its second node, counted from 1.
        to: usize,
        /// The graph of the second node, counted from 1.
        to_graph: usize,
    },
    /// A graph has a label, but no node belongs to it.
    #[error(
        "{at}: found the label of graph {graph}, to which no node belongs, expected at least one node"
    )]
    GraphWithoutNodes {
        /// The line of the graph's label.
        at: Place,
        /// The graph, counted from 1.
        graph: usize,
    },
    /// There is more of something than the program counts or holds.
    #[error("{file}: found {found} {what}, expected at most {limit}")]
    TooMany {
        /// The file that holds, or causes, too many.
        file: FileRef,
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// The greatest number that is accepted.
        limit: usize,
    },
    /// A graph was made of a table of features that does not fit its nodes.
    #[error(
        "graph: found {found} feature values, expected {n_nodes} nodes x {d_features} features, with at least 1 node"
    )]
    GraphFeatures {
        /// The number of values found.
        found: usize,
        /// The number of nodes.
        n_nodes: usize,
        /// The width of the features.
        d_features: usize,
    },
    /// A graph was made of an edge that names a node it does not have.
    #[error("graph: found node {found} in edge {edge}, expected a node from 0 to {last}")]
    GraphEdge {
        /// The edge, counted from 0.
        edge: usize,
        /// The node it names.
        found: u32,
        /// The last node there is, counted from 0.
        last: usize,
    },
    /// A graph was made of a feature that is NaN or infinite.
    #[error("graph: found {found} as feature {column} of node {node}, expected a finite number")]
    GraphFeatureValue {
        /// The node, counted from 0.
        node: usize,
        /// The column, counted from 0.
        column: usize,
        /// The value.
        found: f32,
    },
    /// A ratio of the views lies outside its interval.
    #[error("views: found {found} as {name}, expected a number {expected}")]
    ViewRatio {
        /// The setting's name.
        name: &'static str,
        /// The rejected value.
        found: f64,
        /// The interval.
        expected: &'static str,
    },
    /// The list of augmentations is empty.
    #[error("views: found no kind of augmentation, expected at least one")]
    NoViewKinds,
    /// No augmentation has this name.
    #[error(
        "view kind: found {found}, expected `node-dropping`, `attribute-masking` or `subgraph`"
    )]
    UnknownViewKind {
        /// The name.
        found: Found,
    },
    /// No split has this name.
    #[error("split: found {found}, expected `random`, `size` or `class`")]
    UnknownSplit {
        /// The name.
        found: Found,
    },
    /// A split leaves too little on one side.
    #[error(
        "split `{split}` at alpha {alpha}: found {n_old} old and {n_new} new of {} samples, expected at least 2 of each",
        n_old + n_new
    )]
    SplitTooSmall {
        /// The split.
        split: Split,
        /// The growth ratio α.
        alpha: f64,
        /// Old samples it gives.
        n_old: usize,
        /// New samples it gives.
        n_new: usize,
    },
    /// A split gave something that is no increment.
    #[error(transparent)]
    Increment(#[from] CoreError),
    /// Two data sets cannot become one.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// Images, or what is asked of them, are wrong.
    #[error(transparent)]
    Images(#[from] ImagesError),
    /// Two data sets of images cannot become one.
    #[error(transparent)]
    JoinImages(#[from] JoinImagesError),
    /// No embedded data set of this kind has this name.
    #[error("embedded data: found {found}, expected one of {}", known.join(", "))]
    UnknownEmbedded {
        /// The name.
        found: Found,
        /// The names of the embedded data sets of this kind.
        known: &'static [&'static str],
    },
    /// The catalogue has no data set of this name.
    #[error("catalogue: found {found}, expected one of {}", crate::catalogue::names().join(", "))]
    UnknownDownload {
        /// The name.
        found: Found,
    },
    /// A downloaded file has another length than the publisher's.
    #[error("{file}: found {found} bytes, expected {expected}")]
    DownloadLength {
        /// The file.
        file: FileRef,
        /// Its length in bytes.
        found: u64,
        /// The length of the publisher's file.
        expected: u64,
    },
    /// A downloaded file has other contents than the publisher's.
    #[error("{file}: found contents of MD5 sum {found}, expected {expected}")]
    DownloadSum {
        /// The file.
        file: FileRef,
        /// Its MD5 sum as 32 hexadecimal digits.
        found: String,
        /// The sum that the publisher gives.
        expected: &'static str,
    },
}
