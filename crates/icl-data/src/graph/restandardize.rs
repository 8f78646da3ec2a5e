//! Standardisation of the node features by the statistics of a part of the graphs.

use super::dataset::GraphDataset;
use super::standardize::standardize;

impl GraphDataset {
    /// Returns the data set with its standardised columns (attributes, degree profiles) standardised by the
    /// mean and the standard deviation over the nodes of some graphs, such as those of the old data, so that
    /// nothing of the others enters the features. 0/1 columns stay as they are. A column that is constant over
    /// those graphs becomes 0.
    ///
    /// # Panics
    /// If an index is not below the number of graphs, or `graphs` is empty.
    #[must_use]
    pub fn standardized_over(&self, graphs: &[usize]) -> Self {
        let n_scaled = self.scales.len();
        if n_scaled == 0 {
            return self.clone();
        }
        assert!(!graphs.is_empty(), "statistics need at least one graph");
        let first = self.d_features - n_scaled;
        let mut values = Vec::new();
        for &graph in graphs {
            let graph = &self.graphs[graph];
            for node in 0..graph.n_nodes() {
                let scaled = graph.node_features(node)[first..].iter().zip(&self.scales);
                values.extend(scaled.map(|(value, scale)| scale.original(f64::from(*value))));
            }
        }
        let scales = standardize(&mut values, n_scaled);
        let converted = self.graphs.iter().map(|graph| {
            let mut features = graph.features().to_vec();
            for row in features.chunks_exact_mut(self.d_features) {
                let columns = scales.iter().zip(&self.scales);
                for (value, (own, earlier)) in row[first..].iter_mut().zip(columns) {
                    // Statistics of other graphs may scale a value beyond the range of single precision.
                    let of_own = own.restandardize(f64::from(*value), *earlier);
                    *value = of_own.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
                }
            }
            graph.with_features(features, self.d_features)
        });
        Self {
            graphs: converted.collect(),
            scales,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;
    use crate::graph::read_tu;

    /// Attributes of the nodes of three graphs.
    fn attributes(values: &[f64]) -> GraphDataset {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("D");
        std::fs::create_dir(&folder).unwrap();
        let lines: String = values.iter().map(|value| format!("{value}, 7\n")).collect();
        let write = |ending: &str, text: &str| {
            std::fs::write(folder.join(format!("D_{ending}.txt")), text).unwrap();
        };
        write("A", "1, 2\n2, 1\n");
        write("graph_indicator", "1\n1\n2\n3\n");
        write("graph_labels", "0\n1\n0\n");
        write("node_attributes", &lines);
        read_tu(&folder).unwrap()
    }

    fn column(data: &GraphDataset, column: usize) -> Vec<f64> {
        let rows = data.graphs().iter();
        rows.flat_map(|graph| {
            (0..graph.n_nodes()).map(|node| f64::from(graph.node_features(node)[column]))
        })
        .collect()
    }

    #[test]
    fn the_statistics_are_those_of_the_chosen_graphs() {
        // Over the nodes of the first two graphs: mean 2, variance (1 + 1 + 0)/3.
        let data = attributes(&[1.0, 3.0, 2.0, 50.0]);
        let found = column(&data.standardized_over(&[0, 1]), 0);
        let sd = (2.0_f64 / 3.0).sqrt();
        for (found, value) in found.iter().zip([1.0, 3.0, 2.0, 50.0]) {
            let expected = (value - 2.0) / sd;
            assert!(
                (found - expected).abs() < 1e-5 * expected.abs().max(1.0),
                "{found}"
            );
        }
        // The same graphs with another third one have the same features.
        let other = attributes(&[1.0, 3.0, 2.0, -7.0]).standardized_over(&[0, 1]);
        let close = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-5;
        assert!(column(&other, 0)[..3].iter().zip(&found).all(close));
        assert_eq!(column(&other, 1), [0.0; 4]);
    }

    #[test]
    fn labels_of_nodes_stay_as_they_are() {
        let data = embedded::graphs("MUTAG").unwrap();
        assert_eq!(data.standardized_over(&[3, 4]), data);
    }
}
