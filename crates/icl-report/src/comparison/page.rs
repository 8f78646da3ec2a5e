//! The page.

use crate::ReportError;
use crate::chart::Palette;
use crate::comparison::aggregate::{
    MethodSummary, has_all_accuracies, summarize, summarize_floors, target,
};
use crate::comparison::check::{check_map, check_records};
use crate::comparison::{figures, page_table, verdict, wording};
use crate::document::html::escape;
use crate::document::shell::{section, shell};
use crate::number::{MISSING, nats, plural};
use crate::{EmbeddingMap, RunRecord};

const GUIDE: &str = include_str!("guide.html");

/// The report as one HTML page that needs nothing beside itself: no script, no font, no network.
/// It is well-formed XML too, and the same records give the same bytes.
///
/// # Errors
/// If there are no records, if they are of another [`SCHEMA`](crate::SCHEMA), of two comparisons
/// (data set, split or backend) or two of one method and seed; and if a part of the map does not
/// have one entry a label.
pub fn html(records: &[RunRecord], map: Option<&EmbeddingMap>) -> Result<String, ReportError> {
    let first = check_records(records)?;
    map.map_or(Ok(()), check_map)?;
    let summaries = summarize(records);
    let palette = Palette::new(methods(&summaries));
    let title = format!("{}: which methods are as good as retraining?", first.data);
    let body = [
        header(records, first, &title),
        verdicts(records, &summaries, &palette),
        comparison(&summaries, &palette),
        curves(records, &summaries, &palette),
        drift(records, &summaries, &palette),
        accuracy(records, &summaries, &palette),
        map.map_or(String::new(), embeddings),
        paper(&summaries, &palette),
        section("How to read this", GUIDE),
    ]
    .concat();
    Ok(shell(&title, &body))
}

fn methods(summaries: &[MethodSummary]) -> impl Iterator<Item = &str> {
    summaries.iter().map(|summary| summary.method.as_str())
}

