//! `icl embed` against an encoder of plain double loops, in all formats, and what it must reject.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::support::{contents, icl, names, number, split};
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

#[test]
fn every_format_holds_the_embeddings() {
    let (at, graphs) = toys();
    let encoder = encoder();
    let expected: Vec<f64> = graphs
        .iter()
        .flat_map(|graph| embedding(&encoder, graph))
        .collect();
    for out in ["a.npy", "a.safetensors", "a.csv"] {
        let ran = icl(at.path(), &split(&format!("{EMBED} {out}"))).succeeded();
        assert_eq!(
            ran.stdout,
            format!("300 embeddings of width 12 written to {out}\n")
        );
        assert_eq!(ran.stderr, "");
    }

    let (shape, of_npy) = npy(&at.path().join("a.npy"));
    assert_eq!(shape.trim_end_matches([',', ' ']), "300, 12");
    assert_close(&of_npy, &expected);

    let tensors = Tensors::read(&at.path().join("a.safetensors"));
    assert_eq!(tensors.values("embeddings"), of_npy);
    assert_eq!(tensors.metadata["data"], "T");
    let (dtype, shape, _) = &tensors.tensors["embeddings"];
    assert_eq!((&dtype[..], &shape[..]), ("F32", &[300, 12][..]));
    let (dtype, shape, bytes) = &tensors.tensors["labels"];
    assert_eq!((&dtype[..], &shape[..]), ("I64", &[300][..]));
    let labels: Vec<i64> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|b| i64::from_le_bytes(*b))
        .collect();
    assert_eq!(
        labels,
        graphs.iter().map(|graph| graph.class).collect::<Vec<_>>()
    );
    assert_eq!(tensors.tensors.len(), 2);

    let csv = fs::read_to_string(at.path().join("a.csv")).unwrap();
    let mut lines = csv.lines();
    let names: Vec<String> = (0..12).map(|column| format!(",e{column}")).collect();
    assert_eq!(
        lines.next().unwrap(),
        format!("index,label{}", names.concat())
    );
    let mut of_csv = Vec::new();
    for (index, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[0], index.to_string());
        assert_eq!(fields[1], graphs[index].class.to_string());
        of_csv.extend(
            fields[2..]
                .iter()
                .map(|field| f64::from(field.parse::<f32>().unwrap())),
        );
    }
    // As many digits as give the number back.
    assert_eq!(of_csv, of_npy);
    assert_eq!(
        crate::support::names(at.path()),
        ["T", "a.csv", "a.npy", "a.safetensors", "e.safetensors"]
    );
}

#[test]
fn rows_follow_the_data() {
    let (at, graphs) = toys();
    let reversed: Vec<Graph> = graphs.iter().rev().cloned().collect();
    write_data(at.path(), "R", &reversed);
    icl(at.path(), &split(&format!("{EMBED} a.npy"))).succeeded();
    icl(
        at.path(),
        &split("embed --from e.safetensors --data R --out r.npy"),
    )
    .succeeded();
    let [a, r] = ["a.npy", "r.npy"].map(|name| npy(&at.path().join(name)).1);
    let turned: Vec<f64> = r.chunks(12).rev().flatten().copied().collect();
    // Each graph is computed by itself, in other batches: to rounding.
    assert_close(&turned, &a);
    assert_ne!(a, r);
}

#[test]
fn an_encoder_of_a_run_is_embedded_and_repeats_to_the_byte() {
    let at = tempdir().unwrap();
    for out in ["a", "b"] {
        let line = format!("run --seed 1 --epochs 2 --method warm --out {out}");
        icl(at.path(), &split(&line)).succeeded();
    }
    for name in names(&at.path().join("a"))
        .iter()
        .filter(|name| name.starts_with("encoder-"))
    {
        let [a, b] = ["a", "b"].map(|out| fs::read(at.path().join(out).join(name)).unwrap());
        assert!(a == b, "{name} differs");
        let line = format!("embed --from a/{name} --data mutag --out {name}.npy");
        icl(at.path(), &split(&line)).succeeded();
        let (shape, values) = npy(&at.path().join(format!("{name}.npy")));
        assert_eq!(shape.trim_end_matches([',', ' ']), "188, 64");
        assert!(values.iter().all(|value| value.is_finite()));
    }
    let encoder = Tensors::read(&at.path().join("a/encoder-warm-seed1.safetensors"));
    let (_, values) = npy(&at.path().join("encoder-warm-seed1.safetensors.npy"));
    let graph = first_of_mutag();
    assert_close(&values[..64], &embedding(&encoder, &graph));
}

