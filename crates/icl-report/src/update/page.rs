//! Document of an update.

use icl_core::ByOrigin;
use icl_train::inert_move;

use crate::chart::Palette;
use crate::course::{Course, sections};
use crate::document::{Block, Document};
use crate::error::{ReportError, check_schema};
use crate::inert::inert_sentence;
use crate::record::{HoldOutRule, KeptNeighbours, UPDATE_SCHEMA, UpdateRecord};
use crate::stop_reason::stop_reason;
use crate::summary::change::UpdateSummary;
use crate::task::{self, Compared};
use crate::text::number::{change, count, nats, percent, plural, seconds};
use crate::update::bought::bought;
use crate::update::guide::TERMS;
use crate::update::{chart, table, verdict};

/// Makes the document of an update: one encoder before and after.
///
/// It begins with the verdict in one sentence, a chart of the differences that it rests on and a table of the same
/// held-out samples; what it means for stored embeddings and what it cost follow, then folded sections. The same record
/// gives the same document.
///
/// # Errors
/// If the record is of another [`UPDATE_SCHEMA`].
pub fn update_document(record: &UpdateRecord) -> Result<Document, ReportError> {
    check_schema(1, record.schema, UPDATE_SCHEMA)?;
    let title = format!(
        "{} and {}: the encoder before and after",
        record.old_data, record.new_data
    );
    let facts = format!(
        "{} · {} old samples{}, {} new ones (α = {:.2}) · method: {} · {}",
        record.from,
        record.update.n_old,
        record
            .n_old_kept
            .map_or_else(String::new, |n| format!(" ({n} kept)")),
        record.update.n_new,
        record.update.alpha,
        record.method,
        record.settings.words(),
    );
    let summary = UpdateSummary::of(record);
    let mut sentences = verdict::sentences(&summary).into_iter();
    let headline = sentences.next().unwrap_or_default();
    let mut blocks = vec![Block::Headline(headline.into())];
    blocks.extend(bought(record).map(Block::text));
    let differences = chart::differences(record);
    let mut course = chart::course(record);
    let first = differences.or_else(|| course.take());
    blocks.extend(first.map(Block::Figure));
    blocks.push(Block::Table(table::before_and_after(record)));
    blocks.extend(task::blocks(record.task.as_ref(), Compared::BeforeAndAfter));
    blocks.extend(clipped(record).map(Block::text));
    blocks.push(Block::text(neighbours(record)));
    blocks.extend(recall(record).map(Block::text));
    blocks.push(Block::text(cost(record)));
    blocks.extend(stop_reason(record.training.stopped_by, &record.course).map(Block::text));
    let inert = inert_move(&record.update.support_moves);
    let inert = inert.map(|found| inert_sentence(&record.method, found));
    blocks.extend(inert.map(|sentence| Block::Warning(sentence.into())));
    let mut all: Vec<Block> = sentences.map(Block::text).collect();
    all.extend(held_out(record).map(Block::text));
    all.push(Block::Table(table::all_numbers(record)));
    all.push(Block::text(table::residual(&summary)));
    blocks.push(Block::Details("All numbers".into(), all));
    let figures = course.into_iter().chain(chart::parts(record));
    let figures: Vec<Block> = figures.map(Block::Figure).collect();
    if !figures.is_empty() {
        blocks.push(Block::Details("Exact risk over the update".into(), figures));
    }
    let course = Course::of(&record.method, record.method.clone(), &record.course);
    let course = course.with_rates(&record.update);
    blocks.extend(sections(&[course], &Palette::new([record.method.as_str()])));
    blocks.push(Block::guide(&TERMS));
    Ok(Document::new(title, facts, blocks).made_by(record.settings.made_by.words()))
}

