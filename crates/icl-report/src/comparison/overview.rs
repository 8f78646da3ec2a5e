//! The table of what matters: risk on data that no method has seen, accuracy and cost.

use crate::chart::Palette;
use crate::document::{Column, Row, Table, TableCell};
use crate::summary::protocols::with_article;
use crate::summary::{Comparison, MethodSummary};
use crate::text::number::{accuracy, count, duration, nats};

/// Makes the table of all methods, in at most four columns: risk on old and on new held-out data, or on the training
/// data where none were held out, accuracy with its floors below, and the cost with the seconds of training.
pub(crate) fn overview(comparison: &Comparison, is_held_out: bool, palette: &Palette) -> Table {
    let (risk, quantities) = if is_held_out {
        let quantities = ["held_out_risk.old", "held_out_risk.new"];
        ("held-out risk, nats: old / new", quantities)
    } else {
        ("exact risk, nats: old / new", ["risk.old", "risk.new"])
    };
    let protocol = comparison.protocol.as_deref();
    let mut columns = vec![Column::new(risk).priority(0)];
    columns.extend(
        protocol.map(|name| Column::new(format!("accuracy by {}", with_article(name))).priority(1)),
    );
    columns.push(Column::new("charged passes, time").priority(2));
    let row = |of: &MethodSummary| {
        let mut cells = vec![old_and_new(of, quantities)];
        cells.extend(protocol.map(|protocol| TableCell::of(of.accuracy(protocol), accuracy)));
        cells.push(cost(of));
        Row::new(of.method.as_str(), cells).coloured(palette.colour(&of.method))
    };
    let mut rows: Vec<Row> = comparison.methods.iter().map(row).collect();
    let floors = protocol.into_iter().flat_map(|of| comparison.floors(of));
    rows.extend(floors.map(|(name, floor)| {
        let mut cells = vec![TableCell::Missing; 3];
        cells[1] = TableCell::of(Some(floor), accuracy);
        Row::new(format!("floor: {name}"), cells).floor()
    }));
    Table {
        corner: "method".into(),
        columns,
        rows,
    }
}

/// Makes the cell of the cost.
fn cost(of: &MethodSummary) -> TableCell {
    let median = |quantity| of.over(quantity)?.median;
    let passes = median("charged_passes").map(count);
    let time = median("train_s").filter(|time| *time > 0.0).map(duration);
    passes.map_or(TableCell::Missing, |passes| TableCell::Value(passes, time))
}

/// Makes the cell of the risks on old and on new data.
fn old_and_new(of: &MethodSummary, quantities: [&str; 2]) -> TableCell {
    match quantities.map(|quantity| of.over(quantity)?.median.map(nats)) {
        // Ranges are in the table of all numbers: next to both medians they would not fit a terminal.
        [Some(old), Some(new)] => TableCell::Value(format!("{old} / {new}"), None),
        _ => TableCell::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{few_labels, held_out, record};
    use crate::record::RunRecord;

    fn table(records: &[RunRecord]) -> Table {
        let comparison = Comparison::of(records).unwrap();
        let palette = Palette::new(comparison.methods.iter().map(|of| of.method.as_str()));
        let is_held_out = records.iter().all(|of| of.update.held_out_risk.is_some());
        overview(&comparison, is_held_out, &palette)
    }

    fn heads(table: &Table) -> Vec<String> {
        table.rows.iter().map(|row| row.head.plain()).collect()
    }

    #[test]
    fn medians_and_ranges_stand_in_four_columns() {
        let of = |seed, risk, accuracy| {
            let mut record = few_labels(held_out(record("warm", seed), risk), accuracy);
            record.training.charged_passes = 1000.0 * seed as f64;
            record
        };
        let records = [
            of(1, [0.8, 1.2], 0.7),
            of(2, [0.9, 1.4], 0.8),
            of(3, [0.7, 1.0], 0.9),
        ];
        let table = table(&records);
        assert_eq!(table.default_columns().len(), 3);
        let cells: Vec<String> = table.rows[0].cells.iter().map(TableCell::in_line).collect();
        assert_eq!(
            cells,
            ["0.800 / 1.200", "0.800 [0.700–0.900]", "2000 0.84 s"]
        );
        assert_eq!(
            heads(&table)[1..],
            ["floor: raw features", "floor: untrained encoder"]
        );
        assert_eq!(table.rows[1].cells[1].in_line(), "0.872");
        assert!(table.rows[1].is_floor);
    }

    #[test]
    fn without_held_out_data_or_protocols_the_rest_is_shown() {
        let mut bare = record("warm", 1);
        bare.added_protocols.clear();
        (bare.linear_probe, bare.knn) = (None, None);
        let table = table(&[bare.clone()]);
        assert_eq!(heads(&table), ["warm"]);
        assert_eq!(table.columns.len(), 2);
        assert!(table.columns[0].name.plain().starts_with("exact risk"));
        let expected = format!("{} / {}", nats(bare.risk.old), nats(bare.risk.new));
        assert_eq!(table.rows[0].cells[0].in_line(), expected);
        assert_eq!(table.rows[0].cells[1].in_line(), "15.0 k 0.84 s");
    }
}
