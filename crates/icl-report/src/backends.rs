//! Document of a comparison of backends.

use crate::chart::{AxisScale, ChartRow, Figure, Legend, Line, LineChart, Palette, RowChart};
use crate::document::{Block, Column, Document, Row, Table, TableCell};
use crate::error::{ReportError, check_schema, empty};
use crate::record::{BACKEND_SCHEMA, BackendRecord};
use crate::summary::backends::BackendsSummary;
use crate::text::number::{count, factor, milliseconds, nats, plural, scientific};

/// Terms of the page with a sentence on each.
const TERMS: [(&str, &str); 6] = [
    (
        "The same steps",
        "Every backend begins with the same weights and takes the same batches, views and dropout masks: \
         they are made on the CPU from one seed. Only the arithmetic differs: the order of sums, fused \
         multiplications, the exponentials of each library.",
    ),
    (
        "Largest difference",
        "|l − l₁|/|l₁| of the training losses, against the first backend, over the first 50 steps. \
         Single precision has about seven digits; each step starts from the rounding of the steps before \
         it, so differences grow. A method that chooses its learning rate from losses amplifies them \
         more than one with a fixed rate.",
    ),
    (
        "Step",
        "Forward, backward and update, the median over all steps but the first, in milliseconds; the \
         medians of the phases next to it. The program waits for the device after each phase to measure \
         it: without that, steps on a GPU are quicker.",
    ),
    (
        "First step",
        "The first step, in which the kernels of a GPU are compiled.",
    ),
    (
        "Views and transfer",
        "Making the views of a batch, then collating it and handing it to the device. Both are done by \
         another thread during the steps.",
    ),
    (
        "MiB and joules",
        "The largest memory of the backend's process, without that of a GPU, and the energy of the \
         processors while it ran, other processes included. A dash where the system does not tell.",
    ),
];

/// Makes the document of a comparison of backends.
///
/// It begins with the answer in one sentence and a chart of the times; a table follows, then the
/// losses. The same records give the same document.
///
/// # Errors
/// If there is no record, or one is of another [`BACKEND_SCHEMA`].
pub fn backends_document(records: &[BackendRecord]) -> Result<Document, ReportError> {
    let first = records.first().ok_or_else(empty)?;
    for (at, record) in records.iter().enumerate() {
        check_schema(at + 1, record.schema, BACKEND_SCHEMA)?;
    }
    let title = format!(
        "{}: the same steps on {}",
        first.data,
        plural(records.len(), "backend")
    );
    let facts = format!(
        "method: {} · {} of {} samples · α = {:.2} · seed {}",
        first.method,
        plural(first.losses.len(), "step"),
        first.batch_size,
        first.alpha,
        first.seed,
    );
    let palette = Palette::new(records.iter().map(|record| record.backend.as_str()));
    let mut losses = equal_losses(records);
    losses.push(Block::Figure(losses_over_steps(records, &palette)));
    let blocks = vec![
        Block::Headline(headline(records).into()),
        Block::Figure(step_times(records, &palette)),
        Block::Table(table(records, &palette)),
        Block::Details("Losses of the steps".into(), losses),
        Block::guide(&TERMS),
    ];
    Ok(Document::new(title, facts, blocks).made_by(first.made_by.words()))
}

/// Says how far the other backends are from the first.
fn headline(records: &[BackendRecord]) -> String {
    let Some(of) = BackendsSummary::of(records) else {
        let first = records.first().map_or("", |record| &record.backend);
        return format!("Only {first} was run: there is nothing to compare it with.");
    };
    let steps = plural(of.n_compared, "step");
    let difference = scientific(of.farthest.max_relative_loss_difference);
    let time = |record: &BackendRecord| factor(of.relative_time(record));
    if records.len() == 2 {
        return format!(
            "{} follows {} within {difference} of its loss over {steps}; a step takes {} its time.",
            of.farthest.backend,
            of.first.backend,
            time(of.farthest),
        );
    }
    format!(
        "All backends follow {} within {difference} of its loss over {steps} ({} is farthest); a step takes \
         from {} ({}) to {} ({}) of its time.",
        of.first.backend,
        of.farthest.backend,
        time(of.quickest),
        of.quickest.backend,
        time(of.slowest),
        of.slowest.backend,
    )
}

fn step_times(records: &[BackendRecord], palette: &Palette) -> Figure {
    let bar = |record: &BackendRecord| {
        let name = record.backend.as_str();
        let text = format!("{} ms", milliseconds(record.step_s));
        ChartRow::bar(
            name,
            palette.colour(name),
            Some(1e3 * record.step_s),
            None,
            text,
        )
    };
    let chart = RowChart::new(
        "Time of a step on each backend",
        "median time of a step, ms",
        records.iter().map(bar).collect(),
    );
    Figure::new("Shorter is better.", Legend::default(), vec![chart.svg()])
}

fn table(records: &[BackendRecord], palette: &Palette) -> Table {
    let mut columns = vec![
        Column::new("largest difference").priority(0),
        Column::new("step, ms").priority(1),
    ];
    columns.extend(Column::group(
        "parts of a step, ms",
        &["forward", "backward", "update"],
    ));
    columns.push(Column::new("first step, ms").priority(2));
    columns.extend(Column::group("batch, ms", &["views", "transfer"]));
    columns.extend(["exact risk at the start, nats", "MiB", "joules"].map(Column::new));
    let row = |record: &BackendRecord| {
        let seconds = record.seconds;
        let time = |value| TableCell::number(value, milliseconds);
        let known =
            |value: Option<f64>| TableCell::number(value.unwrap_or(f64::NAN).round(), count);
        let cells = vec![
            TableCell::number(record.max_relative_loss_difference, scientific),
            time(record.step_s),
            time(seconds.forward),
            time(seconds.backward),
            time(seconds.update),
            time(record.first_step_s),
            time(seconds.views),
            time(seconds.transfer),
            TableCell::number(record.risk_at_start, nats),
            known(record.peak_memory_mib),
            known(record.energy_j),
        ];
        Row::new(record.backend.as_str(), cells).coloured(palette.colour(&record.backend))
    };
    Table {
        corner: "backend".into(),
        columns,
        rows: records.iter().map(row).collect(),
    }
}

