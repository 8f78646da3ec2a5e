//! Page of an experiment on the number of negatives.

use icl_core::negatives::{Optimum, course, effectiveness_by_k, separation};
use icl_report::chart::{AxisScale, Figure, Line, LineChart, Palette};
use icl_report::document::{Block, Column, Document, Row, Table, TableCell};
use icl_report::text::number::{change, count, plural, rounded, with_sign};

use crate::pages::ans::experiment::AnsExperiment;
use crate::pages::ans::record::{AnsMeasures, AnsRecord};
use crate::pages::ans::row::{AnsCourse, AnsRow};
use crate::pages::ans::verdicts::{Difference, MEASURES, Measure, Runs, mean_and_deviation};
use crate::pages::paper::Provenance;

/// Records of an experiment, and the origin of the page.
#[derive(Debug, Clone, Copy)]
pub struct ExperimentReproduction<'a> {
    /// Experiment.
    pub target: AnsExperiment,
    /// Records; those of other experiments are left out.
    pub records: &'a [AnsRecord],
    /// Origin of the numbers.
    pub provenance: &'a Provenance,
}

/// Makes the document of an experiment on the number of negatives: the answer, the measures over K, all rows, and the
/// comparisons with the control of equal compute.
///
/// The same records give the same document.
pub fn experiment_document(of: &ExperimentReproduction<'_>) -> Document {
    let own = of
        .records
        .iter()
        .filter(|record| record.target == of.target);
    let records: Vec<AnsRecord> = own.cloned().collect();
    let runs = Runs { records: &records };
    let Some(first) = records.first() else {
        let text = Block::text("No row has run.");
        return Document::new(of.target.title(), of.provenance.summary(), vec![text]);
    };
    let epochs = first.settings.epochs;
    let verdicts = verdicts(runs, first);
    let headline = verdicts.first().cloned().unwrap_or_default();
    let mut blocks = vec![Block::Headline(headline.into())];
    blocks.extend(figure(runs, epochs).map(Block::Figure));
    blocks.extend(verdicts.into_iter().skip(1).map(Block::text));
    blocks.push(Block::heading("Rows"));
    blocks.push(Block::Table(table(runs, epochs)));
    blocks.push(Block::text(
        "Mean and standard deviation over the seeds. HR and nDCG are of the first ten candidates (HR of the first five for \
         texts), among all candidates that are not positives of the query; the last two columns are the test among 100 \
         candidates that are drawn for each query, which may order rows otherwise (Krichene and Rendle, 2020).",
    ));
    blocks.extend(how(of, first));
    Document::new(of.target.title(), of.provenance.summary(), blocks)
}

/// Says what the records say about the claims.
fn verdicts(runs: Runs<'_>, first: &AnsRecord) -> Vec<String> {
    let settings = &first.settings;
    let mut sentences = Vec::new();
    let best = MEASURES.map(|measure| (measure, runs.best_numbers(measure, settings.epochs)));
    let has_spread = runs.records.iter().any(|record| record.seed != first.seed);
    let clauses: Vec<String> = best
        .iter()
        .filter_map(|(measure, best)| {
            let (best, as_good) = best.as_ref()?;
            let others: Vec<String> = as_good
                .iter()
                .filter(|k| *k != best)
                .map(f64::to_string)
                .collect();
            let others = match (others.is_empty(), has_spread) {
                (_, false) => "one seed, which says little".to_owned(),
                (true, true) => "all others are clearly worse".to_owned(),
                (false, true) => format!("{} are not clearly worse", others.join(", ")),
            };
            Some(format!(
                "by {} {best} negatives are best ({others})",
                measure.name
            ))
        })
        .collect();
    if let Some(ans) = comparison_of_courses(runs, settings.peak, settings.epochs) {
        sentences.push(ans);
    }
    if !clauses.is_empty() {
        sentences.push(format!("Of the fixed numbers, {}.", clauses.join("; ")));
    }
    sentences.extend(prediction(runs, settings.epochs));
    let control = AnsRow {
        course: AnsCourse::Fixed,
        peak: (1.0 + settings.peak) / 2.0,
        epochs: settings.epochs,
    };
    let rows = runs.rows();
    let others = rows
        .iter()
        .filter(|row| !matches!(row.course, AnsCourse::Fixed | AnsCourse::Popularity));
    for row in others {
        let of = MEASURES.map(|measure| (measure, runs.difference(row, &control, measure)));
        let words: Vec<String> = of
            .iter()
            .filter_map(|(m, d)| Some(words(*m, d.as_ref()?)))
            .collect();
        if !words.is_empty() {
            let scored = |row: &AnsRow| {
                count(mean_and_deviation(&runs.values(row, |of| Some(of.n_scored))).0)
            };
            sentences.push(format!(
                "{}, {} scored negatives, against K = {}, {}: {}.",
                row.title(settings.epochs),
                scored(row),
                control.peak,
                scored(&control),
                words.join("; ")
            ));
        }
    }
    sentences
}

