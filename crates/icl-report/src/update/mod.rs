//! The page of an update: one encoder before and after.

mod tables;
mod terminal;
mod train_table;
mod verdict;

pub use terminal::update_table;
pub use train_table::train_table;

use icl_train::Evaluation;

use crate::ReportError;
use crate::chart::{Curve, CurveChart, Palette};
use crate::document::html::escape;
use crate::document::shell::{section, shell};
use crate::number::{axis_count, change, count, percent, plural, seconds};
use crate::{UPDATE_SCHEMA, UpdateRecord};

const GUIDE: &str = include_str!("guide.html");

/// A quantity that is followed over the update.
type Followed = (&'static str, fn(&Evaluation) -> f64);

const RISKS: [Followed; 3] = [
    ("all data", |evaluation| evaluation.risk.all),
    ("old data", |evaluation| evaluation.risk.old),
    ("new data", |evaluation| evaluation.risk.new),
];

/// The parts of the exact risk on old data.
const PARTS: [Followed; 2] = [
    ("NCE-I under the old noise, on old data", |evaluation| {
        evaluation.risk.nce1_old
    }),
    ("NCE-II on old data", |evaluation| evaluation.risk.nce2_old),
];

/// The before/after page of an update as one HTML page that needs nothing beside itself: no script,
/// no font, no network. It is well-formed XML too, and the same record gives the same bytes.
///
/// # Errors
/// If the record is of another [`UPDATE_SCHEMA`].
pub fn update_html(record: &UpdateRecord) -> Result<String, ReportError> {
    if record.schema != UPDATE_SCHEMA {
        return Err(ReportError::Schema {
            position: 1,
            found: record.schema,
            expected: UPDATE_SCHEMA,
        });
    }
    let title = format!(
        "{} and {}: the encoder before and after",
        record.old_data, record.new_data
    );
    let body = [
        header(record, &title),
        in_short(record),
        risk(record),
        course(record),
        section(
            "The risk on old data in two parts",
            &tables::theorem_1(record),
        ),
        section("How far the noise has moved", &tables::noise(record)),
        neighbourhood(record),
        section("How to read this", GUIDE),
    ]
    .concat();
    Ok(shell(&title, &body))
}

fn header(record: &UpdateRecord, title: &str) -> String {
    format!(
        "<h1>{}</h1>\n<p class=\"facts\">{} · {} old samples, {} new ones (α = {:.2}) · method: {} · \
         seed {} · backend: {} · τ = {}, K = {}</p>\n",
        escape(title),
        escape(&record.from),
        record.n_old,
        record.n_new,
        record.alpha,
        escape(&record.method),
        record.seed,
        escape(&record.backend),
        record.temperature,
        record.negatives,
    )
}

fn in_short(record: &UpdateRecord) -> String {
    let sentences = verdict::sentences(record);
    let sentences = sentences.iter().enumerate().map(|(at, sentence)| {
        let sentence = escape(sentence);
        if at == 0 {
            format!("<p><strong>{sentence}</strong></p>\n")
        } else {
            format!("<p>{sentence}</p>\n")
        }
    });
    let sentences: String = sentences.collect();
    let cost = format!(
        "<p class=\"note\">The update took {}, {} encoder sample passes and {} s of training on this \
         machine.</p>\n",
        plural(record.epochs, "epoch"),
        count(record.sample_passes as f64),
        escape(&seconds(record.train_s)),
    );
    section("In short", &format!("{sentences}{cost}"))
}

fn risk(record: &UpdateRecord) -> String {
    section("Exact risk, before and after", &tables::risk(record))
}

/// The exact risk and its parts while the encoder was trained.
fn course(record: &UpdateRecord) -> String {
    if record.evaluations.len() < 2 {
        return String::new();
    }
    let names = || RISKS.iter().chain(&PARTS).map(|(name, _)| *name);
    let palette = Palette::new(names());
    let chart = |description, y_label, followed: &[Followed]| {
        let curves = followed.iter().map(|(name, of)| {
            let points = record.evaluations.iter();
            Curve {
                class: palette.class(name),
                label: (*name).to_owned(),
                points: points.map(|e| (e.sample_passes as f64, of(e))).collect(),
                mark: None,
            }
        });
        CurveChart {
            description,
            x_label: "encoder sample passes (logarithmic, 0 at the left)",
            y_label,
            x_format: axis_count,
            curves: curves.collect(),
            level: None,
        }
        .svg()
    };
    section(
        "How they got there",
        &format!(
            "<p>Lower is better. The flat piece at the left is what was there before the first \
             step.</p>\n{}<div class=\"charts\">\n{}{}</div>\n",
            palette.legend(names()),
            chart(
                "Exact risk over all, old and new data against encoder sample passes",
                "exact risk, nats",
                &RISKS
            ),
            chart(
                "Parts of the exact risk on old data against encoder sample passes",
                "parts of the exact risk on old data, nats",
                &PARTS
            ),
        ),
    )
}

fn neighbourhood(record: &UpdateRecord) -> String {
    let kept = match &record.neighbours_kept {
        Some(kept) => format!(
            "<p>Nearest neighbours kept: <strong>{}</strong> of the {} nearest of each old sample. \
             Embeddings that have nothing in common would share {}.</p>\n",
            escape(&percent(kept.share)),
            kept.k,
            escape(&percent(
                kept.k as f64 / record.n_old.saturating_sub(1).max(1) as f64
            )),
        ),
        None => "<p>Nearest neighbours kept: too few old samples to tell.</p>\n".to_owned(),
    };
    section(
        "How much of the embedding is left",
        &format!(
            "{kept}<p>Parameters moved: ‖Δθ‖/‖θ‖ = <strong>{}</strong>.</p>\n",
            escape(&change(record.parameter_change))
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeptNeighbours;
    use crate::fixture::update;

    /// The text of all elements of a page that is well-formed and takes nothing from outside.
    fn texts(page: &str) -> Vec<String> {
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let document = roxmltree::Document::parse_with_options(page, options).unwrap();
        for outside in ["http:", "https:", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(!page.contains("NaN") && !page.contains("Some("));
        let texts = document.descendants().filter_map(|node| node.text());
        texts.map(|text| text.trim().to_owned()).collect()
    }

    /// The cells of the table row of this name.
    fn row(page: &str, name: &str) -> Vec<String> {
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let document = roxmltree::Document::parse_with_options(page, options).unwrap();
        let all = |node: roxmltree::Node<'_, '_>| -> String {
            let texts = node.descendants().filter(|node| node.is_text());
            texts.filter_map(|node| node.text()).collect()
        };
        let rows = document
            .descendants()
            .filter(|node| node.has_tag_name("tr"));
        let cells = |row: roxmltree::Node<'_, '_>| -> Vec<String> {
            row.children()
                .filter(|node| node.is_element())
                .map(all)
                .collect()
        };
        let row = rows.map(cells).find(|cells| cells[0] == name);
        row.unwrap_or_else(|| panic!("no row {name}"))[1..].to_vec()
    }

    #[test]
    fn the_numbers_are_in_their_places() {
        let page = update_html(&update(2.8, 2.25, 0.1)).unwrap();
        assert_eq!(row(&page, "all data"), ["2.800", "2.250", "−0.550−19.6 %"]);
        assert_eq!(row(&page, "old data"), ["2.700", "2.150", "−0.550−20.4 %"]);
        assert_eq!(row(&page, "new data"), ["2.900", "2.350", "−0.550−19.0 %"]);
        // Theorem 1's parts: 2.1 + 0.6 before, 2.2 − 0.05 after.
        assert_eq!(
            row(&page, "NCE-I under the old noise, LI,X"),
            ["2.100", "2.200", "+0.100"]
        );
        assert_eq!(row(&page, "NCE-II, LII"), ["0.600", "−0.050", "−0.650"]);
        assert_eq!(
            row(&page, "sum: exact risk on old data"),
            ["2.700", "2.150", "−0.550"]
        );
        assert_eq!(
            row(&page, "α·LI,X, Theorem 2's bound"),
            ["1.050", "1.100", "+0.050"]
        );
        assert_eq!(
            row(&page, "bias of inference on old data"),
            ["0.100", "0.100", "0.000"]
        );
        assert_eq!(
            row(&page, "bias of inference on new data"),
            ["−2.800", "−2.250", "+0.550"]
        );
        assert_eq!(row(&page, "change ratio r"), ["1.100", "1.100", "0.000"]);
        let texts = texts(&page).join("\n");
        for text in [
            "OLD and NEW: the encoder before and after",
            "e.safetensors · 120 old samples, 80 new ones (α = 0.40) · method: warm · seed 3",
            "Better on old and on new data.",
            "83.5 %",
            "would share 8.4 %",
            "0.420",
            "20 epochs, 7520 encoder sample passes and 0.42 s",
            "How to read this",
        ] {
            assert!(texts.contains(text), "{text} is missing in {texts}");
        }
        assert_eq!(page.matches("class=\"curve colour-").count(), 5);
        assert_eq!(page, update_html(&update(2.8, 2.25, 0.1)).unwrap());
    }

    #[test]
    fn names_are_escaped() {
        let mut evil = update(2.8, 2.25, 0.1);
        evil.old_data = "<script>alert('1')</script>".into();
        evil.new_data = "\"><b>".into();
        evil.from = "a\u{0}&b".into();
        evil.method = "<i>".into();
        evil.backend = "</p>".into();
        let page = update_html(&evil).unwrap();
        let texts = texts(&page).join("\n");
        assert!(texts.contains("<script>alert('1')</script> and \"><b>"));
        assert!(!page.contains("<i>") && !page.contains("<b>"));
    }

    #[test]
    fn the_least_that_can_be_shown() {
        let mut least = update(2.8, 2.8, 0.0);
        least.evaluations.truncate(1);
        least.epoch_losses.clear();
        least.epochs = 0;
        least.sample_passes = 0;
        least.train_s = 0.0;
        least.parameter_change = 0.0;
        least.neighbours_kept = None;
        let page = update_html(&least).unwrap();
        let found = texts(&page).join("\n");
        assert!(found.contains("Nothing was trained"), "{found}");
        assert!(found.contains("too few old samples"));
        assert!(!page.contains("class=\"chart\""));

        let mut lost = update(2.8, 2.25, 0.1);
        lost.after.all = f64::NAN;
        lost.after.change_ratio_old = f64::INFINITY;
        lost.evaluations[3].risk.new = f64::NAN;
        let page = update_html(&lost).unwrap();
        assert!(texts(&page).join("\n").contains("not a finite number"));
        assert_eq!(row(&page, "all data"), ["2.800", "–", "–"]);
        assert_eq!(row(&page, "change ratio r"), ["1.100", "–", "–"]);
    }

    #[test]
    fn a_record_of_another_schema_is_an_error() {
        let mut later = update(2.8, 2.25, 0.1);
        later.schema = 7;
        assert_eq!(
            update_html(&later),
            Err(ReportError::Schema {
                position: 1,
                found: 7,
                expected: UPDATE_SCHEMA
            })
        );
    }

    #[test]
    fn a_record_survives_its_file() {
        let mut record = update(2.8, 2.25, 0.1);
        // The parser of JSON may miss the last digit of a number; of those that are left it does not.
        record.evaluations.truncate(1);
        record.train_s = 0.5;
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<UpdateRecord>(&text).unwrap(), record);
        record.neighbours_kept = None;
        let text = serde_json::to_string(&record).unwrap();
        assert!(text.contains("\"neighbours_kept\":null"));
        record.neighbours_kept = Some(KeptNeighbours { k: 5, share: 1.0 });
        let text = serde_json::to_string(&record).unwrap();
        assert!(text.contains("\"neighbours_kept\":{\"k\":5,\"share\":1.0}"));
    }
}
