//! `icl negatives`: the number of negatives that the model of label noise advises.

mod curve;
mod words;

use std::path::PathBuf;

use clap::Args;
use icl_core::Error;
use icl_core::negatives::MAX_K;
use icl_report::{MadeBy, NegativesAdvice, NegativesRecord, PredictionCourse, negatives_document};
use serde::Serialize;

use crate::files::destination::Destination;
use crate::files::encoder_work::{RECORD, write_results};
use crate::files::whole;
use crate::files::work_folder::WorkFolder;
use crate::files::work_place::{CONFIG, REPORT};
use crate::options::bounds;
use crate::options::command_line::command_line;
use crate::options::output::{check_out, text};
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

use words::{bound_warning, sentence, table};

const DETAILS: &str = "\
The score of a positive is drawn from N(μ, 1) and those of its K negatives from N(0, 1); μ follows from the AUC. A \
step is effective if the label is reliable and the prediction not yet right (Wu et al., 2022). Without a validation \
AUC or a curve the predictions take the course of a whole training, μ(1 − exp(−t)) for t from 0 to 3. K negatives \
are K + 1 candidates. With --out it writes DIR/report.html and DIR/report.md with the same numbers, and pictures in \
the first, and DIR/record.json, from which icl report rebuilds both.";

/// The page as text.
pub const MARKDOWN: &str = "report.md";

/// Options of `icl negatives`.
#[derive(Debug, Clone, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS)]
pub struct NegativesOptions {
    /// AUC of positives against negatives in training with one negative, before it overfits: how reliable the labels
    /// are
    #[arg(long, value_name = "AUC", help_heading = "Negatives")]
    train_auc: f64,
    /// AUC on validation data: advises for this stage of the training instead of all of it
    #[arg(long, value_name = "AUC", help_heading = "Negatives")]
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_auc: Option<f64>,
    /// AUCs that were measured in the course of a training, instead of the simulated one. The file is a list, one a
    /// line, or a record of icl run or icl update
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "validation_auc",
        help_heading = "Negatives"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<PathBuf>,
    /// Weight λ of good and bad samples against easy ones; 0.9 is the published one, 1 leaves the easy ones out
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.9,
        help_heading = "Negatives"
    )]
    lambda: f64,
    /// Largest number of negatives that is considered
    #[arg(
        long,
        value_name = "K",
        default_value_t = 1000,
        value_parser = bounds::at_most(MAX_K),
        help_heading = "Negatives"
    )]
    k_max: usize,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Replace the output of an earlier command
    #[arg(long, requires = "out", help_heading = "Output")]
    #[serde(skip)]
    force: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    #[serde(skip)]
    json: bool,
}

/// Prints the effectiveness over K and the best K, and writes a page of them where a folder is named.
///
/// # Errors
/// If an option is out of its range, the curve or the folder cannot be used, or standard output cannot be written.
pub fn advise(options: &NegativesOptions) -> Result<(), Failure> {
    check_out(options.out.as_deref())?;
    let course = match (options.validation_auc, &options.curve) {
        (Some(auc), _) => PredictionCourse::Stage(auc),
        (None, Some(path)) => {
            text("curve", path)?;
            PredictionCourse::Measured(curve::read(path)?)
        }
        (None, None) => PredictionCourse::Simulated,
    };
    let advice = NegativesAdvice::of_aucs(options.train_auc, course, options.lambda, options.k_max);
    let advice = advice.map_err(of_option)?;
    let record = advice.record(MadeBy::command(&command_line("negatives", options)?));
    let (optimum, without_easy) = (advice.optimum(options.lambda), advice.optimum(1.0));
    if options.train_auc < 0.5 {
        tell("warning: an AUC below 0.5 says that negatives score higher than positives");
    }
    if optimum.is_at_bound {
        tell(bound_warning(&advice));
    }
    let folder = match &options.out {
        Some(_) => Some(write(options, &advice, &record)?),
        None => None,
    };
    if options.json {
        let json = serde_json::to_string_pretty(&record);
        return print(json.map_err(|error| Failure::Other(error.into()))?);
    }
    let written = folder.map_or_else(String::new, |folder| {
        format!("\n\nwritten to {}", folder.display())
    });
    print(format_args!(
        "labels: AUC {:.4}, separation μ {:.4}\n{}\n{}\n{}{written}",
        advice.train_auc,
        advice.label,
        record.made_by.words().unwrap_or_default(),
        table(&advice, &optimum).trim_fmt(),
        sentence(&advice, &optimum, &without_easy)
    ))
}

/// Writes the page as HTML and Markdown, the record and the options. Returns the folder.
///
/// # Errors
/// If the folder may not be replaced or cannot be written.
fn write(
    options: &NegativesOptions,
    advice: &NegativesAdvice,
    record: &NegativesRecord,
) -> Result<PathBuf, Failure> {
    let document = negatives_document(advice, &record.made_by).map_err(of_option)?;
    let config = toml::to_string(options).map_err(Failure::input)?;
    let destination = Destination::new(options.out.clone(), "negatives", options.force);
    let work = WorkFolder::begin(destination, is_result)?;
    write_results(&work, &config, record)?;
    for (name, text) in [(REPORT, document.html()), (MARKDOWN, document.markdown())] {
        whole::write(&work.results().join(name), text.as_bytes())?;
    }
    work.publish(None)
}

fn is_result(name: &str) -> bool {
    [CONFIG, RECORD, REPORT, MARKDOWN].contains(&name)
}

/// Returns the failure of an option.
fn of_option(error: Error) -> Failure {
    let option = match error.place() {
        "largest K" => "k-max".to_owned(),
        key => key.replace('_', "-"),
    };
    Failure::input(error.at(option))
}
