//! The table of an update on the terminal.

use comfy_table::{CellAlignment, Table, presets};

use crate::UpdateRecord;
use crate::number::{change, count, nats, percent, plural, seconds};
use crate::update::tables::with_sign;
use crate::update::verdict;

/// A quantity that is shown.
type Quantity = (&'static str, fn(&icl_core::ExactRisk) -> f64);

const QUANTITIES: [Quantity; 9] = [
    ("exact risk, all data", |risk| risk.all),
    ("exact risk, old data", |risk| risk.old),
    ("exact risk, new data", |risk| risk.new),
    ("L^I,X (old)", |risk| risk.nce1_old),
    ("L^II (old)", |risk| risk.nce2_old),
    ("bias of inference, old data", |risk| {
        risk.bias_inference_old
    }),
    ("bias of inference, new data", |risk| {
        risk.bias_inference_new
    }),
    ("bias of fine-tuning, new data", |risk| {
        risk.bias_fine_tuning_new
    }),
    ("change ratio r (old)", |risk| risk.change_ratio_old),
];

/// The update in short: what was measured before and after, the verdict, and what it took.
pub fn update_table(record: &UpdateRecord) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header([
        "mean, nats",
        "before",
        "after",
        "change",
    ]);
    for (name, of) in QUANTITIES {
        let (before, after) = (of(&record.before), of(&record.after));
        let change = with_sign(after - before, nats);
        table.add_row([name, &nats(before), &nats(after), &change]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let verdict = verdict::sentences(record).swap_remove(0);
    let kept = record.neighbours_kept.as_ref().map(|kept| {
        format!(
            "Nearest neighbours kept: {} of the {} nearest of each old sample.\n",
            percent(kept.share),
            kept.k
        )
    });
    format!(
        "{}\n{verdict}\n{}{} by {}: {}, {} encoder sample passes, {} s of training. \
         ‖Δθ‖/‖θ‖ = {}.\n",
        table.trim_fmt(),
        kept.unwrap_or_default(),
        format_args!("{} old samples, {} new ones", record.n_old, record.n_new),
        record.method,
        plural(record.epochs, "epoch"),
        count(record.sample_passes as f64),
        seconds(record.train_s),
        change(record.parameter_change),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::update;

    #[test]
    fn it_says_what_the_record_says() {
        let table = update_table(&update(2.8, 2.25, 0.1));
        let row = |name: &str| -> Vec<String> {
            let line = table
                .lines()
                .find_map(|line| line.trim().strip_prefix(name));
            let cells = line.unwrap().split_whitespace();
            cells.map(str::to_owned).collect()
        };
        assert_eq!(row("exact risk, all data"), ["2.800", "2.250", "−0.550"]);
        assert_eq!(row("exact risk, new data"), ["2.900", "2.350", "−0.550"]);
        assert_eq!(row("L^I,X (old)"), ["2.100", "2.200", "+0.100"]);
        assert_eq!(row("change ratio r (old)"), ["1.100", "1.100", "0.000"]);
        let text: Vec<&str> = table.lines().rev().take(3).collect();
        assert_eq!(
            text,
            [
                "120 old samples, 80 new ones by warm: 20 epochs, 7520 encoder sample passes, \
                 0.42 s of training. ‖Δθ‖/‖θ‖ = 0.420.",
                "Nearest neighbours kept: 83.5 % of the 10 nearest of each old sample.",
                "Better on old and on new data.",
            ]
        );
        let mut few = update(2.8, f64::NAN, 0.1);
        few.neighbours_kept = None;
        let table = update_table(&few);
        assert!(
            !table.contains("NaN") && !table.contains("neighbours"),
            "{table}"
        );
    }
}
