//! Documents as HTML.

use crate::chart::swatch;
use crate::document::block::{Block, Document, GUIDE};
use crate::document::table::{Row, Table, TableCell};
use crate::text::escape::escape;
use crate::text::rich_text::RichText;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Largest number of columns besides the first of a table that fits a narrow screen: its headings are wrapped. One with
/// more says that it can be scrolled.
const FEW_COLUMNS: usize = 3;

impl Document {
    /// Writes the document as one HTML page that needs nothing besides itself: no font, no network.
    /// It is well-formed XML too, and the same document gives the same bytes. Where a chart has a
    /// folded group of lines, the page holds a few lines of script that open it; without scripts the
    /// lines are visible.
    pub fn html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n", self.title.html());
        if !self.facts.is_empty() {
            body += &format!("<p class=\"facts\">{}</p>\n", escape(&self.facts));
        }
        for card in cards(&self.blocks) {
            body += &match card {
                [Block::Details(title, blocks)] => {
                    details(title, &blocks.iter().map(html).collect::<String>())
                }
                [Block::Guide(terms)] => details(&GUIDE.into(), &list("guide", terms)),
                card => {
                    let content: String = card.iter().map(html).collect();
                    format!("<section>\n{content}</section>\n")
                }
            };
        }
        if let Some(made_by) = &self.made_by {
            body += &format!("<p class=\"facts\">{}</p>\n", escape(made_by));
        }
        let script = match self.blocks.iter().any(is_folded) {
            true => format!("<script>\n{SCRIPT}</script>\n"),
            false => String::new(),
        };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<main>\n{body}</main>\n{script}</body>\n</html>\n",
            escape(&self.title.plain())
        )
    }
}

/// Splits blocks into sections: one begins at each heading, and a folded block is a section of its own.
fn cards(blocks: &[Block]) -> Vec<&[Block]> {
    let is_alone = |block: &Block| matches!(block, Block::Details(..) | Block::Guide(_));
    blocks
        .chunk_by(|before, block| {
            !matches!(block, Block::Heading(_)) && !is_alone(before) && !is_alone(block)
        })
        .collect()
}

fn is_folded(block: &Block) -> bool {
    match block {
        Block::Figure(figure) => figure.is_folded(),
        Block::Details(_, blocks) => blocks.iter().any(is_folded),
        _ => false,
    }
}

fn html(block: &Block) -> String {
    match block {
        Block::Headline(text) => format!("<p class=\"headline\">{}</p>\n", text.html()),
        Block::Heading(text) => format!("<h2>{}</h2>\n", text.html()),
        Block::Subheading(text) => format!("<h3>{}</h3>\n", text.html()),
        Block::Text(text) => format!("<p>{}</p>\n", text.html()),
        Block::Warning(text) => format!("<p class=\"warning\">{}</p>\n", text.html()),
        Block::List(terms) => list("terms", terms),
        Block::Table(table) => table_html(table),
        Block::Figure(figure) => figure.html(),
        Block::Details(title, blocks) => {
            details(title, &blocks.iter().map(html).collect::<String>())
        }
        Block::Guide(terms) => details(&GUIDE.into(), &list("guide", terms)),
    }
}

fn details(title: &RichText, content: &str) -> String {
    format!(
        "<details class=\"card\">\n<summary><h2>{}</h2></summary>\n{content}</details>\n",
        title.html()
    )
}

fn list(class: &str, terms: &[(RichText, RichText)]) -> String {
    let terms = terms
        .iter()
        .map(|(term, text)| format!("<dt>{}</dt><dd>{}</dd>\n", term.html(), text.html()));
    format!(
        "<dl class=\"{class}\">\n{}</dl>\n",
        terms.collect::<String>()
    )
}

fn table_html(table: &Table) -> String {
    let rows = |floors: bool| -> String {
        let rows = table.rows.iter().filter(|row| row.is_floor == floors);
        rows.map(|row| row_html(table, row)).collect()
    };
    let floors = match rows(true) {
        floors if floors.is_empty() => floors,
        floors => format!("<tbody class=\"floors\">\n{floors}</tbody>\n"),
    };
    let (hint, class) = match table.columns.len() > FEW_COLUMNS {
        true => (
            "<p class=\"swipe\">Scroll the table sideways to see all columns.</p>\n",
            "",
        ),
        false => ("", " class=\"few\""),
    };
    format!(
        "{hint}<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table{class}>\n\
         <thead>\n{}</thead>\n<tbody>\n{}</tbody>\n{floors}</table></div>\n",
        head(table),
        rows(false)
    )
}

