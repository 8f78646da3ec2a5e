//! Joining of old and new graphs, read from two places, into one data set.

use icl_core::Increment;

use super::dataset::{GraphCounts, GraphDataset};
use super::sample::Graph;
use crate::error::DataError;
use crate::increments::increment_of_parts;
use crate::selection::n_class;

impl GraphDataset {
    /// Joins two data sets: the graphs of `old`, then those of `new`, and the increment of both.
    ///
    /// **Classes** are identified by their original labels, in whichever data set they occur. If one of the data sets
    /// has no labels, the joined one has none.
    ///
    /// **Node features** have the columns of `old`, as an encoder that was trained on it expects; the
    /// features of the graphs of `old` do not change. Node labels of `new` move to the columns that
    /// they have in `old`, which may have more of them. Columns that were standardised over `new`
    /// (attributes, degree profiles) are standardised by the means and standard deviations of `old`
    /// instead; a column that is constant in `old` becomes 0. The features therefore differ from
    /// those of a single file of all graphs, which would be standardised over all of them.
    ///
    /// The name is `OLD+NEW`, and the counts are sums.
    ///
    /// ```
    /// use icl_data::{GraphDataset, embedded};
    ///
    /// let mutag = embedded::graphs("MUTAG")?;
    /// let (twice, increment) = GraphDataset::join(&mutag, &mutag)?;
    /// assert_eq!(twice.graphs().len(), 376);
    /// assert_eq!(increment.new_data()[0], 188);
    /// assert_eq!(twice.graphs()[188], mutag.graphs()[0]);
    /// # Ok::<(), icl_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError`]
    /// - if one of them has fewer than two graphs;
    /// - if only one of them has node labels or attributes, or if their
    ///   numbers of attributes differ;
    /// - if `new` has a node label that `old` does not have.
    pub fn join(old: &Self, new: &Self) -> Result<(Self, Increment), DataError> {
        let parts = [old, new].map(|data| (data.name(), data.graphs.len()));
        let increment = increment_of_parts(parts, "graph")?;
        Ok((old.append(new)?, increment))
    }

    /// Appends the graphs of another data set, however few, as [`join`](Self::join) does.
    ///
    /// # Errors
    /// Those of [`join`](Self::join), but for that of few samples.
    pub fn append(&self, new: &Self) -> Result<Self, DataError> {
        let old = self;
        let new = &new.with_schema(&old.schema())?;
        let has_labels = old.has_labels && new.has_labels;
        let mut class_labels = match has_labels {
            true => [&old.class_labels[..], &new.class_labels].concat(),
            false => vec![0],
        };
        class_labels.sort_unstable();
        class_labels.dedup();
        let class_of = |data: &Self, graph: &Graph| {
            if !has_labels {
                return 0;
            }
            let label = data.class_labels[graph.label()];
            class_labels.partition_point(|other| *other < label)
        };
        let of_old = old.graphs.iter();
        let of_new = new.graphs.iter();
        let graphs: Vec<Graph> = of_old
            .map(|graph| graph.with_label(class_of(old, graph)))
            .chain(of_new.map(|graph| graph.with_label(class_of(new, graph))))
            .collect();
        let n_class = n_class(graphs.iter().map(Graph::label), class_labels.len());
        Ok(Self {
            name: format!("{}+{}", old.name, new.name),
            graphs,
            class_labels,
            has_labels,
            d_features: old.d_features,
            layout: old.layout.clone(),
            scales: old.scales.clone(),
            counts: old.counts.plus(&new.counts, n_class),
        })
    }
}