/// Names the backends whose losses are those of the first to the last bit.
fn equal_losses(records: &[BackendRecord]) -> Vec<Block> {
    let sentence = |record: &BackendRecord| {
        let (own, first) = (&record.backend, &records[0].backend);
        Block::text(format!("{own} has the losses of {first} to the last bit."))
    };
    let equal = records[1..].iter().filter(|of| of.has_equal_losses());
    equal.map(sentence).collect()
}

fn losses_over_steps(records: &[BackendRecord], palette: &Palette) -> Figure {
    let names = || records.iter().map(|record| record.backend.as_str());
    let chart = |title, y_label: &'static str, height, of: fn(&BackendRecord) -> &[f64]| {
        let line = |record: &BackendRecord| {
            let steps = of(record).iter().enumerate();
            let points = steps.map(|(at, value)| (at as f64 + 1.0, *value)).collect();
            Line::new(
                record.backend.as_str(),
                palette.colour(&record.backend),
                points,
            )
        };
        let lines = records.iter().map(line).collect();
        let x = ("step (logarithmic)", AxisScale::FromZero);
        LineChart::new(title, x, (y_label, height), lines).svg()
    };
    Figure::new(
        "Where a loss equals that of the first backend, its difference has no place on the \
                  logarithmic axis.",
        palette.legend(names()),
        vec![
            chart(
                "Training loss of each step",
                "training loss, nats",
                AxisScale::Linear,
                |record| &record.losses,
            ),
            chart(
                "Relative difference to the loss of the first backend at each step",
                "relative difference to the first backend",
                AxisScale::Logarithmic,
                |record| &record.relative_loss_differences,
            ),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_sound, backends, row, text_of};

    fn page(records: &[BackendRecord]) -> String {
        let page = backends_document(records).unwrap().html();
        assert_sound(&page);
        page
    }

    #[test]
    fn the_page_says_what_the_records_say() {
        let page = page(&backends());
        let found = text_of(&page);
        for text in [
            "TOYS: the same steps on 2 backends",
            "method: warm · 3 steps of 32 samples · α = 0.50 · seed 1",
            "tch follows flex within 1.0e-2 of its loss over 3 steps; a step takes 2.0× its time.",
            ": icl compare-backends --data toys",
            "How to read this page",
        ] {
            assert!(found.contains(text), "{text} is missing in {found}");
        }
        let cells = |difference, step| {
            let rest = [
                "1.00", "2.00", "1.00", "30.0", "0.100", "0.200", "3.500", "17", "–",
            ];
            let mut cells = vec![difference, step];
            cells.extend(rest);
            cells
        };
        assert_eq!(row(&page, "flex"), cells("0", "4.00"));
        assert_eq!(row(&page, "tch"), cells("1.0e-2", "8.00"));
        // Both losses, but only the second's difference.
        assert_eq!(page.matches("class=\"curve colour-").count(), 3);
    }

    #[test]
    fn the_terminal_shows_four_columns() {
        let terminal = backends_document(&backends()).unwrap().terminal(80, false);
        let line = terminal
            .lines()
            .find(|line| line.trim().starts_with("tch ") && line.ends_with("30.0"));
        let cells: Vec<&str> = line.unwrap().split_whitespace().collect();
        assert_eq!(cells, ["tch", "1.0e-2", "8.00", "30.0"]);
        assert!(
            terminal.contains("--wide shows 8 columns more."),
            "{terminal}"
        );
    }

    #[test]
    fn many_backends_have_one_sentence() {
        let mut records = backends();
        let mut third = records[1].clone();
        third.backend = "cuda".to_owned();
        third.step_s = 0.001;
        third.max_relative_loss_difference = 0.002;
        records.push(third);
        assert_eq!(
            headline(&records),
            "All backends follow flex within 1.0e-2 of its loss over 3 steps (tch is farthest); a step \
             takes from 0.25× (cuda) to 2.0× (tch) of its time."
        );
    }

    #[test]
    fn equal_losses_are_reported() {
        let mut records = backends();
        records[1].relative_loss_differences = vec![0.0; 3];
        records[1].max_relative_loss_difference = 0.0;
        let found = text_of(&page(&records));
        assert!(found.contains("tch has the losses of flex to the last bit."));
        assert!(found.contains("tch follows flex within 0 of its loss"));
    }

    #[test]
    fn one_backend_is_compared_with_nothing() {
        assert!(text_of(&page(&backends()[..1])).contains("Only flex was run"));
    }

    #[test]
    fn what_cannot_be_shown_is_an_error() {
        assert_eq!(backends_document(&[]).unwrap_err(), empty());
        let mut records = backends();
        records[1].schema = 9;
        let expected = format!("record 2 has schema 9, expected {BACKEND_SCHEMA}");
        let error = backends_document(&records).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn names_are_escaped() {
        let mut records = backends();
        records[0].data = "<script>".to_owned();
        records[1].backend = "<b>\u{1b}".to_owned();
        let page = page(&records);
        assert!(!page.contains("<b>") && !page.contains('\u{1b}'));
    }
}
