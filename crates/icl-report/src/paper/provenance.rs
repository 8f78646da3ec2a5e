//! Where the numbers of a page come from.

use crate::document::blocks::Block;
use crate::number::plural;
use crate::paper::wording;

/// When, where and how the numbers were made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The day on which the page was written, as 2026-01-31.
    pub date: String,
    /// The processor, and its number of cores.
    pub machine: String,
    /// The command, without what depends on the machine.
    pub command: String,
    /// The program and its version.
    pub version: String,
    /// The number of seeds that were asked for.
    pub n_seeds: u64,
    /// How many cells ran beside each other.
    pub jobs: usize,
    /// Every option of the runs with its value.
    pub settings: Vec<(String, String)>,
}

impl Provenance {
    /// One line.
    pub(crate) fn summary(&self) -> String {
        format!(
            "{} · {} · {} · {} asked for · {}",
            self.date,
            self.version,
            self.machine,
            plural(self.n_seeds as usize, "seed"),
            self.command
        )
    }

    /// How the numbers were made.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let settings: Vec<String> = self
            .settings
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let beside = match self.jobs {
            1 => "Cells ran one after the other.".to_owned(),
            n => format!(
                "Up to {n} cells ran beside each other, each on one thread, which makes seconds \
                 less certain; sample passes do not depend on it."
            ),
        };
        vec![
            Block::Heading("How the numbers were made".into()),
            Block::Text(format!(
                "Every method of a data set, growth ratio and seed starts from one θ₀ and runs in \
                 one process. Settings of every run: {}. {beside}",
                settings.join(", ")
            )),
            Block::Text(wording::ONE_RUN_TWO_RULES.into()),
            Block::Text(wording::DEVIATIONS.into()),
        ]
    }
}
