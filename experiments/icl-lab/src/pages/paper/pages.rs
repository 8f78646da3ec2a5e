//! Document of each table or figure of the paper.

use icl_report::document::{Block, Document};

use crate::pages::paper::group::Reproduction;
use crate::pages::paper::speed::{sweep_blocks, table_blocks};
use crate::pages::paper::target::Target;
use crate::pages::paper::{accuracy, losses};

/// Makes the document of a table or figure of the paper: the paper's numbers, ours, and how they
/// agree.
///
/// It begins with the answer in one sentence; charts, tables and the origin of the numbers follow. The
/// same cells give the same document.
pub fn document(reproduction: &Reproduction<'_>) -> Document {
    let target = reproduction.target;
    let (title, subject) = (target.title(), target.subject());
    let mut blocks = match target {
        Target::Table3 | Target::Table4 => table_blocks(reproduction),
        Target::Figure2 | Target::Figure3 => accuracy::blocks(reproduction),
        Target::Figure4 => sweep_blocks(reproduction),
        Target::Figure5 => losses::blocks(reproduction),
    };
    blocks.extend(reproduction.provenance.blocks());
    if !reproduction.missing.is_empty() {
        let list = reproduction.missing.join(" ");
        blocks.push(Block::Warning(format!("Missing here: {list}").into()));
    }
    Document::new(
        format!("{title} of the paper, reproduced: {subject}"),
        reproduction.provenance.summary(),
        blocks,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::paper::data_set::DataSet;
    use crate::pages::paper::group::Cell;
    use crate::pages::paper::provenance::Provenance;
    use icl_report::testing::{assert_fits, assert_sound, comparison, record};

    fn cells() -> Vec<Cell> {
        let records = comparison();
        let cell = |alpha: f64, seed: u64| Cell {
            data: DataSet::Proteins,
            alpha,
            seed,
            records: records.iter().filter(|r| r.seed == seed).cloned().collect(),
        };
        [(0.3, 1), (0.3, 2), (0.3, 3), (0.5, 1)]
            .map(|(alpha, seed)| cell(alpha, seed))
            .into()
    }

    fn document(target: Target, cells: &[Cell]) -> Document {
        super::document(&Reproduction {
            target,
            cells,
            missing: &["REDDIT-BINARY, left out.".to_owned()],
            provenance: &Provenance::default(),
        })
    }

    #[test]
    fn every_target_has_its_page() {
        for target in Target::ALL {
            let document = document(target, &cells());
            let (html, markdown) = (document.html(), document.markdown());
            assert_sound(&html);
            for words in [
                target.title(),
                "Missing here",
                "PROTEINS",
                "How the numbers were made",
            ] {
                assert!(html.contains(words) && markdown.contains(words), "{words}");
            }
            assert_fits(&document, 100);
            assert!(html.find("headline") < html.find("<table"));
            assert!(html.find("<svg class=\"chart\"") < html.find("<table"));
        }
    }

    #[test]
    fn words_stay_words() {
        let mut cells = cells();
        for cell in &mut cells {
            cell.records[2].epochs_to_target = Some(0);
            cell.records[2].passes_to_target = Some(0);
            cell.records[2].time_to_target_s = Some(0.0);
        }
        let markdown = document(Target::Table4, &cells).markdown();
        let row = |method: &str| {
            let start = format!("| {method} |");
            markdown
                .lines()
                .find(|line| line.starts_with(&start))
                .unwrap()
        };
        assert!(row("warm").contains("| at start | at start |"));
        assert!(row("fine-tuning").contains("| never | never |"));
        assert!(row("fine-tuning").contains("| 25.7× | 8.0× |"));
        assert!(row("retraining").contains("| 1.0× | 1.0× |"));
        assert!(markdown.contains("in no seed: fine-tuning, icl-published-wo-m-lrl"));
    }

    #[test]
    fn one_method_alone_has_a_page() {
        let cells = [Cell {
            data: DataSet::Reddit,
            alpha: 0.5,
            seed: 0,
            records: vec![record("warm", 0)],
        }];
        for target in Target::ALL {
            assert_sound(&document(target, &cells).html());
        }
    }
}
