//! The page of a comparison of backends.

use crate::backends_table::{HEADERS, cells};

use crate::ReportError;
use crate::chart::{Curve, CurveChart, Palette};
use crate::document::html::escape;
use crate::document::shell::{section, shell};
use crate::number::{axis_count, plural};
use crate::{BACKEND_SCHEMA, BackendRecord, COMPARED_STEPS};

const GUIDE: &str = include_str!("backends_guide.html");

/// The comparison as one HTML page that needs nothing beside itself: no script, no font, no network.
/// It is well-formed XML too, and the same records give the same bytes.
///
/// # Errors
/// If there is no record, or one is of another [`BACKEND_SCHEMA`].
pub fn backends_html(records: &[BackendRecord]) -> Result<String, ReportError> {
    let first = records.first().ok_or(ReportError::Empty)?;
    for (at, record) in records.iter().enumerate() {
        if record.schema != BACKEND_SCHEMA {
            return Err(ReportError::Schema {
                position: at + 1,
                found: record.schema,
                expected: BACKEND_SCHEMA,
            });
        }
    }
    let title = format!(
        "{}: the same steps on {}",
        first.data,
        plural(records.len(), "backend")
    );
    let body = [
        header(first, &title),
        section("In short", &in_short(records)),
        losses(records),
        section("Where the time of a step goes", &times(records)),
        section("How to read this", GUIDE),
    ]
    .concat();
    Ok(shell(&title, &body))
}

fn header(first: &BackendRecord, title: &str) -> String {
    format!(
        "<h1>{}</h1>\n<p class=\"facts\">method: {} · {} of {} samples · α = {:.2} · seed {}</p>\n",
        escape(title),
        escape(&first.method),
        plural(first.losses.len(), "step"),
        first.batch_size,
        first.alpha,
        first.seed,
    )
}

/// One sentence a backend after the first.
pub(crate) fn sentences(records: &[BackendRecord]) -> Vec<String> {
    let Some((first, others)) = records.split_first() else {
        return Vec::new();
    };
    if others.is_empty() {
        return vec![format!(
            "Only {} was run: there is nothing to compare it with.",
            first.backend
        )];
    }
    let n = COMPARED_STEPS.min(first.losses.len());
    let sentence = |record: &BackendRecord| {
        format!(
            "{} follows {} within {} of its loss over {}; a step takes {} its time.",
            record.backend,
            first.backend,
            crate::backends_table::relative(record.max_relative_loss_difference),
            plural(n, "step"),
            super::number::factor(record.step_s / first.step_s),
        )
    };
    others.iter().map(sentence).collect()
}

fn in_short(records: &[BackendRecord]) -> String {
    let sentences = sentences(records);
    let sentences = sentences
        .iter()
        .map(|text| format!("<p><strong>{}</strong></p>\n", escape(text)));
    sentences.collect()
}

fn losses(records: &[BackendRecord]) -> String {
    let names = || records.iter().map(|record| record.backend.as_str());
    let palette = Palette::new(names());
    let chart = |description, y_label, of: fn(&BackendRecord) -> Vec<f64>| {
        let curve = |record: &BackendRecord| Curve {
            class: palette.class(&record.backend),
            label: record.backend.clone(),
            points: of(record)
                .into_iter()
                .enumerate()
                .map(|(at, value)| (at as f64 + 1.0, value))
                .collect(),
            mark: None,
        };
        CurveChart {
            description,
            x_label: "step (logarithmic)",
            y_label,
            x_format: axis_count,
            curves: records.iter().map(curve).collect(),
            level: None,
        }
        .svg()
    };
    // Where two losses are equal there is no logarithm to draw.
    let digits = |record: &BackendRecord| {
        let differences = record.relative_loss_differences.iter();
        differences.map(|difference| difference.log10()).collect()
    };
    let equal = records[1..]
        .iter()
        .filter(|record| record.relative_loss_differences.iter().all(|d| *d == 0.0))
        .map(|record| {
            format!(
                "<p>{} has the losses of {} to the last bit.</p>\n",
                escape(&record.backend),
                escape(&records[0].backend)
            )
        });
    section(
        "The losses",
        &format!(
            "{}{}<div class=\"charts\">\n{}{}</div>\n",
            palette.legend(names()),
            equal.collect::<String>(),
            chart(
                "Training loss of each step",
                "training loss, nats",
                |record| { record.losses.clone() }
            ),
            chart(
                "Logarithm of the relative difference to the first backend's loss at each step",
                "log<tspan dy=\"3\" font-size=\"70%\">10</tspan><tspan dy=\"-3\"> of the relative \
                 difference to the first</tspan>",
                digits
            ),
        ),
    )
}

fn times(records: &[BackendRecord]) -> String {
    let head: String = HEADERS
        .iter()
        .map(|header| format!("<th>{header}</th>"))
        .collect();
    let row = |record: &BackendRecord| {
        let [name, values @ ..] = cells(record);
        let values = values
            .map(|value| format!("<td>{}</td>", escape(&value)))
            .concat();
        format!(
            "<tr><th scope=\"row\">{}</th>{values}</tr>\n",
            escape(&name)
        )
    };
    let rows: String = records.iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::backends;

    fn texts(page: &str) -> String {
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let document = roxmltree::Document::parse_with_options(page, options).unwrap();
        for outside in ["http:", "https:", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(!page.contains("NaN") && !page.contains("inf"));
        let texts = document.descendants().filter_map(|node| node.text());
        texts.map(str::trim).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_page_says_what_the_records_say() {
        let page = backends_html(&backends()).unwrap();
        let found = texts(&page);
        for text in [
            "TOYS: the same steps on 2 backends",
            "method: warm · 3 steps of 32 samples · α = 0.50 · seed 1",
            "tch follows flex within 1.0e-2 of its loss over 3 steps; a step takes 2.0× its time.",
            "How to read this",
        ] {
            assert!(found.contains(text), "{text} is missing in {found}");
        }
        // Both losses, but only the second's difference.
        assert_eq!(page.matches("class=\"curve colour-").count(), 3);
        assert_eq!(page, backends_html(&backends()).unwrap());
    }

    #[test]
    fn equal_losses_are_told() {
        let mut records = backends();
        records[1].relative_loss_differences = vec![0.0; 3];
        records[1].max_relative_loss_difference = 0.0;
        let found = texts(&backends_html(&records).unwrap());
        assert!(found.contains("tch has the losses of flex to the last bit."));
        assert!(found.contains("tch follows flex within 0 of its loss"));
    }

    #[test]
    fn one_backend_is_compared_with_nothing() {
        let found = texts(&backends_html(&backends()[..1]).unwrap());
        assert!(found.contains("Only flex was run"));
    }

    #[test]
    fn what_cannot_be_shown_is_an_error() {
        assert_eq!(backends_html(&[]), Err(ReportError::Empty));
        let mut records = backends();
        records[1].schema = 9;
        assert_eq!(
            backends_html(&records),
            Err(ReportError::Schema {
                position: 2,
                found: 9,
                expected: BACKEND_SCHEMA
            })
        );
    }

    #[test]
    fn names_are_escaped() {
        let mut records = backends();
        records[0].data = "<script>".to_owned();
        records[1].backend = "<b>\u{1b}".to_owned();
        let page = backends_html(&records).unwrap();
        assert!(!page.contains("<b>") && !page.contains('\u{1b}'));
    }
}
