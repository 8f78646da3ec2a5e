//! One colour a method, in all charts.

use crate::document::html::escape;
use icl_train::REFERENCE;

/// The number of colours in the page's style: those of Okabe and Ito (2008), which readers with
/// any kind of colour vision tell apart.
pub(crate) const N_COLOURS: usize = 8;

/// The colours of the methods, as class names of the page's style. Retraining, against which all
/// are measured, has the colour of the text.
pub(crate) struct Palette {
    coloured: Vec<String>,
}

impl Palette {
    /// Colours for these methods, in their order.
    pub(crate) fn new<'a>(methods: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            coloured: methods
                .into_iter()
                .filter(|method| *method != REFERENCE)
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The class of a method. From the ninth method on the colours repeat with broken lines.
    pub(crate) fn class(&self, method: &str) -> String {
        match self.coloured.iter().position(|name| name == method) {
            None => "yardstick".to_owned(),
            Some(i) if i < N_COLOURS => colour(i),
            Some(i) => format!("{} broken", colour(i)),
        }
    }

    /// A small field of the method's colour, for legends and lists.
    pub(crate) fn swatch(&self, method: &str) -> String {
        swatch(&self.class(method))
    }

    /// The legend of these methods.
    pub(crate) fn legend<'a>(&self, methods: impl IntoIterator<Item = &'a str>) -> String {
        let entries: String = methods
            .into_iter()
            .map(|method| format!("<li>{}{}</li>", self.swatch(method), escape(method)))
            .collect();
        format!("<ul class=\"legend\">{entries}</ul>\n")
    }
}

/// The class of the i-th colour; colours repeat.
pub(crate) fn colour(i: usize) -> String {
    format!("colour-{}", i % N_COLOURS)
}

/// A small field of a class's colour.
pub(crate) fn swatch(class: &str) -> String {
    format!(
        "<svg class=\"swatch {class}\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">\
         <rect width=\"12\" height=\"12\" rx=\"3\" fill=\"currentColor\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_have_different_colours_and_the_yardstick_its_own() {
        let names: Vec<String> = (0..20).map(|i| format!("method {i}")).collect();
        let methods = names.iter().map(String::as_str).chain(["retraining"]);
        let palette = Palette::new(methods);
        let mut classes: Vec<_> = names[..16].iter().map(|n| palette.class(n)).collect();
        classes.sort();
        classes.dedup();
        assert_eq!(classes.len(), 16);
        assert_eq!(palette.class("retraining"), "yardstick");
    }
}
