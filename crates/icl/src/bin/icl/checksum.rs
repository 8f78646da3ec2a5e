//! A checksum of a data set, by which interrupted work knows its data again.

use icl::data::GraphDataset;

/// CRC-32 of all graphs: features, edges and labels.
pub fn checksum(data: &GraphDataset) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for graph in data.graphs() {
        for feature in graph.features() {
            hasher.update(&feature.to_le_bytes());
        }
        for node in 0..graph.n_nodes() {
            for neighbour in graph.neighbours(node) {
                hasher.update(&neighbour.to_le_bytes());
            }
            hasher.update(b"|");
        }
        hasher.update(&(graph.label() as u64).to_le_bytes());
    }
    format!("{:08x}", hasher.finalize())
}
