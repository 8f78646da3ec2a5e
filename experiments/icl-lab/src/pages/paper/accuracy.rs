//! Figures 2 and 3: accuracy on old and on new data, next to the floors.

use icl_report::RunRecord;
use icl_report::chart::{ChartRow, Figure, Palette, RowChart, floor_legend};
use icl_report::document::{Block, Column, Row, Table, TableCell};
use icl_report::protocols::{FLOORS, Floor, ONE_CLASS, floor_over_seeds, initial};
use icl_report::summary::Summary;
use icl_report::text::number::{MISSING, accuracy, rounded, with_sign};
use icl_train::REFERENCE;

use crate::pages::paper::accuracy_verdict::{
    PROTOCOL, Part, difference, headline, measured, overall, values, verdict,
};
use crate::pages::paper::group::{Group, Reproduction};
use crate::pages::paper::numbers::{SOURCE, span};
use crate::pages::paper::target::Target;

/// Returns the page's body: the answer, a chart for each data set and growth ratio, and the tables.
pub(crate) fn blocks(of: &Reproduction<'_>) -> Vec<Block> {
    let part = if of.target == Target::Figure2 {
        Part::Old
    } else {
        Part::New
    };
    let groups = of.groups();
    let figure = Figure::new(
        "Accuracy of a support vector machine on the frozen embeddings. Dots are seeds, the bar \
                  is their median, vertical lines are the floors, which need no training of the encoder.",
        floor_legend(FLOORS.iter().map(|(name, _)| (initial(name), *name))),
        groups.iter().map(|group| chart(group, part)).collect(),
    );
    let difference = span("accuracy difference");
    let four_digits = |value| with_sign(value, |value| rounded(value, 4));
    let mut blocks = vec![
        Block::Headline(headline(&groups, part).into()),
        Block::Figure(figure),
        Block::text(format!(
            "The paper ({SOURCE}, {}) shows bars without numbers; its text says that the difference in \
             accuracy between ICL and the others falls in [{}, {}], over all data sets and both figures, with \
             an average improvement of {}.",
            of.target.title(),
            four_digits(difference.low),
            four_digits(difference.high),
            span("average improvement in accuracy").low
        )),
        Block::text(overall(&groups, part)),
        Block::List(
            groups
                .iter()
                .map(|group| (group.title().into(), verdict(group, part).into()))
                .collect(),
        ),
        Block::heading(format!("Accuracy on {}", part.name())),
        Block::text("The difference is that from retraining in the same seed."),
    ];
    for group in &groups {
        let title = format!("{} · {}", group.title(), group.seeds());
        blocks.push(Block::Subheading(title.into()));
        blocks.push(Block::Table(table(group, part)));
        let mut records = group.cells.iter().flat_map(|cell| &cell.records);
        if records.any(|r| part.of(measured(r).accuracy).is_none()) {
            blocks.push(Block::text(format!("{MISSING}: {ONE_CLASS}")));
        }
    }
    blocks
}

fn floor(group: &Group<'_>, part: Part, floor: Floor) -> Option<Summary> {
    let cells = group.cells.iter();
    let records: Vec<RunRecord> = cells.flat_map(|cell| cell.records.clone()).collect();
    floor_over_seeds(&records, PROTOCOL, floor, part.selector())
}

fn chart(group: &Group<'_>, part: Part) -> String {
    let methods = group.methods();
    let palette = Palette::new(methods.iter().copied());
    let floors: Vec<(char, f64)> = FLOORS
        .iter()
        .filter_map(|(name, of)| Some((initial(name), floor(group, part, *of)?.median?)))
        .collect();
    let rows = methods.iter().map(|method| {
        let values = values(group, part, method);
        let median = Summary::of_present(values.iter().copied().map(Some));
        let median = median.and_then(|of| of.median);
        ChartRow::dots(*method, palette.colour(method), values, median)
    });
    let title = format!("{}: accuracy on {}", group.title(), part.name());
    RowChart::new(&title, &title, rows.collect())
        .floors(floors)
        .svg()
}

fn table(group: &Group<'_>, part: Part) -> Table {
    let methods = group.methods().into_iter().map(|method| {
        let values = values(group, part, method);
        let n = TableCell::Value(values.len().to_string(), None);
        let to_retraining = match method {
            REFERENCE => None,
            method => difference(group, part, method, REFERENCE),
        };
        let of = Summary::of_present(values.into_iter().map(Some));
        let difference = TableCell::of(to_retraining, |value| with_sign(value, accuracy));
        Row::new(method, vec![TableCell::of(of, accuracy), difference, n])
    });
    let floors = FLOORS.iter().map(|(name, of)| {
        let of = floor(group, part, *of);
        let n = TableCell::Value(of.map_or(0, |of| of.n).to_string(), None);
        let cells = vec![TableCell::of(of, accuracy), TableCell::Missing, n];
        Row::new(format!("floor: {name}"), cells).floor()
    });
    Table {
        corner: "method".into(),
        columns: ["accuracy", "minus retraining", "seeds"]
            .map(Column::new)
            .into(),
        rows: methods.chain(floors).collect(),
    }
}
