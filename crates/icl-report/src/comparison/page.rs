//! Document of a comparison.

use crate::chart::Palette;
use crate::comparison::answer::answer;
use crate::comparison::goal::{distance, goal};
use crate::comparison::guide::{LOWEST_LOSS, TERMS};
use crate::comparison::headline::headline;
use crate::comparison::overview::overview;
use crate::comparison::within_budget::within_budget;
use crate::comparison::{budgets, charts, cost_chart, levels, risk_chart, tables};
use crate::course::{Course, sections};
use crate::document::{Block, Document};
use crate::error::ReportError;
use crate::inert::inert_sentence;
use crate::record::{EmbeddingMap, RunRecord};
use crate::summary::choice::{Choice, same_runs};
use crate::summary::protocols::{NO_PROTOCOL, ONE_CLASS};
use crate::summary::{Comparison, MethodSummary};
use crate::text::number::{MISSING, plural, rounded};

/// Makes the document of a comparison: which method to use, what it saves and what it costs.
///
/// It begins with the answer, a chart of each method's risk next to that of retraining, and a table of the same
/// samples; folded sections follow with all numbers, speed-ups, curves, accuracies, learning rates and maps. All
/// numbers are those of `comparison`, which is [`Comparison::of`] the `records`; curves and dots are drawn from these.
/// The same records give the same document.
///
/// # Errors
/// If a part of the map does not have one entry per label.
pub fn comparison_document(
    comparison: &Comparison,
    records: &[RunRecord],
    map: Option<&EmbeddingMap>,
) -> Result<Document, ReportError> {
    map.map_or(Ok(()), EmbeddingMap::check)?;
    let methods = &comparison.methods;
    let names = || methods.iter().map(|of| of.method.as_str());
    let palette = Palette::with_same(names(), same_runs(records));
    let legend = palette.legend(names());
    let verdict = headline(&comparison.verdict, methods);
    let choice = Choice::of(records);
    let is_held_out = choice.as_ref().is_some_and(|of| of.is_held_out);
    let mut blocks = match (within_budget(records), &choice) {
        (Some([answer, others]), _) => vec![Block::Headline(answer.into()), Block::text(others)],
        (None, Some(choice)) => vec![Block::Headline(answer(choice).into())],
        (None, None) => vec![Block::Headline(verdict.clone().into())],
    };
    let choice = choice.filter(|of| of.methods.len() > 1);
    blocks.extend(choice.map(|of| Block::Figure(risk_chart::figure(&of, &palette))));
    blocks.extend([
        Block::heading("The numbers"),
        Block::Table(overview(comparison, is_held_out, &palette)),
    ]);
    if comparison.seeds.len() > 1 {
        blocks.push(Block::text(
            "Medians over the seeds, [least–greatest] where seeds differ.",
        ));
    }
    if let Some(table) = budgets::budgets(comparison, &palette) {
        blocks.extend([
            Block::heading("Quality at each budget"),
            Block::text(budgets::WORDS),
            Block::Table(table),
        ]);
    }
    blocks.extend(methods.iter().filter_map(inert));
    let all = tables::comparison(methods, &palette);
    blocks.push(folded("All numbers", vec![Block::Table(all)]));
    blocks.push(speed_up(comparison, verdict, &palette));
    let target = comparison.target.as_ref().and_then(|of| of.all.median);
    let risks = [
        charts::risk_by_origin(records, &palette, &legend),
        charts::risk(records, target, &palette, &legend),
    ];
    blocks.push(folded(
        "Exact risk over the training",
        risks.map(Block::Figure).into(),
    ));
    blocks.push(folded(
        "Exact risk on old data in two parts",
        vec![Block::Figure(charts::drift(records, &palette, &legend))],
    ));
    blocks.extend(sections(&courses(records), &palette));
    let accuracies = accuracies(comparison, records, &palette);
    blocks.push(folded("Accuracies and their floors", accuracies));
    let noise = tables::noise(methods, &palette);
    blocks.push(folded(
        "Bias and change of the noise at the end",
        vec![Block::Table(noise)],
    ));
    blocks.push(folded(
        "Where the time went",
        vec![
            Block::text(
                "Views and collation are made by a second thread during the steps, so their seconds may \
                 overlap with the others.",
            ),
            Block::Table(tables::times(methods, &palette)),
        ],
    ));
    let map = map.map(|map| vec![Block::Figure(charts::map(map))]);
    blocks.extend(map.map(|map| folded("Maps of the embeddings", map)));
    blocks.extend(tables::lowest_loss(methods, &palette).map(|table| {
        let content = vec![Block::Warning(LOWEST_LOSS.into()), Block::Table(table)];
        folded(
            "The paper's rule: epoch of the lowest training loss",
            content,
        )
    }));
    blocks.push(Block::guide(&TERMS));
    let title = format!("{}: which method to use?", comparison.data);
    let document = Document::new(title, facts(comparison), blocks);
    let made_by = records.first().and_then(|first| first.made_by.words());
    Ok(document.made_by(made_by))
}

