//! Figures 2 and 3: accuracy on old and on new data, between the floors.

use crate::RunRecord;
use crate::Summary;
use crate::chart::{DotChart, DotRow, Palette, floor_legend};
use crate::comparison::aggregate::{FloorSummary, summarize_floors};
use crate::comparison::wording as report_wording;
use crate::document::blocks::{Block, Entry, Row, Table};
use crate::number::{Spread, accuracy};
use crate::paper::accuracy_verdict::{Part, difference, overall, signed, values, verdict};
use crate::paper::group::{Group, Reproduction};
use crate::paper::wording;
use crate::paper::{AVERAGE_IMPROVEMENT, Target};
use icl_train::REFERENCE;

/// The page's body.
pub(crate) fn blocks(of: &Reproduction<'_>) -> Vec<Block> {
    let part = if of.target == Target::Figure2 {
        Part::Old
    } else {
        Part::New
    };
    let groups = of.groups();
    let mut blocks = vec![
        Block::Heading("In short".into()),
        Block::Text(format!(
            "The paper ({}, {}) shows bars without numbers; its text says that the difference in \
             accuracy between ICL and the others falls in [−0.0137, +0.0126], over all data sets and \
             both figures, with an average improvement of {AVERAGE_IMPROVEMENT}.",
            wording::SOURCE,
            of.target.title()
        )),
        Block::Text(overall(&groups, part)),
        Block::List(
            groups
                .iter()
                .map(|group| (group.title(), verdict(group, part)))
                .collect(),
        ),
        Block::Heading(format!("Accuracy on {}", part.name())),
        Block::Text(
            "Of a support vector machine on the frozen embeddings. Dots are seeds, the bar is their \
             median, vertical lines are the floors, which need no training of the encoder. The \
             difference is that from retraining in the same seed."
                .into(),
        ),
    ];
    for group in &groups {
        blocks.push(Block::Subheading(format!(
            "{} · {}",
            group.title(),
            group.seeds()
        )));
        let records: Vec<RunRecord> = group
            .cells
            .iter()
            .flat_map(|cell| cell.records.clone())
            .collect();
        let floors = summarize_floors(&records);
        blocks.push(Block::Chart(chart(group, part, &floors)));
        blocks.push(Block::Table(table(group, part, &floors)));
        if records.iter().any(|r| part.of(r.accuracy).is_none()) {
            blocks.push(Block::Text(format!("–: {}", report_wording::ONE_CLASS)));
        }
    }
    blocks
}

fn chart(group: &Group<'_>, part: Part, floors: &FloorSummary) -> String {
    let methods = group.methods();
    let palette = Palette::new(methods.iter().copied());
    let named = floors.named();
    let letter = |name: &str| name.chars().next().map_or('?', |c| c.to_ascii_uppercase());
    let levels: Vec<(char, f64)> = named
        .iter()
        .filter_map(|(name, parts)| Some((letter(name), part.of_summary(parts)?.median?)))
        .collect();
    let rows: Vec<DotRow<'_>> = methods
        .iter()
        .map(|method| {
            let values = values(group, part, method);
            let median = Summary::of_present(values.iter().copied().map(Some));
            DotRow {
                name: method,
                class: palette.class(method),
                median: median.and_then(|of| of.median),
                values,
            }
        })
        .collect();
    let range: Vec<f64> = rows
        .iter()
        .flat_map(|row| row.values.iter().copied())
        .chain(levels.iter().map(|(_, value)| *value))
        .collect();
    let title = format!("{}: accuracy on {}", group.title(), part.name());
    let legend = floor_legend(named.iter().map(|(name, _)| (letter(name), *name)));
    let chart = DotChart {
        title: &title,
        rows,
        floors: levels,
        range: &range,
    };
    format!(
        "{legend}<div class=\"charts single\">\n{}</div>\n",
        chart.svg()
    )
}

fn table(group: &Group<'_>, part: Part, floors: &FloorSummary) -> Table {
    let entry = |of: Option<Summary>, format: fn(f64) -> String| {
        let Spread { median, spread } = Spread::new(of.as_ref(), format, "");
        Entry {
            main: median,
            small: spread,
        }
    };
    let methods = group.methods().into_iter().map(|method| {
        let values = values(group, part, method);
        let n = values.len().to_string();
        let to_retraining = match method {
            REFERENCE => None,
            method => difference(group, part, method, REFERENCE),
        };
        Row {
            head: method.to_owned(),
            entries: vec![
                entry(Summary::of_present(values.into_iter().map(Some)), accuracy),
                entry(to_retraining, signed),
                n.into(),
            ],
            is_floor: false,
        }
    });
    let floors = floors.named().map(|(name, parts)| Row {
        head: format!("floor: {name}"),
        entries: vec![
            entry(part.of_summary(parts), accuracy),
            "–".to_owned().into(),
            part.of_summary(parts)
                .map_or(0, |of| of.n)
                .to_string()
                .into(),
        ],
        is_floor: true,
    });
    Table {
        corner: "method".into(),
        groups: vec![(
            String::new(),
            ["accuracy", "minus retraining", "seeds"]
                .map(str::to_owned)
                .into(),
        )],
        rows: methods.chain(floors).collect(),
    }
}
