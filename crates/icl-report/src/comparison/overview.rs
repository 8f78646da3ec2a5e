//! The table of what matters: risk on data that no method has seen, accuracy and cost.

use icl_core::ByOrigin;

use crate::chart::Palette;
use crate::comparison::protocols::{FLOORS, by_protocol, floor_over_seeds, telling, with_article};
use crate::comparison::runs::MethodRuns;
use crate::document::{Column, Row, Table, TableCell};
use crate::record::RunRecord;
use crate::summary::Summary;
use crate::text::number::{accuracy, count, nats, percent};

/// Makes the table of all methods: risk on old and on new held-out data, or on the training data where none were
/// held out, accuracy with its floors below, charged passes and, where it was measured, cross-version recall.
pub(crate) fn overview(
    records: &[RunRecord],
    methods: &[MethodRuns<'_>],
    palette: &Palette,
) -> Table {
    let is_held_out = records
        .iter()
        .any(|record| record.update.held_out_risk.is_some());
    let risk = if is_held_out {
        "held-out risk, nats: old / new"
    } else {
        "exact risk, nats: old / new"
    };
    let protocol = telling(records);
    let mut columns = vec![Column::new(risk).priority(0)];
    columns.extend(
        protocol.map(|name| Column::new(format!("accuracy by {}", with_article(name))).priority(1)),
    );
    columns.push(Column::new("charged passes").priority(2));
    let has_recall = records
        .iter()
        .any(|record| record.update.cross_version_recall.is_some());
    columns.extend(has_recall.then(|| Column::new("cross-version recall")));
    let row = |of: &MethodRuns<'_>| {
        let mut cells = vec![old_and_new(of, is_held_out)];
        cells.extend(protocol.map(|protocol| {
            let all = of.over(|record| by_protocol(record, protocol)?.accuracy.all);
            TableCell::of(all, accuracy)
        }));
        let charged = of.over(|record| Some(record.training.charged_passes));
        cells.push(TableCell::of(charged, count));
        if has_recall {
            let recall = of.over(|record| record.update.cross_version_recall);
            cells.push(TableCell::of(recall, percent));
        }
        Row::new(of.method, cells).coloured(palette.colour(of.method))
    };
    let mut rows: Vec<Row> = methods.iter().map(row).collect();
    rows.extend(protocol.into_iter().flat_map(|protocol| {
        FLOORS.iter().filter_map(move |(name, floor)| {
            let summary = floor_over_seeds(records, protocol, *floor, |parts| parts.all)?;
            let mut cells = vec![TableCell::Missing; 3 + usize::from(has_recall)];
            cells[1] = TableCell::of(Some(summary), accuracy);
            Some(Row::new(format!("floor: {name}"), cells).floor())
        })
    }));
    Table {
        corner: "method".into(),
        columns,
        rows,
    }
}

/// Makes the cell of the risks on old and on new data.
fn old_and_new(of: &MethodRuns<'_>, is_held_out: bool) -> TableCell {
    let risk = |record: &RunRecord| -> Option<ByOrigin<f64>> {
        match is_held_out {
            true => Some(record.update.held_out_risk?.mean),
            false => Some(record.risk),
        }
    };
    let old = of.over(|record| Some(risk(record)?.old));
    let new = of.over(|record| Some(risk(record)?.new));
    let median = |of: Option<Summary>| of?.median.map(nats);
    match (median(old), median(new)) {
        // Ranges stand in the table of all numbers: next to both medians they would not fit a terminal.
        (Some(old), Some(new)) => TableCell::Value(format!("{old} / {new}"), None),
        _ => TableCell::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::runs;
    use crate::fixture::{few_labels, held_out, record};

    fn table(records: &[RunRecord]) -> Table {
        let methods = runs::methods(records);
        let palette = Palette::new(methods.iter().map(|of| of.method));
        overview(records, &methods, &palette)
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
            ["0.800 / 1.200", "0.800 [0.700–0.900]", "2000 [1000–3000]"]
        );
        assert_eq!(
            heads(&table)[1..],
            ["floor: raw features", "floor: untrained encoder"]
        );
        assert_eq!(table.rows[1].cells[1].in_line(), "0.872");
        assert!(table.rows[1].is_floor);
    }

    #[test]
    fn the_recall_across_versions_is_the_last_column() {
        let of = |seed, recall| {
            let mut record = few_labels(record("warm", seed), 0.8);
            record.update.cross_version_recall = Some(recall);
            record
        };
        let table = table(&[of(1, 0.5), of(2, 0.25), of(3, 0.75)]);
        let last = table.columns.len() - 1;
        assert_eq!(table.columns[last].name.plain(), "cross-version recall");
        assert_eq!(
            table.rows[0].cells[last].in_line(),
            "50.0 % [25.0 %–75.0 %]"
        );
        assert!(table.rows.len() > 1);
        assert!(table.rows.iter().all(|row| row.cells.len() == last + 1));
        assert!(!table.default_columns().contains(&last));
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
        assert_eq!(
            table.rows[0].cells[1].in_line(),
            count(bare.course.sample_passes as f64)
        );
    }
}
