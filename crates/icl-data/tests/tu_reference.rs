//! The reader against the counts of the data's README and against `scripts/reference/tu.py`.

use std::collections::BTreeMap;
use std::path::Path;

use icl_core::testing::assert_close;
use icl_data::{FeatureLayout, Graph, GraphDataset, embedded, read_tu};
use serde::Deserialize;

#[derive(Deserialize)]
struct Record {
    embedded_mutag: Expected,
    embedded_mutag_profiles: Vec<Vec<[f64; 5]>>,
    sets: BTreeMap<String, Expected>,
}

#[derive(Deserialize)]
struct Expected {
    n_graphs: usize,
    n_nodes: usize,
    n_edge_lines: usize,
    n_distinct: usize,
    n_self_loops: usize,
    n_mirrored: usize,
    class_labels: Vec<i64>,
    n_class: Vec<usize>,
    class_checksum: usize,
    size_checksum: usize,
    edge_checksum: usize,
    d_features: usize,
    feature_sums: Vec<f64>,
    profile_sums: Vec<f64>,
}

fn record() -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/tu.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Everything that the script records of a data set.
fn check(data: &GraphDataset, expected: &Expected) {
    let counts = data.counts();
    assert_eq!(counts.n_graphs, expected.n_graphs);
    assert_eq!(counts.n_nodes, expected.n_nodes);
    assert_eq!(counts.n_edge_lines, expected.n_edge_lines);
    assert_eq!(counts.n_distinct, expected.n_distinct);
    assert_eq!(counts.n_self_loops, expected.n_self_loops);
    assert_eq!(counts.n_mirrored, expected.n_mirrored);
    assert_eq!(counts.n_class, expected.n_class);
    assert_eq!(data.class_labels(), expected.class_labels);
    assert_eq!(data.d_features(), expected.d_features);
    assert_eq!(data.graphs().len(), expected.n_graphs);
    let n_edges: usize = data.graphs().iter().map(Graph::n_edges).sum();
    assert_eq!(n_edges, counts.n_edges());

    let classes = data.labels().into_iter().enumerate();
    let class_checksum = classes.fold(0, |sum, (index, class)| sum + (index + 1) * class);
    assert_eq!(class_checksum % 1_000_003, expected.class_checksum);

    let (mut first, mut size_checksum, mut edge_checksum) = (0, 0, 0);
    let mut feature_sums = vec![0.0; expected.d_features];
    let mut feature_sizes = vec![0.0; expected.d_features];
    let mut profile_sums = vec![0.0; 5];
    for (index, graph) in data.graphs().iter().enumerate() {
        for (node, profile) in graph.degree_profile().iter().enumerate() {
            let place = first + node;
            let weight = ((place * 7919) % 1009) as f64 / 1009.0;
            size_checksum += (place % 1009) * index;
            for &other in graph.neighbours(node) {
                edge_checksum += (place * 7919 + first + other as usize) % 1009;
            }
            for (column, &value) in graph.node_features(node).iter().enumerate() {
                feature_sums[column] += weight * f64::from(value);
                feature_sizes[column] += weight * f64::from(value).abs();
            }
            for (sum, &value) in profile_sums.iter_mut().zip(profile) {
                *sum += weight * value;
            }
        }
        first += graph.n_nodes();
    }
    assert_eq!(size_checksum % 1_000_003, expected.size_checksum);
    assert_eq!(edge_checksum, expected.edge_checksum);
    assert_close(&profile_sums, &expected.profile_sums, 1e-12);
    for (column, expected) in expected.feature_sums.iter().enumerate() {
        // Each feature is rounded to f32, by at most 2^-24 of it; all roundings may add up.
        let tolerance = feature_sizes[column] * 2.0_f64.powi(-24) + 1e-9;
        let found = feature_sums[column];
        assert!(
            (found - expected).abs() <= tolerance,
            "column {column}: found {found}, expected {expected} within {tolerance}"
        );
    }
}

/// A data set of the shared folder, checked against the script; `None` if it is not there.
fn checked(name: &str) -> Option<GraphDataset> {
    let data = read_tu(crate::data_dir::shared(&format!("graphs/{name}.zip"))?).unwrap();
    assert_eq!(data.name(), name);
    check(&data, &record().sets[name]);
    Some(data)
}

