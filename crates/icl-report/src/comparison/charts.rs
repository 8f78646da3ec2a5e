//! Charts of a comparison, made from its records.

use icl_train::Evaluation;

use crate::chart::{
    AxisScale, ChartRow, Figure, Legend, Line, LineChart, MapPanel, Palette, RowChart,
    floor_legend, map_legend,
};
use crate::record::{EmbeddingMap, RunRecord};
use crate::summary::protocols::{FLOORS, PARTS, by_protocol, initial, with_article};
use crate::summary::{MethodSummary, ProtocolSummary};
use crate::text::rich_text::RichText;

/// Coordinate of an evaluation.
type Coordinate = fn(&Evaluation) -> f64;

const TRAIN_S: Coordinate = |evaluation| evaluation.train_s;
const PASSES: Coordinate = |evaluation| evaluation.charged_passes;
const PASSES_LABEL: &str = "charged passes (logarithmic, 0 at the left)";

/// Draws the exact risk over all data against charged passes and against seconds, with a target.
pub(crate) fn risk(
    records: &[RunRecord],
    target: Option<f64>,
    palette: &Palette,
    legend: &Legend,
) -> Figure {
    let chart = |title, x_label: &'static str, x: Coordinate| {
        LineChart::new(
            title,
            (x_label, AxisScale::FromZero),
            (
                "exact risk over all data, nats (logarithmic)",
                AxisScale::Logarithmic,
            ),
            lines(records, palette, x, |e| e.risk.all, true),
        )
        .level(target.map(|target| (target, "target")))
        .svg()
    };
    Figure::new(
        "Lower is better. One line for each method and seed; a ring marks where it reaches its \
                  target, a dotted level is a method that trains nothing. The flat piece at the left \
                  is the risk before the first step.",
        legend.clone(),
        vec![
            chart(
                "Exact risk over all data against charged passes",
                PASSES_LABEL,
                PASSES,
            ),
            chart(
                "Exact risk over all data against seconds of training",
                "seconds of training (logarithmic, 0 at the left)",
                TRAIN_S,
            ),
        ],
    )
}

/// Draws the exact risk over the old and over the new data against charged passes.
pub(crate) fn risk_by_origin(records: &[RunRecord], palette: &Palette, legend: &Legend) -> Figure {
    let chart = |title, y_label: &str, y| {
        let height = (y_label.into(), AxisScale::Logarithmic);
        over_passes(records, palette, title, height, y)
    };
    Figure::new(
        "Quality against cost: lower and further to the left is better. One line for each method and \
                  seed, measured on the training data; a dotted level is a method that trains nothing. The flat \
                  piece at the left is the risk before the first step.",
        legend.clone(),
        vec![
            chart(
                "Exact risk over the old data against charged passes",
                "exact risk over the old data, nats (logarithmic)",
                |evaluation| evaluation.risk.old,
            ),
            chart(
                "Exact risk over the new data against charged passes",
                "exact risk over the new data, nats (logarithmic)",
                |evaluation| evaluation.risk.new,
            ),
        ],
    )
}

/// Draws the two parts of the exact risk over the old data against charged passes.
pub(crate) fn drift(records: &[RunRecord], palette: &Palette, legend: &Legend) -> Figure {
    let chart = |title, y_label, y| {
        let height = (RichText::marked(y_label), AxisScale::Linear);
        over_passes(records, palette, title, height, y)
    };
    Figure::new(
        RichText::marked(
            "On old data the exact risk is the sum of these two. A method whose L^{II} falls while its \
             L^{I,X} rises improves its objective by unlearning the old data: the drift of the \
             published objective.",
        ),
        legend.clone(),
        vec![
            chart(
                "L I,X over the old data against charged passes",
                "L^{I,X} over the old data, nats",
                |evaluation| evaluation.risk.nce1_old,
            ),
            chart(
                "L II over the old data against charged passes",
                "L^{II} over the old data, nats",
                |evaluation| evaluation.risk.nce2_old,
            ),
        ],
    )
}