/// Makes the section on how soon methods reach the quality of retraining.
fn speed_up(comparison: &Comparison, verdict: String, palette: &Palette) -> Block {
    let mut content = vec![
        Block::text(verdict),
        Block::Figure(cost_chart::figure(&comparison.methods, palette)),
        Block::text(goal(comparison.target.as_ref())),
    ];
    let distances = comparison.distance.iter();
    content.extend(distances.map(|of| Block::text(distance(of))));
    if let Some(table) = levels::levels(comparison, palette) {
        content.extend([Block::text(levels::WORDS), Block::Table(table)]);
    }
    folded("How soon the quality of retraining is reached", content)
}

fn folded(title: &str, content: Vec<Block>) -> Block {
    Block::Details(title.into(), content)
}

/// Makes the content of the section on accuracies.
fn accuracies(comparison: &Comparison, records: &[RunRecord], palette: &Palette) -> Vec<Block> {
    let Some(first) = comparison.protocols.first() else {
        return vec![Block::text(NO_PROTOCOL)];
    };
    let figure = charts::accuracy(records, &comparison.methods, palette, first);
    let table = tables::accuracies(comparison, palette);
    let mut blocks = vec![Block::Figure(figure), Block::Table(table)];
    if comparison.protocols.iter().any(|of| of.lacks_accuracies) {
        blocks.push(Block::text(format!("{MISSING}: {ONE_CLASS}")));
    }
    blocks
}

fn facts(of: &Comparison) -> String {
    let whole = |x: f64| rounded(x, 0);
    format!(
        "{} old samples, {} new ones (α = {}) · split: {} · {} · backend: {}",
        tables::extent(of.n_old, whole),
        tables::extent(of.n_new, whole),
        tables::extent(of.alpha, |x| rounded(x, 2)),
        of.split,
        plural(of.seeds.len(), "seed"),
        of.backend,
    )
}

/// Warns of a method whose inner loops did nothing in any of the seeds.
fn inert(of: &MethodSummary) -> Option<Block> {
    let sentence = inert_sentence(&of.method, of.inert_move?);
    Some(Block::Warning(sentence.into()))
}

fn courses(records: &[RunRecord]) -> Vec<Course<'_>> {
    records.iter().map(course).collect()
}

