//! Document of a stream.

use crate::document::{Block, Document};
use crate::error::ReportError;
use crate::record::StreamRecord;
use crate::stream::charts::{self, Series};
use crate::stream::check::check_stream;
use crate::stream::guide::TERMS;
use crate::stream::headline::{compared, headline, verdicts};
use crate::stream::labels;
use crate::stream::tables;
use crate::summary::stream::StreamSummary;
use crate::text::number::{count, plural};

/// Makes the document of a stream: one encoder, updated as experiences arrive, next to its controls.
///
/// It begins with the answer (what to use, what it saves, what it costs), a chart of the risk that was served and a
/// table of the experiences; folded sections follow with matrices, gaps, costs, changes of the encoder, forgetting and
/// decisions. Of more than 60 experiences, the cells of a matrix are drawn as means of squares, and tables show the
/// last 60. The same record gives the same document.
///
/// # Errors
/// If the record is of another [`STREAM_SCHEMA`](crate::STREAM_SCHEMA), has no experience, matrices that are not
/// `[T, T]`, lists that are not `[T]` (decisions `[T − 1]`), or a control twice.
pub fn stream_document(record: &StreamRecord) -> Result<Document, ReportError> {
    check_stream(record)?;
    let (summary, series) = (StreamSummary::of(record), Series::new(record));
    let n = record.names.len();
    let answer = std::iter::once(headline(record, &summary)).chain(verdicts(record));
    let answer = answer.collect::<Vec<_>>().join(" ");
    let mut blocks = vec![Block::Headline(answer.into())];
    blocks.extend(charts::served_risk(record, &summary, &series).map(Block::Figure));
    blocks.push(Block::Table(tables::overview(record, &summary, &series)));
    let folded = |title: &str, content: Vec<Block>| Block::Details(title.into(), content);
    blocks.push(folded(
        "Every encoder on every experience",
        vec![Block::Figure(charts::matrices(record))],
    ));
    let costs = charts::gap_and_cost(record, &summary, &series).map(Block::Figure);
    let ends = [
        Block::Table(tables::at_the_end(&summary, &series)),
        Block::text(
            "Means are over the held-out samples of all experiences so far. The passes are those of the updates; the \
             training on the first experience, which all have alike, is not among them.",
        ),
    ];
    let title = match record.controls.is_empty() {
        true => "Cost",
        false => "The method next to its controls",
    };
    blocks.push(folded(title, costs.into_iter().chain(ends).collect()));
    let changes = charts::encoder(record).map(|figure| vec![Block::Figure(figure)]);
    blocks.extend(changes.map(|figure| folded("Changes of the encoder", figure)));
    blocks.extend(labels::of_updates(record).map(|of| folded("Accuracies on labels", of)));
    let forgotten = summary.forgotten.map(|change| {
        let (method, compared) = (&record.method, compared(change));
        Block::text(format!(
            "On earlier experiences the risk of {method} is {compared} right after each."
        ))
    });
    let measures = [
        Block::Table(tables::measures(record)),
        Block::text(
            "R[i][j] is the measure of the encoder after experience i on held-out samples of experience j. Formulas are \
             for an accuracy, of which higher is better; for a risk, differences are turned round. Levels are numbers, \
             differences are in words.",
        ),
    ];
    blocks.push(folded(
        "Forgetting and transfer",
        forgotten.into_iter().chain(measures).collect(),
    ));
    let mut tables = vec![("Experiences", tables::experiences(record))];
    if !record.decisions.is_empty() {
        tables.push(("Decisions on updates", tables::decisions(record)));
    }
    for (title, table) in tables {
        let note = left_out(title, n).map(Block::text);
        let inner = note.into_iter().chain([Block::Table(table)]);
        blocks.push(folded(title, inner.collect()));
    }
    blocks.push(folded("Settings", vec![Block::text(settings(record))]));
    blocks.push(Block::guide(&TERMS));
    let title = format!("{}: {} over a stream", record.data, record.method);
    let document = Document::new(title, facts(record), blocks);
    Ok(document.made_by(record.settings.made_by.words()))
}

/// Says that a table shows the last experiences alone; `None` if it shows all.
fn left_out(title: &str, n: usize) -> Option<String> {
    (tables::first_shown(n) > 0).then(|| {
        format!(
            "{title}: the last {} of {n} experiences; the record has all.",
            tables::MOST_ROWS
        )
    })
}

fn facts(record: &StreamRecord) -> String {
    let split = record
        .split
        .iter()
        .map(|split| format!(" · split: {split}"));
    format!(
        "{}{} · old samples: {} · updates: {}",
        plural(record.names.len(), "experience"),
        split.collect::<String>(),
        record.keep,
        record.policy.when
    )
}

