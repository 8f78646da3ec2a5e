//! The data sets of a request, and their division by a seed.

use crate::pages::dacl::{DaclDataSet, DaclTarget};
use anyhow::anyhow;
use icl_cli::parts::Failure;
use icl_core::Seed;
use icl_data::{GraphDataset, ImageDataset, embedded, read_tu};

use crate::commands::dacl::cifar::first_of_cifar;
use crate::commands::dacl::images::DividedImages;
use crate::commands::dacl::options::DaclRequest;
use crate::commands::dacl::tables::{DividedTable, TableSource, read_source};
use crate::commands::source::graph_files;

/// Samples of a data set in memory.
pub enum DaclSamples {
    /// Rows of a table.
    Table(TableSource),
    /// Images.
    Images(ImageDataset),
    /// Graphs.
    Graphs(GraphDataset),
}

/// Samples as a seed divides them into training and test samples; graphs are measured by folds.
pub enum DividedSamples<'a> {
    /// Rows of a table.
    Table(DividedTable),
    /// Images.
    Images(DividedImages<'a>),
    /// Graphs.
    Graphs(&'a GraphDataset),
}

impl DaclSamples {
    /// Divides the samples by a seed.
    ///
    /// # Errors
    /// If the limit is too small, no column of a table can be used, or an image cannot be read.
    pub fn divided(&self, limit: Option<usize>, seed: Seed) -> Result<DividedSamples<'_>, Failure> {
        Ok(match self {
            Self::Table(source) => DividedSamples::Table(DividedTable::new(source, limit, seed)?),
            Self::Images(images) => DividedSamples::Images(DividedImages::new(images, seed)?),
            Self::Graphs(graphs) => DividedSamples::Graphs(graphs),
        })
    }
}

impl DividedSamples<'_> {
    /// Returns the number of training samples and that of test samples.
    pub fn sizes(&self) -> (usize, usize) {
        let split = match self {
            Self::Table(table) => &table.split,
            Self::Images(images) => &images.split,
            Self::Graphs(graphs) => return [graphs.graphs().len(); 2].into(),
        };
        (split.training.len(), split.test.len())
    }
}

/// Data sets that were found, and a message for each of the others.
pub struct Found {
    /// Data sets with their samples.
    pub samples: Vec<(DaclDataSet, DaclSamples)>,
    /// Messages.
    pub missing: Vec<String>,
}

/// Reads the data sets of a request.
///
/// # Errors
/// If one cannot be read, or none is there.
pub fn find(request: &DaclRequest) -> Result<Found, Failure> {
    let mut found = Found {
        samples: Vec::new(),
        missing: Vec::new(),
    };
    for &data in &request.data_sets {
        match read(data, request)? {
            Ok(samples) => found.samples.push((data, samples)),
            Err(message) => found.missing.push(message),
        }
    }
    if found.samples.is_empty() {
        return Err(Failure::input(anyhow!("{}", found.missing.join("; "))));
    }
    Ok(found)
}

fn read(data: DaclDataSet, request: &DaclRequest) -> Result<Result<DaclSamples, String>, Failure> {
    let folder = &request.data_dir;
    Ok(match request.target {
        DaclTarget::Table1 => read_source(data, folder)?.map(DaclSamples::Table),
        DaclTarget::Table2 => {
            first_of_cifar(folder, request.settings.limit)?.map(DaclSamples::Images)
        }
        DaclTarget::Table4 => {
            let graphs = match data {
                DaclDataSet::Mutag => embedded::graphs(data.name()),
                _ => match graph_files(data.name(), folder) {
                    Ok(path) => read_tu(path),
                    Err(message) => return Ok(Err(message)),
                },
            };
            let graphs = graphs.map_err(Failure::input)?;
            let labelled = graphs.check_labels("the accuracies of icl-lab reproduce");
            labelled.map_err(Failure::input)?;
            Ok(DaclSamples::Graphs(graphs))
        }
    })
}
