//! The cells of a grid.

use icl_report::paper::{DataSet, MethodSet};

use crate::commands::reproduce::arguments::ReproduceArguments;
use crate::commands::reproduce::plan::Plan;
use crate::commands::reproduce::source::Source;

/// The paper's split.
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
    /// What it is, for people.
    pub fn label(&self) -> String {
        format!(
            "{}, α = {}, seed {}",
            self.data.name(),
            self.alpha,
            self.seed
        )
    }

    /// Its folder's name with the methods of this set.
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

/// All cells that the targets need, each once.
pub struct Grid {
    pub cells: Vec<GridCell>,
}

impl Grid {
    /// Seed after seed, so that an early end leaves whole seeds of everything rather than all seeds
    /// of the beginning.
    pub fn new(plan: &Plan, arguments: &ReproduceArguments) -> Self {
        let mut cells: Vec<GridCell> = Vec::new();
        for seed in 0..arguments.seeds {
            for part in &plan.parts {
                let methods = arguments.methods(part.target);
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

/// The smallest set that covers two.
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
