//! Legends of charts.

use crate::chart::colour::Colour;
use crate::text::escape::escape;

/// Mark next to a name in a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Swatch {
    /// A field of a colour.
    Field(Colour),
    /// The line of a floor, named by its letter.
    Floor(char),
    /// A filled dot.
    Filled,
    /// A hollow dot.
    Hollow,
}

/// Names of the series of one or more charts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Legend {
    /// Marks with their names.
    pub(crate) entries: Vec<(Swatch, String)>,
    /// Label and names of the folded group.
    pub(crate) folded: Option<(String, Vec<String>)>,
}

impl Legend {
    /// Returns the legend as HTML. A click on the folded group opens the list of its names; the
    /// page's script shows its lines with it.
    pub(crate) fn html(&self) -> String {
        let entries = self
            .entries
            .iter()
            .map(|(swatch, name)| format!("<li>{}{}</li>\n", swatch.svg(), escape(name)));
        let folded = self.folded.iter().map(|(label, names)| {
            let buttons = names.iter().map(|name| {
                let name = escape(name);
                format!(
                    "<button type=\"button\" aria-pressed=\"false\" data-series=\"{name}\">{name}</button>\n"
                )
            });
            format!(
                "<li><details class=\"fold\"><summary>{}{}</summary>\n<div class=\"names\">{}</div>\
                 </details></li>\n",
                swatch(Colour::Folded),
                escape(label),
                buttons.collect::<String>()
            )
        });
        format!(
            "<ul class=\"legend\">\n{}</ul>\n",
            entries.chain(folded).collect::<String>()
        )
    }
}

/// Returns the legend of floors by letter and name.
pub fn floor_legend<'a>(floors: impl IntoIterator<Item = (char, &'a str)>) -> Legend {
    let entry = |(letter, name)| (Swatch::Floor(letter), format!("{letter}: {name}"));
    Legend {
        entries: floors.into_iter().map(entry).collect(),
        folded: None,
    }
}

/// Draws a small field of a colour, as in a legend.
pub(crate) fn swatch(colour: Colour) -> String {
    Swatch::Field(colour).svg()
}

impl Swatch {
    fn svg(self) -> String {
        let (class, width, content) = match self {
            Self::Field(colour) => (
                format!("swatch {}", colour.class()),
                12,
                "<rect width=\"12\" height=\"12\" rx=\"3\" fill=\"currentColor\"/>".to_owned(),
            ),
            Self::Floor(letter) => (
                "swatch wide".to_owned(),
                28,
                format!("<path class=\"floor floor-{letter}\" d=\"M0 6H28\"/>"),
            ),
            Self::Filled => dot("filled"),
            Self::Hollow => dot("hollow"),
        };
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} 12\" aria-hidden=\"true\">{content}</svg>"
        )
    }
}

fn dot(class: &str) -> (String, u32, String) {
    let circle = format!("<circle class=\"{class}\" cx=\"6\" cy=\"6\" r=\"4\"/>");
    ("swatch".to_owned(), 12, circle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_group_is_one_entry_with_its_names() {
        let legend = Legend {
            entries: vec![
                (Swatch::Field(Colour::Series(2)), "<a>".to_owned()),
                (Swatch::Floor('M'), "majority".to_owned()),
                (Swatch::Hollow, "new".to_owned()),
            ],
            folded: Some(("2 more".to_owned(), vec!["b&".to_owned(), "c".to_owned()])),
        };
        let html = legend.html();
        let list = roxmltree::Document::parse(&html).unwrap();
        assert_eq!(
            list.root_element()
                .children()
                .filter(|n| n.is_element())
                .count(),
            4
        );
        assert_eq!(html.matches("<button").count(), 2);
        assert!(html.contains("data-series=\"b&amp;\"") && html.contains("&lt;a&gt;"));
        assert!(!Legend::default().html().contains("<li>"));
    }
}
