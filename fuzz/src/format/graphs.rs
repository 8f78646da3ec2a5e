//! Graphs in the TU format, as a folder and as an archive.

use std::path::Path;

use anyhow::Result;
use icl::data::read_tu;
use zip::CompressionMethod;

use super::reader::{Format, Told};
use crate::parts::{Part, Valid, zip};

/// Three graphs: a path, a triangle, and a node that is joined to itself.
const FILES: [(&str, &str); 6] = [
    (
        "A",
        "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n5, 6\n6, 5\n4, 6\n6, 4\n7, 7\n",
    ),
    ("graph_indicator", "1\n1\n1\n2\n2\n2\n3\n"),
    ("graph_labels", "1\n-1\n1\n"),
    ("node_labels", "0\n1\n0\n2\n2\n1\n0\n"),
    (
        "node_attributes",
        "0.5, 1\n1, 2e3\n-1, 0\n0, 0\n0.25, 1\n1, 1\n3, 4\n",
    ),
    ("edge_labels", "0\n0\n1\n1\n0\n0\n1\n1\n2\n2\n0\n"),
];

/// Returns the format.
pub fn format() -> Result<Format> {
    let parts: Vec<Part> = FILES
        .iter()
        .map(|(ending, text)| Part::new(&format!("TOY/TOY_{ending}.txt"), *text))
        .collect();
    let without_attributes = [&parts[..3], &parts[3..4]].concat();
    let archive = |parts: &[Part]| zip("TOY.zip", CompressionMethod::Deflated, parts);
    Ok(Format {
        name: "tu",
        valid: vec![
            Valid::plain(parts.clone()),
            Valid::plain(without_attributes),
            Valid {
                parts,
                pack: archive,
            },
        ],
        words: &[
            "1, 2\n",
            ",",
            "\n",
            "-",
            "#",
            "\r\n",
            " ",
            "\u{feff}",
            "9999999\n",
            "1e39",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

fn read(folder: &Path) -> Result<(), Told> {
    let archive = folder.join("TOY.zip");
    let path = if archive.exists() {
        archive
    } else {
        folder.join("TOY")
    };
    let graphs = read_tu(&path).map_err(Told::of)?;
    // What the readers promise of their graphs is what all work on them relies on.
    for (index, graph) in graphs.graphs().iter().enumerate() {
        assert!(graph.n_nodes() > 0, "graph {index} has no node");
    }
    Ok(())
}