impl GraphCounts {
    fn plus(&self, other: &Self, n_class: Vec<usize>) -> Self {
        Self {
            n_graphs: self.n_graphs + other.n_graphs,
            n_nodes: self.n_nodes + other.n_nodes,
            n_edge_lines: self.n_edge_lines + other.n_edge_lines,
            n_distinct: self.n_distinct + other.n_distinct,
            n_self_loops: self.n_self_loops + other.n_self_loops,
            n_mirrored: self.n_mirrored + other.n_mirrored,
            n_class,
            n_clipped: self.n_clipped + other.n_clipped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;
    use crate::graph::read_tu;

    /// A data set of the files with these endings, read from a folder of its name.
    fn read(name: &str, files: &[(&str, &str)]) -> GraphDataset {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        for (ending, contents) in files {
            std::fs::write(folder.join(format!("{name}_{ending}.txt")), contents).unwrap();
        }
        read_tu(&folder).unwrap()
    }

    /// Graphs of one node each, with these class labels and further files.
    fn dots(name: &str, labels: &str, files: &[(&str, &str)]) -> GraphDataset {
        let n = labels.lines().count();
        let indicator: String = (1..=n).map(|graph| format!("{graph}\n")).collect();
        let mut all = vec![
            ("A", "1, 1\n"),
            ("graph_indicator", &indicator),
            ("graph_labels", labels),
        ];
        all.extend_from_slice(files);
        read(name, &all)
    }

    fn features(data: &GraphDataset) -> Vec<f32> {
        let graphs = data.graphs().iter();
        graphs.flat_map(Graph::features).copied().collect()
    }

    #[track_caller]
    fn rejected(old: &GraphDataset, new: &GraphDataset, message: &str) {
        let error = GraphDataset::join(old, new).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn classes_are_told_apart_by_their_original_labels() {
        let old = dots("OLD", "7\n-1\n7\n", &[]);
        let new = dots("NEW", "3\n7\n", &[]);
        let (joined, increment) = GraphDataset::join(&old, &new).unwrap();
        assert_eq!(joined.class_labels(), [-1, 3, 7]);
        assert_eq!(joined.labels(), [2, 0, 2, 1, 2]);
        assert_eq!(joined.name(), "OLD+NEW");
        assert_eq!(joined.counts().n_class, [1, 1, 3]);
        assert_eq!(joined.counts().n_graphs, 5);
        assert_eq!(joined.counts().n_self_loops, 2);
        assert_eq!(increment.old(), [0, 1, 2]);
        assert_eq!(increment.new_data(), [3, 4]);
        assert_eq!(increment.growth_ratio().value(), 0.4);
    }

    #[test]
    fn node_labels_go_to_the_columns_of_the_old_data() {
        let old = dots("OLD", "0\n0\n0\n", &[("node_labels", "5\n-2\n9\n")]);
        let new = dots("NEW", "0\n0\n", &[("node_labels", "9\n5\n")]);
        let (joined, _) = GraphDataset::join(&old, &new).unwrap();
        assert_eq!(joined.d_features(), 3);
        let nodes: Vec<&[f32]> = joined.graphs().iter().map(|g| g.node_features(0)).collect();
        // ColumnMap: −2, 5, 9.
        let expected = [
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0],
        ];
        assert_eq!(nodes, expected);
        rejected(
            &new,
            &old,
            "data sets \"NEW\" and \"OLD\": found node label -2 only in the second (node features \
             of widths 2 and 3), expected node labels of the first",
        );
    }

    #[test]
    fn attributes_are_measured_by_the_old_data() {
        let old = dots("OLD", "0\n0\n", &[("node_attributes", "1, 4\n3, 4\n")]);
        let new = dots("NEW", "0\n0\n", &[("node_attributes", "5, 1\n2, 6\n")]);
        let (joined, _) = GraphDataset::join(&old, &new).unwrap();
        // In the old data the first column has mean 2 and deviation 1, and the second is constant.
        let expected = [-1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 0.0];
        for (found, expected) in features(&joined).iter().zip(expected) {
            // Single precision twice.
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        }
        assert_eq!(features(&joined)[..4], features(&old));
    }

    /// The old data here are larger graphs: measured by themselves, small ones would look the same.
    #[test]
    fn degree_profiles_are_measured_by_the_old_data() {
        let star = "1, 2\n1, 3\n1, 4\n5, 6\n";
        let old = read(
            "OLD",
            &[
                ("A", star),
                ("graph_indicator", "1\n1\n1\n1\n2\n2\n"),
                ("graph_labels", "0\n1\n"),
            ],
        );
        let new = read(
            "NEW",
            &[
                ("A", "1, 2\n3, 4\n"),
                ("graph_indicator", "1\n1\n2\n2\n"),
                ("graph_labels", "1\n0\n"),
            ],
        );
        let (joined, _) = GraphDataset::join(&old, &new).unwrap();
        // A single edge is the second graph of the old data: the same graph has the same features.
        let edge = &joined.graphs()[1];
        for graph in &joined.graphs()[2..] {
            for (found, expected) in graph.features().iter().zip(edge.features()) {
                assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
            }
        }
        // By themselves all columns of the new data are constant.
        assert!(features(&new).iter().all(|value| *value == 0.0));
        assert!(edge.features().iter().any(|value| *value != 0.0));
    }

    #[test]
    fn one_data_set_twice_shares_its_graphs() {
        let mutag = embedded::graphs("MUTAG").unwrap();
        let (joined, increment) = GraphDataset::join(&mutag, &mutag).unwrap();
        assert_eq!(joined.name(), "MUTAG+MUTAG");
        assert_eq!(joined.class_labels(), mutag.class_labels());
        let (old, new) = joined.graphs().split_at(188);
        assert_eq!(old, new);
        assert!(std::ptr::eq(old[5].features(), new[5].features()));
        assert_eq!(increment.all(), (0..376).collect::<Vec<_>>());
        assert_eq!(joined.counts().n_nodes, 2 * mutag.counts().n_nodes);
    }

    #[test]
    fn what_cannot_be_joined_is_an_error() {
        let plain = dots("PLAIN", "0\n0\n", &[]);
        let labels = dots("LABELS", "0\n0\n", &[("node_labels", "1\n2\n")]);
        let one = dots("ONE", "0\n0\n", &[("node_attributes", "1\n2\n")]);
        let two = dots("TWO", "0\n0\n", &[("node_attributes", "1, 2\n2, 3\n")]);
        rejected(
            &plain,
            &labels,
            "data sets \"PLAIN\" and \"LABELS\": found node features of widths 5 and 2 (the degree \
             profile; 2 node labels and 0 attributes), expected the same columns in both",
        );
        rejected(
            &one,
            &two,
            "data sets \"ONE\" and \"TWO\": found node features of widths 1 and 2 (0 node labels and \
             1 attributes; 0 node labels and 2 attributes), expected the same columns in both",
        );
        // Widths agree, and columns do not.
        assert!(GraphDataset::join(&labels, &two).is_err());
        let single = dots("SINGLE", "0\n", &[]);
        let message = "data set \"SINGLE\": found 1 graph, expected at least 2";
        rejected(&single, &plain, message);
        rejected(&plain, &single, message);
    }
}
