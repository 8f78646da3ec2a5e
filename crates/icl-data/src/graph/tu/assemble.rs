//! Assembly of the graphs of a data set from its tables.

use super::features::{NodeFeatures, NodeTables};
use super::files::TuFiles;
use super::names::TuTable;
use super::table::{TextTable, check_count};
use crate::error::DataError;
use crate::graph::adjacency::Adjacency;
use crate::graph::dataset::{GraphCounts, GraphDataset};
use crate::graph::error::GraphsError;
use crate::graph::sample::Graph;

/// Maximum number of nodes, and of directed edges in both directions: the largest `i32`.
const MAX_COUNT: usize = i32::MAX as usize;

/// Reads all tables, checks their consistency and builds the graphs.
pub(super) fn assemble(mut files: TuFiles) -> Result<GraphDataset, DataError> {
    let labels = files.required(TuTable::GraphLabels)?;
    let classes = GraphClasses::of(labels.integers()?);
    let indicator = files.required(TuTable::GraphIndicator)?;
    let members = Members::read(&indicator, &labels, classes.of_graph.len())?;
    let n_nodes = members.graph.len();

    let table = files.required(TuTable::Edges)?;
    let edges = table.edges(n_nodes)?;
    check_count(table.file(), "edges", edges.len(), MAX_COUNT / 2)?;
    let n_edge_lines = edges.len();
    let (starts, edges) = members.group(&table, &edges)?;
    drop(table);

    let nodes = NodeTables::read(&mut files, &indicator, n_nodes)?;
    let mut counts = GraphCounts {
        n_graphs: classes.of_graph.len(),
        n_nodes,
        n_edge_lines,
        n_distinct: 0,
        n_self_loops: 0,
        n_mirrored: 0,
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
        counts.n_class[classes.of_graph[graph]] += 1;
        adjacencies.push(adjacency);
    }
    drop(edges);

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
            Graph::from_parts(adjacency, features, d_features, classes.of_graph[graph])
        })
        .collect();
    Ok(GraphDataset {
        name: files.name().to_owned(),
        graphs,
        class_labels: classes.labels,
        d_features,
        layout,
        scales,
        counts,
    })
}

/// Class of every graph.
struct GraphClasses {
    /// Distinct labels, ascending.
    labels: Vec<i64>,
    /// For each graph, the index of its label in `labels`.
    of_graph: Vec<usize>,
}

impl GraphClasses {
    fn of(labels_of_graphs: Vec<i64>) -> Self {
        let mut labels = labels_of_graphs.clone();
        labels.sort_unstable();
        labels.dedup();
        let of_graph = labels_of_graphs
            .iter()
            .map(|label| labels.partition_point(|other| other < label))
            .collect();
        Self { labels, of_graph }
    }
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
    fn read(indicator: &TextTable, labels: &TextTable, n_graphs: usize) -> Result<Self, DataError> {
        let graphs = indicator.integers()?;
        check_count(indicator.file(), "nodes", graphs.len(), MAX_COUNT)?;
        let mut offsets = vec![0; n_graphs + 1];
        for (node, &graph) in graphs.iter().enumerate() {
            if graph < 1 || graph > n_graphs as i64 {
                return Err(GraphsError::GraphOutOfRange {
                    at: indicator.line(node + 1),
                    found: graph,
                    n_graphs,
                }
                .into());
            }
            offsets[graph as usize] += 1;
        }
        if let Some(graph) = (1..=n_graphs).find(|&graph| offsets[graph] == 0) {
            return Err(GraphsError::GraphWithoutNodes {
                at: labels.line(graph),
                graph,
            }
            .into());
        }
        for graph in 0..n_graphs {
            offsets[graph + 1] += offsets[graph];
        }
        let graph: Vec<u32> = graphs.iter().map(|&graph| (graph - 1) as u32).collect();
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
        table: &TextTable,
        edges: &[[u32; 2]],
    ) -> Result<(Vec<usize>, Vec<[u32; 2]>), DataError> {
        let mut starts = vec![0; self.offsets.len()];
        for (index, &[from, to]) in edges.iter().enumerate() {
            let (from_graph, to_graph) = (self.graph[from as usize], self.graph[to as usize]);
            if from_graph != to_graph {
                return Err(GraphsError::EdgeBetweenGraphs {
                    at: table.line(index + 1),
                    from: from as usize + 1,
                    from_graph: from_graph as usize + 1,
                    to: to as usize + 1,
                    to_graph: to_graph as usize + 1,
                }
                .into());
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
