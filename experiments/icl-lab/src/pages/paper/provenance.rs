//! Origin of the numbers of a page.

use icl_report::document::Block;
use icl_report::text::number::plural;

/// Explanation of how one run serves both rules.
const ONE_RUN_TWO_RULES: &str = "One training run serves both rules. The paper's: training ends when the epoch's mean training loss \
     has found no new minimum for 50 epochs, and the epoch of that minimum counts. Ours: until then \
     the exact risk is measured all along, and what counts is when it first falls below retraining's \
     plateau + 1 % and stays there for three evaluations. So “never” means: not before the run ended, \
     by the paper's rule or at the maximum number of epochs. Where that maximum came first, the epoch \
     of the lowest loss so far stands for that of the rule.";

/// Differences of the runs from the paper's.
const DEVIATIONS: &str = "Differences from the paper: one optimizer and learning rate for all plain methods instead of a \
     search over 1e-3, 1e-4 and 1e-5; the measured encoder is a moving average of the parameters; medians \
     with the least and greatest seed instead of means of five runs; this machine's processor instead \
     of one V100.";

/// Origin of the numbers of a page: date, machine, command and settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// Day on which the page was written, as 2026-01-31.
    pub date: String,
    /// Processor and its number of cores.
    pub machine: String,
    /// Command, without options that depend on the machine.
    pub command: String,
    /// Program and its version.
    pub version: String,
    /// Number of requested seeds.
    pub n_seeds: u64,
    /// Number of cells that ran at the same time.
    pub jobs: usize,
    /// Options of the runs with their values.
    pub settings: Vec<(String, String)>,
}

impl Provenance {
    /// Returns the facts below the title.
    pub(crate) fn summary(&self) -> String {
        format!(
            "{} · {} · {} · {} requested · {}",
            self.date,
            self.version,
            self.machine,
            plural(self.n_seeds as usize, "seed"),
            self.command
        )
    }

    /// Lists the settings in a sentence.
    pub(crate) fn settings(&self) -> String {
        let settings = self.settings.iter();
        let words: Vec<String> = settings
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        words.join(", ")
    }

    /// Returns the section on how the numbers were made.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let next_to = match self.jobs {
            1 => "Cells ran one after the other.".to_owned(),
            n => format!(
                "Up to {n} cells ran at the same time, each on one thread, which makes seconds less \
                 certain; sample passes do not depend on it."
            ),
        };
        vec![
            Block::heading("How the numbers were made"),
            Block::text(format!(
                "Every method of a data set, growth ratio and seed starts from one θ₀ and runs in \
                 one process. Settings of every run: {}. {next_to}",
                self.settings()
            )),
            Block::text(ONE_RUN_TWO_RULES),
            Block::text(DEVIATIONS),
        ]
    }
}
