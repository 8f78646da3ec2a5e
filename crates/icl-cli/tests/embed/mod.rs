//! `icl embed` against an encoder of plain double loops, in all formats, and what it must reject.

mod pairs;
mod rejected;
mod tools;
mod values;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::support::number;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

/// Numbers from −1 to 1, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        // Knuth's MMIX generator; its upper bits.
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 40) as f64 / f64::from(1 << 23) - 1.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * n as f64) as usize
    }
}

/// The labels of a graph's nodes, its edges and its class.
#[derive(Clone)]
struct Graph {
    nodes: Vec<usize>,
    edges: Vec<[usize; 2]>,
    class: i64,
}

/// Graphs of 1 to 20 nodes with the node labels 0 to 3.
fn graphs(n: usize) -> Vec<Graph> {
    let mut numbers = Numbers(7);
    let graph = |index: usize| {
        let n_nodes = 1 + numbers.below(20);
        // Every label occurs, so that there are always four columns.
        let nodes = (0..n_nodes).map(|node| (node + index) % 4).collect();
        let edge = |_| [0, 1].map(|_| numbers.below(n_nodes));
        Graph {
            nodes,
            edges: (0..2 * n_nodes).map(edge).collect(),
            class: [-5, 12][index % 2],
        }
    };
    (0..n).map(graph).collect()
}

/// Writes graphs as a folder of the TU format.
fn write_data(at: &Path, name: &str, graphs: &[Graph]) {
    let [mut edges, mut indicator, mut classes, mut labels] = [(); 4].map(|()| String::new());
    let mut first = 1;
    for (index, graph) in graphs.iter().enumerate() {
        for [from, to] in &graph.edges {
            writeln!(edges, "{}, {}", first + from, first + to).unwrap();
        }
        for label in &graph.nodes {
            writeln!(indicator, "{}", index + 1).unwrap();
            writeln!(labels, "{label}").unwrap();
        }
        writeln!(classes, "{}", graph.class).unwrap();
        first += graph.nodes.len();
    }
    fs::create_dir(at.join(name)).unwrap();
    for (ending, text) in [
        ("A", edges),
        ("graph_indicator", indicator),
        ("graph_labels", classes),
        ("node_labels", labels),
    ] {
        fs::write(at.join(format!("{name}/{name}_{ending}.txt")), text).unwrap();
    }
}

/// A file of tensors as this test reads and writes it, by no code of the program.
#[derive(Clone)]
struct Tensors {
    metadata: Value,
    /// Name, type, shape and bytes.
    tensors: BTreeMap<String, (String, Vec<usize>, Vec<u8>)>,
}

impl Tensors {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let (header, numbers) = bytes[8..].split_at(length);
        let mut header: Value = serde_json::from_slice(header).unwrap();
        let header = header.as_object_mut().unwrap();
        let metadata = header.remove("__metadata__").unwrap();
        let list = |value: &Value| -> Vec<usize> {
            let items = value.as_array().unwrap().iter();
            items.map(|item| item.as_u64().unwrap() as usize).collect()
        };
        let tensor = |(name, info): (&String, &Value)| {
            let offsets = list(&info["data_offsets"]);
            let dtype = info["dtype"].as_str().unwrap().to_owned();
            let bytes = numbers[offsets[0]..offsets[1]].to_vec();
            (name.clone(), (dtype, list(&info["shape"]), bytes))
        };
        let tensors = header.iter().map(tensor).collect();
        Self { metadata, tensors }
    }

    fn write(&self, path: &Path) {
        let mut header = json!({ "__metadata__": self.metadata });
        let mut numbers = Vec::new();
        for (name, (dtype, shape, bytes)) in &self.tensors {
            let begin = numbers.len();
            numbers.extend(bytes);
            header[name] =
                json!({ "dtype": dtype, "shape": shape, "data_offsets": [begin, numbers.len()] });
        }
        let header = header.to_string();
        let length = (header.len() as u64).to_le_bytes();
        fs::write(path, [&length[..], header.as_bytes(), &numbers].concat()).unwrap();
    }

    fn put(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f64>) {
        let bytes = values.into_iter().flat_map(|x| (x as f32).to_le_bytes());
        let tensor = ("F32".to_owned(), shape.to_vec(), bytes.collect());
        self.tensors.insert(name.to_owned(), tensor);
    }

    fn values(&self, name: &str) -> Vec<f64> {
        let (bytes, _) = self.tensors[name].2.as_chunks::<4>();
        bytes
            .iter()
            .map(|bytes| f64::from(f32::from_le_bytes(*bytes)))
            .collect()
    }

    fn config(&self) -> Value {
        serde_json::from_str(self.metadata["config"].as_str().unwrap()).unwrap()
    }
}

