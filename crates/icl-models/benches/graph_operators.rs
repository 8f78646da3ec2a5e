//! Time of the graph operators, by a backend's own kernels and composed of Burn's, on batches of
//! graphs. Run by `cargo bench -p icl-models --features NAMES --bench graph_operators -- NAMES`, with the
//! names of backends (`flex`, `tch`, `wgpu`, `vulkan`, `cuda`) or none for all that it was built with.
//!
//! Both forms take turns. A table in Markdown: the median of each and the least, and the median of
//! the ratio between neighbours in time with its quartiles. Nothing is asserted.

use std::time::Instant;

use burn::backend::Flex;
use burn::tensor::{Distribution, Tensor, backend::Backend};
use icl_core::Seed;
use icl_core::graph::{GraphBatch, HostGraphs, SparseMatrix};
use icl_models::{
    DropoutMask, GraphBackend, NormActivation, composed_graph_convolution,
    composed_graph_convolution_backward, composed_norm_activation,
    composed_norm_activation_backward, composed_sparse_product,
};
use rand::RngExt;

const WIDTH: usize = 32;
const OPTIONS: NormActivation = NormActivation {
    epsilon: 1e-5,
    negative_slope: 0.01,
};

fn main() {
    let names: Vec<_> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let is_asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
    println!("| backend | graphs x nodes | operator | composed, ms | own, ms | composed / own |");
    println!("|---|---|---|---|---|---|");
    if is_asked("flex") {
        backend::<Flex>("flex");
    }
    #[cfg(feature = "tch")]
    if is_asked("tch") {
        backend::<burn::backend::LibTorch>("tch");
    }
    #[cfg(feature = "wgpu")]
    if is_asked("wgpu") {
        backend::<burn::backend::Wgpu>("wgpu");
    }
    #[cfg(feature = "vulkan")]
    if is_asked("vulkan") {
        backend::<burn::backend::Vulkan>("vulkan");
    }
    #[cfg(feature = "cuda")]
    if is_asked("cuda") {
        backend::<burn::backend::Cuda>("cuda");
    }
}

/// The rows of one backend.
fn backend<B: GraphBackend>(name: &str) {
    // As many nodes and edges as the graphs of PROTEINS and of REDDIT-BINARY have on average.
    for (n_nodes, n_edges) in [(39, 73), (430, 498)] {
        for n_graphs in [32, 128, 512] {
            let case = format!("{name} | {n_graphs} x {n_nodes}");
            size::<B>(&case, n_graphs, n_nodes, n_edges);
        }
    }
}

fn size<B: GraphBackend>(case: &str, n_graphs: usize, n_nodes: usize, n_edges: usize) {
    let device = B::Device::default();
    let batch = GraphBatch::<B>::new(graphs(n_graphs, n_nodes, n_edges), &device);
    let random = |n| Tensor::<B, 2>::random([n, WIDTH], Distribution::Uniform(-1.0, 1.0), &device);
    let (nodes, readouts) = (random(n_graphs * n_nodes), random(n_graphs));
    let product = |label: &str, matrix: &SparseMatrix<B>, x: &Tensor<B, 2>| {
        turns::<B>(
            &format!("{case} | {label}"),
            &device,
            || drop(composed_sparse_product(matrix, x.clone())),
            || drop(B::sparse_product(matrix, x.clone())),
        );
    };
    product("aggregation, each way", &batch.propagation, &nodes);
    product("readout, forward", &batch.membership, &nodes);
    let spread = batch.membership.clone().transpose();
    product("readout, backward", &spread, &readouts);

    convolution(case, &batch, &nodes);

    let mut rng = Seed::new(1).rng();
    let kept: Vec<bool> = (0..nodes.dims().iter().product())
        .map(|_| rng.random())
        .collect();
    let mask = DropoutMask::new(&kept, 2.0);
    let input = || (nodes.clone(), Some(mask.clone()));
    turns::<B>(
        &format!("{case} | normalisation, forward"),
        &device,
        || drop(composed_norm_activation(OPTIONS, input().0, input().1)),
        || drop(B::norm_activation(OPTIONS, input().0, input().1)),
    );
    let (_, saved) = B::norm_activation(OPTIONS, input().0, input().1);
    turns::<B>(
        &format!("{case} | normalisation, backward"),
        &device,
        || {
            drop(composed_norm_activation_backward(
                OPTIONS,
                saved.clone(),
                nodes.clone(),
            ));
        },
        || {
            drop(B::norm_activation_backward(
                OPTIONS,
                saved.clone(),
                nodes.clone(),
            ));
        },
    );
}

