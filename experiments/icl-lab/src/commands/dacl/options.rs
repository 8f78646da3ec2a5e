//! The options of `icl-lab reproduce dacl1`, `dacl2` and `dacl4`.

use std::path::PathBuf;

use crate::pages::dacl::{DaclDataSet, DaclSettings, DaclTarget};
use anyhow::anyhow;
use clap::{Arg, Args, Subcommand};
use icl_cli::parts::{Failure, bounds, choice};
use icl_train::UpdateRule;

use crate::commands::reproduction::{PassesOptions, RowsOptions, SetsOptions, check_folder, wrong};

const DETAILS: &str = "\
Every row, data set and seed is a line of DIR/TARGET.jsonl, written as soon as it is there. The same command runs \
the rows that are missing, so that it continues after an interruption. It writes DIR/TARGET.html and DIR/TARGET.md \
with the numbers of the paper, ours, and a verdict on each claim. A data set that is not there is skipped.";

/// Number of seeds.
const N_SEEDS: u64 = 3;

/// Optimizers of the training on tables.
const OPTIMIZERS: [&str; 2] = ["adam", "lars"];

/// Output folder.
const OUT: &str = "icl-runs/dacl";

/// Tables of DACL.
#[derive(Debug, Subcommand)]
pub enum DaclCommand {
    /// Table 1 of DACL: mixup noise on tables
    #[command(after_help = DETAILS, mut_args(of_tables))]
    Dacl1(TablesOptions),
    /// Table 2 of DACL: mixup noise on images, alone and together with augmentations
    #[command(after_help = DETAILS, mut_args(of_images))]
    Dacl2(ImagesOptions),
    /// Table 4 of DACL: hidden mixup on graphs
    #[command(after_help = DETAILS, mut_args(of_graphs))]
    Dacl4(GraphsOptions),
}

/// Options of the table of tables.
#[derive(Debug, Args)]
pub struct TablesOptions {
    /// Use at most N rows, balanced across classes
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::SAMPLES), help_heading = "Data")]
    limit: Option<usize>,
    /// Width of each layer; the shallow encoder is twice as wide
    #[arg(
        long,
        value_name = "WIDTH",
        value_parser = bounds::at_most(bounds::WIDTH),
        default_value_t = 128,
        help_heading = "Encoder"
    )]
    width: usize,
    /// Optimizer of the training without labels; the learning rate of lars is scaled so that weights can move as far as
    /// in the paper
    #[arg(
        long,
        value_parser = choice::among::<UpdateRule>(&OPTIMIZERS),
        default_value = OPTIMIZERS[0],
        help_heading = "Training"
    )]
    optimizer: UpdateRule,
    #[command(flatten)]
    shared: DaclOptions,
}

/// Options of the table of images. Its ResNet-18 has fixed widths.
#[derive(Debug, Args)]
pub struct ImagesOptions {
    /// Use at most N images, balanced across classes
    #[arg(long, value_name = "N", value_parser = bounds::at_most(bounds::SAMPLES), help_heading = "Data")]
    limit: Option<usize>,
    #[command(flatten)]
    shared: DaclOptions,
}

/// Options of the table of graphs.
#[derive(Debug, Args)]
pub struct GraphsOptions {
    /// Width of each layer
    #[arg(
        long,
        value_name = "WIDTH",
        value_parser = bounds::at_most(bounds::WIDTH),
        default_value_t = 64,
        help_heading = "Encoder"
    )]
    width: usize,
    #[command(flatten)]
    shared: DaclOptions,
}

/// Options of all tables.
#[derive(Debug, Args)]
pub struct DaclOptions {
    #[command(flatten)]
    sets: SetsOptions,
    #[command(flatten)]
    passes: PassesOptions,
    #[command(flatten)]
    rows: RowsOptions,
}

/// Returns a shared option as these commands take it.
fn refined(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "epochs" => option.help("Number of epochs of the training without labels"),
        "batch_size" => option.help("Maximum batch size"),
        "seeds" => option.default_value(N_SEEDS.to_string()),
        "out" => option.default_value(OUT),
        _ => option,
    }
}

fn of_tables(option: Arg) -> Arg {
    let option = refined(option);
    match option.get_id().as_str() {
        "epochs" => option.default_value("40"),
        "batch_size" => option
            .help("Maximum batch size; a quarter of the training rows where they are few")
            .default_value("512"),
        _ => option,
    }
}

fn of_images(option: Arg) -> Arg {
    let option = refined(option);
    match option.get_id().as_str() {
        "epochs" => option.default_value("8"),
        "batch_size" => option.default_value("128"),
        _ => option,
    }
}

fn of_graphs(option: Arg) -> Arg {
    let option = refined(option);
    match option.get_id().as_str() {
        "epochs" => option.default_value("20"),
        "batch_size" => option.default_value("128"),
        _ => option,
    }
}