/// Draws a quantity of the evaluations against charged passes.
fn over_passes(
    records: &[RunRecord],
    palette: &Palette,
    title: &str,
    height: (RichText, AxisScale),
    y: Coordinate,
) -> String {
    LineChart::new(
        title,
        (PASSES_LABEL, AxisScale::FromZero),
        height,
        lines(records, palette, PASSES, y, false),
    )
    .svg()
}

/// Draws one line for each record, with a ring where it reaches the target if `marked`.
fn lines(
    records: &[RunRecord],
    palette: &Palette,
    x: Coordinate,
    y: Coordinate,
    marked: bool,
) -> Vec<Line> {
    let line = |record: &RunRecord| {
        let point = |evaluation: &Evaluation| (x(evaluation), y(evaluation));
        let mut evaluations = record.course.evaluations.iter();
        let reached =
            evaluations.find(|evaluation| Some(evaluation.epoch) == record.epochs_to_target);
        let mark = reached.filter(|_| marked).map(point);
        let points = record.course.evaluations.iter().map(point).collect();
        Line::new(
            record.method.as_str(),
            palette.colour(&record.method),
            points,
        )
        .labelled(format!(
            "{}, seed {}",
            palette.label(&record.method),
            record.seed
        ))
        .marked("reaches the target", mark.into_iter().collect())
    };
    let own = records.iter().filter(|of| palette.is_own(&of.method));
    own.map(line).collect()
}

/// Draws accuracies by a protocol on all, old and new data next to their floors.
pub(crate) fn accuracy(
    records: &[RunRecord],
    methods: &[MethodSummary],
    palette: &Palette,
    of: &ProtocolSummary,
) -> Figure {
    let protocol = of.protocol.as_str();
    let floors = |at: usize| -> Vec<(char, f64)> {
        let floors = of.floors.iter();
        floors
            .filter_map(|(name, floor)| Some((initial(name), (*floor.as_array()[at])?.median?)))
            .collect()
    };
    let values = |at: usize, method: Option<&str>| -> Vec<f64> {
        let own = records
            .iter()
            .filter(|record| method.is_none_or(|of| record.method == of));
        own.filter_map(|record| PARTS[at].1(by_protocol(record, protocol)?.accuracy))
            .collect()
    };
    let parts = 0..PARTS.len();
    let range: Vec<f64> = parts
        .clone()
        .flat_map(|at| {
            let floors = floors(at).into_iter().map(|(_, value)| value);
            values(at, None).into_iter().chain(floors)
        })
        .collect();
    let chart = |at: usize| {
        let own = methods.iter().filter(|of| palette.is_own(&of.method));
        let rows = own.map(|method| {
            let of = method.accuracies.get(protocol);
            let median = of.and_then(|of| (*of.as_array()[at])?.median);
            let name = method.method.as_str();
            ChartRow::dots(
                palette.label(name),
                palette.colour(name),
                values(at, Some(name)),
                median,
            )
        });
        let title = format!("accuracy on {}", PARTS[at].0);
        RowChart::new(&title, &title, rows.collect())
            .floors(floors(at))
            .range(&range)
            .svg()
    };
    Figure::new(
        format!(
            "Accuracy by {}. Dots are seeds, the bar is their median, vertical lines are the medians of the \
             floors. A method that does not lie clearly at the right of all floors shows no use of training.",
            with_article(protocol)
        ),
        floor_legend(FLOORS.iter().map(|(name, _)| (initial(name), *name))),
        parts.map(chart).collect(),
    )
}

/// Draws the embeddings before and after each method.
pub(crate) fn map(map: &EmbeddingMap) -> Figure {
    let panel = |title, points| MapPanel {
        title,
        points,
        labels: &map.labels,
        is_new: &map.is_new,
    };
    let panels: Vec<MapPanel<'_>> = std::iter::once(panel("before (θ₀)", &map.before))
        .chain(map.after.iter().map(|(name, points)| panel(name, points)))
        .collect();
    let thinned = if panels.iter().any(MapPanel::is_thinned) {
        " Only a part of the samples is drawn."
    } else {
        ""
    };
    Figure::new(format!(
            "The embeddings of seed {} on their two principal components, each panel at its own scale. \
             Distances in two dimensions mislead: compare shapes, not positions.{thinned}",
            map.seed
        ), map_legend(&map.labels), panels.iter().map(MapPanel::svg).collect()).tiled()
}
