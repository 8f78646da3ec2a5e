//! Assembly of the graphs of a data set from its tables.

use super::distinct::DistinctLabels;
use super::features::{NodeFeatures, NodeTables};
use super::files::TuFiles;
use super::names::TuTable;
use super::table::{MAX_COUNT, TextTable, check_count};
use crate::error::DataError;
use crate::graph::adjacency::Adjacency;
use crate::graph::dataset::{GraphCounts, GraphDataset};
use crate::graph::sample::Graph;
use crate::place::FileRef;

/// Reads all tables, checks their consistency and builds the graphs.
pub(super) fn assemble(mut files: TuFiles) -> Result<GraphDataset, DataError> {
    let labels = match files.optional(TuTable::GraphLabels)? {
        None => None,
        Some(table) => {
            let file = table.file().clone();
            Some((file, DistinctLabels::read(table, MAX_COUNT, "graphs")?))
        }
    };
    let table = files.required(TuTable::GraphIndicator)?;
    let indicator = table.file().clone();
    let labelled = labels
        .as_ref()
        .map(|(file, classes)| (file, classes.of_line.len()));
    let members = Members::read(table, labelled)?;
    let n_nodes = members.graph.len();
    let has_labels = labels.is_some();
    let classes = match labels {
        Some((_, classes)) => classes,
        None => DistinctLabels::of_none(members.offsets.len() - 1),
    };

    let table = files.required(TuTable::Edges)?;
    let file = table.file().clone();
    // Every edge counts in both directions, hence half.
    let edges = table.edges(n_nodes, MAX_COUNT / 2)?;
    let n_edge_lines = edges.len();
    let (starts, edges) = members.group(&file, &edges)?;

    let nodes = NodeTables::read(&mut files, &indicator, n_nodes)?;
    let mut counts = GraphCounts {
        n_graphs: classes.of_line.len(),
        n_nodes,
        n_edge_lines,
        n_distinct: 0,
        n_self_loops: 0,
        n_mirrored: 0,
        n_clipped: 0,
        n_class: vec![0; classes.labels.len()],
    };
    let mut adjacencies = Vec::with_capacity(counts.n_graphs);
    for graph in 0..counts.n_graphs {
        let n_own = members.offsets[graph + 1] - members.offsets[graph];
        let (adjacency, repairs) =
            Adjacency::from_edges(n_own, &edges[starts[graph]..starts[graph + 1]]);
        counts.n_distinct += repairs.n_distinct;
        counts.n_self_loops += repairs.n_self_loops;
        counts.n_mirrored += repairs.n_mirrored;
        counts.n_class[classes.of_line[graph] as usize] += 1;
        adjacencies.push(adjacency);
    }
    // The memory is free before the features are allocated.
    drop(edges);

    let contents = nodes.contents(&members.offsets, &members.order, &adjacencies);
    let NodeFeatures {
        values,
        d_features,
        layout,
        scales,
    } = nodes.features(&members.order, &adjacencies);
    let graphs = adjacencies
        .into_iter()
        .enumerate()
        .map(|(graph, adjacency)| {
            let rows = members.offsets[graph] * d_features..members.offsets[graph + 1] * d_features;
            let features = values[rows].into();
            let class = classes.of_line[graph] as usize;
            Graph::from_parts(adjacency, features, d_features, class, contents[graph])
        })
        .collect();
    Ok(GraphDataset {
        name: files.name().to_owned(),
        graphs,
        class_labels: classes.labels,
        has_labels,
        d_features,
        layout,
        scales,
        counts,
    })
}

/// Assignment of the nodes to the graphs.
struct Members {
    /// Graph of each node, in the order of the files.
    graph: Vec<u32>,
    /// Index of each node among the nodes of its graph.
    local: Vec<u32>,
    /// Nodes, graph by graph, in the order of the files within each graph.
    order: Vec<u32>,
    /// Start of each graph's nodes in `order`, and the end of the last; `n_graphs + 1` entries.
    offsets: Vec<usize>,
}