#[test]
fn embedded_mutag() {
    let data = embedded::graphs("MUTAG").unwrap();
    let record = record();
    check(&data, &record.embedded_mutag);
    let counts = data.counts();
    assert_eq!((counts.n_graphs, counts.n_nodes), (188, 3371));
    // Label -1 stands before label 1.
    assert_eq!(counts.n_class, [63, 125]);
    assert_eq!(
        *data.layout(),
        FeatureLayout::Given {
            node_labels: (0..7).collect(),
            n_attributes: 0
        }
    );
    for (graph, expected) in data.graphs().iter().zip(&record.embedded_mutag_profiles) {
        // PyTorch Geometric computes the deviation in f32 as the root of a difference.
        let found = graph.degree_profile();
        assert_close(found.as_flattened(), expected.as_flattened(), 1e-5);
    }
}

#[test]
fn mutag_is_the_same_embedded_and_in_the_folder() {
    if let Some(data) = checked("MUTAG") {
        assert_eq!(data, embedded::graphs("MUTAG").unwrap());
    }
}

#[test]
fn ptc_mr() {
    if let Some(data) = checked("PTC_MR") {
        assert_eq!(data.counts().n_class, [192, 152]);
    }
}

#[test]
fn proteins() {
    if let Some(data) = checked("PROTEINS") {
        let counts = data.counts();
        assert_eq!((counts.n_graphs, counts.n_nodes), (1113, 43471));
        assert_eq!(counts.n_edge_lines, 162_088);
        assert_eq!(counts.n_class, [663, 450]);
        assert_eq!(
            *data.layout(),
            FeatureLayout::Given {
                node_labels: vec![0, 1, 2],
                n_attributes: 1
            }
        );
    }
}

#[test]
fn proteins_full() {
    if let Some(data) = checked("PROTEINS_full") {
        assert_eq!(data.counts().n_nodes, 43471);
        assert_eq!(data.d_features(), 3 + 29);
    }
}

#[test]
fn imdb() {
    if let Some(data) = checked("IMDB-BINARY") {
        let counts = data.counts();
        assert_eq!((counts.n_graphs, counts.n_class.len()), (1000, 2));
        assert_eq!((counts.n_edge_lines, counts.n_distinct), (386_124, 193_062));
        assert_eq!(*data.layout(), FeatureLayout::DegreeProfile);
    }
    if let Some(data) = checked("IMDB-MULTI") {
        let counts = data.counts();
        assert_eq!((counts.n_graphs, counts.n_class.len()), (1500, 3));
        assert_eq!(counts.n_edge_lines, 2 * counts.n_distinct);
    }
}

#[test]
fn reddit_binary() {
    if let Some(data) = checked("REDDIT-BINARY") {
        let counts = data.counts();
        assert_eq!((counts.n_graphs, counts.n_nodes), (2000, 859_254));
        assert_eq!(counts.n_class, [1000, 1000]);
        assert_eq!(counts.n_edges() as f64 / 2000.0, 497.754);
        assert_eq!(data.sizes().into_iter().max(), Some(3782));
        // Degrees span three orders of magnitude, and still no feature is far from the rest.
        let greatest_degree = data
            .graphs()
            .iter()
            .flat_map(|graph| (0..graph.n_nodes()).map(|node| graph.degree(node)))
            .max();
        assert!(greatest_degree > Some(1000));
        let features = data.graphs().iter().flat_map(Graph::features);
        assert!(features.into_iter().all(|value| value.abs() < 20.0));
    }
}

#[test]
fn the_catalogue_knows_the_tables() {
    for name in [
        "MUTAG",
        "PTC_MR",
        "PROTEINS",
        "PROTEINS_full",
        "IMDB-BINARY",
        "IMDB-MULTI",
    ] {
        let file = icl_data::catalogue::find(name).unwrap().files[0];
        assert!(file.tables_md5.is_some());
        if let Some(path) = crate::data_dir::shared(&format!("graphs/{name}.zip")) {
            file.verify(&path).unwrap();
        }
    }
}
