//! The cells of a reproduction, grouped by data set and growth ratio.

use crate::paper::cell::Cell;
use crate::paper::data_set::DataSet;
use crate::paper::provenance::Provenance;
use crate::paper::target::Target;

/// Contents of a page: one table or figure of the paper, with our cells.
#[derive(Debug, Clone)]
pub struct Reproduction<'a> {
    /// The table or figure.
    pub target: Target,
    /// The cells that have run, in the grid's order.
    pub cells: &'a [Cell],
    /// What is missing, a sentence each.
    pub missing: &'a [String],
    /// Where the numbers come from.
    pub provenance: &'a Provenance,
}

impl Reproduction<'_> {
    /// The cells by data set and growth ratio, in the grid's order.
    pub(crate) fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for cell in self.cells {
            let is_of =
                |group: &&mut Group<'_>| group.data == cell.data && group.alpha == cell.alpha;
            match groups.iter_mut().find(is_of) {
                Some(group) => group.cells.push(cell),
                None => groups.push(Group {
                    data: cell.data,
                    alpha: cell.alpha,
                    cells: vec![cell],
                }),
            }
        }
        groups
    }
}

/// The cells of one data set and growth ratio: the seeds.
pub(crate) struct Group<'a> {
    pub(crate) data: DataSet,
    pub(crate) alpha: f64,
    pub(crate) cells: Vec<&'a Cell>,
}

impl Group<'_> {
    pub(crate) fn title(&self) -> String {
        format!("{}, α = {}", self.data.name(), self.alpha)
    }

    /// The methods that were run, in the order of the first seed's records.
    pub(crate) fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = Vec::new();
        for record in self.cells.iter().flat_map(|cell| &cell.records) {
            if !methods.contains(&record.method.as_str()) {
                methods.push(&record.method);
            }
        }
        methods
    }

    /// `seed 0`, or `seeds 0, 1`.
    pub(crate) fn seeds(&self) -> String {
        let seeds: Vec<String> = self
            .cells
            .iter()
            .map(|cell| cell.seed.to_string())
            .collect();
        let word = if seeds.len() == 1 { "seed" } else { "seeds" };
        format!("{word} {}", seeds.join(", "))
    }
}
