//! One page and one Markdown file a table or figure of the paper: the paper's numbers, ours, and
//! what follows from the two.

mod accuracy;
mod accuracy_verdict;
mod document;
mod losses;
mod provenance;
mod speed;
mod speed_table;
mod sweep;
mod wording;

pub use document::Document;
pub use provenance::Provenance;

use crate::reproduce::{Cell, DataSet, Target};
use document::Block;

/// What a page is made of.
#[derive(Debug, Clone)]
pub struct Reproduction<'a> {
    /// The table or figure.
    pub target: Target,
    /// The cells that have run, in the grid's order.
    pub cells: &'a [Cell],
    /// What is missing, a sentence each.
    pub missing: &'a [String],
    /// Where the numbers come from.
    pub provenance: &'a Provenance,
}

impl Reproduction<'_> {
    /// The document, of which there is a page and a Markdown file.
    pub fn document(&self) -> Document {
        let target = self.target;
        let (title, subject) = (target.title(), target.subject());
        let mut document = Document::new(format!("{title} of the paper, reproduced: {subject}"));
        document.push(Block::Text(self.provenance.summary()));
        if !self.missing.is_empty() {
            let list = self.missing.join(" ");
            document.push(Block::Warning(format!("Missing here: {list}")));
        }
        let blocks = match target {
            Target::Table3 | Target::Table4 => speed::blocks(self),
            Target::Figure2 | Target::Figure3 => accuracy::blocks(self),
            Target::Figure4 => sweep::blocks(self),
            Target::Figure5 => losses::blocks(self),
        };
        document.extend(blocks);
        document.extend(self.provenance.blocks());
        document
    }

    /// The cells by data set and growth ratio, in the grid's order.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for cell in self.cells {
            let is_of =
                |group: &&mut Group<'_>| group.data == cell.data && group.alpha == cell.alpha;
            match groups.iter_mut().find(is_of) {
                Some(group) => group.cells.push(cell),
                None => groups.push(Group {
                    data: cell.data,
                    alpha: cell.alpha,
                    cells: vec![cell],
                }),
            }
        }
        groups
    }
}

/// The cells of one data set and growth ratio: the seeds.
struct Group<'a> {
    data: DataSet,
    alpha: f64,
    cells: Vec<&'a Cell>,
}

impl Group<'_> {
    fn title(&self) -> String {
        format!("{}, α = {}", self.data.name(), self.alpha)
    }

    /// The methods that were run, in the order of the first seed's records.
    fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = Vec::new();
        for record in self.cells.iter().flat_map(|cell| &cell.records) {
            if !methods.contains(&record.method.as_str()) {
                methods.push(&record.method);
            }
        }
        methods
    }

    /// `seed 0`, or `seeds 0, 1`.
    fn seeds(&self) -> String {
        let seeds: Vec<String> = self
            .cells
            .iter()
            .map(|cell| cell.seed.to_string())
            .collect();
        let word = if seeds.len() == 1 { "seed" } else { "seeds" };
        format!("{word} {}", seeds.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{comparison, record};

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
        Reproduction {
            target,
            cells,
            missing: &["REDDIT-BINARY, left out.".to_owned()],
            provenance: &Provenance::default(),
        }
        .document()
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
