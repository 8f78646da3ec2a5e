//! Assignment of colours to series.

use icl_train::REFERENCE;

use crate::chart::colour::{Colour, N_COLOURS};
use crate::chart::legend::{Legend, Swatch};

/// Assignment of colours to series, the same in all charts of a document.
///
/// Up to eight series have a colour each, besides the reference. If there are more, ablations
/// and controls are folded into one grey group, and so are series for which no colour is left.
pub struct Palette {
    coloured: Vec<String>,
    folded: Vec<String>,
}

impl Palette {
    /// Assigns colours to these series, in their order.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut coloured: Vec<String> = Vec::new();
        for name in names {
            if name != REFERENCE && !coloured.iter().any(|own| own == name) {
                coloured.push(name.to_owned());
            }
        }
        let mut folded = Vec::new();
        if coloured.len() > N_COLOURS {
            (folded, coloured) = coloured.into_iter().partition(|name| is_control(name));
            folded.extend(coloured.drain(N_COLOURS.min(coloured.len())..));
        }
        Self { coloured, folded }
    }

    /// Returns the colour of a series.
    pub fn colour(&self, name: &str) -> Colour {
        match self.coloured.iter().position(|own| own == name) {
            Some(i) => Colour::Series(i),
            None if name == REFERENCE => Colour::Reference,
            None => Colour::Folded,
        }
    }

    /// Returns the legend of these series.
    pub fn legend<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Legend {
        let names: Vec<&str> = names.into_iter().collect();
        let is_folded = |name: &&&str| self.colour(name) == Colour::Folded;
        let entries = names.iter().filter(|name| !is_folded(name));
        let folded: Vec<String> = names
            .iter()
            .filter(is_folded)
            .map(|name| (*name).to_owned())
            .collect();
        let n = folded.len();
        let kind = if self.folded.iter().all(|name| is_control(name)) {
            format!("{n} ablations and controls")
        } else {
            format!("{n} further series")
        };
        Legend {
            entries: entries
                .map(|name| (Swatch::Field(self.colour(name)), (*name).to_owned()))
                .collect(),
            folded: (n > 0).then_some((kind, folded)),
        }
    }
}

/// Returns whether a method of the registry exists to explain another: an ablation, which leaves a part of a
/// method out, or a control, which changes one part of a warm start.
fn is_control(method: &str) -> bool {
    let is_ablation = ["icl-published", "icl-corrected"]
        .iter()
        .any(|of| method.starts_with(of) && method.contains("-wo-"));
    is_ablation || method.starts_with("warm-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_of_the_registry_has_a_colour_of_its_own_or_is_folded() {
        let methods = icl_train::methods();
        let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        assert!(names.len() >= 20);
        let palette = Palette::new(names.iter().copied());
        let mut own: Vec<Colour> = names.iter().map(|name| palette.colour(name)).collect();
        own.retain(|colour| *colour != Colour::Folded);
        let n = own.len();
        own.sort_unstable();
        own.dedup();
        assert_eq!(own.len(), n);
        for name in ["icl", "icl-published", "warm", "fine-tuning", "inference"] {
            assert_ne!(palette.colour(name), Colour::Folded, "{name}");
        }
        for name in ["icl-published-wo-m", "warm-lrl", "icl-corrected-wo-lrl"] {
            assert_eq!(palette.colour(name), Colour::Folded, "{name}");
        }
        let (label, folded) = palette.legend(names.iter().copied()).folded.unwrap();
        assert_eq!(label, format!("{} ablations and controls", folded.len()));
    }

    #[test]
    fn few_series_are_not_folded() {
        let names = ["retraining", "warm", "warm-sub", "icl-published-wo-m"];
        let palette = Palette::new(names);
        assert_eq!(palette.colour("retraining"), Colour::Reference);
        assert_eq!(palette.colour("warm-sub"), Colour::Series(1));
        assert_eq!(palette.legend(names).folded, None);
    }

    #[test]
    fn many_unknown_names_share_the_grey() {
        let names: Vec<String> = (0..20).map(|i| format!("method {i}")).collect();
        let palette = Palette::new(names.iter().map(String::as_str));
        let colours: Vec<Colour> = names.iter().map(|name| palette.colour(name)).collect();
        assert_eq!(colours[7], Colour::Series(7));
        assert!(colours[8..].iter().all(|of| *of == Colour::Folded));
        let legend = palette.legend(names.iter().map(String::as_str));
        assert_eq!(legend.entries.len(), 8);
        assert_eq!(legend.folded.unwrap().0, "12 further series");
    }
}
