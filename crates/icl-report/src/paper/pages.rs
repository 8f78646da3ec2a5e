//! One page and one Markdown file for each table or figure of the paper: the paper's numbers, ours, and
//! what follows from the two.

use crate::document::Document;
use crate::document::blocks::Block;
use crate::paper::group::Reproduction;
use crate::paper::target::Target;
use crate::paper::{accuracy, losses, speed, sweep};

/// Returns the document of a table or figure, for HTML and Markdown.
pub fn document(reproduction: &Reproduction<'_>) -> Document {
    let target = reproduction.target;
    let (title, subject) = (target.title(), target.subject());
    let mut document = Document::new(format!("{title} of the paper, reproduced: {subject}"));
    document.push(Block::Text(reproduction.provenance.summary()));
    if !reproduction.missing.is_empty() {
        let list = reproduction.missing.join(" ");
        document.push(Block::Warning(format!("Missing here: {list}")));
    }
    let blocks = match target {
        Target::Table3 | Target::Table4 => speed::blocks(reproduction),
        Target::Figure2 | Target::Figure3 => accuracy::blocks(reproduction),
        Target::Figure4 => sweep::blocks(reproduction),
        Target::Figure5 => losses::blocks(reproduction),
    };
    document.extend(blocks);
    document.extend(reproduction.provenance.blocks());
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{comparison, record};
    use crate::paper::{Cell, DataSet, Provenance};

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

    fn assert_sound(html: &str) {
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let page = roxmltree::Document::parse_with_options(html, options).unwrap();
        for node in page.descendants().filter_map(|node| node.text()) {
            for wrong in ["NaN", "inf×", "None", "Some("] {
                assert!(!node.contains(wrong), "{wrong} in {node}");
            }
        }
    }

    #[test]
    fn every_target_has_its_page() {
        for target in Target::ALL {
            let document = document(target, &cells());
            let (html, markdown) = (document.html(), document.markdown());
            assert_sound(&html);
            for words in [target.title(), "In short", "Missing here", "PROTEINS"] {
                assert!(html.contains(words) && markdown.contains(words), "{words}");
            }
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