/// The convolution of a layer that is as wide below as above, each way.
fn convolution<B: GraphBackend>(case: &str, batch: &GraphBatch<B>, x: &Tensor<B, 2>) {
    let device = x.device();
    let random = |n| Tensor::<B, 2>::random([n, WIDTH], Distribution::Uniform(-1.0, 1.0), &device);
    let (matrix, weight, gradient) = (&batch.propagation, random(WIDTH), random(x.dims()[0]));
    let factors = || (x.clone(), weight.clone());
    turns::<B>(
        &format!("{case} | convolution, forward"),
        &device,
        || drop(composed_graph_convolution(matrix, factors().0, factors().1)),
        || drop(B::graph_convolution(matrix, factors().0, factors().1)),
    );
    turns::<B>(
        &format!("{case} | convolution, backward"),
        &device,
        || {
            let (x, weight) = factors();
            let gradient = gradient.clone();
            drop(composed_graph_convolution_backward(
                matrix, x, weight, gradient, [true; 2],
            ));
        },
        || {
            let (x, weight) = factors();
            let gradient = gradient.clone();
            drop(B::graph_convolution_backward(
                matrix, x, weight, gradient, [true; 2],
            ));
        },
    );
}

/// Graphs of random edges, without loops.
fn graphs(n_graphs: usize, n_nodes: usize, n_edges: usize) -> HostGraphs {
    let mut rng = Seed::new(0).rng();
    let mut host = HostGraphs {
        offsets: vec![0],
        pointers: vec![0],
        features: vec![1.0; n_graphs * n_nodes],
        d_features: 1,
        ..Default::default()
    };
    for graph in 0..n_graphs {
        let mut neighbours = vec![Vec::new(); n_nodes];
        for _ in 0..n_edges {
            let a = rng.random_range(0..n_nodes);
            let b = (a + rng.random_range(1..n_nodes)) % n_nodes;
            neighbours[a].push(graph * n_nodes + b);
            neighbours[b].push(graph * n_nodes + a);
        }
        for list in neighbours {
            host.neighbours.extend(list.iter().map(|&node| node as i32));
            host.pointers.push(host.neighbours.len() as i32);
        }
        host.offsets.push(((graph + 1) * n_nodes) as u32);
    }
    host
}

/// A row of the table, from runs of both forms by turns.
fn turns<B: Backend>(case: &str, device: &B::Device, composed: impl Fn(), own: impl Fn()) {
    let seconds = |run: &dyn Fn()| {
        let start = Instant::now();
        run();
        B::sync(device).expect("the device answers");
        start.elapsed().as_secs_f64()
    };
    // The first runs compile, and tell how many there is time for.
    let _ = (seconds(&composed), seconds(&own));
    let turn = seconds(&composed) + seconds(&own);
    let n_turns = ((1.0 / turn) as usize).clamp(7, 201);
    let (mut times, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
    for _ in 0..n_turns {
        let [first, second] = [seconds(&composed), seconds(&own)];
        times[0].push(first * 1e3);
        times[1].push(second * 1e3);
        ratios.push(first / second);
    }
    let [composed, own] = times.map(|times| {
        let [least, _, median, _] = quartiles(times);
        format!("{median:.3} ({least:.3})")
    });
    let [_, low, ratio, high] = quartiles(ratios);
    println!("| {case} | {composed} | {own} | {ratio:.2} [{low:.2}–{high:.2}] |");
}

/// The least, the first quartile, the median and the third quartile.
fn quartiles(mut values: Vec<f64>) -> [f64; 4] {
    values.sort_by(f64::total_cmp);
    [0, 1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}
