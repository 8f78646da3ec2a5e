//! The page's tables.

use crate::Summary;
use crate::chart::Palette;
use crate::comparison::aggregate::{FloorSummary, MethodSummary, Parts};
use crate::document::html::escape;
use crate::number::{NEVER, Spread, accuracy, change, count, nats, seconds};

const COMPARISON: &str = "<thead>\n\
<tr><th></th><th class=\"group\" colspan=\"3\">to the target</th>\
<th class=\"group\" colspan=\"3\">exact risk at the end, nats</th>\
<th class=\"group\" colspan=\"2\">on old data, nats</th><th class=\"group\"></th></tr>\n\
<tr><th>method</th><th class=\"group\">seconds</th><th>epochs</th><th>passes</th>\
<th class=\"group\">all</th><th>old</th><th>new</th>\
<th class=\"group\">L<sup>I,X</sup> start → end</th><th>L<sup>II</sup></th>\
<th class=\"group\">‖Δθ‖/‖θ‖</th></tr>\n</thead>\n";

const ACCURACY: &str = "<thead>\n\
<tr><th>method</th><th class=\"group\">on all data</th><th>on old data</th>\
<th>on new data</th></tr>\n</thead>\n";

const LOWEST_LOSS: &str = "<thead>\n\
<tr><th>method</th><th class=\"group\">convergence epoch</th><th>seconds until its end</th></tr>\n\
</thead>\n";

/// The table of all methods.
pub(crate) fn comparison(summaries: &[MethodSummary], palette: &Palette) -> String {
    let rows: String = summaries.iter().map(|s| method(s, palette)).collect();
    table(&format!("{COMPARISON}<tbody>\n{rows}</tbody>\n"))
}

/// The table of the accuracies, their floors below.
pub(crate) fn accuracies(
    summaries: &[MethodSummary],
    floors: &FloorSummary,
    palette: &Palette,
) -> String {
    let row = |head: String, parts| format!("<tr>{head}{}</tr>\n", cells(parts, accuracy));
    let rows: String = summaries
        .iter()
        .map(|summary| row(name(&summary.method, palette), &summary.accuracy))
        .collect();
    let floors = floors
        .named()
        .map(|(name, parts)| row(format!("<th scope=\"row\">floor: {name}</th>"), parts))
        .concat();
    table(&format!(
        "{ACCURACY}<tbody>\n{rows}</tbody>\n<tbody class=\"floors\">\n{floors}</tbody>\n"
    ))
}

/// The table of the paper's rule.
pub(crate) fn lowest_loss(summaries: &[MethodSummary], palette: &Palette) -> String {
    let rows: String = summaries
        .iter()
        .filter(|summary| summary.lowest_loss_epoch.is_some())
        .map(|summary| {
            format!(
                "<tr>{}{}{}</tr>\n",
                name(&summary.method, palette),
                cell(summary.lowest_loss_epoch, count, "", true),
                cell(summary.lowest_loss_s, seconds, " s", false),
            )
        })
        .collect();
    table(&format!("{LOWEST_LOSS}<tbody>\n{rows}</tbody>\n"))
}

fn table(content: &str) -> String {
    format!("<div class=\"scroll\"><table>\n{content}</table></div>\n")
}

fn method(summary: &MethodSummary, palette: &Palette) -> String {
    let drift = format!(
        "<td class=\"group\">{} → {}</td>",
        content(summary.start_nce1_old, nats, "").0,
        content_in_line(summary.nce1_old, nats),
    );
    format!(
        "<tr>{}{}{}{}{}{drift}{}{}</tr>\n",
        name(&summary.method, palette),
        cell(summary.time_to_target_s, seconds, " s", true),
        cell(summary.epochs_to_target, count, "", false),
        cell(summary.passes_to_target, count, "", false),
        cells(&summary.risk, nats),
        cell(summary.nce2_old, nats, "", false),
        cell(summary.parameter_change, change, "", true),
    )
}

fn name(method: &str, palette: &Palette) -> String {
    format!(
        "<th scope=\"row\">{}{}</th>",
        palette.swatch(method),
        escape(method)
    )
}

fn cells(parts: &Parts<Option<Summary>>, format: fn(f64) -> String) -> String {
    let [all, old, new] = parts.as_array();
    [
        cell(*all, format, "", true),
        cell(*old, format, "", false),
        cell(*new, format, "", false),
    ]
    .concat()
}

/// A cell with the median, and the spread below it where seeds differ. The first cell of a group
/// of columns has a line at its left.
fn cell(summary: Option<Summary>, format: fn(f64) -> String, unit: &str, is_first: bool) -> String {
    let (median, spread) = content(summary, format, unit);
    let class = match (is_first, median == NEVER) {
        (true, true) => " class=\"group never\"",
        (true, false) => " class=\"group\"",
        (false, true) => " class=\"never\"",
        (false, false) => "",
    };
    format!("<td{class}>{median}{spread}</td>")
}

fn content(summary: Option<Summary>, format: fn(f64) -> String, unit: &str) -> (String, String) {
    let Spread { median, spread } = Spread::new(summary.as_ref(), format, unit);
    let spread = spread.map(|spread| format!("<small>{}</small>", escape(&spread)));
    (escape(&median), spread.unwrap_or_default())
}

fn content_in_line(summary: Option<Summary>, format: fn(f64) -> String) -> String {
    let (median, spread) = content(summary, format, "");
    median + &spread
}