/// Writes the limits of the updates, and the settings.
fn settings(record: &StreamRecord) -> String {
    let budget = |passes: Option<f64>, of: &str| {
        passes.map(|passes| format!("at most {} charged passes {of}", count(passes)))
    };
    let pending = record.policy.at_latest;
    let parts = [
        pending.map(|n| format!("at most {} pending", plural(n, "experience"))),
        budget(record.policy.budget_per_update, "an update"),
        budget(record.policy.budget_total, "in all"),
        Some(record.settings.words()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_sound, row, stream, text_of, verdict};

    fn page(record: &StreamRecord) -> String {
        let page = stream_document(record).unwrap().html();
        assert_sound(&page);
        page
    }

    #[test]
    fn every_part_is_in_its_place() {
        let record = stream(5);
        let page = page(&record);
        let places = [
            "Use retraining: after 5 experiences warm is worse by",
            "served risk, nats</text>",
            "risk, nats: row = encoder",
            "accuracy: row = encoder",
            "risk above that of the control, nats</text>",
            "charged passes so far</text>",
            "norm of the trained parameters</text>",
            "effective rank of the embeddings</text>",
            "cross-version recall</text>",
            "Forgetting and transfer</h2>",
            "Experiences</h2>",
            "Decisions on updates</h2>",
            "Settings</h2>",
            "How to read this page",
        ]
        .map(|words| page.find(words).unwrap_or_else(|| panic!("no {words}")));
        assert!(places.is_sorted(), "{places:?}");
        let text = text_of(&page);
        for words in [
            "TOYS: warm over a stream",
            "5 experiences · split: class · old samples: reservoir:100 · updates: every:2",
            "at most 4000 charged passes an update · seed 3 · backend: flex",
            "On earlier experiences the risk of warm is worse by 0.010 nats than right after each.",
            "mean over j < T of R[j][j] − R[T][j]",
            "2 experiences are pending, 2 are a reason",
        ] {
            assert!(text.contains(words), "{words} is missing in {text}");
        }
        assert_eq!(page, stream_document(&record).unwrap().html());
    }

    /// Cells of the tables, by plain loops over the record.
    #[test]
    fn tables_have_the_numbers_of_the_record() {
        let record = stream(5);
        let page = page(&record);
        let control = &record.controls[0];
        let (mut own, mut other, mut right, mut passes) = (0.0, 0.0, 0.0, 0.0);
        for j in 0..5 {
            own += record.risk[4][j].unwrap() / 5.0;
            other += control.risk[4][j].unwrap() / 5.0;
            right += control.accuracy.as_ref().unwrap()[4][j].unwrap() / 5.0;
            passes += if j > 0 {
                control.charged_passes[j]
            } else {
                0.0
            };
        }
        let expected = [
            format!("{other:.3}"),
            format!("worse by {:.3} nats", own - other),
            format!("{right:.3}"),
            format!("{:.1} k", passes / 1000.0),
        ];
        assert_eq!(row(&page, "retraining"), expected);
        assert_eq!(
            row(&page, "warm")[..2],
            [format!("{own:.3}"), "the method".into()]
        );
        let third = row(&page, "3. day 3");
        let experience = &record.experiences[2];
        assert_eq!(third[3], "updated");
        assert_eq!(third[6], format!("{:.3}", record.risk[1][2].unwrap()));
        assert_eq!(third[7], format!("{:.3}", record.risk[2][2].unwrap()));
        assert_eq!(third[10], format!("{}", experience.training.charged_passes));
        assert_eq!(row(&page, "1. day 1")[3], "first training");
        assert_eq!(row(&page, "4. day 4")[3], "none");
    }

    #[test]
    fn verdicts_are_on_the_page() {
        let mut record = stream(5);
        record.experiences[2].verdict = Some(verdict(0.0, -0.1));
        record.experiences[3].verdict = Some(verdict(0.1, -0.1));
        record.experiences[3].is_rejected = true;
        let page = page(&record);
        let words = "Held-out verdict on 2 updates: new data 2 better, 0 worse; old data 0 better, 1 worse; 1 rejected.";
        assert!(text_of(&page).contains(words));
        assert_eq!(
            row(&page, "3. day 3")[17..19],
            ["no clear difference", "better"]
        );
        let fourth = row(&page, "4. day 4");
        assert_eq!(
            (&fourth[3][..], &fourth[17..19]),
            ("rejected", &["worse".into(), "better".into()][..])
        );
        assert_eq!(row(&page, "2. day 2")[17..19], ["–", "–"]);
    }

    #[test]
    fn one_experience_is_a_page() {
        let record = stream(1);
        let page = page(&record);
        assert!(text_of(&page).contains("nothing to compare it with yet"));
        assert!(!page.contains("Decisions on updates") && !page.contains("Served risk over"));
        assert_eq!(row(&page, "forgetting_first")[1..3], ["–", "–"]);
    }

    #[test]
    fn without_controls_classes_and_cells() {
        let mut record = stream(5);
        record.controls.clear();
        record.accuracy = None;
        record.untrained_accuracy = None;
        record.measures.iter_mut().for_each(|of| of.accuracy = None);
        record.risk[4][0] = None;
        record.risk[3][3] = Some(f64::NAN);
        for experience in &mut record.experiences {
            experience.effective_rank = None;
            experience.neighbours_kept = None;
            experience.neighbours_kept_of_first = None;
            experience.cross_version_recall = None;
        }
        let page = page(&record);
        assert!(page.contains("<h2>Cost</h2>") && !page.contains("next to its controls"));
        assert!(!page.contains("above that of the control") && !page.contains("accuracy: row"));
        assert!(!page.contains("effective rank of the embeddings</text>"));
        // 14 cells are measured from the start: up to and right of the diagonal 19, less two.
        let matrix = page.split_once("risk, nats: row").unwrap().0;
        let (_, matrix) = matrix.rsplit_once("<svg").unwrap();
        let mut n = 0;
        for row in &record.risk {
            for cell in row.iter().flatten() {
                n += usize::from(cell.is_finite());
            }
        }
        assert_eq!(matrix.matches("class=\"small\"").count(), n);
        assert_eq!(n, 17);
    }

    #[test]
    fn long_streams_are_folded_and_bounded() {
        let page = page(&stream(40));
        for title in ["Experiences", "Decisions on updates"] {
            assert!(page.contains(&format!("<summary><h2>{title}</h2></summary>")));
        }
        assert!(!page.contains("the record has all"));
        let long = super::tests::page(&stream(400));
        assert!(long.contains("Experiences: the last 60 of 400 experiences; the record has all."));
        assert!(long.len() < 800_000, "{} bytes", long.len());
    }

    #[test]
    fn the_terminal_and_markdown_say_the_same() {
        let document = stream_document(&stream(5)).unwrap();
        let (terminal, markdown) = (document.terminal(80, false), document.markdown());
        for words in ["after 5 experiences", "mean: retraining", "day 4"] {
            assert!(
                terminal.contains(words) && markdown.contains(words),
                "{words}"
            );
        }
        assert!(markdown.contains("worse by 0.048 nats |"));
    }

    /// With the empty line and the name of the folder that follow.
    #[test]
    fn the_end_of_a_stream_fits_on_a_screen() {
        for (n, has_verdicts) in [2, 5, 40, 400].map(|n| [(n, false), (n, true)]).concat() {
            let mut record = stream(n);
            if has_verdicts {
                for experience in &mut record.experiences[1..] {
                    experience.verdict = Some(verdict(0.1, 0.1));
                    experience.is_rejected = true;
                }
            }
            let terminal = stream_document(&record).unwrap().terminal(80, false);
            assert!(terminal.lines().count() + 2 <= 24, "{n}: {terminal}");
            assert!(
                terminal.lines().all(|line| line.chars().count() <= 80),
                "{terminal}"
            );
            let most = if has_verdicts { 3 } else { 4 };
            assert_eq!(terminal.contains("more …"), n > most, "{terminal}");
        }
    }

    #[test]
    fn the_first_screen_is_an_answer_a_chart_and_a_table_of_four_columns() {
        let page = page(&stream(5));
        let (before, _) = page.split_once("<details class=\"card\">").unwrap();
        assert_eq!(before.matches("class=\"headline\"").count(), 1);
        assert_eq!(before.matches("<svg class=\"chart\"").count(), 1);
        assert_eq!(before.matches("<table class=\"few\">").count(), 1);
        assert_eq!(row(&page, "risk, nats").len(), 3);
    }

    #[test]
    fn names_are_escaped() {
        let mut evil = stream(5);
        evil.data = "<script>alert('1')</script>".into();
        evil.method = "</title>".into();
        evil.experiences[1].name = "\u{0}\"><b>".into();
        evil.decisions[0].reason = "<i>".into();
        evil.controls[0].method = "</svg>".into();
        evil.keep = "&".into();
        let page = page(&evil);
        assert!(text_of(&page).contains("<script>alert('1')</script>: </title> over a stream"));
        assert!(!page.contains("<i>") && !page.contains("<b>"));
    }

    #[test]
    fn a_record_survives_its_file() {
        let record = stream(5);
        let text = serde_json::to_string(&record).unwrap();
        let read: StreamRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(
            stream_document(&read).unwrap(),
            stream_document(&record).unwrap()
        );
    }
}
