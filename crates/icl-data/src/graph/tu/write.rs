//! Writer of the TU file format.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::names::TuTable;
use crate::error::DataError;
use crate::graph::dataset::GraphDataset;
use crate::graph::features::FeatureLayout;
use crate::new_folder::{create_folder, unwritable};

impl GraphDataset {
    /// Writes some graphs, in this order, into a new folder in the TU file format, for
    /// [`read_tu`](crate::read_tu). The folder is whole or absent.
    ///
    /// The names of the files begin with the name of the data set. Edges are written in both directions.
    /// Attributes are written in the units of the original files, computed in double precision from the standardised
    /// values in single precision; the reader standardises them over the graphs that were written.
    ///
    /// # Errors
    /// [`DataError`] if the path exists already, or cannot be written.
    ///
    /// # Panics
    /// If an index is not below the number of graphs.
    pub fn write(&self, graphs: &[usize], folder: impl AsRef<Path>) -> Result<(), DataError> {
        create_folder(folder.as_ref(), |folder| {
            if self.has_labels {
                self.write_table(folder, TuTable::GraphLabels, |file| {
                    for &graph in graphs {
                        writeln!(file, "{}", self.class_labels[self.graphs[graph].label()])?;
                    }
                    Ok(())
                })?;
            }
            self.write_table(folder, TuTable::GraphIndicator, |file| {
                for (at, &graph) in graphs.iter().enumerate() {
                    for _ in 0..self.graphs[graph].n_nodes() {
                        writeln!(file, "{}", at + 1)?;
                    }
                }
                Ok(())
            })?;
            self.write_table(folder, TuTable::Edges, |file| {
                self.write_edges(graphs, file)
            })?;
            let FeatureLayout::Given {
                node_labels,
                n_attributes,
            } = &self.layout
            else {
                return Ok(());
            };
            if !node_labels.is_empty() {
                self.write_table(folder, TuTable::NodeLabels, |file| {
                    self.each_node(graphs, |features| {
                        let column = features.iter().position(|value| *value == 1.0);
                        writeln!(file, "{}", node_labels[column.unwrap_or_default()])
                    })
                })?;
            }
            if *n_attributes > 0 {
                self.write_table(folder, TuTable::NodeAttributes, |file| {
                    self.each_node(graphs, |features| {
                        let values = features[node_labels.len()..].iter().zip(&self.scales);
                        let texts: Vec<String> = values
                            .map(|(&value, scale)| scale.original(f64::from(value)).to_string())
                            .collect();
                        writeln!(file, "{}", texts.join(", "))
                    })
                })?;
            }
            Ok(())
        })
    }

    fn write_table(
        &self,
        folder: &Path,
        table: TuTable,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<(), DataError> {
        let path = folder.join(format!("{}{}", self.name, table.ending()));
        let write = || -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create(&path)?);
            write(&mut file)?;
            file.into_inner()?.sync_all()
        };
        write().map_err(unwritable(&path))
    }

    fn write_edges(&self, graphs: &[usize], file: &mut impl Write) -> std::io::Result<()> {
        let mut first = 1;
        let mut n_edges = 0;
        for &graph in graphs {
            let graph = &self.graphs[graph];
            for node in 0..graph.n_nodes() {
                for &other in graph.neighbours(node) {
                    writeln!(file, "{}, {}", first + node, first + other as usize)?;
                    n_edges += 1;
                }
            }
            first += graph.n_nodes();
        }
        if n_edges == 0 {
            // An empty file is an error of the reader, which drops self loops.
            writeln!(file, "1, 1")?;
        }
        Ok(())
    }

    fn each_node(
        &self,
        graphs: &[usize],
        mut write: impl FnMut(&[f32]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        for &graph in graphs {
            let graph = &self.graphs[graph];
            for node in 0..graph.n_nodes() {
                write(graph.node_features(node))?;
            }
        }
        Ok(())
    }
}
