//! The program and the libraries exchange encoders: what either has written, the other embeds with.

use std::fs;
use std::path::Path;

use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::Backend;
use icl_core::{Collate, Encoder, Seed, Views, host_values};
use icl_data::{GraphCollate, GraphDataset, GraphSchema, GraphViewsConfig, embedded};
use icl_models::{Gcn, GcnConfig, HiddenMixup, HiddenMixupConfig, ProjectionHead, StoredEncoder};
use safetensors::SafeTensors;
use tempfile::tempdir;

use crate::support::{icl, split};

/// The embeddings of all graphs of MUTAG that the program writes.
fn of_program(at: &Path, encoder: &str) -> Vec<f64> {
    let line = format!("embed --from {encoder} --data MUTAG --out e.safetensors --force");
    icl(at, &split(&line)).succeeded();
    let bytes = fs::read(at.join("e.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let (values, _) = file.tensor("embeddings").unwrap().data().as_chunks();
    let values = values.iter().map(|it| f32::from_le_bytes(*it));
    values.map(f64::from).collect()
}

/// The embeddings of all graphs by the libraries alone.
fn of_library<B: Backend>(
    encode: impl Fn(icl_core::graph::GraphBatch<B>) -> burn::tensor::Tensor<B, 2>,
    data: &GraphDataset,
) -> Vec<f64> {
    let views = GraphViewsConfig::new().init();
    let plain: Vec<_> = data.graphs().iter().map(|it| views.plain(it)).collect();
    host_values(encode(GraphCollate.collate(&plain, &Default::default())))
}

/// The program takes other batches, whose sums may be rounded otherwise.
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs();
        assert!(error <= 1e-5 * (1.0 + expected.abs()), "{found} {expected}");
    }
}

#[test]
fn the_libraries_read_what_the_program_has_written() {
    let at = tempdir().unwrap();
    let train = "train --data MUTAG --epochs 1 --width 5 --seed 1";
    icl(at.path(), &split(&format!("{train} --out plain"))).succeeded();
    let hidden = format!("{train} --noise hidden --out hidden");
    icl(at.path(), &split(&hidden)).succeeded();
    let data = embedded::graphs("MUTAG").unwrap();
    let device = Default::default();
    let expected_schema = "the columns of node features";

    let path = at.path().join("plain/encoder.safetensors");
    let file = StoredEncoder::open(&path).unwrap();
    assert_eq!(
        (file.kind().unwrap(), file.data().unwrap()),
        ("gcn", "MUTAG")
    );
    let schema: GraphSchema = file.parsed("schema", expected_schema).unwrap();
    let data_of_file = data.with_schema(&schema).unwrap();
    let config: GcnConfig = file.parsed("config", "the configuration of a GCN").unwrap();
    let init = || config.try_init(Seed::new(0), &device);
    let encoder: Gcn<Flex> = file.encoder("a GCN", config.tensors(), init).unwrap();
    let found = of_library(|batch| encoder.embed(batch), &data_of_file);
    assert_close(&found, &of_program(at.path(), "plain/encoder.safetensors"));
    // To be trained on, as well.
    let init = || config.try_init(Seed::new(0), &device);
    let _: Gcn<Autodiff<Flex>> = file.encoder("a GCN", config.tensors(), init).unwrap();

    // Of an encoder with noise on its output, its embeddings alone are compared.
    let path = at.path().join("hidden/encoder.safetensors");
    let file = StoredEncoder::open(&path).unwrap();
    assert_eq!(file.kind().unwrap(), "gcn-hidden");
    let schema: GraphSchema = file.parsed("schema", expected_schema).unwrap();
    let data_of_file = data.with_schema(&schema).unwrap();
    let config: HiddenMixupConfig<GcnConfig> = file.parsed("config", "a GCN with noise").unwrap();
    let tensors = config.tensors(config.encoder.tensors());
    let encoder: HiddenMixup<Flex, Gcn<Flex>, ProjectionHead<Flex>> = file
        .encoder("a GCN with noise", tensors, || {
            let gcn = config.encoder.try_init::<Flex>(Seed::new(0), &device)?;
            config.try_init(gcn, config.head.d_input, Seed::new(0), &device)
        })
        .unwrap();
    let found = of_library(|batch| encoder.encoder().embed(batch), &data_of_file);
    assert_close(&found, &of_program(at.path(), "hidden/encoder.safetensors"));
}

#[test]
fn the_program_reads_what_the_libraries_have_written() {
    let at = tempdir().unwrap();
    let data = embedded::graphs("MUTAG").unwrap();
    let all: Vec<usize> = (0..data.graphs().len()).collect();
    let data = data.standardized_over(&all);
    let config = GcnConfig::new(data.d_features()).with_d_hidden(4);
    let encoder = config.init::<Flex>(Seed::new(7), &Default::default());
    let metadata = [
        ("config", serde_json::to_string(&config).unwrap()),
        ("schema", serde_json::to_string(&data.schema()).unwrap()),
    ];
    let file = StoredEncoder::new(&encoder, "gcn", "MUTAG", &metadata).unwrap();
    file.write(&at.path().join("own.safetensors")).unwrap();
    let found = of_library(|batch| encoder.embed(batch), &data);
    assert_close(&found, &of_program(at.path(), "own.safetensors"));

    // Read and written again, the bytes are the same.
    let again = StoredEncoder::open(&at.path().join("own.safetensors")).unwrap();
    assert!(again.bytes() == file.bytes());
    // A configuration that does not fit the tensors is refused.
    let metadata = [(
        "config",
        serde_json::to_string(&config.with_d_hidden(usize::MAX)).unwrap(),
    )];
    let file = StoredEncoder::new(&encoder, "gcn", "MUTAG", &metadata).unwrap();
    file.write(&at.path().join("broken.safetensors")).unwrap();
    let line = "embed --from broken.safetensors --data MUTAG --out e.csv";
    icl(at.path(), &split(line)).rejected("found shape [7, 4] of tensor");
}
