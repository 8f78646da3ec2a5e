//! The page and the Markdown file of each target.

use std::path::{Path, PathBuf};

use crate::pages::paper::{Cell, DataSet, Provenance, Reproduction, document};
use icl_cli::parts::Failure;

use crate::commands::cell_folder::{CellFolder, State};
use crate::commands::grid::Grid;
use crate::commands::machine::{VERSION, processor, today};
use crate::commands::options::{ReproduceOptions, written};
use crate::commands::page_files;
use crate::commands::plan::{Part, Plan};

/// Options of a run that differ from cell to cell, or that the pages show elsewhere.
const NOT_SHOWN: [&str; 6] = ["data", "method", "alpha", "seed", "seeds", "out"];

/// Writes the files of every target that has a complete cell; their paths.
///
/// # Errors
/// If a file cannot be written.
pub fn write(
    plan: &Plan,
    grid: &Grid,
    cells: &Path,
    options: &ReproduceOptions,
) -> Result<Vec<PathBuf>, Failure> {
    let mut complete = Vec::new();
    let mut settings = Vec::new();
    for cell in &grid.cells {
        let folder = CellFolder::find(cells, cell, options)?;
        if settings.is_empty() && matches!(folder.state, State::Complete(_)) {
            settings = settings_of(&folder);
        }
        if let State::Complete(records) = folder.state {
            complete.push(Cell {
                data: cell.data,
                alpha: cell.alpha,
                seed: cell.seed,
                records,
            });
        }
    }
    let provenance = Provenance {
        date: today(),
        machine: processor(),
        command: options.command()?,
        version: VERSION.to_owned(),
        n_seeds: options.rows.seeds,
        jobs: options.jobs,
        settings,
    };
    let mut paths = Vec::new();
    for part in &plan.parts {
        let cells = of_part(part, &complete);
        if cells.is_empty() {
            continue;
        }
        let document = document(&Reproduction {
            target: part.target,
            cells: &cells,
            missing: &missing(part, &cells, options),
            provenance: &provenance,
        });
        paths.extend(page_files::write(
            &document,
            &options.rows.out,
            part.target.name(),
        )?);
    }
    Ok(paths)
}

/// Returns the cells of a target, ordered by data set, growth ratio and seed.
fn of_part(part: &Part, cells: &[Cell]) -> Vec<Cell> {
    let mut of = Vec::new();
    for data in &part.data {
        for alpha in &part.alphas {
            let is_own = |cell: &&Cell| cell.data == *data && cell.alpha == *alpha;
            of.extend(cells.iter().filter(is_own).cloned());
        }
    }
    of
}

/// Returns a sentence for each part of its target that a page lacks.
fn missing(part: &Part, cells: &[Cell], options: &ReproduceOptions) -> Vec<String> {
    let mut missing = Vec::new();
    let sets = part.target.data_sets();
    let names = |of: &dyn Fn(&DataSet) -> bool| {
        let names: Vec<&str> = sets
            .iter()
            .filter(|set| of(set))
            .map(|s| s.name())
            .collect();
        names.join(" and ")
    };
    if part.data.contains(&DataSet::ImageNet2) {
        missing.push(
            "The paper's two classes of ImageNet, which it does not name: here a folder of the user, or \
             photographs of ants and bees."
                .to_owned(),
        );
    }
    if part.data.contains(&DataSet::Mnist2) {
        let digits = options.reading.classes.as_ref();
        let digits = digits.map_or("1 and 7".to_owned(), |digits| digits.0.join(" and "));
        missing.push(format!(
            "The paper's two digits, which it does not name: here {digits}."
        ));
    }
    let left_out = names(&|set| !part.data.contains(set));
    if !left_out.is_empty() {
        missing.push(format!("{left_out}, left out."));
    }
    let alphas = part.target.alphas().iter();
    let left_out: Vec<String> = alphas
        .filter(|alpha| !part.alphas.contains(alpha))
        .map(f64::to_string)
        .collect();
    if !left_out.is_empty() {
        missing.push(format!("α = {}, left out.", left_out.join(", ")));
    }
    let methods = options.methods(part.target).missing();
    if !methods.is_empty() {
        let methods = methods.join(", ");
        missing.push(format!(
            "The methods {methods}, which this program does not have."
        ));
    }
    for data in &part.data {
        for alpha in &part.alphas {
            let has_run = |seed: &u64| {
                let key = (*data, *alpha, *seed);
                cells.iter().any(|c| (c.data, c.alpha, c.seed) == key)
            };
            let seeds: Vec<String> = (0..options.rows.seeds)
                .filter(|seed| !has_run(seed))
                .map(|seed| seed.to_string())
                .collect();
            if !seeds.is_empty() {
                let (word, verb) = match seeds.len() {
                    1 => ("seed", "has"),
                    _ => ("seeds", "have"),
                };
                missing.push(format!(
                    "{}, α = {alpha}: {word} {} {verb} not run.",
                    data.name(),
                    seeds.join(", ")
                ));
            }
        }
    }
    missing
}

/// Returns the options that all cells share.
fn settings_of(folder: &CellFolder) -> Vec<(String, String)> {
    let config = folder.config().unwrap_or_default();
    config
        .iter()
        .filter(|(key, _)| !NOT_SHOWN.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), written(value)))
        .collect()
}
