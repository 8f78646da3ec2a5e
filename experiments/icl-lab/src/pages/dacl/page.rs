//! Page of a reproduced table of DACL.

use icl_report::chart::{ChartRow, Figure, Palette, RowChart, floor_legend};
use icl_report::document::{Block, Document};
use icl_report::summary::Summary;

use crate::pages::dacl::claims::{Claim, MIN_EPOCHS, MIN_SEEDS, claims};
use crate::pages::dacl::data_set::DaclDataSet;
use crate::pages::dacl::methods::{how, notes};
use crate::pages::dacl::noise_picture::NoisePicture;
use crate::pages::dacl::record::DaclRecord;
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::runs::{DaclRuns, values};
use crate::pages::dacl::tables::{claims_table, rows_table};
use crate::pages::dacl::target::DaclTarget;
use crate::pages::paper::Provenance;

/// Records of a table of DACL, and the origin of the page.
#[derive(Debug, Clone, Copy)]
pub struct DaclReproduction<'a> {
    /// Table.
    pub target: DaclTarget,
    /// Records; those of other tables are left out.
    pub records: &'a [DaclRecord],
    /// A sentence for each part that is missing.
    pub missing: &'a [String],
    /// Picture of the noise, if the table is of noise on samples.
    pub noise: Option<&'a NoisePicture>,
    /// Origin of the numbers.
    pub provenance: &'a Provenance,
}

/// Makes the document of a reproduced table of DACL (Verma et al., 2021): the answer, a chart, the rows of
/// each data set with the paper's figures next to ours, and the claims with their verdicts.
///
/// The same records give the same document.
pub fn dacl_document(of: &DaclReproduction<'_>) -> Document {
    let runs = DaclRuns {
        target: of.target,
        records: of.records,
    };
    let claims = claims(runs);
    let sets = runs.data_sets();
    let mut blocks = vec![
        Block::Headline(headline(of.target, &claims).into()),
        Block::Figure(figure(runs, &sets)),
        Block::heading("Claims"),
        Block::text(basis(of.target)),
        Block::Table(claims_table(&claims)),
        Block::heading("Accuracy"),
        Block::text(notes(of.target)),
    ];
    for data in &sets {
        blocks.push(Block::Subheading(subheading(runs, *data).into()));
        blocks.push(Block::Table(rows_table(runs, *data)));
    }
    if let Some(noise) = of.noise {
        blocks.push(Block::heading("Views"));
        blocks.push(Block::Figure(noise.figure()));
    }
    let rows = of.target.rows().iter();
    blocks.push(Block::heading("Rows"));
    blocks.push(Block::List(
        rows.map(|row| (row.title().into(), row.description().into()))
            .collect(),
    ));
    blocks.extend(how(runs, of.provenance));
    if !of.missing.is_empty() {
        let list = of.missing.join(" ");
        blocks.push(Block::Warning(format!("Missing here: {list}").into()));
    }
    Document::new(of.target.title(), of.provenance.summary(), blocks)
}

/// Returns the basis of the verdicts.
fn basis(target: DaclTarget) -> String {
    let accuracy = "Accuracy is that of the converged classifier unless a claim names another; differences are paired \
                    by seed, in points.";
    match target {
        DaclTarget::Table2 => format!(
            "{accuracy} There is a verdict from {MIN_SEEDS} seeds and {MIN_EPOCHS} epochs on, which need a GPU; a \
             shorter training on a CPU tests nothing."
        ),
        DaclTarget::Table1 | DaclTarget::Table4 => format!(
            "{accuracy} α and ρ of DACL are those that are best on validation rows in each seed."
        ),
    }
}