fn head(table: &Table) -> String {
    let names: String = (0..table.columns.len())
        .map(|i| {
            format!(
                "<th{}>{}</th>",
                class(table, i, false),
                table.columns[i].name.html()
            )
        })
        .collect();
    let names = format!("<tr><th>{}</th>{names}</tr>\n", table.corner.html());
    if table.columns.iter().all(|column| column.group.is_empty()) {
        return names;
    }
    let groups = table
        .columns
        .chunk_by(|a, b| a.group == b.group)
        .map(|group| {
            format!(
                "<th class=\"group\" colspan=\"{}\">{}</th>",
                group.len(),
                group[0].group.html()
            )
        });
    format!("<tr><th></th>{}</tr>\n{names}", groups.collect::<String>())
}

fn row_html(table: &Table, row: &Row) -> String {
    let cells = row.cells.iter().enumerate().map(|(i, cell)| {
        let addition = cell.addition();
        let addition = addition.map(|text| format!("<small>{}</small>", escape(text)));
        format!(
            "<td{}>{}{}</td>",
            class(table, i, matches!(cell, TableCell::Never(_))),
            escape(cell.main()),
            addition.unwrap_or_default()
        )
    });
    format!(
        "<tr><th scope=\"row\">{}{}</th>{}</tr>\n",
        row.colour.map(swatch).unwrap_or_default(),
        row.head.html(),
        cells.collect::<String>()
    )
}

/// Returns the classes of a cell: a line at the left of each group, and grey letters for "never".
fn class(table: &Table, column: usize, is_never: bool) -> &'static str {
    let begins_group = column < table.columns.len() && table.begins_group(column);
    match (begins_group, is_never) {
        (true, true) => " class=\"group never\"",
        (true, false) => " class=\"group\"",
        (false, true) => " class=\"never\"",
        (false, false) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Figure, Palette};
    use crate::document::table::Column;
    use crate::fixture::assert_sound;

    fn document(n_series: usize) -> Document {
        let names: Vec<String> = (0..n_series).map(|i| format!("series {i}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str));
        let figure = Figure::new(
            "caption",
            palette.legend(names.iter().map(String::as_str)),
            vec!["<svg></svg>\n".to_owned()],
        );
        let mut columns = Column::group("the paper", &["time"]);
        columns.extend(Column::group("ours", &["time", "L^{II}"]));
        let table = Table {
            corner: "method".into(),
            columns,
            rows: vec![
                Row::new(
                    "icl <x>",
                    vec![
                        TableCell::Value("1.0×".into(), None),
                        TableCell::Value("2.0×".into(), Some("[1.0×–3.0×]".into())),
                        TableCell::Never(None),
                    ],
                ),
                Row::new(
                    "floor",
                    vec![TableCell::Missing, TableCell::Missing, TableCell::Missing],
                )
                .floor(),
            ],
        };
        Document::new(
            "A <title>",
            "facts & more".to_owned(),
            vec![
                Block::Headline("answer".into()),
                Block::Figure(figure),
                Block::heading("Numbers"),
                Block::Table(table),
                Block::Details("more".into(), vec![Block::text("before & first")]),
                Block::guide(&[("term", "L^{I,X} explained")]),
            ],
        )
    }

    #[test]
    fn the_page_is_well_formed_and_in_order() {
        let html = document(3).html();
        assert_sound(&html);
        let places = [
            "A &lt;title&gt;</h1>",
            "facts &amp; more",
            "answer",
            "<svg>",
            "Numbers",
            "<table ",
            "more",
            GUIDE,
        ]
        .map(|text| html.rfind(text).unwrap());
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(html.matches("<section>").count(), 2);
        assert_eq!(html.matches("<details class=\"card\">").count(), 2);
        assert!(html.contains("<th class=\"group\" colspan=\"2\">ours</th>"));
        assert!(html.contains("<td class=\"never\">never</td>"));
        assert!(html.contains("L<sup>I,X</sup> explained"));
        assert!(!html.contains("Scroll the table sideways"));
    }

    #[test]
    fn a_table_of_more_than_four_columns_is_scrolled_on_a_telephone() {
        let html = |n: usize| {
            let table = Table {
                corner: "method".into(),
                columns: (0..n).map(|i| Column::new(format!("column {i}"))).collect(),
                rows: Vec::new(),
            };
            table_html(&table)
        };
        assert!(html(3).contains("<table class=\"few\">") && !html(3).contains("sideways"));
        assert!(html(4).contains("<table>") && html(4).contains("sideways"));
    }

    #[test]
    fn a_page_has_a_script_only_where_something_is_folded() {
        assert!(!document(8).html().contains("<script"));
        let folded = document(12).html();
        assert_sound(&folded);
        assert_eq!(folded.matches("<script>").count(), 1);
    }
}