/// An encoder of two layers of widths 4 → 6 → 6 with weights and statistics of all kinds.
fn encoder() -> Tensors {
    let config = json!({
        "d_input": 4, "d_hidden": 6, "n_layers": 2, "dropout": 0.5, "readout": "Sum",
        "negative_slope": 0.05, "epsilon": 0.01,
    });
    let mut numbers = Numbers(11);
    let mut encoder = Tensors {
        metadata: json!({ "encoder": "gcn", "config": config.to_string(), "data": "TOYS" }),
        tensors: BTreeMap::new(),
    };
    for (layer, width) in [4, 6].into_iter().enumerate() {
        let mut some = |n: usize| -> Vec<f64> { (0..n).map(|_| numbers.next()).collect() };
        encoder.put(
            &format!("convolutions.{layer}.weight"),
            &[width, 6],
            some(6 * width),
        );
        encoder.put(&format!("statistics.{layer}.mean"), &[6], some(6));
        let variance = some(6).into_iter().map(|x| x * x);
        encoder.put(&format!("statistics.{layer}.variance"), &[6], variance);
    }
    encoder
}

/// The embedding of one graph by the formulas of the book, one number after the other.
fn embedding(encoder: &Tensors, graph: &Graph) -> Vec<f64> {
    let config = encoder.config();
    let [d_input, d_hidden, n_layers] =
        ["d_input", "d_hidden", "n_layers"].map(|key| number(&config, key) as usize);
    let [epsilon, slope] = ["epsilon", "negative_slope"].map(|key| number(&config, key));
    assert_eq!(config["readout"], "Sum");
    let n = graph.nodes.len();
    // A + I, and the degrees that include the self loop.
    let mut joined = vec![vec![false; n]; n];
    for (node, row) in joined.iter_mut().enumerate() {
        row[node] = true;
    }
    for &[from, to] in &graph.edges {
        joined[from][to] = true;
        joined[to][from] = true;
    }
    let degree: Vec<f64> = joined
        .iter()
        .map(|row| row.iter().filter(|is| **is).count() as f64)
        .collect();
    let one_hot = |label: &usize| -> Vec<f64> {
        (0..d_input)
            .map(|column| f64::from(u8::from(column == *label)))
            .collect()
    };
    let mut x: Vec<Vec<f64>> = graph.nodes.iter().map(one_hot).collect();
    let mut embedding = Vec::new();
    for layer in 0..n_layers {
        let weight = encoder.values(&format!("convolutions.{layer}.weight"));
        let mean = encoder.values(&format!("statistics.{layer}.mean"));
        let variance = encoder.values(&format!("statistics.{layer}.variance"));
        let mut next = vec![vec![0.0; d_hidden]; n];
        for node in 0..n {
            for column in 0..d_hidden {
                let mut sum = 0.0;
                for other in 0..n {
                    if joined[node][other] {
                        for (row, value) in x[other].iter().enumerate() {
                            sum += value * weight[row * d_hidden + column]
                                / (degree[node] * degree[other]).sqrt();
                        }
                    }
                }
                let normal = (sum - mean[column]) / (variance[column] + epsilon).sqrt();
                next[node][column] = if normal < 0.0 { slope * normal } else { normal };
            }
        }
        x = next;
        for column in 0..d_hidden {
            embedding.push(x.iter().map(|row| row[column]).sum());
        }
    }
    embedding
}

/// A folder with the encoder `e.safetensors` and the data `T`, with the graphs.
fn toys() -> (TempDir, Vec<Graph>) {
    let at = tempdir().unwrap();
    encoder().write(&at.path().join("e.safetensors"));
    let graphs = graphs(300);
    write_data(at.path(), "T", &graphs);
    (at, graphs)
}

const EMBED: &str = "embed --from e.safetensors --data T --out";

/// The values of a NumPy file of f32, with its shape as it is written.
fn npy(path: &Path) -> (String, Vec<f64>) {
    let bytes = fs::read(path).unwrap();
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, numbers) = bytes[10..].split_at(length);
    let header = String::from_utf8(header.to_vec()).unwrap();
    assert!(
        header.contains("'<f4'") && header.contains("'fortran_order': False"),
        "{header}"
    );
    let (_, shape) = header.split_once("'shape': (").unwrap();
    let (numbers, _) = numbers.as_chunks::<4>();
    let values = numbers
        .iter()
        .map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    (
        shape.split(')').next().unwrap().to_owned(),
        values.collect(),
    )
}

/// Sums of about 20 numbers of order 1 in single precision: 1e-5 of their size.
#[track_caller]
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let within = 1e-5 * (10.0 + expected.abs());
        assert!(
            (found - expected).abs() <= within,
            "element {index}: found {found}, expected {expected}"
        );
    }
}