impl Members {
    /// Reads the graph of each node. `labels` are the file of the labels and its number of graphs; without it, the
    /// graphs are those that have nodes.
    fn read(
        indicator: TextTable<'_>,
        labels: Option<(&FileRef, usize)>,
    ) -> Result<Self, DataError> {
        let file = indicator.file().clone();
        let most = labels.map_or(MAX_COUNT, |(_, n_graphs)| n_graphs);
        let mut graph = Vec::new();
        indicator.integers(|line, found| {
            check_count(&file, "nodes", line, MAX_COUNT)?;
            if found < 1 || found > most as i64 {
                return Err(DataError::new(
                    file.line(line),
                    format!("graph {found}"),
                    format!("a graph from 1 to {most}, the number of graph labels"),
                ));
            }
            graph.push((found - 1) as u32);
            Ok(())
        })?;
        let last = graph.iter().max().map_or(0, |&last| last as usize + 1);
        let n_graphs = labels.map_or(last, |(_, n_graphs)| n_graphs);
        // If there are more graphs than nodes, one of the first n_nodes + 1 graphs has no node. That is an error, and
        // the other graphs, of which a short file may state any number, need no memory.
        let mut offsets = vec![0; n_graphs.min(graph.len()) + 1];
        for &graph in &graph {
            if let Some(n_own) = offsets.get_mut(graph as usize + 1) {
                *n_own += 1;
            }
        }
        let mut numbers = 1..offsets.len();
        if let Some(graph) = numbers.find(|&graph| offsets[graph] == 0) {
            return Err(match labels {
                Some((labels, _)) => graph_without_nodes(labels.line(graph), graph),
                None => DataError::new(
                    file,
                    format!("no node of graph {graph}"),
                    format!("one of each graph up to {last}"),
                ),
            });
        }
        if let Some((labels, _)) = labels.filter(|_| n_graphs >= offsets.len()) {
            let graph = offsets.len();
            return Err(graph_without_nodes(labels.line(graph), graph));
        }
        for graph in 0..n_graphs {
            offsets[graph + 1] += offsets[graph];
        }
        let mut next = offsets.clone();
        let mut local = vec![0; graph.len()];
        let mut order = vec![0; graph.len()];
        for (node, &graph) in graph.iter().enumerate() {
            let at = &mut next[graph as usize];
            local[node] = (*at - offsets[graph as usize]) as u32;
            order[*at] = node as u32;
            *at += 1;
        }
        Ok(Self {
            graph,
            local,
            order,
            offsets,
        })
    }

    /// Returns the start of each graph's edges, and the edges graph by graph, with nodes counted
    /// within each graph.
    fn group(
        &self,
        file: &FileRef,
        edges: &[[u32; 2]],
    ) -> Result<(Vec<usize>, Vec<[u32; 2]>), DataError> {
        let mut starts = vec![0; self.offsets.len()];
        for (index, &[from, to]) in edges.iter().enumerate() {
            let (from_graph, to_graph) = (self.graph[from as usize], self.graph[to as usize]);
            if from_graph != to_graph {
                return Err(DataError::new(
                    file.line(index + 1),
                    format!(
                        "an edge from node {} of graph {} to node {} of graph {}",
                        from as usize + 1,
                        from_graph as usize + 1,
                        to as usize + 1,
                        to_graph as usize + 1
                    ),
                    "both in one graph",
                ));
            }
            starts[from_graph as usize + 1] += 1;
        }
        for graph in 1..starts.len() {
            starts[graph] += starts[graph - 1];
        }
        let mut next = starts.clone();
        let mut grouped = vec![[0; 2]; edges.len()];
        for &[from, to] in edges {
            let at = &mut next[self.graph[from as usize] as usize];
            grouped[*at] = [self.local[from as usize], self.local[to as usize]];
            *at += 1;
        }
        Ok((starts, grouped))
    }
}

/// Returns the error of a graph, counted from 1, that has a label and no nodes.
fn graph_without_nodes(label: String, graph: usize) -> DataError {
    let found = format!("the label of graph {graph}, to which no node belongs");
    DataError::new(label, found, "at least one node")
}