fn course(record: &RunRecord) -> Course<'_> {
    let label = format!("{}, seed {}", record.method, record.seed);
    Course::of(&record.method, label, &record.course).with_rates(&record.update)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{
        assert_sound, comparison as seven_methods, few_labels, held_out, map, record, row, run,
        text_of, twenty_methods,
    };
    use crate::record::AccuracyByOrigin;
    use crate::text::wrap::width;
    use serde_json::json;

    const NOTHING: AccuracyByOrigin = AccuracyByOrigin {
        all: None,
        old: None,
        new: None,
    };

    fn document(
        records: &[RunRecord],
        map: Option<&EmbeddingMap>,
    ) -> Result<Document, ReportError> {
        comparison_document(&Comparison::of(records)?, records, map)
    }

    fn page(records: &[RunRecord], map: Option<&EmbeddingMap>) -> String {
        let page = document(records, map).unwrap().html();
        assert_sound(&page);
        page
    }

    #[test]
    fn the_whole_page() {
        let records = seven_methods();
        let map = map(&["inference", "retraining", "warm"], 188);
        let page = page(&records, Some(&map));
        let text = text_of(&page);
        for words in [
            "MUTAG: which method to use?",
            "94 old samples, 94 new ones (α = 0.50) · split: random · 3 seeds · backend: flex",
            "Use warm: it does not differ clearly from retraining on old and new data (3 seeds). It saves 1.5×",
            "warm-sub reaches the quality of retraining in all 3 seeds",
            "on new data (medians over 3 seeds",
            "floor: untrained encoder",
            "linear probe",
            "k nearest neighbours",
            "How to read this page",
            "Do not read speed",
            "before (θ₀)",
        ] {
            assert!(text.contains(words), "{words} is missing in {text}");
        }
        assert!(!text.contains("Learning rates over the epochs"));
        assert_eq!(row(&page, "retraining").len(), 3);
        assert_eq!(row(&page, "retraining")[2], "22.6 k1.26 s");
        assert_eq!(page, super::tests::page(&records, Some(&map)));
    }

    /// Speed-ups and risks by plain loops over the records, in the comparison and on the page.
    #[test]
    fn the_comparison_has_the_figures_of_the_page() {
        let records = seven_methods();
        let (mut ratios, mut risks) = (Vec::new(), Vec::new());
        for own in records.iter().filter(|of| of.method == "warm-sub") {
            for other in &records {
                if other.method == "retraining" && other.seed == own.seed {
                    ratios.push(other.charged_to_target.unwrap() / own.charged_to_target.unwrap());
                }
            }
            risks.push(own.risk.new);
        }
        ratios.sort_by(f64::total_cmp);
        risks.sort_by(f64::total_cmp);
        let comparison = serde_json::to_value(Comparison::of(&records).unwrap()).unwrap();
        let of = &comparison["methods"][3];
        assert_eq!(of["method"], "warm-sub");
        let speed_up = &of["speed_up_in_passes"];
        let ends = ["least", "median", "greatest"].map(|of| speed_up[of]["ratio"].as_f64());
        assert_eq!(ends.map(Option::unwrap), ratios[..]);
        let risk =
            json!({"n": 3, "n_never": 0, "median": risks[1], "min": risks[0], "max": risks[2]});
        assert_eq!(of["quantities"]["risk.new"], risk);
        let verdict = json!({"kind": "sooner", "method": "warm-sub", "speed_up": ratios[1]});
        assert_eq!(comparison["verdict"], verdict);
        let page = page(&records, None);
        let words = format!(
            "charged passes, {:.1}× fewer than retraining (median over 3 seeds, {:.1}×–{:.1}×)",
            ratios[1], ratios[0], ratios[2]
        );
        assert!(text_of(&page).contains(&words), "{words}");
        let range = format!(
            "{:.3}<small>[{:.3}–{:.3}]</small>",
            risks[1], risks[0], risks[2]
        );
        assert!(page.contains(&range), "{range}");
    }

    #[test]
    fn the_first_screen_of_twenty_methods_is_an_answer_a_chart_and_a_table_of_four_columns() {
        let records = twenty_methods();
        let page = page(&records, None);
        let (before, _) = page.split_once("<details class=\"card\">").unwrap();
        assert_eq!(before.matches("class=\"headline\"").count(), 1);
        assert_eq!(before.matches("<svg class=\"chart\"").count(), 1);
        assert_eq!(row(&page, "method").len(), 3);
        assert_eq!(before.matches("<table ").count(), 1);
        // The facts, the answer and the sentence on medians.
        let n_paragraphs = before.matches("<p>").count() + before.matches("<p ").count();
        assert_eq!(n_paragraphs, 3);
        let order = ["class=\"headline\"", "<svg class=\"chart\"", "<table "];
        assert!(order.map(|mark| before.find(mark)).is_sorted());
        let text = text_of(&page);
        for words in [
            "Learning rates over the epochs",
            "learning rate of the support steps",
            "Share of the old data over the epochs",
            "11 ablations and controls",
            "Distance of the old encoder from the quality of retraining: on old data it lies",
        ] {
            assert!(text.contains(words), "{words} is missing");
        }
        assert_eq!(page.matches("<script>").count(), 1);
    }

    #[test]
    fn the_terminal_shows_all_methods_in_its_width() {
        let mut records = twenty_methods();
        for record in records.iter_mut().filter(|of| of.method == "warm") {
            record.method =
                "start=trained,sampling=share:0.2,loss=corrected,optimizer=plain,rate=cosine"
                    .into();
        }
        let document = document(&records, None).unwrap();
        for columns in [80, 100, 120] {
            for wide in [false, true] {
                let text = document.terminal(columns, wide);
                let widest = text.lines().map(width).max().unwrap();
                assert!(widest <= columns, "{widest} of {columns}:\n{text}");
                for method in icl_train::methods().iter().filter(|of| of.name != "warm") {
                    assert!(
                        text.contains(&method.name),
                        "{} is missing in\n{text}",
                        method.name
                    );
                }
                assert_eq!(text.contains("--wide"), !wide, "{text}");
                assert!(text.contains("floor: majority"), "{text}");
                assert_eq!(text.contains("All numbers:"), wide);
            }
        }
        let text = document.terminal(120, false);
        let header: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("method "))
            .collect();
        assert_eq!(header.len(), 1, "{text}");
    }

    #[test]
    fn the_table_of_a_first_run_is_one_table_of_80_columns() {
        let mut records = Vec::new();
        for seed in 1..=3 {
            let x = 0.1 * seed as f64;
            for method in ["inference", "retraining", "warm", "fine-tuning", "icl"] {
                let mut record = few_labels(held_out(record(method, seed), [x, 1.0 + x]), x);
                record.training.charged_passes = 323_400.0 + 17_800.0 * x;
                record.update.cross_version_recall = Some(x);
                records.push(record);
            }
        }
        let document = document(&records, None).unwrap();
        let text = document.terminal(80, false);
        let headings = text.lines().filter(|line| line.starts_with("method "));
        assert_eq!(headings.count(), 1, "{text}");
        assert!(text.contains("0.200 / 1.200") && text.contains("passes, time"));
        assert!(text.contains("Use icl: it does not differ clearly from retraining on held-out"));
    }

    #[test]
    fn markdown_has_the_same_order() {
        let markdown = document(&twenty_methods(), None).unwrap().markdown();
        let places = [
            "**Use warm",
            "## The numbers",
            "## Accuracies and their floors",
            "## How to read",
        ]
        .map(|text| markdown.find(text).unwrap());
        assert!(places.is_sorted(), "{places:?}");
        assert!(!markdown.contains("<svg") && !markdown.contains("Maps of the embeddings"));
    }

    #[test]
    fn names_are_escaped() {
        let mut evil = record("<img src=x>&", 1);
        evil.data = "<script>alert('1')</script>".into();
        evil.split = "\"><b>".into();
        evil.backend = "a\u{0}b".into();
        let mut map = map(&["</svg><i>"], 20);
        map.labels[3] = 40;
        let page = page(&[evil], Some(&map));
        assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"));
        assert!(!page.contains("<img") && !page.contains("<b>") && !page.contains("<i>"));
    }

    #[test]
    fn the_least_that_can_be_reported() {
        let mut alone = run("inference", 1, 2.8, 2.8, 0.0, 0);
        alone.target = None;
        let measured = alone.added_protocols.values_mut().next().unwrap();
        measured.accuracy = NOTHING;
        measured.floors.size = NOTHING;
        measured.floors.majority = NOTHING;
        let of_inference = page(&[alone.clone()], None);
        assert!(of_inference.contains("No target") && of_inference.contains("single class"));
        assert!(!of_inference.contains("The paper's rule") && !of_inference.contains(">never<"));
        alone.course.evaluations.clear();
        alone.risk.all = f64::NAN;
        alone.nce1_old = f64::INFINITY;
        alone.linear_probe = None;
        alone.knn = None;
        let page = page(&[alone], None);
        assert!(!page.contains("linear probe"));
    }

    #[test]
    fn a_record_shows_the_protocols_that_it_holds() {
        let mut fast = record("warm", 1);
        fast.added_protocols.clear();
        let of_fast = page(&[fast.clone()], None);
        assert!(of_fast.contains("Accuracy by a linear probe"));
        assert!(of_fast.contains("k nearest neighbours"));
        assert!(!of_fast.contains("support vector machine") && !of_fast.contains("single class"));
        (fast.linear_probe, fast.knn) = (None, None);
        let of_none = page(&[fast], None);
        assert!(of_none.contains("No accuracy was measured"));
        assert!(!of_none.contains("Accuracy by") && !of_none.contains("floor: majority"));
    }

    #[test]
    fn an_inner_loop_that_does_nothing_is_reported() {
        let mut record = record("icl-published", 1);
        record.update.support_moves = vec![3e-6; 40];
        let text = text_of(&page(&[record.clone()], None));
        let words = "The inner loop of icl-published does almost nothing: ‖θ′ − θ‖/‖θ‖ is 3.0e-6";
        assert!(text.contains(words), "{text}");
        record.update.support_moves = vec![3e-2; 40];
        assert!(!page(&[record], None).contains("does almost nothing"));
    }

    #[test]
    fn one_trained_method_without_retraining() {
        let mut alone = record("warm", 7);
        alone.target = None;
        let page = page(&[alone], None);
        assert!(page.contains("Retraining was not run"));
        assert!(!page.contains("class=\"target\""));
        assert!(page.contains("1 seed ·"));
    }

    #[test]
    fn what_cannot_be_reported_is_an_error() {
        let error = document(&[], None).unwrap_err();
        assert_eq!(error.to_string(), "there are no records to report");
        let mut short = map(&["warm"], 10);
        short.is_new.pop();
        let error = document(&[record("warm", 1)], Some(&short)).unwrap_err();
        let expected = "the map has 9 flags of new samples for 10 labels";
        assert_eq!(error.to_string(), expected);
    }
}
