//! Circles in a graph.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Finds circles such that every circle shares an arrow with one of them, the shortest first. No two of
/// them share one.
///
/// A circle begins with its least node and does not repeat it at the end.
pub fn circles<N: Ord + Clone>(mut arrows: BTreeMap<N, BTreeSet<N>>) -> Vec<Vec<N>> {
    let mut found = Vec::new();
    loop {
        let through_each = arrows.keys().filter_map(|start| shortest(&arrows, start));
        let Some(circle) = through_each.min_by_key(Vec::len) else {
            return found;
        };
        for (from, to) in circle.iter().zip(circle.iter().cycle().skip(1)) {
            if let Some(of_node) = arrows.get_mut(from) {
                of_node.remove(to);
            }
        }
        found.push(circle);
    }
}

/// The shortest circle through a node, from it on.
fn shortest<N: Ord + Clone>(arrows: &BTreeMap<N, BTreeSet<N>>, start: &N) -> Option<Vec<N>> {
    let mut before: BTreeMap<&N, &N> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for next in arrows.get(node).into_iter().flatten() {
            if next == start {
                let back = std::iter::successors(Some(node), |&it| before.get(it).copied());
                let mut circle: Vec<N> = back.cloned().collect();
                circle.reverse();
                return Some(circle);
            }
            if !before.contains_key(next) {
                before.insert(next, node);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arrows: &[(char, &str)]) -> BTreeMap<char, BTreeSet<char>> {
        let to = |(from, to): &(char, &str)| (*from, to.chars().collect());
        arrows.iter().map(to).collect()
    }

    #[test]
    fn a_graph_without_circles_has_none() {
        let arrows = graph(&[('a', "bc"), ('b', "c"), ('c', "d")]);
        assert!(circles(arrows).is_empty());
    }

    #[test]
    fn every_circle_is_found_once() {
        let arrows = graph(&[('d', "e"), ('e', "d"), ('b', "c"), ('c', "a"), ('a', "b")]);
        assert_eq!(circles(arrows), [vec!['d', 'e'], vec!['a', 'b', 'c']]);
    }

    #[test]
    fn circles_share_no_arrow() {
        let arrows = graph(&[('a', "b"), ('b', "ca"), ('c', "a"), ('x', "a")]);
        assert_eq!(circles(arrows), [vec!['a', 'b']]);
        let arrows = graph(&[('a', "bd"), ('b', "ca"), ('c', "a"), ('d', "b")]);
        assert_eq!(circles(arrows), [vec!['a', 'b'], vec!['a', 'd', 'b', 'c']]);
    }
}
