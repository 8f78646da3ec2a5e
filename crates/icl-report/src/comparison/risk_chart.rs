//! The chart of the answer: risk of each method next to that of retraining.

use crate::chart::{ChartRow, Colour, Figure, Legend, Palette, RowChart};
use crate::comparison::answer::basis;
use crate::summary::choice::{Choice, Measured};
use crate::text::number::{MISSING, count, percent, with_sign};

/// Number of methods from which on folded ones are left out.
const MANY: usize = 10;

/// Draws the risk of each method above that of the one that it is measured against, a dot for each seed. Of many
/// methods, those without a colour of their own are left out.
pub(crate) fn figure(choice: &Choice, palette: &Palette) -> Figure {
    let own = choice
        .methods
        .iter()
        .filter(|of| palette.is_own(&of.method));
    let is_shown = |of: &&Measured| {
        choice.methods.len() < MANY || palette.colour(&of.method) != Colour::Folded
    };
    let shown: Vec<&Measured> = own.filter(is_shown).collect();
    let row = |of: &&Measured| {
        let values = of.excess.iter().map(|share| 100.0 * share).collect();
        let median = of.median();
        let difference = median.map_or_else(|| MISSING.to_owned(), |of| with_sign(of, percent));
        let mut row = ChartRow::dots(
            palette.label(&of.method),
            palette.colour(&of.method),
            values,
            median.map(|of| 100.0 * of),
        );
        row.text = format!("{difference} · {} passes", count(of.passes));
        row
    };
    let reference = &choice.methods[choice.reference].method;
    let label = format!("risk above that of {reference}, %");
    let chart = RowChart::new(
        "Risk of each method on old or on new data, where it is more",
        &label,
        shown.iter().map(row).collect(),
    )
    .reference(Some((0.0, reference)));
    let left_out = match choice.methods.iter().any(|of| !is_shown(&of)) {
        true => " Ablations and controls are in the table alone.",
        false => "",
    };
    let caption = basis(choice) + left_out;
    Figure::new(caption, Legend::default(), vec![chart.svg()])
}
