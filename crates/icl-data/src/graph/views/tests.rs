use std::collections::{BTreeMap, BTreeSet};

use icl_core::{Rng, Seed, Views};

use super::graph_views::{GraphViews, GraphViewsConfig};
use super::kind::ViewKind;
use super::view::GraphView;
use crate::graph::sample::Graph;

fn graph(n_nodes: u32, edges: &[[u32; 2]]) -> Graph {
    let features = (0..n_nodes).map(|node| node as f32 + 1.0).collect();
    Graph::try_new(edges, features, 1, 0).unwrap()
}

fn path(n_nodes: u32) -> Graph {
    let edges: Vec<_> = (1..n_nodes).map(|node| [node - 1, node]).collect();
    graph(n_nodes, &edges)
}

fn star(n_nodes: u32) -> Graph {
    let edges: Vec<_> = (1..n_nodes).map(|node| [0, node]).collect();
    graph(n_nodes, &edges)
}

/// Paths, stars, cliques, empty graphs, and triangles that do not touch each other.
fn zoo() -> Vec<Graph> {
    let clique: Vec<_> = (0..30).flat_map(|a| (0..a).map(move |b| [a, b])).collect();
    let triangles: Vec<_> = (0..10)
        .flat_map(|t| {
            [
                [3 * t, 3 * t + 1],
                [3 * t + 1, 3 * t + 2],
                [3 * t + 2, 3 * t],
            ]
        })
        .collect();
    let mut zoo = vec![graph(30, &clique), graph(30, &triangles), graph(40, &[])];
    zoo.extend([1, 2, 3, 4, 5, 300].map(path));
    zoo.extend([2, 3, 7, 300].map(star));
    zoo
}

fn only(kind: ViewKind) -> GraphViews {
    GraphViewsConfig::new().with_kinds(vec![kind]).init()
}

fn rng(stream: u64) -> Rng {
    Seed::new(11).child("views").at(stream).rng()
}

fn n_components(view: &GraphView) -> usize {
    let mut unseen: BTreeSet<u32> = view.kept().iter().copied().collect();
    let mut n_components = 0;
    while let Some(first) = unseen.pop_first() {
        n_components += 1;
        let mut open = vec![first];
        while let Some(node) = open.pop() {
            let next = view.graph().neighbours(node as usize).iter();
            open.extend(next.filter(|other| unseen.remove(other)));
        }
    }
    n_components
}

#[test]
fn ratios_are_respected_and_something_is_kept() {
    for graph in zoo() {
        let n = graph.n_nodes();
        let fifth = ((0.2 * n as f64).round() as usize).min(n - 1);
        for stream in 0..20 {
            for kind in ViewKind::ALL {
                let view = only(kind).view(&graph, &mut rng(stream));
                let n_masked = view.masked().iter().filter(|&&masked| masked).count();
                let (n_kept, expected_masked) = match kind {
                    ViewKind::AttributeMasking => (n, fifth),
                    ViewKind::NodeDropping | ViewKind::Subgraph => (n - fifth, 0),
                };
                assert_eq!((view.kept().len(), n_masked), (n_kept, expected_masked));
                assert_eq!(view.masked().len(), n_kept);
                assert!(view.kept().is_sorted_by(|a, b| a < b));
                assert!(view.kept().iter().all(|&node| (node as usize) < n));
            }
        }
    }
}

#[test]
fn extreme_ratios_keep_a_node() {
    let config = GraphViewsConfig::new()
        .with_drop_ratio(0.999)
        .with_mask_ratio(0.999)
        .with_subgraph_ratio(1e-9);
    for graph in zoo() {
        for kind in ViewKind::ALL {
            let views = config.clone().with_kinds(vec![kind]).init();
            let view = views.view(&graph, &mut rng(1));
            let n_visible = view.masked().iter().filter(|&&masked| !masked).count();
            assert_eq!(n_visible, 1, "{kind} of {} nodes", graph.n_nodes());
        }
    }
    let whole = GraphViewsConfig::new()
        .with_drop_ratio(0.0)
        .with_mask_ratio(0.0)
        .with_subgraph_ratio(1.0)
        .init();
    for graph in zoo() {
        for stream in 0..6 {
            let view = whole.view(&graph, &mut rng(stream));
            assert_eq!(view, whole.plain(&graph));
        }
    }
}

