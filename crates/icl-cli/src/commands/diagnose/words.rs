//! The quantities of a diagnosis in tables and words.

use comfy_table::{CellAlignment, Table, presets};
use icl_core::drift::Estimate;

/// Quantities of each anchor, in the order of [`NAMES`].
pub type Columns = [Vec<f64>; 7];

/// The quantity that is no logarithm, and may exceed the range of a double.
pub const RATIO: &str = "change_ratio";

/// Names of the quantities, with a description of each.
pub const NAMES: [(&str, &str); 7] = [
    ("nce1_old", "NCE-I under p(X), nats"),
    ("nce1_new", "NCE-I under p(ΔX), nats"),
    ("nce1_all", "NCE-I under p(X′), nats"),
    ("nce2", "NCE-II, nats"),
    (RATIO, "change ratio r of the noise"),
    ("bias_inference", "bias of inference, nats"),
    ("bias_fine_tuning", "bias of fine-tuning, nats"),
];

/// Returns the table of the means, or also of the values of every anchor that is compared, whose rows are given; with
/// standard errors if those are a random subset.
pub fn table(estimates: &[Estimate], anchors: Option<&[usize]>, is_of_subset: bool) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    let means = estimates.iter().map(|of| number(of.mean));
    let errors = estimates.iter().map(|of| number(of.standard_error));
    let n_numbers = match anchors {
        Some(anchors) => {
            table.set_header(std::iter::once("anchor").chain(NAMES.map(|(name, _)| name)));
            for (at, anchor) in anchors.iter().enumerate() {
                let values = estimates.iter().map(|of| number(of.of_anchors[at]));
                table.add_row(std::iter::once(anchor.to_string()).chain(values));
            }
            table.add_row(std::iter::once("mean".to_owned()).chain(means));
            if is_of_subset {
                table.add_row(std::iter::once("±".to_owned()).chain(errors));
            }
            NAMES.len()
        }
        None => {
            let n_numbers = if is_of_subset { 2 } else { 1 };
            let header = ["quantity", "mean over anchors", "±", "what it is"];
            let is_shown = |at: &usize| is_of_subset || *at != 2;
            let shown = |of: [String; 4]| {
                let cells = of.into_iter().enumerate().filter(|(at, _)| is_shown(at));
                cells.map(|(_, cell)| cell).collect::<Vec<String>>()
            };
            table.set_header(shown(header.map(str::to_owned)));
            for ((name, what), (mean, error)) in NAMES.into_iter().zip(means.zip(errors)) {
                table.add_row(shown([name.to_owned(), mean, error, what.to_owned()]));
            }
            n_numbers
        }
    };
    for column in table.column_iter_mut().skip(1).take(n_numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Writes a standard error behind its figure, where there is one.
pub fn error_in_words(standard_error: Option<f64>, n_digits: usize) -> String {
    standard_error.map_or_else(String::new, |it| format!(" ± {it:.n_digits$}"))
}

/// Writes a number of the table: plain up to a million, then with a power of ten.
fn number(value: f64) -> String {
    match value.abs() {
        size if size < 1e6 => format!("{value:.6}"),
        size if size.is_finite() => format!("{value:.6e}"),
        size if size.is_nan() => "–".to_owned(),
        _ => "above 1e308".to_owned(),
    }
}

/// Writes in words how far the noise has moved: by the difference in nats between the loss that the
/// encoder was trained on and the loss of retraining. The mean change ratio is no such measure: a
/// few anchors with a large r dominate it.
pub fn sentence(estimates: &[Estimate]) -> String {
    let [inference, fine_tuning] = [5, 6].map(|at| estimates[at].mean);
    let moved = inference.abs();
    let how_far = match moved {
        _ if moved < 0.01 => "has hardly moved",
        _ if moved < 0.1 => "has moved a little",
        _ if moved < 0.5 => "has moved",
        _ => "has moved far",
    };
    let direction = match inference {
        _ if moved < 0.01 => "",
        _ if inference < 0.0 => " towards the anchors",
        _ => " away from the anchors",
    };
    format!(
        "The noise distribution {how_far}{direction}: compared with the loss that retraining minimises, the loss \
         of an encoder that is not updated is {}, and that of one fine-tuned on new data alone {}.",
        error_of(inference),
        error_of(fine_tuning)
    )
}

/// Writes a bias in words.
fn error_of(bias: f64) -> String {
    match bias {
        _ if bias.abs() < 0.0005 => "right".to_owned(),
        _ if bias < 0.0 => format!("{:.3} nats too low", -bias),
        _ => format!("{bias:.3} nats too high"),
    }
}
