//! `icl negatives`: the number of negatives that the model of label noise advises.

mod curve;
mod words;

use std::path::PathBuf;

use clap::Args;
use icl_core::Error;
use icl_core::negatives::{MAX_K, Optimum, course, separation};
use icl_report::{NegativesAdvice, PredictionCourse, negatives_document};
use serde::Serialize;

use crate::files::destination::Destination;
use crate::files::whole;
use crate::files::work_folder::WorkFolder;
use crate::files::work_place::CONFIG;
use crate::options::bounds;
use crate::options::output::check_out;
use crate::process::failure::Failure;
use crate::process::terminal::{print, tell};

use words::{bound_warning, sentence, table};

const DETAILS: &str = "\
The score of a positive is drawn from N(μ, 1) and those of its K negatives from N(0, 1); μ follows from the AUC. A step \
is effective if the label is reliable and the prediction not yet right (Wu et al., 2022). Without a validation AUC or a \
curve the predictions take the course of a whole training, μ(1 − exp(−t)) for t from 0 to 3. K negatives are K + 1 candidates. \
With --out it writes DIR/report.html and DIR/report.md with the same numbers, and pictures in the first.";

/// The page with pictures.
const REPORT: &str = "report.html";
/// The page as text.
const MARKDOWN: &str = "report.md";

/// Options of `icl negatives`.
#[derive(Debug, Clone, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
#[command(after_help = DETAILS)]
pub struct NegativesOptions {
    /// AUC of positives against negatives in training with one negative, before it overfits: how reliable the labels are
    #[arg(long, value_name = "AUC", help_heading = "Negatives")]
    train_auc: f64,
    /// AUC on validation data: advises for this stage of the training instead of all of it
    #[arg(long, value_name = "AUC", help_heading = "Negatives")]
    #[serde(skip_serializing_if = "Option::is_none")]
    validation_auc: Option<f64>,
    /// AUCs that were measured in the course of a training, instead of the simulated one: a list, one a line, or a record
    /// of icl run or icl update
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

/// The best number of negatives under one weight λ.
#[derive(Debug, Serialize)]
struct Advice {
    lambda: f64,
    k_opt: usize,
    k_range: [usize; 2],
    effectiveness: f64,
    /// Whether `k_opt` is the largest number that was considered.
    is_at_bound: bool,
}

impl Advice {
    fn of(lambda: f64, optimum: &Optimum) -> Self {
        Self {
            lambda,
            k_opt: optimum.k,
            k_range: [*optimum.flat.start(), *optimum.flat.end()],
            effectiveness: optimum.effectiveness,
            is_at_bound: optimum.is_at_bound,
        }
    }
}

/// Answer as it is printed in JSON.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    train_auc: f64,
    validation_auc: Option<f64>,
    /// AUCs of the curve; `None` without one.
    curve: Option<&'a [f64]>,
    mu_q: f64,
    k_max: usize,
    #[serde(flatten)]
    advice: Advice,
    /// The same without easy samples.
    at_lambda_1: Advice,
}

/// Prints the effectiveness over K and the best K, and writes a page of them where a folder is named.
///
/// # Errors
/// If an option is out of its range, the curve or the folder cannot be used, or standard output cannot be written.
pub fn advise(options: &NegativesOptions) -> Result<(), Failure> {
    let label = of_auc("train-auc", options.train_auc)?;
    let predictions = match (options.validation_auc, &options.curve) {
        (Some(auc), _) => (
            PredictionCourse::Stage(auc),
            vec![of_auc("validation-auc", auc)?],
        ),
        (None, Some(path)) => {
            let curve = curve::read(path)?;
            (PredictionCourse::Measured(curve.aucs), curve.separations)
        }
        (None, None) => (PredictionCourse::Simulated, course(label, 3.0)),
    };
    let label = (options.train_auc, label);
    let advice = NegativesAdvice::new(label, predictions, options.lambda, options.k_max);
    let advice = advice.map_err(of_option)?;
    let (optimum, without_easy) = (advice.optimum(options.lambda), advice.optimum(1.0));
    if options.train_auc < 0.5 {
        tell("warning: an AUC below 0.5 says that negatives score higher than positives");
    }
    if optimum.is_at_bound {
        tell(bound_warning(&advice));
    }
    let folder = match &options.out {
        Some(_) => Some(write(options, &advice)?),
        None => None,
    };
    if options.json {
        let answer = Answer {
            train_auc: options.train_auc,
            validation_auc: options.validation_auc,
            curve: match &advice.course {
                PredictionCourse::Measured(aucs) => Some(aucs),
                PredictionCourse::Simulated | PredictionCourse::Stage(_) => None,
            },
            mu_q: advice.label,
            k_max: options.k_max,
            advice: Advice::of(options.lambda, &optimum),
            at_lambda_1: Advice::of(1.0, &without_easy),
        };
        let json = serde_json::to_string_pretty(&answer);
        return print(json.map_err(|error| Failure::Other(error.into()))?);
    }
    let written = folder.map_or_else(String::new, |folder| {
        format!("\n\nwritten to {}", folder.display())
    });
    print(format_args!(
        "labels: AUC {:.4}, separation μ {:.4}\n{}\n{}{written}",
        advice.train_auc,
        advice.label,
        table(&advice, &optimum).trim_fmt(),
        sentence(&advice, &optimum, &without_easy)
    ))
}

/// Writes the page as HTML and Markdown, and the options. Returns the folder.
///
/// # Errors
/// If the folder may not be replaced or cannot be written.
fn write(options: &NegativesOptions, advice: &NegativesAdvice) -> Result<PathBuf, Failure> {
    check_out(options.out.as_deref())?;
    let document = negatives_document(advice).map_err(of_option)?;
    let config = toml::to_string(options).map_err(Failure::input)?;
    let destination = Destination::new(options.out.clone(), "negatives", options.force);
    let work = WorkFolder::begin(destination, is_result)?;
    let (html, markdown) = (document.html(), document.markdown());
    for (name, text) in [(CONFIG, &config), (REPORT, &html), (MARKDOWN, &markdown)] {
        whole::write(&work.results().join(name), text.as_bytes())?;
    }
    work.publish(None)
}

fn is_result(name: &str) -> bool {
    [CONFIG, REPORT, MARKDOWN].contains(&name)
}

/// Returns the separation of the AUC that an option gives.
fn of_auc(option: &str, auc: f64) -> Result<f64, Failure> {
    separation(auc).map_err(|error| Failure::input(error.at(option)))
}

/// Returns the failure of an option.
fn of_option(error: Error) -> Failure {
    Failure::input(match error.place() {
        "largest K" => error.at("k-max"),
        _ => error,
    })
}
