//! Quantities before and after an update.

use icl_core::{ExactRisk, Origin};

use crate::document::{Column, Row, Table, TableCell};
use crate::record::UpdateRecord;
use crate::summary::change::{Change, UpdateSummary};
use crate::text::number::{nats, percent, plural, scientific, with_sign};
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

/// Makes the table of the first screen: the risk on old and on new held-out samples before, after, and the change with
/// its interval, or the exact risk over the training samples where none were held out.
pub(crate) fn before_and_after(record: &UpdateRecord) -> Table {
    let held_out = record.held_out_before.zip(record.update.held_out_risk);
    let Some(((before, after), n)) = held_out.zip(record.update.n_held_out) else {
        return table(QUANTITIES[..3].iter().map(|of| exact(record, of)));
    };
    let parts = [(Origin::Old, "old sample"), (Origin::New, "new sample")];
    table(parts.into_iter().map(|(origin, noun)| {
        let change = Change {
            before: before.mean[origin],
            after: after.mean[origin],
        };
        let paired = record.verdict.map(|of| match origin {
            Origin::Old => of.old,
            Origin::New => of.new,
        });
        let interval = paired.map(|of| {
            let [low, high] = of.interval.map(|end| with_sign(end, nats));
            format!("[{low} to {high}]")
        });
        let share = change.share().map(|share| with_sign(share, percent));
        let difference = paired.map_or(change.difference(), |of| of.mean);
        let name = format!("held-out risk, {}", plural(n[origin], noun));
        row(name, change, difference, interval.or(share))
    }))
}

/// Makes the table of all quantities over the training samples.
pub(crate) fn all_numbers(record: &UpdateRecord) -> Table {
    table(QUANTITIES.iter().map(|of| exact(record, of)))
}

fn table(rows: impl Iterator<Item = Row>) -> Table {
    Table {
        corner: "mean, nats".into(),
        columns: ["before", "after", "change"].map(Column::new).into(),
        rows: rows.collect(),
    }
}

/// Makes the row of a quantity of the exact risk.
fn exact(record: &UpdateRecord, (name, of, is_relative): &Quantity) -> Row {
    let change = Change {
        before: of(&record.before),
        after: of(&record.after),
    };
    let share = change.share().filter(|_| *is_relative);
    let share = share.map(|share| with_sign(share, percent));
    row(RichText::marked(name), change, change.difference(), share)
}

fn row(name: impl Into<RichText>, of: Change, difference: f64, addition: Option<String>) -> Row {
    let difference = match difference.is_finite() {
        true => TableCell::Value(with_sign(difference, nats), addition),
        false => TableCell::Missing,
    };
    let cells = vec![
        TableCell::number(of.before, nats),
        TableCell::number(of.after, nats),
        difference,
    ];
    Row::new(name, cells)
}

/// Says how exactly the parts of the exact risk on old data add up.
pub(crate) fn residual(of: &UpdateSummary) -> String {
    format!(
        "The exact risk on old data is the sum of NCE-I and NCE-II for each sample (Theorem 1); the \
         largest difference is {} nats, which is rounding.",
        scientific(of.residual)
    )
}
