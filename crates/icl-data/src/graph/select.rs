//! Selection of classes and of a number of graphs.

use super::dataset::{GraphCounts, GraphDataset};
use super::sample::Graph;
use crate::error::DataError;
use crate::selection::{classes_of, n_class, selected};

impl GraphDataset {
    /// Keeps the graphs of some classes, and at most `limit` of them, balanced across classes.
    ///
    /// `classes` names the classes to keep by their labels in the files, in any order; if empty, all are
    /// kept. Classes and graphs keep their order, and the classes are numbered from 0 again. With a limit,
    /// the first graphs of each class are kept, one of each class in turn until the limit is reached. Node
    /// features stay as they are, standardised over all graphs of the files. The counts are those of the
    /// graphs that are kept, without repairs.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if classes are named and the graphs have none;
    /// - if the data set has no class of a given name;
    /// - if a class is given twice;
    /// - if the limit is below 4, too few for two old and
    ///   two new graphs.
    pub fn select(self, classes: &[String], limit: Option<usize>) -> Result<Self, DataError> {
        if !classes.is_empty() {
            self.check_labels("the option classes")?;
        }
        let names: Vec<String> = self.class_labels.iter().map(i64::to_string).collect();
        let of = (&*self.name, "graphs");
        let kept = selected(of, &self.labels(), &names, classes, limit)?;
        if kept.len() == self.graphs.len() {
            return Ok(self);
        }
        let labels = kept.iter().map(|&index| self.graphs[index].label());
        let (classes, new_class) = classes_of(labels, self.class_labels.len());
        let class_labels = classes.iter().map(|&class| self.class_labels[class]);
        let relabelled = |&index: &usize| {
            let graph = &self.graphs[index];
            graph.with_label(new_class[graph.label()])
        };
        let graphs: Vec<Graph> = kept.iter().map(relabelled).collect();
        let n_directed = 2 * graphs.iter().map(Graph::n_edges).sum::<usize>();
        Ok(Self {
            counts: GraphCounts {
                n_graphs: graphs.len(),
                n_nodes: graphs.iter().map(Graph::n_nodes).sum(),
                n_edge_lines: n_directed,
                n_distinct: n_directed,
                n_self_loops: 0,
                n_mirrored: 0,
                n_clipped: 0,
                n_class: n_class(graphs.iter().map(Graph::label), classes.len()),
            },
            graphs,
            class_labels: class_labels.collect(),
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::embedded;

    #[test]
    fn classes_and_numbers_of_graphs_are_selected() {
        let mutag = || embedded::graphs("MUTAG").unwrap();
        assert_eq!(mutag().select(&[], None).unwrap(), mutag());
        assert_eq!(mutag().select(&[], Some(188)).unwrap(), mutag());
        let one = mutag().select(&["1".to_owned()], None).unwrap();
        assert_eq!((one.class_labels(), one.counts().n_graphs), (&[1][..], 125));
        assert!(one.labels().iter().all(|&label| label == 0));
        let few = mutag().select(&[], Some(10)).unwrap();
        assert_eq!(few.counts().n_class, [5, 5]);
        assert_eq!(
            few.counts().n_edges(),
            few.graphs()
                .iter()
                .map(|graph| graph.n_edges())
                .sum::<usize>()
        );
        for (classes, limit, message) in [
            (
                vec!["2".to_owned()],
                None,
                "found no class \"2\", expected classes among -1, 1",
            ),
            (
                vec![],
                Some(3),
                "limit: found 3 graphs, expected at least 4",
            ),
        ] {
            let error = mutag().select(&classes, limit).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
