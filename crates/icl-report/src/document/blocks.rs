//! A text with tables and charts, as a page and as Markdown: both from one source, so that they
//! cannot differ in a number.

use crate::document::html::{escape, printable};
use crate::document::shell::{section, shell};

/// A text with tables and charts.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    title: String,
    blocks: Vec<Block>,
}

/// A piece of a document. All text is plain; only charts are markup.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// Begins a section.
    Heading(String),
    /// Begins a part of a section.
    Subheading(String),
    /// A paragraph.
    Text(String),
    /// A paragraph that must not be missed.
    Warning(String),
    /// Terms, and a sentence on each.
    List(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// Markup, on the page alone.
    Chart(String),
}

/// A table with columns in groups.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    /// What heads the first column.
    pub(crate) corner: String,
    /// Each group's name with its columns' names.
    pub(crate) groups: Vec<(String, Vec<String>)>,
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// What it is of.
    pub(crate) head: String,
    /// Its entries, one a column.
    pub(crate) entries: Vec<Entry>,
    /// Whether it is there for comparison only.
    pub(crate) is_floor: bool,
}

/// An entry of a table: what counts, and in small letters what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// What counts.
    pub(crate) main: String,
    /// What belongs to it.
    pub(crate) small: Option<String>,
}

impl From<String> for Entry {
    fn from(main: String) -> Self {
        Self { main, small: None }
    }
}

impl Document {
    pub(crate) fn new(title: String) -> Self {
        Self {
            title,
            blocks: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    pub(crate) fn extend(&mut self, blocks: Vec<Block>) {
        self.blocks.extend(blocks);
    }

    /// One HTML page that needs nothing beside itself and is well-formed XML too.
    pub fn html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n", escape(&self.title));
        let mut parts = self
            .blocks
            .split(|block| matches!(block, Block::Heading(_)));
        let before = parts.next().unwrap_or_default();
        body += &before.iter().map(Block::html).collect::<String>();
        let headings = self.blocks.iter().filter_map(|block| match block {
            Block::Heading(heading) => Some(heading),
            _ => None,
        });
        for (heading, blocks) in headings.zip(parts) {
            let content: String = blocks.iter().map(Block::html).collect();
            body += &section(&escape(heading), &content);
        }
        shell(&self.title, &body)
    }

    /// The same as Markdown with tables as GitHub has them, without the charts.
    pub fn markdown(&self) -> String {
        let blocks = self.blocks.iter().map(Block::markdown);
        let parts = std::iter::once(format!("# {}\n", plain(&self.title))).chain(blocks);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }
}

impl Block {
    fn html(&self) -> String {
        match self {
            Self::Heading(text) => format!("<h2>{}</h2>\n", escape(text)),
            Self::Subheading(text) => format!("<h3>{}</h3>\n", escape(text)),
            Self::Text(text) => format!("<p>{}</p>\n", escape(text)),
            Self::Warning(text) => format!("<p class=\"warning\">{}</p>\n", escape(text)),
            Self::List(entries) => {
                let entries: String = entries
                    .iter()
                    .map(|(term, text)| {
                        format!("<dt>{}</dt><dd>{}</dd>\n", escape(term), escape(text))
                    })
                    .collect();
                format!("<dl class=\"verdicts\">\n{entries}</dl>\n")
            }
            Self::Table(table) => table.html(),
            Self::Chart(markup) => markup.clone(),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Self::Heading(text) => format!("## {}\n", plain(text)),
            Self::Subheading(text) => format!("### {}\n", plain(text)),
            Self::Text(text) => format!("{}\n", plain(text)),
            Self::Warning(text) => format!("> **{}**\n", plain(text)),
            Self::List(entries) => entries
                .iter()
                .map(|(term, text)| format!("- **{}**: {}\n", plain(term), plain(text)))
                .collect(),
            Self::Table(table) => table.markdown(),
            Self::Chart(_) => String::new(),
        }
    }
}

impl Table {
    fn html(&self) -> String {
        let mut above = "<th></th>".to_owned();
        let mut heads = format!("<th>{}</th>", escape(&self.corner));
        for (name, columns) in &self.groups {
            above += &format!(
                "<th class=\"group\" colspan=\"{}\">{}</th>",
                columns.len(),
                escape(name)
            );
            for (i, column) in columns.iter().enumerate() {
                heads += &format!("<th{}>{}</th>", class(i == 0), escape(column));
            }
        }
        let is_first: Vec<bool> = self
            .groups
            .iter()
            .flat_map(|(_, columns)| (0..columns.len()).map(|i| i == 0))
            .collect();
        let rows = |floors: bool| -> String {
            let rows = self.rows.iter().filter(|row| row.is_floor == floors);
            rows.map(|row| row.html(&is_first)).collect()
        };
        let floors = match rows(true) {
            floors if floors.is_empty() => floors,
            floors => format!("<tbody class=\"floors\">\n{floors}</tbody>\n"),
        };
        format!(
            "<div class=\"scroll\"><table>\n<thead>\n<tr>{above}</tr>\n<tr>{heads}</tr>\n</thead>\n\
             <tbody>\n{}</tbody>\n{floors}</table></div>\n",
            rows(false)
        )
    }

