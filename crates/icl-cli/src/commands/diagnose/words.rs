//! The quantities of a diagnosis in tables and words.

use comfy_table::{CellAlignment, Table, presets};

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

/// Returns the table of the means, or of the values of every anchor.
pub fn table(columns: &Columns, means: &[f64; 7], per_sample: bool) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    if per_sample {
        table.set_header(std::iter::once("anchor").chain(NAMES.map(|(name, _)| name)));
        for row in 0..columns[0].len() {
            let values = columns.iter().map(|column| number(column[row]));
            table.add_row(std::iter::once(row.to_string()).chain(values));
        }
        let means = means.iter().map(|mean| number(*mean));
        table.add_row(std::iter::once("mean".to_owned()).chain(means));
    } else {
        table.set_header(["quantity", "mean over anchors", "what it is"]);
        for ((name, what), mean) in NAMES.iter().zip(means) {
            table.add_row([*name, &number(*mean), *what]);
        }
    }
    for column in table
        .column_iter_mut()
        .skip(1)
        .take(if per_sample { 7 } else { 1 })
    {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Writes a number of the table: plain up to a million, then with a power of ten.
fn number(value: f64) -> String {
    match value.abs() {
        size if size < 1e6 => format!("{value:.6}"),
        size if size.is_finite() => format!("{value:.6e}"),
        _ => "above 1e308".to_owned(),
    }
}

/// Writes in words how far the noise has moved: by the difference in nats between the loss that the
/// encoder was trained on and the loss of retraining. The mean change ratio is no such measure: a
/// few anchors with a large r dominate it.
pub fn sentence(means: &[f64; 7]) -> String {
    let [_, _, _, _, _, inference, fine_tuning] = *means;
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