/// Options that some of the tables have.
#[derive(Debug, Clone, Copy)]
struct OwnOptions {
    limit: Option<usize>,
    width: Option<usize>,
    optimizer: Option<UpdateRule>,
}

/// Checked options.
#[derive(Debug)]
pub struct DaclRequest {
    /// Table.
    pub target: DaclTarget,
    /// Requested data sets.
    pub data_sets: Vec<DaclDataSet>,
    /// Folder of all data sets.
    pub data_dir: PathBuf,
    /// Settings of all records.
    pub settings: DaclSettings,
    /// Number of seeds.
    pub n_seeds: u64,
    /// Maximum number of seconds after which a row may start.
    pub budget_s: Option<f64>,
    /// Output folder.
    pub out: PathBuf,
    /// Command for the page, without what depends on the machine.
    pub command: String,
}

impl DaclCommand {
    /// Checks the options.
    ///
    /// # Errors
    /// At the first value that is not valid.
    pub fn request(&self) -> Result<DaclRequest, Failure> {
        match self {
            Self::Dacl1(options) => {
                let own = OwnOptions {
                    limit: options.limit,
                    width: Some(options.width),
                    optimizer: Some(options.optimizer),
                };
                options.shared.request(DaclTarget::Table1, own)
            }
            Self::Dacl2(options) => {
                let own = OwnOptions {
                    limit: options.limit,
                    width: None,
                    optimizer: None,
                };
                options.shared.request(DaclTarget::Table2, own)
            }
            Self::Dacl4(options) => {
                let own = OwnOptions {
                    limit: None,
                    width: Some(options.width),
                    optimizer: None,
                };
                options.shared.request(DaclTarget::Table4, own)
            }
        }
    }
}

impl DaclOptions {
    /// Checks the options of a table.
    fn request(&self, target: DaclTarget, own: OwnOptions) -> Result<DaclRequest, Failure> {
        let settings = DaclSettings {
            epochs: self.passes.epochs,
            batch_size: self.passes.batch_size,
            width: own.width,
            optimizer: own.optimizer.unwrap_or(UpdateRule::Adam),
            limit: own.limit,
            backend: self.rows.backend()?,
        };
        let n_seeds = self.rows.seeds;
        let numbers = [
            ("seeds", n_seeds as usize, 1, "at least 1"),
            ("epochs", settings.epochs, 1, "at least 1"),
            ("batch-size", settings.batch_size, 4, "at least 4"),
            ("width", own.width.unwrap_or(1), 1, "at least 1"),
            ("limit", own.limit.unwrap_or(100), 100, "at least 100"),
        ];
        for (option, found, least, expected) in numbers {
            if found < least {
                return Err(wrong(option, found, expected));
            }
        }
        self.rows.check_budget()?;
        let data_sets = self.chosen(target)?;
        check_folder(&self.rows.out)?;
        Ok(DaclRequest {
            target,
            data_sets,
            data_dir: self.sets.folder(),
            command: self.command(target, &own, n_seeds),
            settings,
            n_seeds,
            budget_s: self.rows.budget_s(),
            out: self.rows.out.clone(),
        })
    }

    /// Returns the requested data sets of the table, in its order.
    fn chosen(&self, target: DaclTarget) -> Result<Vec<DaclDataSet>, Failure> {
        let (all, names) = (target.data_sets(), &self.sets.data_sets);
        let is = |data: &DaclDataSet, name: &String| data.name().eq_ignore_ascii_case(name);
        let is_known = |name: &&String| all.iter().any(|data| is(data, name));
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            let known: Vec<&str> = all.iter().map(|data| data.name()).collect();
            return Err(Failure::input(anyhow!(
                "data-sets: found \"{name}\", expected one of {}",
                known.join(", ")
            )));
        }
        let is_chosen =
            |data: &&DaclDataSet| names.is_empty() || names.iter().any(|name| is(data, name));
        Ok(all.iter().filter(is_chosen).copied().collect())
    }

    fn command(&self, target: DaclTarget, own: &OwnOptions, n_seeds: u64) -> String {
        let of = |name: &str, value: Option<usize>| {
            value.map_or_else(String::new, |value| format!(" --{name} {value}"))
        };
        let optimizer = own.optimizer.map_or_else(String::new, |optimizer| {
            format!(" --optimizer {}", choice::name(&optimizer))
        });
        format!(
            "icl-lab reproduce {} --seeds {n_seeds}{}{}{} --epochs {} --batch-size {}{optimizer}",
            target.name(),
            self.sets.command(),
            of("limit", own.limit),
            of("width", own.width),
            self.passes.epochs,
            self.passes.batch_size,
        )
    }
}
