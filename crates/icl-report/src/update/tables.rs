//! Tables of quantities before and after an update.

use crate::UpdateRecord;
use crate::document::html::escape;
use crate::number::{MISSING, nats, percent};

/// A quantity, with its name as markup.
struct Row {
    name: &'static str,
    before: f64,
    after: f64,
}

impl Row {
    fn of(record: &UpdateRecord, name: &'static str, of: fn(&icl_core::ExactRisk) -> f64) -> Self {
        Self {
            name,
            before: of(&record.before),
            after: of(&record.after),
        }
    }

    /// With the change in per cent below it, if `relative`.
    fn markup(&self, relative: bool) -> String {
        let change = self.after - self.before;
        let share = if relative && self.before != 0.0 && change.is_finite() {
            let share = with_sign(change / self.before.abs(), percent);
            format!("<small>{}</small>", escape(&share))
        } else {
            String::new()
        };
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}{share}</td></tr>\n",
            self.name,
            escape(&nats(self.before)),
            escape(&nats(self.after)),
            escape(&with_sign(change, nats)),
        )
    }
}

/// The exact risk on all parts of the data.
pub(crate) fn risk(record: &UpdateRecord) -> String {
    let rows = [
        Row::of(record, "all data", |risk| risk.all),
        Row::of(record, "old data", |risk| risk.old),
        Row::of(record, "new data", |risk| risk.new),
    ];
    table("mean, nats", &rows, true)
}

/// The parts of the exact risk on old data, of which Theorem 1 says that they add up.
pub(crate) fn theorem_1(record: &UpdateRecord) -> String {
    let rows = [
        Row::of(
            record,
            "NCE-I under the old noise, L<sup>I,X</sup>",
            |risk| risk.nce1_old,
        ),
        Row::of(record, "NCE-II, L<sup>II</sup>", |risk| risk.nce2_old),
        Row::of(record, "sum: exact risk on old data", |risk| risk.old),
        Row::of(record, "α·L<sup>I,X</sup>, Theorem 2's bound", |risk| {
            risk.bound
        }),
    ];
    let residual = record
        .before
        .theorem1_residual
        .max(record.after.theorem1_residual);
    let residual = match residual {
        0.0 => "0".to_owned(),
        x if x.is_finite() => format!("{x:.1e}"),
        _ => MISSING.to_owned(),
    };
    format!(
        "{}<p class=\"note\">Theorem 1 holds sample by sample; the largest difference between the sum \
         and the risk is {residual} nats, which is rounding.</p>\n",
        table("mean over old data, nats", &rows, false)
    )
}

/// What the change of the noise does to losses that do not know of it.
pub(crate) fn noise(record: &UpdateRecord) -> String {
    let rows = [
        Row::of(record, "bias of inference on old data", |risk| {
            risk.bias_inference_old
        }),
        Row::of(record, "bias of inference on new data", |risk| {
            risk.bias_inference_new
        }),
        Row::of(record, "bias of fine-tuning on new data", |risk| {
            risk.bias_fine_tuning_new
        }),
        Row::of(record, "change ratio r", |risk| risk.change_ratio_old),
    ];
    format!(
        "{}<p class=\"note\">Biases are in nats, loss used minus loss of retraining, each at the \
         encoder of its column; r is a pure number, over old data.</p>\n",
        table("mean", &rows, false)
    )
}

fn table(what: &str, rows: &[Row], relative: bool) -> String {
    let rows: String = rows.iter().map(|row| row.markup(relative)).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead>\n<tr><th>{what}</th><th>before</th><th>after</th>\
         <th>change</th></tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

/// With a plus sign before what is above 0 as it is written.
pub(crate) fn with_sign(value: f64, format: fn(f64) -> String) -> String {
    let text = format(value);
    let is_zero = !text.chars().any(|c| matches!(c, '1'..='9'));
    if value > 0.0 && value.is_finite() && !is_zero {
        format!("+{text}")
    } else {
        text
    }
}
