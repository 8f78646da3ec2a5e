//! The cells of a grid.

use crate::pages::paper::{DataSet, MethodSet};

use crate::commands::options::ReproduceOptions;
use crate::commands::plan::Plan;
use crate::commands::source::Source;

/// Split of the paper.
pub const SPLIT: &str = "random";

/// One data set, growth ratio and seed, with its methods: one process.
#[derive(Debug, Clone, PartialEq)]
pub struct GridCell {
    pub data: DataSet,
    pub source: Source,
    pub alpha: f64,
    pub seed: u64,
    pub methods: MethodSet,
}

impl GridCell {
    /// Returns the description of the cell.
    pub fn label(&self) -> String {
        format!(
            "{}, α = {}, seed {}",
            self.data.name(),
            self.alpha,
            self.seed
        )
    }

    /// Returns the name of the folder of the cell with the methods of this set.
    pub fn folder_name(&self, methods: MethodSet) -> String {
        format!(
            "{}-{SPLIT}-alpha{}-seed{}-{}",
            self.data.name(),
            self.alpha,
            self.seed,
            methods.name()
        )
    }
}

/// The cells that the targets need, each once.
pub struct Grid {
    pub cells: Vec<GridCell>,
}

impl Grid {
    /// Orders the cells by seed, so that an early end leaves complete seeds of all targets rather
    /// than all seeds of the first.
    pub fn new(plan: &Plan, options: &ReproduceOptions) -> Self {
        let mut cells: Vec<GridCell> = Vec::new();
        for seed in 0..options.rows.seeds {
            for part in &plan.parts {
                let methods = options.methods(part.target);
                for &data in &part.data {
                    let Some(source) = plan.source(data) else {
                        continue;
                    };
                    for &alpha in &part.alphas {
                        let found = cells
                            .iter_mut()
                            .find(|c| (c.data, c.alpha, c.seed) == (data, alpha, seed));
                        match found {
                            Some(cell) => cell.methods = covering(cell.methods, methods),
                            None => cells.push(GridCell {
                                data,
                                source: source.clone(),
                                alpha,
                                seed,
                                methods,
                            }),
                        }
                    }
                }
            }
        }
        Self { cells }
    }
}

/// Returns the smallest set that covers both.
fn covering(a: MethodSet, b: MethodSet) -> MethodSet {
    let mut sets = MethodSet::ALL.into_iter().rev();
    sets.find(|set| set.covers(a) && set.covers(b))
        .unwrap_or(MethodSet::All)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_set_that_covers_two() {
        use MethodSet::{All, Losses, Sweep, Table};
        assert_eq!(covering(Sweep, Sweep), Sweep);
        assert_eq!(covering(Sweep, Losses), Losses);
        assert_eq!(covering(Table, Losses), Table);
        assert_eq!(covering(Table, All), All);
    }
}
