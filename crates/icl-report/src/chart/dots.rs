//! Accuracies as dots between their floors.

use crate::chart::scale::Linear;
use crate::document::html::escape;
use crate::number::rounded;

const WIDTH: f64 = 460.0;
const LEFT: f64 = 168.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 46.0;
const ROW: f64 = 24.0;
const BOTTOM: f64 = 26.0;
/// The least distance between the letters of two floors.
const LETTER: f64 = 12.0;

/// One method's row: its name, the class of its colour, one value a seed and their median.
pub(crate) struct DotRow<'a> {
    /// The method.
    pub(crate) name: &'a str,
    /// The class of its colour.
    pub(crate) class: String,
    /// One value a seed.
    pub(crate) values: Vec<f64>,
    /// Their median.
    pub(crate) median: Option<f64>,
}

/// Rows of dots over one axis, and levels that all rows share.
pub(crate) struct DotChart<'a> {
    /// What stands above.
    pub(crate) title: &'a str,
    /// The rows from top to bottom.
    pub(crate) rows: Vec<DotRow<'a>>,
    /// A letter and a value each.
    pub(crate) floors: Vec<(char, f64)>,
    /// The values that the axis must hold: those of this and of the charts beside it.
    pub(crate) range: &'a [f64],
}

impl DotChart<'_> {
    /// The chart as SVG.
    pub(crate) fn svg(&self) -> String {
        let height = TOP + ROW * self.rows.len() as f64 + BOTTOM;
        let right = WIDTH - RIGHT;
        let x = Linear::new(Linear::padded(self.range.iter().copied()), (LEFT, right));
        let floor = height - BOTTOM;
        let (ticks, digits) = x.ticks(5);
        let grid: String = ticks
            .into_iter()
            .map(|tick| {
                let at = x.at(tick);
                format!(
                    "<path class=\"grid\" d=\"M{at:.1} {TOP}V{floor}\"/>\
                     <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                    floor + 17.0,
                    rounded(tick, digits)
                )
            })
            .collect();
        let rows: String = self
            .rows
            .iter()
            .enumerate()
            .map(|(i, row)| row.svg(TOP + ROW * (i as f64 + 0.5), &x))
            .collect();
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\">\n\
             <text class=\"label strong\" x=\"8\" y=\"18\">{0}</text>\n{grid}{1}{rows}</svg>\n",
            escape(self.title),
            self.floor_lines(&x, floor),
        )
    }

    fn floor_lines(&self, x: &Linear, bottom: f64) -> String {
        let mut floors: Vec<(char, f64)> = self
            .floors
            .iter()
            .copied()
            .filter(|(_, value)| value.is_finite())
            .collect();
        floors.sort_by(|a, b| a.1.total_cmp(&b.1));
        let places = spread(&floors.iter().map(|(_, v)| x.at(*v)).collect::<Vec<_>>());
        floors
            .iter()
            .zip(places)
            .map(|((letter, value), place)| {
                format!(
                    "<path class=\"floor floor-{letter}\" d=\"M{place:.1} {:.1}L{at:.1} {TOP}V{bottom}\"/>\
                     <text class=\"tick\" x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{letter}\
                     </text>\n",
                    TOP - 8.0,
                    TOP - 12.0,
                    at = x.at(*value),
                )
            })
            .collect()
    }
}

/// The legend of floors by letter and name.
pub(crate) fn floor_legend<'a>(floors: impl IntoIterator<Item = (char, &'a str)>) -> String {
    let entries: String = floors
        .into_iter()
        .map(|(letter, name)| {
            format!(
                "<li><svg class=\"swatch wide\" viewBox=\"0 0 28 12\" aria-hidden=\"true\">\
                 <path class=\"floor floor-{letter}\" d=\"M0 6H28\"/></svg>{letter}: {}</li>",
                escape(name)
            )
        })
        .collect();
    format!("<ul class=\"legend\">{entries}</ul>\n")
}

impl DotRow<'_> {
    fn svg(&self, y: f64, x: &Linear) -> String {
        let name = escape(&shortened(self.name));
        let label = format!(
            "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            LEFT - 8.0,
            y + 4.5
        );
        let dots: String = self
            .values
            .iter()
            .filter(|value| value.is_finite())
            .map(|value| {
                format!(
                    "<circle class=\"dot {}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>",
                    self.class,
                    x.at(*value)
                )
            })
            .collect();
        let median = match self.median {
            Some(median) => format!(
                "<path class=\"median {}\" d=\"M{:.1} {:.1}v16\"><title>{}: {}</title></path>",
                self.class,
                x.at(median),
                y - 8.0,
                escape(self.name),
                rounded(median, 3)
            ),
            None => format!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">–</text>",
                LEFT + 8.0,
                y + 4.0
            ),
        };
        format!("{label}{dots}{median}\n")
    }
}

/// A name that fits beside the chart.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 24;
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// Ascending places pushed apart until their letters can be read, as near to their own as may be,
/// and within the chart.
fn spread(places: &[f64]) -> Vec<f64> {
    let mut spread = places.to_vec();
    for i in 1..spread.len() {
        spread[i] = spread[i].max(spread[i - 1] + LETTER);
    }
    let mut limit = WIDTH - RIGHT;
    for place in spread.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - LETTER;
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_near_floors_do_not_overlap() {
        assert_eq!(spread(&[200.0, 201.0, 300.0]), [200.0, 212.0, 300.0]);
        assert_eq!(spread(&[440.0, 443.0]), [432.0, 444.0]);
        assert!(spread(&[]).is_empty());
    }

    #[test]
    fn a_row_without_values_has_a_dash() {
        let chart = DotChart {
            title: "all <data>",
            rows: vec![DotRow {
                name: "a & b",
                class: "colour-0".into(),
                values: vec![],
                median: None,
            }],
            floors: vec![('M', f64::NAN)],
            range: &[],
        };
        let svg = chart.svg();
        assert!(svg.contains(">–</text>") && !svg.contains("NaN"));
        roxmltree::Document::parse(&svg).unwrap();
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(
            shortened("icl-published-wo-m-lrl"),
            "icl-published-wo-m-lrl"
        );
        assert_eq!(shortened(&"x".repeat(30)).chars().count(), 24);
    }
}