/// Says whether ANS is better than the fixed number with as many scored negatives.
fn comparison_of_courses(runs: Runs<'_>, peak: f64, epochs: usize) -> Option<String> {
    let row = |course, peak| AnsRow {
        course,
        peak,
        epochs,
    };
    let (ans, control) = (
        row(AnsCourse::Ans, peak),
        row(AnsCourse::Fixed, (1.0 + peak) / 2.0),
    );
    let of = MEASURES.map(|measure| Some((measure, runs.difference(&ans, &control, measure)?)));
    let of: Vec<(Measure, Difference)> = of.into_iter().collect::<Option<_>>()?;
    let better = of
        .iter()
        .filter(|(_, d)| d.is_clear() && d.mean > 0.0)
        .count();
    let worse = of
        .iter()
        .filter(|(_, d)| d.is_clear() && d.mean < 0.0)
        .count();
    let control = "a fixed number with as many negatives";
    let untested = "which the paper does not compare";
    let answer = match (better, worse) {
        (2, _) => format!("ANS is better than {control}"),
        (1, 0) => format!("ANS is better than {control} by one of two measures"),
        (0, 0) => format!("ANS is not better than {control}, {untested}"),
        (0, 1) => format!(
            "ANS is not better than {control}, {untested}, and worse by one of two measures"
        ),
        (0, _) => format!("ANS is worse than {control}, {untested}"),
        _ => format!("ANS is better than {control} by one measure and worse by the other"),
    };
    let words: Vec<String> = of.iter().map(|(measure, d)| words(*measure, d)).collect();
    Some(format!("{answer}: {}.", words.join("; ")))
}

fn words(measure: Measure, of: &Difference) -> String {
    let clear = match of.is_clear() {
        true => "",
        false => ", within two standard errors",
    };
    format!(
        "{} {} (sd {}, {}{clear})",
        measure.name,
        with_sign(of.mean, |value| rounded(value, 4)),
        rounded(of.deviation, 4),
        plural(of.n, "seed"),
    )
}

/// Says which number the model of label noise predicts from the training AUC with one negative.
fn prediction(runs: Runs<'_>, epochs: usize) -> Option<String> {
    let one = AnsRow {
        course: AnsCourse::Fixed,
        peak: 1.0,
        epochs,
    };
    let aucs = runs.values(&one, |record| record.training_auc);
    let (auc, _) = mean_and_deviation(&aucs);
    let label = separation(auc).ok()?;
    let best = |lambda| {
        let values = effectiveness_by_k(label, &course(label, 3.0), lambda, 1000).ok()?;
        Optimum::of(&values)
    };
    let (published, ours) = (best(0.9)?, best(1.0)?);
    Some(format!(
        "Predicted from the training AUC with one negative, {} (μ = {}): K* = {} ({} to {}) at λ = 0.9, {} ({} to {}) at λ = 1.",
        rounded(auc, 4),
        rounded(label, 2),
        published.k,
        published.flat.start(),
        published.flat.end(),
        ours.k,
        ours.flat.start(),
        ours.flat.end(),
    ))
}

