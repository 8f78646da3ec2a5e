//! Assignment of colours to series.

use icl_train::{DEFAULT, REFERENCE};

use crate::chart::colour::{Colour, N_COLOURS};
use crate::chart::legend::{Legend, Swatch};

/// Assignment of colours to series, the same in all charts of a document.
///
/// Up to eight series have a colour each, besides the reference. If there are more, ablations
/// and controls are folded into one grey group, and so are series for which no colour is left.
pub struct Palette {
    coloured: Vec<String>,
    folded: Vec<String>,
    /// Series that are equal to another, with that one.
    same: Vec<(String, String)>,
}

impl Palette {
    /// Assigns colours to these series: the default method has the first, the others follow in their order.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::with_same(names, Vec::new())
    }

    /// Assigns colours to these series, of which some are equal to another. Those share its colour, and its entry in
    /// the legend.
    pub(crate) fn with_same<'a>(
        names: impl IntoIterator<Item = &'a str>,
        same: Vec<(String, String)>,
    ) -> Self {
        let mut coloured: Vec<String> = Vec::new();
        for name in names {
            let is_known = coloured
                .iter()
                .chain(same.iter().map(|(of, _)| of))
                .any(|own| own == name);
            if name != REFERENCE && !is_known {
                coloured.push(name.to_owned());
            }
        }
        // A run within a budget is called `METHOD@BUDGET`: the default comes first with every budget.
        coloured.sort_by_key(|name| name.split('@').next() != Some(DEFAULT));
        let mut folded = Vec::new();
        if coloured.len() > N_COLOURS {
            (folded, coloured) = coloured.into_iter().partition(|name| is_control(name));
            folded.extend(coloured.drain(N_COLOURS.min(coloured.len())..));
        }
        Self {
            coloured,
            folded,
            same,
        }
    }

    /// Returns the colour of a series.
    pub fn colour(&self, name: &str) -> Colour {
        let same = self.same.iter().find(|(of, _)| of == name);
        let name = same.map_or(name, |(_, of)| of.as_str());
        match self.coloured.iter().position(|own| own == name) {
            Some(i) => Colour::Series(i),
            None if name == REFERENCE => Colour::Reference,
            None => Colour::Folded,
        }
    }

    /// Returns whether a series is equal to no other, or to later ones alone: it is drawn for all of them.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        !self.same.iter().any(|(of, _)| of == name)
    }

    /// Returns the name of a series with those that are equal to it: `warm = icl`.
    pub(crate) fn label(&self, name: &str) -> String {
        let equal = self.same.iter().filter(|(_, of)| of == name);
        let names = equal.map(|(of, _)| of.as_str());
        std::iter::once(name)
            .chain(names)
            .collect::<Vec<_>>()
            .join(" = ")
    }

    /// Returns the legend of these series.
    pub fn legend<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Legend {
        let names = names.into_iter().filter(|name| self.is_own(name));
        let names: Vec<&str> = names.collect();
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
                .map(|name| (Swatch::Field(self.colour(name)), self.label(name)))
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
    fn equal_series_share_one_entry() {
        let names = ["inference", "warm", "fine-tuning", "icl"];
        let same = vec![("icl".to_owned(), "warm".to_owned())];
        let palette = Palette::with_same(names, same);
        assert_eq!(palette.colour("icl"), palette.colour("warm"));
        assert!(palette.is_own("warm") && !palette.is_own("icl"));
        let legend = palette.legend(names);
        let labels: Vec<&str> = legend.entries.iter().map(|of| of.1.as_str()).collect();
        assert_eq!(labels, ["inference", "warm = icl", "fine-tuning"]);
        // Else the default has the first colour, which no other is near to.
        let apart = Palette::new(names);
        assert_eq!(apart.colour("icl"), Colour::Series(0));
        assert_eq!(apart.legend(names).entries.len(), 4);
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
