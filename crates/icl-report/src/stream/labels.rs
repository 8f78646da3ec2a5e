//! Accuracies on labels, before and after each update of a stream.

use crate::document::{Block, Column, Row, Table, TableCell};
use crate::record::{StreamRecord, TaskAccuracy};
use crate::stream::tables::first_shown;
use crate::task::{Compared, blocks};
use crate::text::number::accuracy;

/// Makes a table of the updates among the last experiences, and describes the last one; `None` without labels.
pub(super) fn of_updates(record: &StreamRecord) -> Option<Vec<Block>> {
    let shown = record.experiences.iter().enumerate();
    let shown = shown.skip(first_shown(record.names.len()));
    let measured: Vec<(usize, &str, &TaskAccuracy)> = shown
        .filter_map(|(at, of)| Some((at, &*of.name, of.task.as_ref()?)))
        .collect();
    let (_, name, last) = measured.last()?;
    let row = |(at, name, task): &(usize, &str, &TaskAccuracy)| {
        let of = [&task.nearest, &task.linear].map(|it| [it.before, it.after]);
        let cells = of.as_flattened().iter();
        let cells = cells.map(|value| TableCell::number(*value, accuracy));
        Row::new(format!("{}. {name}", at + 1), cells.collect())
    };
    let mut columns = Column::group("nearest labelled", &["before", "after"]);
    columns.extend(Column::group("linear probe", &["before", "after"]));
    let table = Table {
        corner: "accuracy, held-out".into(),
        columns,
        rows: measured.iter().map(row).collect(),
    };
    let note = format!("The last update, that for {name}:");
    let mut all = vec![Block::Table(table), Block::text(note)];
    all.extend(blocks(Some(*last), Compared::BeforeAndAfter));
    Some(all)
}

#[cfg(test)]
mod tests {
    use icl_train::PairedDifference;

    use super::*;
    use crate::document::Document;
    use crate::fixture::{assert_sound, row, stream};
    use crate::record::TaskFeatures;
    use crate::stream_document;

    #[test]
    fn updates_with_labels_have_a_row() {
        let mut record = stream(3);
        assert!(of_updates(&record).is_none());
        let features = |before: f64, after: f64| TaskFeatures {
            before,
            after,
            untrained: 0.25,
            raw: None,
            difference: PairedDifference::of(&[1.0, 0.0, 1.0], &[0.0, 0.0, 1.0], 0.96).unwrap(),
        };
        let last = record.experiences.len() - 1;
        record.experiences[last].task = Some(TaskAccuracy {
            n_labelled: 10,
            n_held_out: 3,
            nearest: features(0.5, 0.75),
            linear: features(0.625, 0.875),
        });
        let page = stream_document(&record).unwrap().html();
        assert_sound(&page);
        assert!(page.contains("Accuracies on labels"));
        let alone =
            Document::new(String::new(), String::new(), of_updates(&record).unwrap()).html();
        let name = format!("{}. {}", last + 1, record.names[last]);
        assert_eq!(row(&alone, &name), ["0.500", "0.750", "0.625", "0.875"]);
    }
}