/// Writes the risk over the held-out samples before and after; `None` without such samples.
fn held_out(record: &UpdateRecord) -> Option<String> {
    let (before, after) = (record.held_out_before?, record.update.held_out_risk?);
    let n = record.update.n_held_out?;
    let part = |name: &str, n: usize, of: fn(&ByOrigin<f64>) -> f64| {
        format!(
            "{} → {} nats on {} (standard error {})",
            nats(of(&before.mean)),
            nats(of(&after.mean)),
            plural(n, name),
            nats(of(&after.standard_error)),
        )
    };
    let before = match &record.hold_out {
        Some(HoldOutRule {
            share,
            share_before: Some(before),
            ..
        }) => match before >= share {
            true => "Neither has the encoder that came in.".to_owned(),
            false => format!(
                "The encoder that came in was trained with a share of {before} held out instead of {share}: it has seen some \
                 of the old ones, on which it looks better than it is."
            ),
        },
        _ => {
            "The encoder that came in may have: its file does not say which samples were held out."
                .to_owned()
        }
    };
    Some(format!(
        "Held-out risk, over samples that this update has not seen: {}, {}. {before}",
        part("old sample", n.old, |of| of.old),
        part("new sample", n.new, |of| of.new),
    ))
}

/// Writes the number of values that were clipped; `None` if none was.
fn clipped(record: &UpdateRecord) -> Option<String> {
    (record.n_clipped > 0).then(|| {
        format!(
            "{} of the data outside the range of the old encoder's own data, which goes from the least to the greatest and by \
             as much again below and above, {} clipped.",
            plural(record.n_clipped, "value"),
            if record.n_clipped == 1 { "was" } else { "were" },
        )
    })
}

fn neighbours(record: &UpdateRecord) -> String {
    match &record.neighbours_kept {
        Some(kept) => {
            let n_old = record.n_old_kept.unwrap_or(record.update.n_old);
            let n = KeptNeighbours::n_compared(n_old);
            let drawn = match n == n_old {
                true => String::new(),
                false => format!(", among {} that were drawn", count(n as f64)),
            };
            format!(
                "Nearest neighbours kept: {} of the {} nearest of each old sample{drawn}. Embeddings that have \
                 nothing in common would share {}.",
                percent(kept.share),
                kept.k,
                percent(kept.by_chance(n_old)),
            )
        }
        None => "Nearest neighbours kept: too few old samples to tell.".to_owned(),
    }
}

/// Writes the recall across versions; `None` where it was not measured.
fn recall(record: &UpdateRecord) -> Option<String> {
    let recall = record.update.cross_version_recall?;
    Some(format!(
        "Cross-version recall: for {} of the old samples, the new embedding finds the stored old one of the same sample \
         first.",
        percent(recall)
    ))
}

