//! Documents on a terminal.

use crate::document::block::{Block, Document};
use crate::document::table::Table;
use crate::document::terminal_table::render;
use crate::text::number::plural;
use crate::text::rich_text::RichText;
use crate::text::wrap::wrap;

/// Width that fits every terminal, for output that goes to a file or a pipe.
pub const DEFAULT_WIDTH: usize = 80;
/// Width that narrower terminals are treated to have.
const NARROWEST: usize = 40;

impl Document {
    /// Writes the document for a terminal of `width` columns: no line is wider, except that a width
    /// below 40 counts as 40. Widths are those of Unicode Standard Annex 11.
    ///
    /// Tables show their four most important columns, and folded sections are left out; a last line
    /// says how much that is. With `wide` both are shown, and a table that does not fit is broken
    /// into several tables below each other. Charts and the explanation of terms are not shown.
    pub fn terminal(&self, width: usize, wide: bool) -> String {
        let width = width.max(NARROWEST);
        let mut parts = vec![paragraph(&self.title, width)];
        if !self.facts.is_empty() {
            parts[0] += &paragraph(&self.facts.as_str().into(), width);
        }
        if let Some(made_by) = &self.made_by {
            // One line is enough: the HTML page has the whole command.
            let lines = wrap(made_by, width - 2);
            let dots = if lines.len() > 1 { " …" } else { "" };
            parts[0] += &format!("{}{dots}\n", lines.first().map_or("", String::as_str));
        }
        write(&self.blocks, width, wide, &mut parts);
        let hidden = hidden(&self.blocks);
        if !wide && let Some(hidden) = hidden {
            let text = format!("--wide shows {hidden} more.");
            parts.push(paragraph(&text.into(), width));
        }
        parts.retain(|part| !part.is_empty());
        parts.join("\n")
    }
}

/// Writes blocks. A heading is written with the first block below it that can be shown: a section may hold only charts.
fn write(blocks: &[Block], width: usize, wide: bool, parts: &mut Vec<String>) {
    let mut waiting = Vec::new();
    for block in blocks {
        match block {
            Block::Heading(text) => waiting = vec![heading(text, width)],
            Block::Subheading(text) => waiting.push(paragraph(text, width)),
            Block::Details(title, blocks) if wide => {
                let mut details = Vec::new();
                write(blocks, width, wide, &mut details);
                if !details.is_empty() {
                    parts.push(heading(title, width));
                    parts.extend(details);
                }
            }
            Block::Headline(text) | Block::Text(text) | Block::Warning(text) => {
                parts.append(&mut waiting);
                parts.push(paragraph(text, width));
            }
            Block::List(terms) => {
                parts.append(&mut waiting);
                let entries = terms.iter().map(|(term, text)| {
                    let text = format!("{}: {}", term.plain(), text.plain());
                    paragraph(&text.into(), width)
                });
                parts.push(entries.collect());
            }
            Block::Table(table) => {
                parts.append(&mut waiting);
                parts.push(render(table, width, wide));
            }
            Block::Details(..) | Block::Guide(_) | Block::Figure(_) => {}
        }
    }
}

fn heading(text: &RichText, width: usize) -> String {
    paragraph(&format!("{}:", text.plain()).into(), width)
}

fn paragraph(text: &RichText, width: usize) -> String {
    let lines = wrap(&text.plain(), width);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Counts the columns and tables that are shown with `wide` alone.
fn hidden(blocks: &[Block]) -> Option<String> {
    let shown = blocks.iter().filter_map(as_table);
    let n_columns: usize = shown
        .map(|table| table.columns.len() - table.default_columns().len())
        .sum();
    let details = blocks.iter().filter_map(|block| match block {
        Block::Details(_, blocks) => Some(blocks.iter().filter_map(as_table).count()),
        _ => None,
    });
    let n_tables: usize = details.sum();
    let parts: Vec<String> = [(n_columns, "column"), (n_tables, "table")]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, noun)| plural(n, noun))
        .collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

fn as_table(block: &Block) -> Option<&Table> {
    match block {
        Block::Table(table) => Some(table),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::table::{Column, Row, TableCell};
    use crate::text::wrap;

    fn document() -> Document {
        let names = [
            "method",
            "数据集-with-a-very-long-name-that-does-not-fit-anywhere",
            "e\u{301}🦀",
        ];
        let row = |i: usize| {
            let cell =
                |j: usize| TableCell::Value(format!("{i}.{j} k"), Some("[9.4 k–12.5 k]".into()));
            let name = format!("{} {i}", names[i % 3]);
            Row::new(name, (0..12).map(cell).collect())
        };
        let mut columns = Column::group("to the target", &["sample passes", "seconds"]);
        columns.extend((2..12).map(|i| Column::new(format!("column number {i}"))));
        let table = Table {
            corner: "method".into(),
            columns,
            rows: (0..20).map(row).collect(),
        };
        Document::new(
            "a title that is so long that it does not fit into eighty columns, and not into one hundred either: 数据集",
            "facts".into(),
            vec![
                Block::Headline("word ".repeat(60).into()),
                Block::heading("An empty section"),
                Block::heading("Numbers"),
                Block::Table(table.clone()),
                Block::List(vec![("term".into(), "x".repeat(200).into())]),
                Block::Details("details".into(), vec![Block::Table(table)]),
                Block::guide(&[("never", "shown")]),
            ],
        )
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        for width in [40, 80, 100, 120, 200] {
            for wide in [false, true] {
                let text = document().terminal(width, wide);
                for line in text.lines() {
                    assert!(wrap::width(line) <= width, "{width}: {line}");
                }
                for i in 0..20 {
                    assert!(text.contains(&format!("{i}.0 k")), "{i}");
                    assert_eq!(text.contains(&format!("{i}.11 k")), wide);
                }
                assert!(!text.contains("shown\n") && !text.contains("empty section"));
            }
        }
    }

    #[test]
    fn one_line_says_what_is_left_out() {
        let narrow = document().terminal(100, false);
        assert!(
            narrow.ends_with("--wide shows 9 columns and 1 table more.\n"),
            "{narrow}"
        );
        assert!(!document().terminal(100, true).contains("--wide"));
    }
}