/// The first graph of the embedded data, read from its archive by no code of the program.
fn first_of_mutag() -> Graph {
    let zip = concat!(env!("CARGO_MANIFEST_DIR"), "/../icl-data/data/MUTAG.zip");
    let mut zip = zip::ZipArchive::new(fs::File::open(zip).unwrap()).unwrap();
    let mut lines = |ending: &str| -> Vec<Vec<i64>> {
        let mut entry = zip.by_name(&format!("MUTAG/MUTAG_{ending}.txt")).unwrap();
        let text = std::io::read_to_string(&mut entry).unwrap();
        let line = |line: &str| line.split(',').map(|x| x.trim().parse().unwrap()).collect();
        text.lines().map(line).collect()
    };
    let n_nodes = lines("graph_indicator")
        .iter()
        .filter(|line| line[0] == 1)
        .count();
    let labels = lines("node_labels");
    let edges = lines("A")
        .into_iter()
        .filter(|edge| edge[0] <= n_nodes as i64);
    Graph {
        nodes: labels[..n_nodes]
            .iter()
            .map(|label| label[0] as usize)
            .collect(),
        edges: edges
            .map(|edge| [edge[0] as usize - 1, edge[1] as usize - 1])
            .collect(),
        class: lines("graph_labels")[0][0],
    }
}

/// Asserts that it is rejected with this message, and that nothing changes.
#[track_caller]
fn rejected(at: &Path, line: &str, message: &str) {
    let before = contents(at);
    icl(at, &split(line)).rejected(message);
    assert!(contents(at) == before, "{line} left something behind");
}

#[test]
fn where_nothing_is_written() {
    let (at, _) = toys();
    let at = at.path();
    let ending = "expected a name that ends in .npy, .safetensors or .csv";
    for out in ["a.txt", "a", "npy", "a.npy.gz"] {
        rejected(
            at,
            &format!("{EMBED} {out}"),
            &format!("out: found {out}, {ending}"),
        );
    }
    fs::write(at.join("a.csv"), "mine").unwrap();
    fs::create_dir(at.join("folder.npy")).unwrap();
    for (out, message) in [
        (
            "a.csv",
            "out: found a file at a.csv, expected nothing there (--force replaces it)",
        ),
        (
            "folder.npy",
            "out: found a folder at folder.npy, expected a file or nothing",
        ),
        (
            "folder.npy --force",
            "out: found a folder at folder.npy, expected a file or nothing",
        ),
        (
            "none/a.npy",
            "out: found no folder for none/a.npy, expected an existing one",
        ),
        (
            "a.csv/a.npy",
            "out: found no folder for a.csv/a.npy, expected an existing one",
        ),
        (
            "e.safetensors --force",
            "out: found the encoder itself at e.safetensors, expected another file",
        ),
        (
            "b.npy --backend abacus",
            "backend: found \"abacus\", expected one of those",
        ),
    ] {
        rejected(at, &format!("{EMBED} {out}"), message);
    }
    icl(at, &split(&format!("{EMBED} a.csv --force"))).succeeded();
    assert!(
        fs::read_to_string(at.join("a.csv"))
            .unwrap()
            .starts_with("index,label,e0")
    );
    // An ending in capitals is the same ending.
    icl(at, &split(&format!("{EMBED} B.NPY"))).succeeded();
}

#[test]
fn data_that_do_not_fit() {
    let (at, graphs) = toys();
    let at = at.path();
    rejected(
        at,
        "embed --from e.safetensors --data MUTAG --out a.npy",
        "data set \"MUTAG\": found node features of width 7 (7 node labels and 0 attributes), \
         expected width 4, which e.safetensors was trained on (\"TOYS\")",
    );
    rejected(
        at,
        "embed --from e.safetensors --data none --out a.npy",
        "none: found no such file or folder",
    );
    // One graph is enough.
    write_data(at, "ONE", &graphs[8..9]);
    assert!(graphs[8].nodes.len() >= 4);
    icl(
        at,
        &split("embed --from e.safetensors --data ONE --out one.csv"),
    )
    .succeeded();
    assert_eq!(
        fs::read_to_string(at.join("one.csv"))
            .unwrap()
            .lines()
            .count(),
        2
    );
}

#[test]
fn files_that_are_no_encoder() {
    let (at, _) = toys();
    let at = at.path();
    let whole = fs::read(at.join("e.safetensors")).unwrap();
    let embed = "embed --from b.safetensors --data T --out a.npy";
    rejected(
        at,
        embed,
        "b.safetensors: found no readable file (No such file or directory (os error 2)), expected \
         the .safetensors file of an encoder",
    );
    rejected(
        at,
        "embed --from T --data T --out a.npy",
        "T: found no readable file (a folder, pipe or device), expected the .safetensors file",
    );
    let no_file = "b.safetensors: found no safetensors file (";
    let cut = "b.safetensors: found a safetensors file that is truncated or damaged, expected";
    let longer = [&whole[..], b"more"].concat();
    for (bytes, message) in [
        (&b""[..], no_file),
        (b"cut", no_file),
        (b"index,label\n1,2\n", no_file),
        (&[0xff; 64], no_file),
        (b"\x02\0\0\0\0\0\0\0[]", no_file),
        (&whole[..40], cut),
        (&whole[..whole.len() / 2], cut),
        (&whole[..whole.len() - 1], cut),
        (&longer, cut),
    ] {
        fs::write(at.join("b.safetensors"), bytes).unwrap();
        rejected(at, embed, message);
    }
}

