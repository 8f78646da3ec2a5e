//! `icl methods`: lists the methods with their choices.

use clap::Args;
use comfy_table::{Table, presets};
use icl_meta::RateChoice;
use icl_train::{Method, Noise, Objective, OptimizerChoice, Start};

use crate::options::output::JsonOption;
use crate::process::failure::Failure;
use crate::process::terminal::print;

/// Options of `icl methods`.
#[derive(Debug, Args)]
pub struct MethodsOptions {
    #[command(flatten)]
    output: JsonOption,
}

/// Prints all methods with their four choices.
///
/// # Errors
/// If standard output cannot be written.
pub fn show(options: &MethodsOptions) -> Result<(), Failure> {
    let rows = icl_train::methods();
    if options.output.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|method| {
                let [start, objective, optimizer, rate] = choices(method);
                serde_json::json!({
                    "name": method.name,
                    "start": start,
                    "objective": objective,
                    "optimizer": optimizer,
                    "rate": rate,
                })
            })
            .collect();
        return print(format_args!("{:#}", serde_json::Value::from(rows)));
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header([
        "method",
        "start",
        "objective",
        "optimizer",
        "learning rate",
    ]);
    for method in &rows {
        let [start, objective, optimizer, rate] = choices(method);
        table.add_row([method.name, &start, &objective, &optimizer, &rate]);
    }
    print(table)
}

/// The four choices in words.
fn choices(method: &Method) -> [std::borrow::Cow<'static, str>; 4] {
    let start = match method.start {
        Start::Trained => "θ₀",
        Start::Scratch => "scratch",
    };
    let objective = match method.objective {
        None => "–".into(),
        Some(Objective::InfoNce(Noise::Old)) => "NCE-I on X, noise p(X)".into(),
        Some(Objective::InfoNce(Noise::New)) => "NCE-I on ΔX, noise p(ΔX)".into(),
        Some(Objective::InfoNce(Noise::All)) => "NCE-I on X′, noise p(X′)".into(),
        Some(Objective::InfoNce(Noise::Fraction(fraction))) => format!(
            "NCE-I on ΔX and a fresh {:.0} % of X an epoch, noise from both (biased)",
            100.0 * fraction
        )
        .into(),
        Some(Objective::InfoNce(Noise::Widening(fraction))) => format!(
            "NCE-I on ΔX and a fresh {:.0} % of X an epoch, up to all of X as the exact risk asks",
            100.0 * fraction
        )
        .into(),
        Some(Objective::InfoNce(Noise::Replay)) => {
            "NCE-I on ΔX and a buffer of X, noise from both".into()
        }
        Some(Objective::Distillation) => "NCE-I on ΔX, noise p(ΔX), + distance to φ(·; θ₀)".into(),
        Some(Objective::Published) => "NCE-II on X + NCE-I on ΔX, noise p(X′) (Eq. 9)".into(),
        Some(Objective::Corrected) => "NCE-I + NCE-II on X + NCE-I on ΔX, noise p(X′)".into(),
    };
    let is_trained = method.objective.is_some();
    let optimizer = match method.optimizer {
        OptimizerChoice::Plain if is_trained => "plain",
        OptimizerChoice::Plain => "–",
        OptimizerChoice::Meta => "meta",
    };
    let rate = match method.rate {
        RateChoice::Fixed if is_trained => "fixed",
        RateChoice::Fixed => "–",
        RateChoice::Cosine => "cosine",
        RateChoice::Hypergradient => "hypergradient",
        RateChoice::LearnedAsPublished => "learned (as published)",
        RateChoice::Learned => "learned",
    };
    [start.into(), objective, optimizer.into(), rate.into()]
}
