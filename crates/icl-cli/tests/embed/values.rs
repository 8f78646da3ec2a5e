//! The embeddings in every format, and what they depend on.

use std::fs;

use super::{EMBED, Graph, Tensors, assert_close, embedding, encoder, npy, toys, write_data};
use crate::support::{icl, names, split};
use serde_json::Value;
use tempfile::tempdir;

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
        let labels = match out {
            "a.npy" => ", labels to a.labels.npy",
            _ => "",
        };
        assert_eq!(
            ran.stdout,
            format!("300 embeddings of width 12 written to {out}{labels}\n")
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
        graphs
            .iter()
            .map(|graph| i64::from(graph.class == 12))
            .collect::<Vec<_>>()
    );
    assert_eq!(tensors.metadata["classes"], "[\"-5\",\"12\"]");
    let ids: Vec<String> = serde_json::from_str(tensors.metadata["ids"].as_str().unwrap()).unwrap();
    assert!(
        ids.iter()
            .map(String::as_str)
            .eq((0..300).map(|it| it.to_string()).collect::<Vec<_>>())
    );
    let digest = tensors.metadata["encoder"].as_str().unwrap();
    assert_eq!(digest.len(), 64);
    assert_eq!(tensors.tensors.len(), 2);
    let rows: Value =
        serde_json::from_slice(&fs::read(at.path().join("a.rows.json")).unwrap()).unwrap();
    assert_eq!(
        (&rows["encoder"], &rows["data"]),
        (&digest.into(), &"T".into())
    );
    assert_eq!(rows["ids"], serde_json::json!(ids));
    assert_eq!(rows["labels"], serde_json::json!(labels));

    let csv = fs::read_to_string(at.path().join("a.csv")).unwrap();
    let mut lines = csv.lines();
    let names: Vec<String> = (0..12).map(|column| format!(",e{column}")).collect();
    assert_eq!(
        lines.next().unwrap(),
        format!("id,label,encoder{}", names.concat())
    );
    let mut of_csv = Vec::new();
    for (index, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[0], index.to_string());
        assert_eq!(fields[1], graphs[index].class.to_string());
        assert_eq!(fields[2], digest);
        of_csv.extend(
            fields[3..]
                .iter()
                .map(|field| f64::from(field.parse::<f32>().unwrap())),
        );
    }
    // As many digits as give the number back.
    assert_eq!(of_csv, of_npy);
    assert_eq!(
        crate::support::names(at.path()),
        [
            "T",
            "a.csv",
            "a.labels.npy",
            "a.npy",
            "a.rows.json",
            "a.safetensors",
            "e.safetensors"
        ]
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