fn header(records: &[RunRecord], first: &RunRecord, title: &str) -> String {
    let mut seeds: Vec<u64> = records.iter().map(|record| record.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let range = |of: fn(&RunRecord) -> f64, format: fn(f64) -> String| {
        let (low, high) = records
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
        let (low, high) = (format(low), format(high));
        if low == high {
            low
        } else {
            format!("{low} to {high}")
        }
    };
    let whole = |x: f64| format!("{x:.0}");
    format!(
        "<h1>{}</h1>\n<p class=\"facts\">{} old samples, {} new ones (α = {}) · split: {} · {} · \
         backend: {}</p>\n",
        escape(title),
        range(|r| r.n_old as f64, whole),
        range(|r| r.n_new as f64, whole),
        range(|r| r.alpha, |x| format!("{x:.2}")),
        escape(&first.split),
        plural(seeds.len(), "seed"),
        escape(&first.backend),
    )
}

fn verdicts(records: &[RunRecord], summaries: &[MethodSummary], palette: &Palette) -> String {
    let goal = match target(records) {
        None => wording::NO_TARGET.to_owned(),
        Some(target) => format!(
            "The target is {} nats{}: {}.",
            target.median.map_or(MISSING.to_owned(), nats),
            match target.n {
                1 => String::new(),
                n => format!(" (median over {n} seeds, each of which has its own)"),
            },
            wording::TARGET,
        ),
    };
    let entries: String = summaries
        .iter()
        .map(|summary| {
            format!(
                "<dt>{}{}</dt><dd>{}</dd>\n",
                palette.swatch(&summary.method),
                escape(&summary.method),
                escape(&verdict(summary))
            )
        })
        .collect();
    section(
        "In short",
        &format!(
            "<p>{}</p>\n<dl class=\"verdicts\">\n{entries}</dl>\n",
            escape(&goal)
        ),
    )
}

fn comparison(summaries: &[MethodSummary], palette: &Palette) -> String {
    let note = "<p class=\"note\">Medians over the seeds, [least–greatest] below where the seeds \
                differ. Seconds are of training on this machine. Accuracies stand further down, \
                beside their floors.</p>\n";
    section(
        "The numbers",
        &format!("{}{note}", page_table::comparison(summaries, palette)),
    )
}

fn one_class(records: &[RunRecord]) -> String {
    if has_all_accuracies(records) {
        return String::new();
    }
    format!(
        "<p class=\"note\">{MISSING}: {}</p>\n",
        escape(wording::ONE_CLASS)
    )
}

fn curves(records: &[RunRecord], summaries: &[MethodSummary], palette: &Palette) -> String {
    let text = "<p>Lower is better. One line a method and seed; a ring marks where it reaches its \
                target, a dotted level is a method that trains nothing. The flat piece at the left \
                is the risk before the first step.</p>\n";
    section(
        "How the exact risk falls",
        &format!(
            "{text}{}{}",
            palette.legend(methods(summaries)),
            figures::risk(records, palette)
        ),
    )
}

fn drift(records: &[RunRecord], summaries: &[MethodSummary], palette: &Palette) -> String {
    let text = "<p>On old data the exact risk is the sum of these two. A method whose L<sup>II</sup> \
                falls while its L<sup>I,X</sup> rises improves its objective by unlearning the old \
                data: the drift of the published objective.</p>\n";
    section(
        "What happens on the old data",
        &format!(
            "{text}{}{}",
            palette.legend(methods(summaries)),
            figures::drift(records, palette)
        ),
    )
}

fn accuracy(records: &[RunRecord], summaries: &[MethodSummary], palette: &Palette) -> String {
    let floors = summarize_floors(records);
    let text = "<p>Dots are seeds, the bar is their median, vertical lines are the floors (medians). \
                What does not lie clearly right of all floors shows no use of training.</p>\n";
    section(
        "Accuracy beside its floors",
        &format!(
            "{text}{}{}{}",
            figures::accuracy(records, summaries, &floors, palette),
            page_table::accuracies(summaries, &floors, palette),
            one_class(records)
        ),
    )
}

fn embeddings(map: &EmbeddingMap) -> String {
    let text = format!(
        "<p>The embeddings of seed {} in two dimensions, each panel at its own scale. Distances in a \
         flattened picture mislead; compare shapes, not positions.</p>\n",
        map.seed
    );
    section(
        "Maps of the embeddings",
        &format!("{text}{}", figures::map(map)),
    )
}

fn paper(summaries: &[MethodSummary], palette: &Palette) -> String {
    if summaries.iter().all(|s| s.lowest_loss_epoch.is_none()) {
        return String::new();
    }
    let warning = "<p class=\"warning\"><strong>Do not read speed from this table.</strong> The paper \
                   counts the epochs until the lowest training loss. That follows the noise of the \
                   batches: two runs that differ in nothing else come out 6 times apart in one case \
                   of ten. It stands here only so that the paper's numbers can be compared.</p>\n";
    section(
        "The paper's rule: epoch of the lowest training loss",
        &format!("{warning}{}", page_table::lowest_loss(summaries, palette)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccuracyParts;
    use crate::fixture::{comparison as seven_methods, map, record, run};

    const NOTHING: AccuracyParts = AccuracyParts {
        all: None,
        old: None,
        new: None,
    };

    /// Every tag is closed, nothing comes from outside, and nothing is printed that is no number.
    fn assert_sound(page: &str) {
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let document = roxmltree::Document::parse_with_options(page, options).unwrap();
        for outside in ["http:", "https:", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        for node in document.descendants() {
            assert!(
                node.attributes()
                    .all(|a| !matches!(a.name(), "src" | "href"))
            );
            if let Some(text) = node.text() {
                for wrong in ["NaN", "None", "inf ", "Some("] {
                    assert!(!text.contains(wrong), "{wrong} in {text}");
                }
            }
        }
        assert!(!page.contains("NaN"));
    }

    #[test]
    fn the_whole_page() {
        let records = seven_methods();
        let map = map(&["inference", "retraining", "warm"], 188);
        let page = html(&records, Some(&map)).unwrap();
        assert_sound(&page);
        for text in [
            "MUTAG: which methods",
            "α = 0.50",
            "3 seeds",
            "Never reached the quality of retraining in any of 3 seeds",
            "floor: untrained encoder",
            "Accuracies stand further down",
            "How to read this",
            "Do not read speed",
            "before (θ₀)",
        ] {
            assert!(page.contains(text), "{text} is missing");
        }
        assert_eq!(page, html(&records, Some(&map)).unwrap());
    }

    #[test]
    fn names_are_escaped() {
        let mut evil = record("<img src=x>&", 1);
        evil.data = "<script>alert('1')</script>".into();
        evil.split = "\"><b>".into();
        evil.backend = "a\u{0}b".into();
        let mut map = map(&["</svg><i>"], 20);
        map.labels[3] = 40;
        let page = html(&[evil], Some(&map)).unwrap();
        assert_sound(&page);
        assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
        assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains("<i>"));
    }

    #[test]
    fn the_least_that_can_be_reported() {
        let mut alone = run("inference", 1, 2.8, 2.8, 0.0, 0);
        alone.target = None;
        alone.accuracy = NOTHING;
        alone.floors.size = NOTHING;
        alone.floors.majority = NOTHING;
        let page = html(&[alone.clone()], None).unwrap();
        assert_sound(&page);
        assert!(page.contains("No target") && page.contains("single class"));
        assert!(!page.contains("The paper's rule") && !page.contains(">never<"));
        alone.evaluations.clear();
        alone.risk.all = f64::NAN;
        alone.nce1_old = f64::INFINITY;
        assert_sound(&html(&[alone], None).unwrap());
    }

    #[test]
    fn one_trained_method_without_retraining() {
        let mut alone = record("warm", 7);
        alone.target = None;
        let page = html(&[alone], None).unwrap();
        assert_sound(&page);
        assert!(page.contains("retraining was not run"));
        assert!(!page.contains("class=\"target\""));
        assert!(page.contains("1 seed ·"));
    }

    #[test]
    fn what_cannot_be_reported_is_an_error() {
        assert_eq!(html(&[], None), Err(ReportError::Empty));
        let mut short = map(&["warm"], 10);
        short.is_new.pop();
        assert!(matches!(
            html(&[record("warm", 1)], Some(&short)),
            Err(ReportError::Map {
                found: 9,
                expected: 10,
                ..
            })
        ));
    }
}
