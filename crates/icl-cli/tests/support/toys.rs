//! Small data sets of graphs in the TU format, written by no code of the program.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Number, size and labels of the graphs of a data set.
#[derive(Clone, Copy)]
pub struct Toys {
    pub n: usize,
    /// The least number of nodes; the greatest is nearly twice that.
    pub size: u64,
    /// The number of node labels. 0 for none.
    pub n_labels: u64,
}

/// Old data: 60 graphs of 5 to 9 nodes with 3 labels.
pub const OLD: Toys = Toys {
    n: 60,
    size: 5,
    n_labels: 3,
};

/// New data: 40 larger ones.
pub const NEW: Toys = Toys {
    n: 40,
    size: 12,
    ..OLD
};

impl Toys {
    /// Writes the folder `name` in `at`. Every graph is a tree; those of one class have chords.
    pub fn write(self, at: &Path, name: &str) {
        let mut state = self.size;
        let mut below = |n: u64| {
            // Knuth's MMIX generator; its upper bits.
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let [mut edges, mut indicator, mut classes, mut labels] = [(); 4].map(|()| String::new());
        let mut first = 1;
        for index in 0..self.n {
            let (class, n_nodes) = (index % 2, self.size + below(self.size));
            let n_chords = if class == 0 { n_nodes / 3 } else { 0 };
            let mut join = |a: u64, b: u64| {
                let (a, b) = (first + a, first + b);
                writeln!(edges, "{a}, {b}\n{b}, {a}").unwrap();
            };
            for node in 1..n_nodes {
                join(node, node - 1 - below(node.min(3)));
            }
            for _ in 0..n_chords {
                let from = below(n_nodes);
                join(from, (from + 1 + below(n_nodes - 1)) % n_nodes);
            }
            for node in 0..n_nodes {
                writeln!(indicator, "{}", index + 1).unwrap();
                let n_labels = self.n_labels;
                if n_labels > 0 {
                    // Every graph has the last label, the others are the rarer the greater.
                    let other = 1 + below(n_labels);
                    let label = if node == 0 {
                        n_labels - 1
                    } else {
                        below(other)
                    };
                    writeln!(labels, "{label}").unwrap();
                }
            }
            writeln!(classes, "{class}").unwrap();
            first += n_nodes;
        }
        let folder = at.join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut files = vec![
            ("A", edges),
            ("graph_indicator", indicator),
            ("graph_labels", classes),
        ];
        if self.n_labels > 0 {
            files.push(("node_labels", labels));
        }
        for (ending, text) in files {
            fs::write(folder.join(format!("{name}_{ending}.txt")), text).unwrap();
        }
    }
}
