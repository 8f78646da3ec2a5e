//! Documents as Markdown.

use crate::document::block::{Block, Document, GUIDE};
use crate::document::table::{Table, TableCell};
use crate::text::escape::printable;
use crate::text::rich_text::RichText;

impl Document {
    /// Writes the document as Markdown with tables in GitHub's style, without the charts. The same
    /// document gives the same bytes.
    pub fn markdown(&self) -> String {
        let mut parts = vec![format!("# {}\n", inline(&self.title))];
        if !self.facts.is_empty() {
            parts.push(format!("{}\n", plain(&self.facts)));
        }
        write(&self.blocks, &mut parts);
        parts.extend(self.made_by.iter().map(|text| format!("{}\n", plain(text))));
        parts.join("\n")
    }
}

/// Writes blocks. A heading is written with the first block below it that can be shown: a section may hold only charts.
fn write(blocks: &[Block], parts: &mut Vec<String>) {
    let mut waiting = Vec::new();
    for block in blocks {
        if let Block::Heading(text) = block {
            waiting = vec![format!("## {}\n", inline(text))];
        } else if let Block::Subheading(text) = block {
            waiting.push(format!("### {}\n", inline(text)));
        } else if let Block::Details(title, blocks) = block {
            let mut details = Vec::new();
            write(blocks, &mut details);
            if !details.is_empty() {
                parts.push(format!("## {}\n", inline(title)));
                parts.extend(details);
            }
        } else if let Some(part) = paragraph(block) {
            parts.append(&mut waiting);
            parts.push(part);
        }
    }
}

fn paragraph(block: &Block) -> Option<String> {
    let list = |terms: &[(RichText, RichText)]| -> String {
        let entry = |(term, text): &(RichText, RichText)| {
            format!("- **{}**: {}\n", inline(term), inline(text))
        };
        terms.iter().map(entry).collect()
    };
    match block {
        Block::Text(text) => Some(format!("{}\n", inline(text))),
        Block::Headline(text) => Some(format!("**{}**\n", inline(text))),
        Block::Warning(text) => Some(format!("> **{}**\n", inline(text))),
        Block::List(terms) => Some(list(terms)),
        Block::Guide(terms) => Some(format!("## {GUIDE}\n\n{}", list(terms))),
        Block::Table(of) => Some(table(of)),
        Block::Heading(_) | Block::Subheading(_) | Block::Details(..) | Block::Figure(_) => None,
    }
}

fn table(table: &Table) -> String {
    let columns = table
        .columns
        .iter()
        .map(|column| match column.group.is_empty() {
            true => in_cell(&inline(&column.name)),
            false => in_cell(&format!(
                "{}: {}",
                inline(&column.group),
                inline(&column.name)
            )),
        });
    let heads: Vec<String> = std::iter::once(in_cell(&inline(&table.corner)))
        .chain(columns)
        .collect();
    let rule = format!("|---|{}", "---:|".repeat(heads.len() - 1));
    let rows = table.ordered_rows().map(|row| {
        let cell = |cell: &TableCell| in_cell(&plain(&cell.in_line()));
        let head = std::iter::once(in_cell(&inline(&row.head)));
        let cells: Vec<String> = head.chain(row.cells.iter().map(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    });
    format!(
        "| {} |\n{rule}\n{}",
        heads.join(" | "),
        rows.collect::<String>()
    )
}

fn inline(text: &RichText) -> String {
    text.write(plain, |superscript| {
        format!("<sup>{}</sup>", plain(superscript))
    })
}

/// Escapes characters that have a meaning in Markdown.
fn plain(text: &str) -> String {
    printable(text)
        .replace('\\', "\\\\")
        .replace('<', "&lt;")
        .replace('*', "\\*")
        .replace('_', "\\_")
        .replace('`', "\\`")
}

fn in_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Figure, Legend};
    use crate::document::table::{Column, Row};

    #[test]
    fn markdown_holds_the_same_numbers() {
        let mut columns = Column::group("the paper", &["time"]);
        columns.extend(Column::group("ours", &["time", "a|b"]));
        let table = Table {
            corner: "method".into(),
            columns,
            rows: vec![Row::new(
                "icl_x",
                vec![
                    TableCell::Value("1.0×".into(), None),
                    TableCell::Value("2.0×".into(), Some("[1.0×–3.0×]".into())),
                    TableCell::Missing,
                ],
            )],
        };
        let figure = Block::Figure(Figure::new("caption", Legend::default(), Vec::new()));
        let blocks = vec![
            Block::Headline("Yes & no.".into()),
            Block::heading("A chart alone"),
            figure.clone(),
            Block::Details("Charts".into(), vec![figure]),
            Block::heading("Numbers"),
            Block::Table(table),
            Block::guide(&[("term", "L^{II}")]),
        ];
        assert_eq!(
            Document::new("A <title>", String::new(), blocks).markdown(),
            "# A &lt;title>\n\n**Yes & no.**\n\n## Numbers\n\n\
             | method | the paper: time | ours: time | ours: a\\|b |\n|---|---:|---:|---:|\n\
             | icl\\_x | 1.0× | 2.0× [1.0×–3.0×] | – |\n\n\
             ## How to read this page\n\n- **term**: L<sup>II</sup>\n"
        );
    }
}