#[test]
fn the_generator_decides_and_the_slot_does_not() {
    let views = GraphViewsConfig::new().init();
    let zoo = zoo();
    let mut slot = views.plain(&zoo[0]);
    let mut distinct = 0;
    for (stream, graph) in (0..).zip(zoo.iter().cycle().take(200)) {
        let view = views.view(graph, &mut rng(stream));
        views.view_into(graph, &mut rng(stream), &mut slot);
        assert_eq!(view, slot);
        distinct += usize::from(view != views.view(graph, &mut rng(stream + 1000)));
    }
    assert!(distinct > 100, "only {distinct} of 200 views differ");
}

#[test]
fn a_slot_keeps_its_buffers() {
    let views = GraphViewsConfig::new().init();
    let graph = path(300);
    let mut slot = views.plain(&graph);
    let buffer = slot.kept().as_ptr();
    for stream in 0..10 {
        views.view_into(&graph, &mut rng(stream), &mut slot);
        assert_eq!(slot.kept().as_ptr(), buffer);
    }
}

#[test]
fn kinds_are_drawn_with_equal_chances() {
    let views = GraphViewsConfig::new().init();
    // In a path, only a subgraph keeps its connection when inner nodes vanish.
    let graph = path(100);
    let mut counts = BTreeMap::new();
    for stream in 0..3000 {
        let view = views.view(&graph, &mut rng(stream));
        let kind = match (view.masked().contains(&true), n_components(&view)) {
            (true, _) => "masking",
            (false, 1) => "subgraph",
            (false, _) => "dropping",
        };
        *counts.entry(kind).or_insert(0_usize) += 1;
    }
    // Each count is binomial with mean 1000 and standard deviation 26.
    assert_eq!(counts.len(), 3);
    assert!(
        counts.values().all(|count| count.abs_diff(1000) < 130),
        "{counts:?}"
    );
}

#[test]
fn a_subgraph_of_a_connected_graph_is_connected() {
    for graph in [path(300), star(300), zoo().swap_remove(0)] {
        for stream in 0..20 {
            let view = only(ViewKind::Subgraph).view(&graph, &mut rng(stream));
            assert_eq!(n_components(&view), 1);
        }
    }
}

#[test]
fn a_subgraph_exhausts_a_component_before_it_begins_another() {
    let triangles = zoo().swap_remove(1);
    for stream in 0..50 {
        let view = only(ViewKind::Subgraph).view(&triangles, &mut rng(stream));
        // 24 of 30 nodes are 8 whole triangles.
        assert_eq!(n_components(&view), 8);
    }
}

#[test]
fn nodes_are_drawn_uniformly() {
    let ring: Vec<_> = (0..10).map(|node| [node, (node + 1) % 10]).collect();
    let ring = graph(10, &ring);
    for kind in ViewKind::ALL {
        let views = only(kind);
        let mut hidden = [0_usize; 10];
        for stream in 0..3000 {
            let view = views.view(&ring, &mut rng(stream));
            let visible: BTreeSet<u32> = view
                .kept()
                .iter()
                .zip(view.masked())
                .filter(|&(_, &masked)| !masked)
                .map(|(&node, _)| node)
                .collect();
            for node in 0..10 {
                hidden[node as usize] += usize::from(!visible.contains(&node));
            }
        }
        // By symmetry each node is hidden with probability 0.2: mean 600, standard deviation 22.
        assert!(
            hidden.iter().all(|count| count.abs_diff(600) < 110),
            "{kind}: {hidden:?}"
        );
    }
}

#[test]
fn draws_are_fixed_for_all_time() {
    // A change of the generator or of the order of draws changes every recorded result: it must
    // be noticed.
    let ring: Vec<_> = (0..10).map(|node| [node, (node + 1) % 10]).collect();
    let ring = graph(10, &ring);
    let hidden: Vec<Vec<u32>> = ViewKind::ALL
        .iter()
        .map(|&kind| {
            let view = only(kind).view(&ring, &mut rng(0));
            let visible = view.kept().iter().zip(view.masked());
            let visible: Vec<u32> = visible.filter(|v| !v.1).map(|v| *v.0).collect();
            (0..10).filter(|node| !visible.contains(node)).collect()
        })
        .collect();
    assert_eq!(hidden, HIDDEN);
}
const HIDDEN: [[u32; 2]; 3] = [[5, 7], [5, 7], [2, 3]];
