//! Quantities before and after an update.

use icl_core::ExactRisk;

use crate::document::{Column, Row, Table, TableCell};
use crate::record::UpdateRecord;
use crate::summary::change::{Change, UpdateSummary};
use crate::text::number::{nats, percent, scientific, with_sign};
use crate::text::rich_text::RichText;

/// Name of a quantity, the quantity, and whether its relative change says something.
type Quantity = (&'static str, fn(&ExactRisk) -> f64, bool);

const QUANTITIES: [Quantity; 10] = [
    ("exact risk, all data", |risk| risk.all, true),
    ("exact risk, old data", |risk| risk.old, true),
    ("exact risk, new data", |risk| risk.new, true),
    (
        "NCE-I under the old noise, L^{I,X} (old data)",
        |risk| risk.nce1_old,
        false,
    ),
    ("NCE-II, L^{II} (old data)", |risk| risk.nce2_old, false),
    (
        "α·L^{I,X}, Theorem 2's bound (old data)",
        |risk| risk.bound,
        false,
    ),
    (
        "bias of inference, old data",
        |risk| risk.bias_inference_old,
        false,
    ),
    (
        "bias of inference, new data",
        |risk| risk.bias_inference_new,
        false,
    ),
    (
        "bias of fine-tuning, new data",
        |risk| risk.bias_fine_tuning_new,
        false,
    ),
    (
        "change ratio r (old data)",
        |risk| risk.change_ratio_old,
        false,
    ),
];

/// Makes the table of an update: means over the samples before, after, and the change.
pub(crate) fn before_and_after(record: &UpdateRecord) -> Table {
    let row = |(name, of, is_relative): &Quantity| {
        let change = Change {
            before: of(&record.before),
            after: of(&record.after),
        };
        let share = change.share().filter(|_| *is_relative);
        let share = share.map(|share| with_sign(share, percent));
        let difference = match change.difference() {
            x if x.is_finite() => TableCell::Value(with_sign(x, nats), share),
            _ => TableCell::Missing,
        };
        let cells = vec![
            TableCell::number(change.before, nats),
            TableCell::number(change.after, nats),
            difference,
        ];
        Row::new(RichText::marked(name), cells)
    };
    Table {
        corner: "mean, nats".into(),
        columns: ["before", "after", "change"].map(Column::new).into(),
        rows: QUANTITIES.iter().map(row).collect(),
    }
}

/// Says how exactly the parts of the exact risk on old data add up.
pub(crate) fn residual(of: &UpdateSummary) -> String {
    format!(
        "The exact risk on old data is the sum of NCE-I and NCE-II for each sample (Theorem 1); the \
         largest difference is {} nats, which is rounding.",
        scientific(of.residual)
    )
}
