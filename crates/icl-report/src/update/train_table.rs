//! The table of a first encoder's training on the terminal.

use comfy_table::{CellAlignment, Table, presets};

use crate::TrainRecord;
use crate::document::html::printable;
use crate::number::{change, count, nats, plural, seconds};

/// The training in short: the exact risk before and after, and what it took.
pub fn train_table(record: &TrainRecord) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_header(["exact risk, nats", "untrained", "trained"])
        .add_row([
            &printable(&record.data),
            &nats(record.untrained),
            &nats(record.trained),
        ]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{}\n{}: {}, {} encoder sample passes, {} s of training. ‖Δθ‖/‖θ‖ = {}.\n",
        table.trim_fmt(),
        plural(record.n, "sample"),
        plural(record.epochs, "epoch"),
        count(record.sample_passes as f64),
        seconds(record.train_s),
        change(record.parameter_change),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::first;

    #[test]
    fn it_says_what_the_record_says() {
        let table = train_table(&first());
        let row: Vec<&str> = table
            .lines()
            .find(|line| line.contains("TOYS"))
            .unwrap()
            .split_whitespace()
            .collect();
        assert_eq!(row, ["TOYS", "3.500", "2.250"]);
        assert!(table.ends_with(
            "\n120 samples: 2 epochs, 480 encoder sample passes, 0.25 s of training. \
             ‖Δθ‖/‖θ‖ = 0.420.\n"
        ));
        let mut evil = first();
        evil.data = "\u{1b}[31m".to_owned();
        evil.trained = f64::NAN;
        let table = train_table(&evil);
        assert!(
            !table.contains('\u{1b}') && !table.contains("NaN"),
            "{table}"
        );
    }
}
