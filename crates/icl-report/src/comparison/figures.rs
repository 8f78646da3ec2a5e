//! The page's charts, made from the records.

use icl_train::Evaluation;

use crate::chart::{
    Curve, CurveChart, DotChart, DotRow, MapPanel, Palette, floor_legend, map_legend,
};
use crate::comparison::aggregate::{FloorSummary, MethodSummary, target};
use crate::number::{axis_count, axis_seconds};
use crate::{AccuracyParts, EmbeddingMap, RunRecord};

/// A coordinate of an evaluation.
type Coordinate = fn(&Evaluation) -> f64;

const TRAIN_S: Coordinate = |evaluation| evaluation.train_s;
const PASSES: Coordinate = |evaluation| evaluation.sample_passes as f64;

/// One of the accuracies of a record.
type AccuracyPart = fn(AccuracyParts) -> Option<f64>;

/// The exact risk over all data against seconds and against passes.
pub(crate) fn risk(records: &[RunRecord], palette: &Palette) -> String {
    let level = target(records).and_then(|target| target.median);
    let chart = |description, x_label, x_format, x: Coordinate| CurveChart {
        description,
        x_label,
        y_label: "exact risk over all data, nats",
        x_format,
        curves: curves(records, palette, x, |e| e.risk.all, true),
        level: level.map(|level| (level, "target")),
    };
    let by_time = chart(
        "Exact risk over all data against seconds of training",
        "seconds of training (logarithmic, 0 at the left)",
        axis_seconds,
        TRAIN_S,
    );
    let by_passes = chart(
        "Exact risk over all data against encoder sample passes",
        "encoder sample passes (logarithmic, 0 at the left)",
        axis_count,
        PASSES,
    );
    format!(
        "<div class=\"charts\">\n{}{}</div>\n",
        by_time.svg(),
        by_passes.svg()
    )
}

/// L^{I,X} and L^{II} over the old data against passes.
pub(crate) fn drift(records: &[RunRecord], palette: &Palette) -> String {
    let chart = |description, y_label, y: Coordinate| {
        CurveChart {
            description,
            x_label: "encoder sample passes (logarithmic, 0 at the left)",
            y_label,
            x_format: axis_count,
            curves: curves(records, palette, PASSES, y, false),
            level: None,
        }
        .svg()
    };
    format!(
        "<div class=\"charts\">\n{}{}</div>\n",
        chart(
            "L I,X over the old data against encoder sample passes",
            "L<tspan dy=\"-4\" font-size=\"9\">I,X</tspan><tspan dy=\"4\"> over the old data, nats</tspan>",
            |evaluation| evaluation.risk.nce1_old
        ),
        chart(
            "L II over the old data against encoder sample passes",
            "L<tspan dy=\"-4\" font-size=\"9\">II</tspan><tspan dy=\"4\"> over the old data, nats</tspan>",
            |evaluation| evaluation.risk.nce2_old
        )
    )
}

/// Accuracies on all, old and new data between their floors.
pub(crate) fn accuracy(
    records: &[RunRecord],
    summaries: &[MethodSummary],
    floors: &FloorSummary,
    palette: &Palette,
) -> String {
    let parts: [(&str, AccuracyPart); 3] = [
        ("accuracy on all data", |parts| parts.all),
        ("accuracy on old data", |parts| parts.old),
        ("accuracy on new data", |parts| parts.new),
    ];
    let names = floors.named().map(|(name, _)| name);
    let letters = names.map(initial);
    let legend = floor_legend(letters.into_iter().zip(names));
    let floors = floors
        .named()
        .map(|(_, parts)| parts.as_array().map(|part| part.and_then(|s| s.median)));
    let range: Vec<f64> = parts
        .iter()
        .flat_map(|(_, part)| records.iter().filter_map(|r| part(r.accuracy)))
        .chain(floors.as_flattened().iter().copied().flatten())
        .collect();
    let charts: String = parts
        .iter()
        .enumerate()
        .map(|(i, (title, part))| {
            let rows = summaries.iter().map(|summary| {
                let values = records
                    .iter()
                    .filter(|record| record.method == summary.method)
                    .filter_map(|record| part(record.accuracy));
                let median = summary.accuracy.as_array()[i].and_then(|s| s.median);
                let class = palette.class(&summary.method);
                DotRow {
                    name: &summary.method,
                    class,
                    values: values.collect(),
                    median,
                }
            });
            DotChart {
                title,
                rows: rows.collect(),
                floors: letters
                    .into_iter()
                    .zip(&floors)
                    .filter_map(|(letter, floor)| Some((letter, floor[i]?)))
                    .collect(),
                range: &range,
            }
            .svg()
        })
        .collect();
    format!("{legend}<div class=\"charts dots\">\n{charts}</div>\n")
}

/// The letter of a floor: M, S, R or U, as the page's guide and style name them.
fn initial(name: &str) -> char {
    name.chars().next().map_or('?', |c| c.to_ascii_uppercase())
}

/// One line a record, with a ring where it reaches the target if `marked`.
fn curves(
    records: &[RunRecord],
    palette: &Palette,
    x: Coordinate,
    y: Coordinate,
    marked: bool,
) -> Vec<Curve> {
    records
        .iter()
        .map(|record| {
            let point = |evaluation: &Evaluation| (x(evaluation), y(evaluation));
            let reached = record
                .evaluations
                .iter()
                .find(|evaluation| Some(evaluation.epoch) == record.epochs_to_target);
            Curve {
                class: palette.class(&record.method),
                label: format!("{}, seed {}", record.method, record.seed),
                points: record.evaluations.iter().map(point).collect(),
                mark: reached.filter(|_| marked).map(point),
            }
        })
        .collect()
}

/// The embeddings before and after each method.
pub(crate) fn map(map: &EmbeddingMap) -> String {
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
        "<p class=\"note\">Only an even part of the samples is drawn.</p>\n"
    } else {
        ""
    };
    let svgs: String = panels.iter().map(MapPanel::svg).collect();
    format!(
        "{}<div class=\"maps\">\n{svgs}</div>\n{thinned}",
        map_legend(&map.labels)
    )
}