/// Returns the answer in one sentence: in how many data sets each claim is not refuted.
fn headline(target: DaclTarget, claims: &[Claim]) -> String {
    let clauses: &[&str] = match target {
        DaclTarget::Table1 => &[
            "mixup noise is clearly better than the best Gaussian noise",
            "DACL+ is clearly better than DACL",
            "a linear classifier on DACL's features is as good as supervised training and as raw columns",
        ],
        DaclTarget::Table2 => &[
            "SimCLR + DACL is clearly better than SimCLR with four views, which takes as many passes",
        ],
        DaclTarget::Table4 => &[
            "training with hidden mixup is clearly better than no training",
            "it is so under the paper's own classifier, once the untrained encoder has re-estimated statistics",
        ],
    };
    let answers: Vec<String> = clauses
        .iter()
        .zip(claims)
        .filter(|(_, claim)| claim.counts.1 > 0)
        .map(|(clause, claim)| {
            let (n_refuted, n) = claim.counts;
            format!("{clause}, in {} of {n}", n - n_refuted)
        })
        .collect();
    if answers.is_empty() {
        return match target {
            DaclTarget::Table2 => format!(
                "Whether DACL complements SimCLR is not tested yet: that takes {MIN_SEEDS} seeds of {MIN_EPOCHS} epochs."
            ),
            DaclTarget::Table1 | DaclTarget::Table4 => format!(
                "No claim is tested yet: no data set has {MIN_SEEDS} seeds of the rows it needs."
            ),
        };
    }
    format!(
        "Data sets in which each claim holds: {}.",
        answers.join("; ")
    )
}

fn subheading(runs: DaclRuns<'_>, data: DaclDataSet) -> String {
    let mut of: Vec<&DaclRecord> = runs.own().filter(|r| r.data == data).collect();
    of.sort_by_key(|r| r.seed);
    of.dedup_by_key(|r| r.seed);
    let seeds: Vec<String> = of.iter().map(|r| r.seed.to_string()).collect();
    let sizes = match of.first() {
        Some(first) if runs.target == DaclTarget::Table4 => format!("{} graphs", first.n_training),
        Some(first) => format!(
            "{} training and {} test samples",
            first.n_training, first.n_test
        ),
        None => String::new(),
    };
    let word = if seeds.len() == 1 { "seed" } else { "seeds" };
    format!("{} · {sizes} · {word} {}", data.name(), seeds.join(", "))
}

fn figure(runs: DaclRuns<'_>, sets: &[DaclDataSet]) -> Figure {
    let floors = runs.target.rows().iter().filter_map(|row| row.floor());
    let titles = runs
        .target
        .rows()
        .iter()
        .filter(|row| row.floor().is_some());
    let legend = floor_legend(floors.zip(titles.map(|row| row.title())));
    Figure::new(
        "Accuracy of a converged linear classifier on the frozen features, and of supervised training. \
                  Dots are seeds, the bar is their median, vertical lines are the medians of the floors, which \
                  need no training of an encoder.",
        legend,
        sets.iter().map(|data| chart(runs, *data)).collect(),
    )
}