#[test]
fn encoders_that_are_not_whole() {
    let (at, _) = toys();
    let at = at.path();
    let rejected_with = |change: &dyn Fn(&mut Tensors), message: &str| {
        let mut changed = encoder();
        change(&mut changed);
        changed.write(&at.join("b.safetensors"));
        let message = format!("b.safetensors: {message}");
        rejected(
            at,
            "embed --from b.safetensors --data T --out a.npy",
            &message,
        );
    };
    let without = |key: &'static str| {
        move |e: &mut Tensors| {
            e.metadata.as_object_mut().unwrap().remove(key).unwrap();
        }
    };
    rejected_with(
        &without("encoder"),
        "found no metadata \"encoder\", expected that of an encoder written by icl",
    );
    rejected_with(
        &without("config"),
        "found no metadata \"config\", expected the encoder's configuration",
    );
    rejected_with(
        &without("data"),
        "found no metadata \"data\", expected the name of the data",
    );
    rejected_with(
        &|e| e.metadata["encoder"] = "resnet\u{1b}[31m\n18".into(),
        "found an encoder of kind \"resnet\\u{1b}[31m\\n18\", expected one for graphs: \"gcn\"",
    );
    rejected_with(
        &|e| e.metadata["config"] = "{\"d_input\": \"four\"}".into(),
        "found metadata \"config\" that cannot be read (invalid type: string \"four\"",
    );
    rejected_with(
        &|e| {
            e.metadata["config"] = e.metadata["config"]
                .as_str()
                .unwrap()
                .replace("Sum", "S\\n")
                .into()
        },
        "found metadata \"config\" that cannot be read (unknown variant `S `",
    );
    let config = |key: &'static str, value: Value| {
        move |e: &mut Tensors| {
            let mut config = e.config();
            config[key] = value.clone();
            e.metadata["config"] = config.to_string().into();
        }
    };
    rejected_with(
        &config("epsilon", json!(0.0)),
        "found a configuration that is not valid (epsilon: found 0, expected a number above 0)",
    );
    rejected_with(
        &config("n_layers", json!(3)),
        "found no tensor \"convolutions.2.weight\", expected it with shape [6, 6]",
    );
    rejected_with(
        &config("n_layers", json!(0)),
        "found tensor \"convolutions.0.weight\", expected only those of a GCN with n_layers = 0",
    );
    rejected_with(
        &config("d_hidden", json!(1_u64 << 60)),
        "found shape [4, 6] of tensor \"convolutions.0.weight\", expected [4, 1152921504606846976]",
    );
    rejected_with(
        &|e| drop(e.tensors.remove("statistics.1.mean")),
        "found no tensor \"statistics.1.mean\", expected it with shape [6]",
    );
    rejected_with(
        &|e| e.put("optimizer.step", &[1], [0.0]),
        "found tensor \"optimizer.step\", expected only those of a GCN with n_layers = 2",
    );
    rejected_with(
        &|e| e.put("statistics.0.mean", &[2, 3], [0.0; 6]),
        "found shape [2, 3] of tensor \"statistics.0.mean\", expected [6]",
    );
    rejected_with(
        &|e| e.tensors.get_mut("statistics.0.mean").unwrap().0 = "I32".into(),
        "found type I32 of tensor \"statistics.0.mean\", expected F32",
    );
    for (value, found) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        rejected_with(
            &|e| e.put("convolutions.1.weight", &[6, 6], [value; 36]),
            &format!("found {found} in tensor \"convolutions.1.weight\", expected finite numbers"),
        );
    }
    rejected_with(
        &|e| {
            e.put(
                "statistics.1.variance",
                &[6],
                [0.0, 1.0, -0.5, 1.0, 1.0, 1.0],
            )
        },
        "found -0.5 in tensor \"statistics.1.variance\", expected finite numbers from 0 on",
    );
    // Finite, but beyond single precision when they are multiplied.
    let mut great = encoder();
    great.put("convolutions.0.weight", &[4, 6], [3e38; 24]);
    great.put("convolutions.1.weight", &[6, 6], [3e38; 36]);
    great.write(&at.join("b.safetensors"));
    rejected(
        at,
        "embed --from b.safetensors --data T --out a.npy",
        " in the embedding of sample 0 of \"T\", expected finite numbers",
    );
}