    fn markdown(&self) -> String {
        let columns = self.groups.iter().flat_map(|(group, columns)| {
            columns.iter().map(move |column| match group.as_str() {
                "" => in_cell(column),
                group => format!("{}: {}", in_cell(group), in_cell(column)),
            })
        });
        let heads: Vec<String> = std::iter::once(in_cell(&self.corner))
            .chain(columns)
            .collect();
        let rule = format!("|---|{}", "---:|".repeat(heads.len() - 1));
        let rows = self.rows.iter().map(|row| {
            let entries = row.entries.iter().map(|entry| match &entry.small {
                Some(small) => format!("{} {}", in_cell(&entry.main), in_cell(small)),
                None => in_cell(&entry.main),
            });
            let cells: Vec<String> = std::iter::once(in_cell(&row.head)).chain(entries).collect();
            format!("| {} |\n", cells.join(" | "))
        });
        format!(
            "| {} |\n{rule}\n{}",
            heads.join(" | "),
            rows.collect::<String>()
        )
    }
}

impl Row {
    fn html(&self, is_first: &[bool]) -> String {
        let entries: String = self
            .entries
            .iter()
            .enumerate()
            .map(|(i, entry)| {
                let small = entry.small.as_ref();
                let small = small.map(|small| format!("<small>{}</small>", escape(small)));
                format!(
                    "<td{}>{}{}</td>",
                    class(is_first.get(i) == Some(&true)),
                    escape(&entry.main),
                    small.unwrap_or_default()
                )
            })
            .collect();
        format!(
            "<tr><th scope=\"row\">{}</th>{entries}</tr>\n",
            escape(&self.head)
        )
    }
}

fn class(is_first: bool) -> &'static str {
    if is_first { " class=\"group\"" } else { "" }
}

/// Text without what Markdown would take for markup.
fn plain(text: &str) -> String {
    printable(text)
        .replace('\\', "\\\\")
        .replace('<', "&lt;")
        .replace('*', "\\*")
        .replace('_', "\\_")
        .replace('`', "\\`")
}

fn in_cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let mut document = Document::new("A <title>".into());
        document.extend(vec![
            Block::Text("before & first".into()),
            Block::Heading("Numbers".into()),
            Block::Table(Table {
                corner: "method".into(),
                groups: vec![
                    ("the paper".into(), vec!["time".into()]),
                    ("ours".into(), vec!["time".into(), "a|b".into()]),
                ],
                rows: vec![Row {
                    head: "icl_x".into(),
                    entries: vec![
                        "1.0×".to_owned().into(),
                        Entry {
                            main: "2.0×".into(),
                            small: Some("[1.0×–3.0×]".into()),
                        },
                        "–".to_owned().into(),
                    ],
                    is_floor: false,
                }],
            }),
            Block::Chart("<svg></svg>\n".into()),
        ]);
        document
    }

    #[test]
    fn the_page_is_well_formed() {
        let html = document().html();
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let page = roxmltree::Document::parse_with_options(&html, options).unwrap();
        let count = |name: &str| page.descendants().filter(|n| n.has_tag_name(name)).count();
        assert_eq!((count("section"), count("td"), count("svg")), (1, 3, 1));
        assert!(html.contains("A &lt;title&gt;") && html.contains("before &amp; first"));
    }

    #[test]
    fn markdown_holds_the_same_numbers() {
        assert_eq!(
            document().markdown(),
            "# A &lt;title>\n\nbefore & first\n\n## Numbers\n\n\
             | method | the paper: time | ours: time | ours: a\\|b |\n|---|---:|---:|---:|\n\
             | icl\\_x | 1.0× | 2.0× [1.0×–3.0×] | – |\n"
        );
    }
}
