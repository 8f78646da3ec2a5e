//! Colours of the lines, dots and bars of a chart.

/// Number of colours in the page's style. They are six of those of Okabe and Ito (2008) with a brown
/// and a violet. Any two differ by 14 or more in CIELAB for trichromats and under simulated
/// protanopia, deuteranopia and tritanopia (Machado, Oliveira and Fernandes, 2009).
pub(crate) const N_COLOURS: usize = 8;

/// Colour of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Neutral grey, shared by all folded series. They lie below the others.
    Folded,
    /// A colour that no other series of the chart has.
    Series(usize),
    /// Colour of the text, for the method against which all others are measured.
    Reference,
}

impl Colour {
    /// Returns the class name of the page's style.
    pub fn class(self) -> String {
        match self {
            Self::Folded => "folded".to_owned(),
            Self::Series(i) => format!("colour-{i}"),
            Self::Reference => "reference".to_owned(),
        }
    }

    /// Returns the colour of the i-th of many classes: those without a colour of their own are grey.
    pub(crate) fn of_class(i: usize) -> Self {
        if i < N_COLOURS {
            Self::Series(i)
        } else {
            Self::Folded
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_has_every_colour_once_in_light_and_in_dark() {
        let style = include_str!("../document/page.css");
        let colours: Vec<&str> = style
            .match_indices("--c")
            .filter(|(at, _)| style[*at..].get(4..6) == Some(": "))
            .filter_map(|(at, _)| style[at..].get(6..13))
            .collect();
        // Those of the series and the grey, in light and in dark.
        let (light, dark) = colours.split_at(colours.len() / 2);
        for colours in [light, dark] {
            let mut different = colours.to_vec();
            different.sort_unstable();
            different.dedup();
            assert_eq!(different.len(), N_COLOURS + 1, "{colours:?}");
        }
        for i in 0..N_COLOURS {
            let class = format!(".{} {{ color: var(--c{i}); }}", Colour::of_class(i).class());
            assert!(style.contains(&class), "{class}");
        }
        assert_eq!(Colour::of_class(N_COLOURS), Colour::Folded);
    }
}