fn cost(record: &UpdateRecord) -> String {
    format!(
        "The update took {}, {} sample passes and {} s of training on this machine. All that it used, with the \
         evaluations that decide when it stops, is {} full passes. It moved the parameters by ‖Δθ‖/‖θ‖ = {}.",
        plural(record.training.epochs, "epoch"),
        count(record.course.sample_passes as f64),
        seconds(record.training.train_s),
        count(record.training.charged_passes),
        change(record.training.parameter_change),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_sound, row, text_of, update, verdict};
    use icl_core::HeldOutRisk;

    fn page(record: &UpdateRecord) -> String {
        let page = update_document(record).unwrap().html();
        assert_sound(&page);
        page
    }

    #[test]
    fn held_out_risk_and_charged_cost_are_reported() {
        let mean = ByOrigin {
            all: 2.0,
            old: 1.5,
            new: 2.5,
        };
        let risk = |shift: f64| HeldOutRisk {
            mean: mean.map(|of| of + shift),
            standard_error: mean.map(|of| of / 100.0),
        };
        let mut record = update(2.8, 2.25, 0.1);
        record.held_out_before = Some(risk(0.5));
        record.update.held_out_risk = Some(risk(0.0));
        record.update.n_held_out = Some(ByOrigin {
            all: 20,
            old: 12,
            new: 8,
        });
        record.training.charged_passes = 1234.0;
        let text = text_of(&page(&record));
        let cells = ["2.000", "1.500", "−0.500−25.0 %"];
        assert_eq!(row(&page(&record), "held-out risk, 12 old samples"), cells);
        record.verdict = Some(verdict(-0.1, 0.0));
        let cells = ["3.000", "2.500", "0.000[−0.001 to +0.001]"];
        assert_eq!(row(&page(&record), "held-out risk, 8 new samples"), cells);
        for words in [
            "2.000 → 1.500 nats on 12 old samples (standard error 0.015)",
            "3.000 → 2.500 nats on 8 new samples (standard error 0.025)",
            "is 1234 full passes",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }

    #[test]
    fn the_numbers_are_in_their_places() {
        let mut record = update(2.8, 2.25, 0.1);
        record.verdict = Some(verdict(-0.1, -0.2));
        let page = page(&record);
        for (name, cells) in [
            ("exact risk, all data", ["2.800", "2.250", "−0.550−19.6 %"]),
            ("exact risk, old data", ["2.700", "2.150", "−0.550−20.4 %"]),
            ("exact risk, new data", ["2.900", "2.350", "−0.550−19.0 %"]),
            // Theorem 1's parts: 2.1 + 0.6 before, 2.2 − 0.05 after.
            (
                "NCE-I under the old noise, LI,X (old data)",
                ["2.100", "2.200", "+0.100"],
            ),
            ("NCE-II, LII (old data)", ["0.600", "−0.050", "−0.650"]),
            (
                "α·LI,X, Theorem 2's bound (old data)",
                ["1.050", "1.100", "+0.050"],
            ),
            ("bias of inference, old data", ["0.100", "0.100", "0.000"]),
            (
                "bias of inference, new data",
                ["−2.800", "−2.250", "+0.550"],
            ),
            ("change ratio r (old data)", ["1.100", "1.100", "0.000"]),
        ] {
            assert_eq!(row(&page, name), cells, "{name}");
        }
        let text = text_of(&page);
        for words in [
            "OLD and NEW: the encoder before and after",
            "e.safetensors · 120 old samples, 80 new ones (α = 0.40) · method: warm · seed 3",
            "The updated encoder is better on old and on new data.",
            "83.5 %",
            "Cross-version recall: for 62.5 % of the old samples",
            "would share 8.4 %",
            "0.420",
            "20 epochs, 7520 sample passes and 0.42 s",
            "Share of the old data over the epochs",
            "How to read this page",
        ] {
            assert!(text.contains(words), "{words} is missing in {text}");
        }
        // The rate is fixed, the share of old data grows.
        assert!(!text.contains("Learning rates over the epochs"));
        assert_eq!(page, update_document(&record).unwrap().html());
    }

    #[test]
    fn the_terminal_and_markdown_say_the_same() {
        let mut record = update(2.8, 2.25, 0.1);
        record.verdict = Some(verdict(-0.1, -0.2));
        let document = update_document(&record).unwrap();
        let (terminal, markdown) = (document.terminal(80, true), document.markdown());
        let line = |text: &str, name: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.contains(name)).unwrap();
            let (_, cells) = line.split_once(name).unwrap();
            cells
                .replace('|', " ")
                .split_whitespace()
                .map(str::to_owned)
                .collect()
        };
        let expected = ["2.800", "2.250", "−0.550", "−19.6", "%"];
        assert_eq!(line(&terminal, "exact risk, all data"), expected);
        assert_eq!(line(&markdown, "exact risk, all data"), expected);
        assert!(terminal.contains("The updated encoder is better on old and on new data.\n"));
        // The table of all numbers is folded.
        assert!(
            document
                .terminal(80, false)
                .contains("--wide shows 1 table more.")
        );
    }

    #[test]
    fn the_first_screen_is_a_verdict_a_chart_and_a_table_of_four_columns() {
        let mut record = update(2.8, 2.25, 0.1);
        for verdict in [None, Some(verdict(-0.1, 0.0))] {
            record.verdict = verdict;
            let page = page(&record);
            let (before, _) = page.split_once("<details class=\"card\">").unwrap();
            assert_eq!(before.matches("class=\"headline\"").count(), 1);
            assert_eq!(before.matches("<svg class=\"chart\"").count(), 1);
            assert_eq!(before.matches("<table class=\"few\">").count(), 1);
            assert!(!before.contains("NCE-I<"), "theory is folded");
        }
    }

    #[test]
    fn names_are_escaped() {
        let mut evil = update(2.8, 2.25, 0.1);
        evil.old_data = "<script>alert('1')</script>".into();
        evil.new_data = "\"><b>".into();
        evil.from = "a\u{0}&b".into();
        evil.method = "<i>".into();
        evil.settings.backend = "</p>".into();
        let page = page(&evil);
        assert!(text_of(&page).contains("<script>alert('1')</script> and \"><b>"));
        assert!(!page.contains("<i>") && !page.contains("<b>"));
    }

    #[test]
    fn the_least_that_can_be_shown() {
        let mut least = update(2.8, 2.8, 0.0);
        least.course.evaluations.truncate(1);
        least.course.epoch_losses.clear();
        least.update.old_fractions.clear();
        least.training.epochs = 0;
        least.course.sample_passes = 0;
        least.training.train_s = 0.0;
        least.training.parameter_change = 0.0;
        least.neighbours_kept = None;
        least.update.cross_version_recall = None;
        let of_least = page(&least);
        let text = text_of(&of_least);
        assert!(text.contains("Nothing was trained"), "{text}");
        assert!(
            text.contains("too few old samples") && !text.contains("Cross-version recall: for")
        );
        assert!(!of_least.contains("class=\"chart\""));

        let mut lost = update(2.8, 2.25, 0.1);
        lost.after.all = f64::NAN;
        lost.after.change_ratio_old = f64::INFINITY;
        lost.course.evaluations[3].risk.new = f64::NAN;
        let page = page(&lost);
        assert!(text_of(&page).contains("not a finite number"));
        assert_eq!(row(&page, "exact risk, all data"), ["2.800", "–", "–"]);
        assert_eq!(row(&page, "change ratio r (old data)"), ["1.100", "–", "–"]);
    }

    #[test]
    fn an_inner_loop_that_does_nothing_is_reported() {
        let mut record = update(2.8, 2.25, 0.1);
        assert!(!page(&record).contains("does almost nothing"));
        record.update.support_moves = vec![0.0; 2];
        let text = text_of(&page(&record));
        let words = "The inner loop of warm does almost nothing: ‖θ′ − θ‖/‖θ‖ is 0 on average";
        assert!(text.contains(words), "{text}");
    }

    #[test]
    fn learned_rates_are_shown() {
        let mut record = update(2.8, 2.25, 0.1);
        record.update.learning_rates = vec![1e-3, 2e-3];
        record.update.support_learning_rates = vec![1e-2, 5e-3];
        let page = page(&record);
        assert!(page.contains("Learning rates over the epochs"));
        assert!(page.contains("learning rate of the support steps</text>"));
    }

    #[test]
    fn a_record_of_another_schema_is_an_error() {
        let mut later = update(2.8, 2.25, 0.1);
        later.schema = 7;
        let expected = format!("record 1 has schema 7, expected {UPDATE_SCHEMA}");
        assert_eq!(update_document(&later).unwrap_err().to_string(), expected);
    }

    #[test]
    fn many_old_samples_are_drawn_for_their_neighbours() {
        let mut record = update(2.8, 2.25, 0.1);
        assert!(!neighbours(&record).contains("drawn"));
        record.update.n_old = 70_000;
        let text = neighbours(&record);
        assert!(
            text.contains("of each old sample, among 10.0 k that were drawn."),
            "{text}"
        );
    }

    #[test]
    fn a_record_survives_its_file() {
        let mut record = update(2.8, 2.25, 0.1);
        // The parser of JSON may miss the last digit of a number; of those that are left it does not.
        record.course.evaluations.truncate(1);
        record.training.train_s = 0.5;
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
