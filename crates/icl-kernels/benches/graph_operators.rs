//! Time of the graph operators, by a backend's own kernels and composed of Burn's, on batches of
//! graphs. The composed form is that of a backend which is not known to have kernels: the same backend within
//! an autodiff that records nothing. Run by `cargo bench -p icl-kernels --features NAMES --bench graph_operators -- NAMES`, with the
//! names of backends (`flex`, `tch`, `wgpu`, `vulkan`, `cuda`) or none for all that it was built with.
//!
//! Both forms take turns. A table in Markdown: the median of each and the least, and the median of
//! the ratio between neighbours in time with its quartiles. Nothing is asserted.

use std::time::Instant;

use burn::backend::autodiff::checkpoint::strategy::BalancedCheckpointing;
use burn::backend::{Autodiff, Flex};
use burn::tensor::{Distribution, Tensor, backend::Backend};
use icl_kernels::DropoutMask;
use icl_kernels::graph::{self, HostCsr, NormActivation, SparseMatrix};
use icl_kernels::internals;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A backend on which all operators are composed.
type Composed<B> = Autodiff<B, BalancedCheckpointing>;

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
fn backend<B: Backend>(name: &str) {
    // As many nodes and edges as the graphs of PROTEINS and of REDDIT-BINARY have on average.
    for (n_nodes, n_edges) in [(39, 73), (430, 498)] {
        for n_graphs in [32, 128, 512] {
            let case = format!("{name} | {n_graphs} x {n_nodes}");
            size::<B>(&case, n_graphs, n_nodes, n_edges);
        }
    }
}

fn size<B: Backend>(case: &str, n_graphs: usize, n_nodes: usize, n_edges: usize) {
    let device = B::Device::default();
    let (propagation, membership) = graphs(n_graphs, n_nodes, n_edges);
    let nodes = Both::<B>::random(n_graphs * n_nodes, &device);
    let readouts = Both::<B>::random(n_graphs, &device);
    let product = |label: &str, matrix: &HostCsr, x: &Both<B>| {
        let (composed, own) = matrices::<B>(matrix, &device);
        turns::<B>(
            &format!("{case} | {label}"),
            &device,
            || drop(graph::sparse_product(&composed, x.composed.clone())),
            || drop(graph::sparse_product(&own, x.own.clone())),
        );
    };
    product("aggregation, each way", &propagation, &nodes);
    product("readout, forward", &membership, &nodes);
    product("readout, backward", &membership.transposed(), &readouts);

    convolution(case, &propagation, &nodes);

    let mut rng = Pcg64::seed_from_u64(1);
    let kept: Vec<bool> = (0..n_graphs * n_nodes * WIDTH)
        .map(|_| rng.random())
        .collect();
    let mask = || Some(DropoutMask::new(&kept, 2.0));
    let (of_composed, of_own) = (mask(), mask());
    turns::<B>(
        &format!("{case} | normalisation, forward"),
        &device,
        || {
            drop(graph::norm_activation(
                OPTIONS,
                nodes.composed.clone(),
                of_composed.clone(),
            ))
        },
        || {
            drop(graph::norm_activation(
                OPTIONS,
                nodes.own.clone(),
                of_own.clone(),
            ))
        },
    );
    let (_, composed) = graph::norm_activation(OPTIONS, nodes.composed.clone(), mask());
    let (_, own) = graph::norm_activation(OPTIONS, nodes.own.clone(), mask());
    turns::<B>(
        &format!("{case} | normalisation, backward"),
        &device,
        || {
            let gradient = nodes.composed.clone();
            drop(internals::norm_activation_backward(
                OPTIONS,
                composed.clone(),
                gradient,
            ));
        },
        || {
            let gradient = nodes.own.clone();
            drop(internals::norm_activation_backward(
                OPTIONS,
                own.clone(),
                gradient,
            ));
        },
    );
}

/// The convolution of a layer that is as wide below as above, each way.
fn convolution<B: Backend>(case: &str, matrix: &HostCsr, x: &Both<B>) {
    let device = x.own.device();
    let (composed, own) = matrices::<B>(matrix, &device);
    let weight = Both::<B>::random(WIDTH, &device);
    let gradient = Both::<B>::random(x.own.dims()[0], &device);
    turns::<B>(
        &format!("{case} | convolution, forward"),
        &device,
        || {
            let (x, weight) = (x.composed.clone(), weight.composed.clone());
            drop(graph::graph_convolution(&composed, x, weight));
        },
        || {
            let (x, weight) = (x.own.clone(), weight.own.clone());
            drop(graph::graph_convolution(&own, x, weight));
        },
    );
    turns::<B>(
        &format!("{case} | convolution, backward"),
        &device,
        || {
            let (x, weight) = (x.composed.clone(), weight.composed.clone());
            let gradient = gradient.composed.clone();
            drop(internals::graph_convolution_backward(
                &composed, x, weight, gradient, [true; 2],
            ));
        },
        || {
            let (x, weight) = (x.own.clone(), weight.own.clone());
            let gradient = gradient.own.clone();
            drop(internals::graph_convolution_backward(
                &own, x, weight, gradient, [true; 2],
            ));
        },
    );
}

/// The same rows on the backend itself and on the one where operators are composed.
struct Both<B: Backend> {
    composed: Tensor<Composed<B>, 2>,
    own: Tensor<B, 2>,
}

impl<B: Backend> Both<B> {
    fn random(n: usize, device: &B::Device) -> Self {
        let own = Tensor::random([n, WIDTH], Distribution::Uniform(-1.0, 1.0), device);
        Self {
            composed: Tensor::from_inner(own.clone()),
            own,
        }
    }
}

fn matrices<B: Backend>(
    host: &HostCsr,
    device: &B::Device,
) -> (SparseMatrix<Composed<B>>, SparseMatrix<B>) {
    let composed = SparseMatrix::new(host.clone(), device);
    (composed, SparseMatrix::new(host.clone(), device))
}

/// Graphs of random edges, without loops: the matrix that sums the neighbours of each node and itself, and the one that
/// sums the nodes of each graph.
fn graphs(n_graphs: usize, n_nodes: usize, n_edges: usize) -> (HostCsr, HostCsr) {
    let mut rng = Pcg64::seed_from_u64(0);
    let mut propagation = HostCsr {
        pointers: vec![0],
        n_columns: n_graphs * n_nodes,
        ..Default::default()
    };
    for graph in 0..n_graphs {
        let mut neighbours: Vec<_> = (0..n_nodes)
            .map(|node| vec![graph * n_nodes + node])
            .collect();
        for _ in 0..n_edges {
            let a = rng.random_range(0..n_nodes);
            let b = (a + rng.random_range(1..n_nodes)) % n_nodes;
            neighbours[a].push(graph * n_nodes + b);
            neighbours[b].push(graph * n_nodes + a);
        }
        for list in neighbours {
            let weight = (list.len() as f32).recip();
            propagation.values.extend(list.iter().map(|_| weight));
            propagation
                .columns
                .extend(list.iter().map(|&node| node as i32));
            propagation.pointers.push(propagation.columns.len() as i32);
        }
    }
    let all = n_graphs * n_nodes;
    let membership = HostCsr {
        pointers: (0..=n_graphs)
            .map(|graph| (graph * n_nodes) as i32)
            .collect(),
        columns: (0..all as i32).collect(),
        values: vec![1.0; all],
        n_columns: all,
    };
    (propagation, membership)
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