/// Draws the measures over the fixed numbers, a line for each seed; `None` for fewer than two numbers.
fn figure(runs: Runs<'_>, epochs: usize) -> Option<Figure> {
    let mut fixed = runs.rows();
    fixed.retain(|row| row.course == AnsCourse::Fixed && row.epochs == epochs);
    fixed.sort_by(|a, b| a.peak.total_cmp(&b.peak));
    if fixed.len() < 2 {
        return None;
    }
    let names = ["validation", "test"];
    let palette = Palette::new(names);
    let mut seeds: Vec<u64> = runs.records.iter().map(|record| record.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let parts: [fn(&AnsRecord) -> &AnsMeasures; 2] = [|of| &of.validation, |of| &of.test];
    let chart = |measure: Measure| {
        let mut lines = Vec::new();
        for (name, part) in names.into_iter().zip(parts) {
            for seed in &seeds {
                let value = |row: &AnsRow| {
                    let mut all = runs.records.iter();
                    let record = all.find(|it| it.row == *row && it.seed == *seed)?;
                    Some((row.peak, (measure.of)(part(record))))
                };
                let points = fixed.iter().filter_map(value).collect();
                let line = Line::new(name, palette.colour(name), points);
                lines.push(line.labelled(format!("{name}, seed {seed}")));
            }
        }
        LineChart::new(
            &format!("{} over the number of negatives", measure.name),
            ("number of negatives K (logarithmic)", AxisScale::FromZero),
            (measure.name, AxisScale::Linear),
            lines,
        )
        .svg()
    };
    Some(Figure::new(
        "Higher is better. A line for each seed.",
        palette.legend(names),
        MEASURES.map(chart).to_vec(),
    ))
}

/// One column of numbers.
type Cell = fn(&AnsRecord) -> Option<f64>;

fn table(runs: Runs<'_>, epochs: usize) -> Table {
    let groups: [(&str, [(&'static str, Cell); 3]); 3] = [
        (
            "validation",
            [
                ("AUC", |of| Some(of.validation.auc)),
                ("HR", |of| Some(of.validation.hit_rate)),
                ("nDCG", |of| Some(of.validation.ndcg)),
            ],
        ),
        (
            "test",
            [
                ("AUC", |of| Some(of.test.auc)),
                ("HR", |of| Some(of.test.hit_rate)),
                ("nDCG", |of| Some(of.test.ndcg)),
            ],
        ),
        (
            "test, sampled 100",
            [
                ("AUC", |of| Some(of.sampled?.auc)),
                ("HR", |of| Some(of.sampled?.hit_rate)),
                ("nDCG", |of| Some(of.sampled?.ndcg)),
            ],
        ),
    ];
    let mut columns = vec![
        Column::new("training AUC"),
        Column::new("scored negatives").priority(3),
    ];
    for (group, cells) in &groups {
        let names = cells.map(|(name, _)| name);
        let is_test = *group == "test";
        for (at, column) in Column::group(*group, &names).into_iter().enumerate() {
            columns.push(match (is_test, at) {
                (true, 0) => column.priority(0),
                (true, 2) => column.priority(1),
                _ => column,
            });
        }
    }
    columns.push(Column::new("parameter change"));
    let numbers = |row: &AnsRow, of: Cell, digits: usize| {
        let values = runs.values(row, of);
        if values.is_empty() {
            return TableCell::Missing;
        }
        let (mean, deviation) = mean_and_deviation(&values);
        let spread = deviation
            .is_finite()
            .then(|| format!("± {}", rounded(deviation, digits)));
        TableCell::Value(rounded(mean, digits), spread)
    };
    let row = |row: &AnsRow| {
        let is_floor = row.course == AnsCourse::Popularity;
        let mean = |of: Cell, format: fn(f64) -> String| match is_floor {
            true => TableCell::Missing,
            false => TableCell::Value(format(mean_and_deviation(&runs.values(row, of)).0), None),
        };
        let mut cells = vec![
            numbers(row, |of| of.training_auc, 3),
            mean(|of| Some(of.n_scored), count),
        ];
        for (_, of) in &groups {
            cells.extend(of.iter().map(|(_, of)| numbers(row, *of, 4)));
        }
        cells.push(mean(|of| Some(of.parameter_change), change));
        Row {
            is_floor,
            ..Row::new(row.title(epochs), cells)
        }
    };
    let mut rows: Vec<Row> = runs.rows().iter().map(row).collect();
    let floor = |of: fn(&AnsMeasures) -> f64| {
        let untrained = runs
            .records
            .iter()
            .filter_map(|record| record.untrained.as_ref());
        let values: Vec<f64> = untrained.map(of).collect();
        TableCell::Value(rounded(mean_and_deviation(&values).0, 4), None)
    };
    let mut cells = vec![TableCell::Missing; columns.len()];
    cells[5] = floor(|of| of.auc);
    cells[6] = floor(|of| of.hit_rate);
    cells[7] = floor(|of| of.ndcg);
    rows.push(Row {
        is_floor: true,
        ..Row::new("untrained", cells)
    });
    Table {
        corner: "negatives".into(),
        columns,
        rows,
    }
}

/// Says how the numbers were made, and what differs from the paper.
fn how(of: &ExperimentReproduction<'_>, first: &AnsRecord) -> Vec<Block> {
    let encoder = match of.target {
        AnsExperiment::Numbers | AnsExperiment::Courses => {
            "Two towers: the mean of the embeddings of the last 50 items through a linear layer, against the embedding of \
             the item that follows. Negatives are drawn uniformly from the items that the user has not seen, without \
             replacement. The last item of each user is the test and the one before it the validation; many interactions \
             share their user and second, so that the order of these is that of the file."
        }
        AnsExperiment::Texts => {
            "One tower for both texts: the mean of the embeddings of their words through two layers. Negatives are drawn \
             from the other bodies of the batch, without those of an equal title or body. The pairs are divided at random \
             by the seed."
        }
    };
    vec![
        Block::heading("How the numbers were made"),
        Block::text(format!(
            "{}: {} training pairs, {} test queries. {encoder} Settings: {}. Every row has the same steps in the same order, \
             unless its name says otherwise; the encoder after the last step is measured.",
            first.data,
            count(first.n_training as f64),
            count(first.n_test as f64),
            of.provenance.settings(),
        )),
        Block::text(
            "Differences from the paper: other data (MIND and MovieLens 1M are not to be had here), small encoders instead \
             of NRMS, BERT4Rec and a Siamese Transformer, and the control of equal compute, a fixed K with as many scored \
             negatives, which the paper lacks.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::ans::record::{ANS_SCHEMA, AnsSettings, parse_ans_records};
    use icl_report::testing::{assert_sound, text_of};
    use std::path::Path;

    fn record(row: AnsRow, seed: u64, ndcg: f64) -> AnsRecord {
        let measures = |ndcg| AnsMeasures {
            auc: 0.8 + ndcg / 10.0,
            hit_rate: 2.0 * ndcg,
            ndcg,
        };
        AnsRecord {
            schema: ANS_SCHEMA,
            target: AnsExperiment::Courses,
            data: "ml-100k".to_owned(),
            row,
            seed,
            settings: AnsSettings {
                epochs: 10,
                batch_size: 256,
                width: 64,
                learning_rate: 1e-3,
                temperature: 0.1,
                peak: 20.0,
                backend: "flex".to_owned(),
            },
            n_training: 97_171,
            n_test: 943,
            training_auc: Some(0.95),
            validation: measures(ndcg),
            test: measures(ndcg),
            sampled: Some(measures(ndcg)),
            untrained: Some(measures(0.001)),
            parameter_change: 1.0,
            n_steps: 3800,
            step_negatives: vec![row.peak; 10],
            n_scored: 1e6,
            time_s: 1.0,
        }
    }

    fn document(difference: f64) -> (Vec<AnsRecord>, Document) {
        let rows = AnsExperiment::Courses.rows(20.0, 10);
        let mut records = Vec::new();
        for row in rows {
            for seed in 0..5 {
                let noise = 0.0005 * (seed as f64 - 2.0);
                let own = match row.course {
                    AnsCourse::Ans => difference + 2.0 * noise,
                    _ => noise,
                };
                records.push(record(row, seed, 0.08 + own));
            }
        }
        let document = experiment_document(&ExperimentReproduction {
            target: AnsExperiment::Courses,
            records: &records,
            provenance: &Provenance::default(),
        });
        (records, document)
    }

    #[test]
    fn the_answer_is_that_of_the_control() {
        for (difference, answer) in [
            (
                0.0,
                "ANS is not better than a fixed number with as many negatives",
            ),
            (
                0.01,
                "ANS is better than a fixed number with as many negatives:",
            ),
            (-0.01, "ANS is worse than a fixed number"),
        ] {
            let (_, document) = document(difference);
            let text = text_of(&document.html());
            assert!(text.contains(answer), "{text}");
        }
    }

    #[test]
    fn the_page_has_the_prediction_the_floor_and_all_rows() {
        let (records, document) = document(0.0);
        assert_sound(&document.html());
        let text = text_of(&document.html());
        // As `icl negatives --train-auc 0.95` prints them.
        assert!(text.contains("K* = 18 (14 to 24) at λ = 0.9, 20"), "{text}");
        for row in AnsExperiment::Courses.rows(20.0, 10) {
            assert!(text.contains(&row.title(10)), "{text}");
        }
        assert!(text.contains("untrained"));
        let lines: Vec<String> = records
            .iter()
            .map(|record| serde_json::to_string(record).unwrap())
            .collect();
        let read = parse_ans_records(Path::new("ans7.jsonl"), &lines.join("\n")).unwrap();
        assert_eq!(read, records);
    }

    /// Two numbers whose measures differ by less than two standard errors are equally good.
    #[test]
    fn numbers_that_cannot_be_told_apart_are_named() {
        let fixed = |peak| AnsRow {
            course: AnsCourse::Fixed,
            peak,
            epochs: 10,
        };
        let mut records = Vec::new();
        for seed in 0..4 {
            let noise = 0.001 * [1.0, -1.0, 1.0, -1.0][seed as usize];
            records.push(record(fixed(1.0), seed, 0.05));
            records.push(record(fixed(4.0), seed, 0.0801 + noise));
            records.push(record(fixed(8.0), seed, 0.0802));
        }
        let runs = Runs { records: &records };
        let best = runs.best_numbers(MEASURES[1], 10);
        assert_eq!(best, Some((8.0, vec![4.0, 8.0])));
    }
}
