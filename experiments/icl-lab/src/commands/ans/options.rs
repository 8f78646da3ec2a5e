//! The options of the figures and experiments of ANS.

use std::path::PathBuf;

use crate::pages::ans::{AnsExperiment, AnsSettings};
use clap::{Arg, Args, Subcommand};
use icl_cli::parts::{Failure, bounds, data_dir_help};
use icl_data::catalogue;

use crate::commands::reproduction::{PassesOptions, RowsOptions, check_folder, wrong};

const FIGURES: &str = "\
ANS: Wu, Wu and Huang, Rethinking InfoNCE: How Many Negative Samples Do You Need? Nothing is trained, and no data are \
needed. It writes DIR/TARGET.html and DIR/TARGET.md with the figure, the printed claims, our figures, and what refutes each \
claim.";

const EXPERIMENTS: &str = "\
Every row and seed is a line of DIR/TARGET.jsonl, written as soon as it is there. The same command runs the rows that are \
missing, so that it continues after an interruption. It writes DIR/TARGET.html and DIR/TARGET.md. ans2 and ans7 take \
ml-100k/ml-100k.inter of the data folder, which scripts/data/ml-100k.sh gets; ans8 takes text/ag-news-7600.csv.gz.";

/// Output folder.
const OUT: &str = "icl-runs/ans";

/// Number of seeds.
const N_SEEDS: u64 = 5;

/// Figures and experiments of ANS.
#[derive(Debug, Subcommand)]
pub enum AnsCommand {
    /// Figures 2 and 3 of ANS: numbers of negatives on MovieLens 100K
    #[command(after_help = EXPERIMENTS, mut_args(refined))]
    Ans2(ExperimentOptions),
    /// Figure 4 of ANS: the best number of negatives over the separation of the labels
    #[command(after_help = FIGURES)]
    Ans4(FigureOptions),
    /// Figure 5 of ANS: effectiveness and kinds of samples in stages of a training
    #[command(after_help = FIGURES)]
    Ans5(FigureOptions),
    /// Figure 7 of ANS: courses of the number of negatives on MovieLens 100K
    #[command(after_help = EXPERIMENTS, mut_args(refined))]
    Ans7(ExperimentOptions),
    /// Figure 8 of ANS: numbers and courses of negatives on titles and bodies of news
    #[command(after_help = EXPERIMENTS, mut_args(refined))]
    Ans8(ExperimentOptions),
}

/// Options of the figures.
#[derive(Debug, Args)]
pub struct FigureOptions {
    /// Output folder; an earlier page of the figure is replaced
    #[arg(long, value_name = "DIR", default_value = OUT, help_heading = "Output")]
    pub out: PathBuf,
}

/// Options of the experiments.
#[derive(Debug, Args)]
pub struct ExperimentOptions {
    #[arg(long, value_name = "DIR", help_heading = "Data", help = data_dir_help())]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    passes: PassesOptions,
    /// Peak of the courses
    #[arg(
        long,
        value_name = "K",
        value_parser = bounds::number_in(bounds::NEGATIVES),
        default_value_t = PEAK,
        help_heading = "Loss"
    )]
    negatives_peak: f64,
    #[command(flatten)]
    rows: RowsOptions,
}

/// Returns a shared option as the experiments take it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "epochs" => option
            .help("Number of epochs of most rows")
            .default_value("10"),
        "batch_size" => option.default_value("256"),
        "seeds" => option.default_value(N_SEEDS.to_string()),
        "out" => option.default_value(OUT),
        _ => option,
    }
}

/// Checked options of an experiment.
#[derive(Debug)]
pub struct ExperimentRequest {
    /// Experiment.
    pub experiment: AnsExperiment,
    /// Folder of all data sets.
    pub data_dir: PathBuf,
    /// Settings of all records.
    pub settings: AnsSettings,
    /// Number of seeds.
    pub n_seeds: u64,
    /// Maximum number of seconds after which a row may start.
    pub budget_s: Option<f64>,
    /// Output folder.
    pub out: PathBuf,
    /// Command for the page, without what depends on the machine.
    pub command: String,
}

/// Peak of the courses, about what the paper found on MovieLens 1M.
const PEAK: f64 = 20.0;
/// Width of the embeddings.
const WIDTH: usize = 64;
/// Learning rate of Adam.
const LEARNING_RATE: f64 = 1e-3;
/// Temperature τ.
const TEMPERATURE: f64 = 0.1;

impl ExperimentOptions {
    /// Checks the options.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn request(&self, experiment: AnsExperiment) -> Result<ExperimentRequest, Failure> {
        let n_seeds = self.rows.seeds;
        let (epochs, batch_size) = (self.passes.epochs, self.passes.batch_size);
        for (option, found, least) in [
            ("seeds", n_seeds as usize, 1),
            ("epochs", epochs, 1),
            ("batch-size", batch_size, 4),
        ] {
            if found < least {
                let expected = format!("at least {least}");
                return Err(wrong(option, found, &expected));
            }
        }
        let peak = self.negatives_peak;
        if peak.is_nan() || peak <= 1.0 {
            return Err(wrong("negatives-peak", peak, "a number above 1"));
        }
        self.rows.check_budget()?;
        let backend = self.rows.backend()?;
        check_folder(&self.rows.out)?;
        let data_dir = self.data_dir.clone();
        Ok(ExperimentRequest {
            experiment,
            data_dir: data_dir.unwrap_or_else(catalogue::folder),
            settings: AnsSettings {
                epochs,
                batch_size,
                width: WIDTH,
                learning_rate: LEARNING_RATE,
                temperature: TEMPERATURE,
                peak,
                backend,
            },
            n_seeds,
            budget_s: self.rows.budget_s(),
            out: self.rows.out.clone(),
            command: format!(
                "icl-lab reproduce {} --seeds {n_seeds} --epochs {epochs} --batch-size {batch_size} --negatives-peak {peak}",
                experiment.name()
            ),
        })
    }
}
