//! Training steps of the graph convolutional network.

use std::error::Error;
use std::path::PathBuf;

use burn::optim::{GradientsParams, Optimizer};
use burn::tensor::backend::AutodiffBackend;
use icl_core::graph::GraphBatch;
use icl_core::{Collate, Encoder, InfoNceConfig, Mode, Seed, Views};
use icl_data::{Graph, GraphCollate, GraphView, GraphViewsConfig};
use icl_models::{Gcn, GcnConfig};
use icl_train::OnePassAdam;

use crate::case::Graphs;
use crate::work::repeated::{Work, as_in_training, hashed, n_trained};

/// Batches that are gone through again and again.
const N_BATCHES: usize = 4;
/// Graphs of a synthetic data set, and the width of their features.
const N_SYNTHETIC: usize = 64;
const D_SYNTHETIC: usize = 5;
/// A prime stride goes through the whole data set, whatever its order.
const STRIDE: usize = 7919;
const NEGATIVES: f64 = 31.0;

/// Forward of both views as one batch, NCE-I, backward, Adam, on batches that lie ready.
///
/// Both views are the graph itself, so that every side has the same nodes and edges.
pub fn step<B: AutodiffBackend>(
    graphs: Graphs,
    n_samples: usize,
    device: &B::Device,
) -> Result<Work, Box<dyn Error>> {
    let graphs = match graphs {
        Graphs::Tu(name) => tu(name)?,
        Graphs::Synthetic { n_nodes } => synthetic(n_nodes)?,
    };
    let plain = GraphViewsConfig::new().init();
    let (mut n_nodes, mut n_edges) = (0, 0);
    let batches: Vec<GraphBatch<B>> = (0..N_BATCHES)
        .map(|batch| {
            let samples = (batch * n_samples..(batch + 1) * n_samples)
                .map(|position| plain.plain(&graphs[position * STRIDE % graphs.len()]));
            let views: Vec<GraphView> = samples.clone().chain(samples).collect();
            n_nodes += views.iter().map(|it| it.graph().n_nodes()).sum::<usize>();
            n_edges += views.iter().map(|it| it.graph().n_edges()).sum::<usize>();
            GraphCollate.collate(&views, device)
        })
        .collect();
    let encoder: Gcn<B> = GcnConfig::new(graphs[0].d_features()).init(Seed::new(0), device);
    let facts = format!(
        "{} parameters, {n_nodes} nodes and {n_edges} edges in {N_BATCHES} batches",
        n_trained(&encoder)
    );
    let loss = InfoNceConfig::new().with_negatives(Some(NEGATIVES)).init();
    let mut optimizer = OnePassAdam::init();
    let mut encoder = Some(encoder);
    let mut rng = Seed::new(1).rng();
    let mut batches = batches.into_iter().cycle();
    let step = move || {
        let batch = batches.next();
        encoder = encoder.take().zip(batch).map(|(encoder, batch)| {
            let embeddings = encoder.encode(batch, Mode::Training(&mut rng));
            let [anchors, positives] =
                [0, n_samples].map(|first| embeddings.clone().narrow(0, first, n_samples));
            let value = loss.forward(anchors, positives);
            let gradients = GradientsParams::from_grads(value.backward(), &encoder);
            optimizer.step(1e-3, encoder, gradients)
        });
    };
    Ok(Work {
        facts,
        repeat: as_in_training::<B>(device, step),
    })
}

/// The graphs of a data set.
fn tu(name: &str) -> Result<Vec<Graph>, Box<dyn Error>> {
    let folder = std::env::var_os("ICL_DATA_DIR").ok_or("ICL_DATA_DIR: expected a folder")?;
    let path = PathBuf::from(folder)
        .join("graphs")
        .join(format!("{name}.zip"));
    if !path.exists() {
        let path = path.display();
        return Err(format!(
            "{path}: found no such file, expected a data set (ICL_DATA_DIR names the folder of graphs/)"
        )
        .into());
    }
    Ok(icl_data::read_tu(&path)?.graphs().to_vec())
}

/// Rings with as many chords as nodes.
fn synthetic(n_nodes: usize) -> Result<Vec<Graph>, icl_data::DataError> {
    let (mut chords, mut features) = (hashed(0), hashed(1).map(|x| (x - 0.5) as f32));
    let graph = |_| {
        let edges: Vec<[u32; 2]> = (0..n_nodes)
            .zip(&mut chords)
            .flat_map(|(node, chord)| {
                let ends = [(node + 1) % n_nodes, (chord * n_nodes as f64) as usize];
                ends.map(|end| [node as u32, end as u32])
            })
            .collect();
        let features = (&mut features).take(n_nodes * D_SYNTHETIC).collect();
        Graph::try_new(&edges, features, D_SYNTHETIC, 0)
    };
    (0..N_SYNTHETIC).map(graph).collect()
}