fn chart(runs: DaclRuns<'_>, data: DaclDataSet) -> String {
    let of = |row: DaclRow| values(&runs.accuracies(data, row, |by| by.compared()));
    let median = |values: &[f64]| {
        let of = Summary::of_present(values.iter().copied().map(Some));
        of.and_then(|of| of.median)
    };
    let rows = runs.target.rows().iter();
    let palette = Palette::new(
        [
            DaclRow::LinearAlpha90,
            DaclRow::HiddenMixup,
            DaclRow::SimclrDacl,
        ]
        .map(DaclRow::title),
    );
    let dots = rows
        .clone()
        .filter(|row| row.floor().is_none())
        .map(|row| (row.title(), of(*row)))
        .filter(|(_, values)| !values.is_empty())
        .map(|(name, values)| {
            let median = median(&values);
            ChartRow::dots(name, palette.colour(name), values, median)
        });
    let floors: Vec<(char, f64)> = rows
        .filter_map(|row| Some((row.floor()?, median(&of(*row))?)))
        .collect();
    let title = format!("{}: accuracy", data.name());
    RowChart::new(&title, &title, dots.collect())
        .floors(floors)
        .svg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::dacl::fixture::{record, records};
    use icl_report::testing::{assert_fits, assert_sound, row, text_of};

    fn document(target: DaclTarget, records: &[DaclRecord]) -> Document {
        dacl_document(&DaclReproduction {
            target,
            records,
            missing: &["Letter, left out.".to_owned()],
            noise: None,
            provenance: &Provenance::default(),
        })
    }

    fn all_rows(data: DaclDataSet, rows: &[DaclRow]) -> Vec<DaclRecord> {
        let of = |(i, row): (usize, &DaclRow)| records(data, *row, 0.6 + 0.01 * i as f64, 0.002);
        rows.iter().enumerate().flat_map(of).collect()
    }

    /// Returns records of all rows of images, after few epochs.
    fn on_images() -> Vec<DaclRecord> {
        let mut all = all_rows(DaclDataSet::Cifar10, &DaclRow::IMAGES);
        for record in &mut all {
            record.target = DaclTarget::Table2;
            record.settings.epochs = 8;
        }
        all
    }

    #[test]
    fn a_page_of_images_states_its_rule_and_has_no_verdict_after_few_epochs() {
        let mut records = on_images();
        // Another table's records of the same data set are left out.
        records.push(record(DaclDataSet::Cifar10, DaclRow::Simclr, 7, 0.9));
        let document = document(DaclTarget::Table2, &records);
        let (html, text) = (document.html(), text_of(&document.html()));
        assert_sound(&html);
        for words in [
            "Whether DACL complements SimCLR is not tested yet: that takes 3 seeds of 100 epochs.",
            "There is a verdict from 3 seeds and 100 epochs on",
            "No verdict from trainings of 8 epochs. CIFAR-10-4000: +1.0 over 3 seeds.",
            "ResNet-50(4x) on the whole of CIFAR-10",
            "CIFAR-10-4000 · 700 training and 300 test samples · seeds 0, 1, 2",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        // The row at place 9: 0.69.
        assert_eq!(
            row(&html, "SimCLR + DACL")[..4],
            ["69.0± 0.2", "59.0± 0.2", "68.0± 0.2", "94.3"]
        );
        for record in &mut records {
            record.settings.epochs = 100;
        }
        let text = text_of(&self::document(DaclTarget::Table2, &records).html());
        let answer = "SimCLR + DACL is clearly better than SimCLR with four views, which takes as many passes, in 1 of 1";
        assert!(text.contains(answer), "{text}");
    }

    #[test]
    fn a_page_has_rows_claims_and_printed_figures() {
        for (target, data, paper) in [
            (DaclTarget::Table1, DaclDataSet::FashionMnist, "81.4"),
            (DaclTarget::Table4, DaclDataSet::Mutag, "85.3 ± 1.3"),
        ] {
            let document = document(target, &all_rows(data, target.rows()));
            let (html, markdown) = (document.html(), document.markdown());
            assert_sound(&html);
            for words in [data.name(), "Claims", paper, "refuted if", "Missing here"] {
                assert!(markdown.contains(words), "{words}: {markdown}");
            }
            assert!(html.find("headline") < html.find("<svg class=\"chart\""));
            assert!(html.find("<svg class=\"chart\"") < html.find("<table"));
            assert_fits(&document, 100);
        }
    }

    #[test]
    fn cells_are_those_of_the_records() {
        let html = document(
            DaclTarget::Table1,
            &all_rows(DaclDataSet::FashionMnist, &DaclRow::TABLES),
        )
        .html();
        // The row at place 6: 0.66, less 0.1 under the printed classifier, 0.01 under neighbours.
        assert_eq!(
            row(&html, "DACL, α = 0.9"),
            [
                "66.0± 0.2",
                "56.0± 0.2",
                "65.0± 0.2",
                "81.4",
                "0.250",
                "5.500 → 3.250",
                "3"
            ]
        );
        // Two classifiers are the row's own.
        assert_eq!(
            row(&html, "supervised"),
            ["72.0± 0.2", "–", "–", "79.1", "–", "–", "3"]
        );
        let text = text_of(&html);
        assert!(
            text.contains(
                "Data sets in which each claim holds: mixup noise is clearly better than the best Gaussian \
                 noise, in 1 of 1"
            ),
            "{text}"
        );
    }

    #[test]
    fn one_record_has_a_page() {
        let one = [record(DaclDataSet::Digits, DaclRow::Raw, 0, 0.9)];
        let html = document(DaclTarget::Table1, &one).html();
        assert_sound(&html);
        assert!(text_of(&html).contains("No claim is tested yet: no data set has 3 seeds"));
        assert_sound(&document(DaclTarget::Table4, &one).html());
    }
}
