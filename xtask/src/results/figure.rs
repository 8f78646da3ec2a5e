//! One figure of a page of results: a line of the table.

use std::path::PathBuf;

use serde::Deserialize;

/// Figure of a page, and the run that it is of.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Line")]
pub struct Figure {
    /// Page, as a path from the repository's root.
    pub page: PathBuf,
    /// Method whose record has the value.
    pub method: String,
    /// Place of the value in the record: keys and positions with points between them.
    pub key: String,
    /// Words on the figure's line of the page: the method, unless the table says otherwise.
    pub words: String,
    /// Arguments of `icl` for the run, without its folder.
    pub command: String,
    /// Seeds, over which the value is the median.
    pub seeds: Vec<u64>,
    /// Value as the page has it.
    pub value: Written,
    /// Distance at which a measured value counts as equal, beside the rounding of the written one.
    pub tolerance: f64,
    /// Commit at which the value was measured.
    pub commit: String,
    /// Whether the run takes minutes at most, on data that come with the program.
    pub is_quick: bool,
}

/// Columns of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    figure: String,
    command: String,
    seed: String,
    value: String,
    tolerance: String,
    commit: String,
    date: String,
    quick: String,
}

impl TryFrom<Line> for Figure {
    type Error = String;

    fn try_from(line: Line) -> Result<Self, String> {
        let wrong = |column: &str, found: &str, expected: &str| {
            format!("found the {column} {found:?}, expected {expected}")
        };
        let unnamed = || {
            let expected = "PAGE#METHOD/KEY or PAGE#METHOD/KEY|WORDS";
            wrong("figure", &line.figure, expected)
        };
        let (page, rest) = line.figure.split_once('#').ok_or_else(unnamed)?;
        let (name, words) = match rest.split_once('|') {
            Some((name, words)) => (name, Some(words)),
            None => (rest, None),
        };
        let (method, key) = name.rsplit_once('/').ok_or_else(unnamed)?;
        let names_folder = |word: &str| word.starts_with("--out") || word.starts_with("--resume");
        let command = line.command.strip_prefix("icl ").filter(|arguments| {
            let mut words = arguments.split_whitespace();
            words.next() == Some("run") && !words.any(names_folder)
        });
        let expected = "`icl run` without --out and --resume";
        let command = command.ok_or_else(|| wrong("command", &line.command, expected))?;
        let seeds = line.seed.split_whitespace().map(str::parse);
        let seeds = seeds.collect::<Result<Vec<u64>, _>>().ok();
        let seeds = seeds.filter(|seeds| !seeds.is_empty());
        let expected = "numbers with spaces between them";
        let seeds = seeds.ok_or_else(|| wrong("seeds", &line.seed, expected))?;
        let expected = "a number such as 0.871, 12.3 k or 4 %";
        let value = Written::read(&line.value);
        let value = value.ok_or_else(|| wrong("value", &line.value, expected))?;
        let tolerance = Written::read(&line.tolerance).filter(|it| it.value >= 0.0);
        let expected = "a number of at least 0 such as 0.002 or 1 %";
        let tolerance = tolerance.ok_or_else(|| wrong("tolerance", &line.tolerance, expected))?;
        // A percentage is a share of the value.
        let of_value = match line.tolerance.ends_with('%') {
            true => value.value.abs(),
            false => 1.0,
        };
        if line.date.is_empty() {
            return Err(wrong("date", "", "one such as 2026-11-22"));
        }
        Ok(Self {
            page: page.into(),
            method: method.to_owned(),
            key: key.to_owned(),
            words: words.unwrap_or(method).to_owned(),
            command: command.to_owned(),
            seeds,
            tolerance: tolerance.value * of_value,
            value,
            is_quick: match line.quick.as_str() {
                "yes" => true,
                "" => false,
                found => return Err(wrong("mark in the column quick", found, "yes or nothing")),
            },
            commit: line.commit,
        })
    }
}

impl Figure {
    /// Returns the name of the figure on its page.
    pub fn name(&self) -> String {
        format!("{}/{}", self.method, self.key)
    }

    /// Returns whether a measured value is the written one up to rounding and the tolerance.
    pub fn is_met(&self, found: f64) -> bool {
        // The last term is for the rounding of the decimal numbers themselves.
        let distance = self.tolerance + self.value.rounding * (1.0 + 1e-9);
        (found - self.value.value).abs() <= distance
    }
}

/// Number as a page writes it: digits, perhaps a minus sign (`-` or `−`) and commas between thousands, and
/// perhaps a unit behind a space: `%`, `k` or `M`; or `×` without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Text on the page.
    pub text: String,
    /// Value, with the unit.
    value: f64,
    /// Half of the last digit's place, which rounding may have changed.
    rounding: f64,
}

impl Written {
    fn read(text: &str) -> Option<Self> {
        let units = [
            (" %", 1e-2),
            ("%", 1e-2),
            (" k", 1e3),
            (" M", 1e6),
            ("×", 1.0),
            ("", 1.0),
        ];
        let with_unit = |(suffix, unit)| Some((text.strip_suffix(suffix)?, unit));
        let (digits, unit): (&str, f64) = units.into_iter().find_map(with_unit)?;
        let digits = digits.replace('−', "-").replace(',', "");
        let value: f64 = digits
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())?;
        let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
        let exponent: i32 = exponent.parse().ok()?;
        let n_decimals = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
        let place = 10_f64.powi(exponent - i32::try_from(n_decimals).ok()?);
        Some(Self {
            text: text.to_owned(),
            value: value * unit,
            rounding: place * unit / 2.0,
        })
    }

    /// Returns the number of times that a text holds the number: not as a part of another one, and not
    /// behind a minus sign that it has not.
    pub fn n_in(&self, text: &str) -> usize {
        let is_whole = |(at, _): &(usize, &str)| {
            let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '−');
            let mut after = text[at + self.text.len()..].chars();
            let goes_on = match after.next() {
                Some('.' | ',') => after.next().is_some_and(|c| c.is_ascii_digit()),
                Some(c) => c.is_ascii_alphanumeric(),
                None => false,
            };
            !text[..*at].ends_with(joins) && !goes_on
        };
        text.match_indices(&self.text).filter(is_whole).count()
    }
}

#[cfg(test)]
impl Figure {
    /// Reads a line of a table for the held-out risk on new data of a method, without its first columns.
    pub fn of(page: &str, method: &str, value: &str, tolerance: &str) -> Result<Self, String> {
        let figure = format!("{page}#{method}/held_out_risk.new");
        Self::of_line(
            &figure,
            "icl run --data digits",
            "1",
            value,
            tolerance,
            "yes",
        )
    }

    fn of_line(
        figure: &str,
        command: &str,
        seed: &str,
        value: &str,
        tolerance: &str,
        quick: &str,
    ) -> Result<Self, String> {
        let [figure, command, seed, value, tolerance, quick] =
            [figure, command, seed, value, tolerance, quick].map(str::to_owned);
        let (commit, date) = ("740119a".into(), "2026-11-22".into());
        Self::try_from(Line {
            figure,
            command,
            seed,
            value,
            tolerance,
            commit,
            date,
            quick,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_page_method_key_and_words() {
        let figure = "docs/a.md#sampling=share:0.2,rate=cosine/risk.new";
        let figure = Figure::of_line(figure, "icl run --data a", "0 1 2", "1", "0", "").unwrap();
        assert_eq!(figure.page, PathBuf::from("docs/a.md"));
        assert_eq!(figure.name(), "sampling=share:0.2,rate=cosine/risk.new");
        assert_eq!(figure.words, figure.method);
        assert_eq!(figure.command, "run --data a");
        assert_eq!((figure.seeds, figure.is_quick), (vec![0, 1, 2], false));
        let figure = Figure::of_line("a#b/c|the words", "icl run", "1", "1", "0", "yes").unwrap();
        assert_eq!(
            (figure.words.as_str(), figure.is_quick),
            ("the words", true)
        );
    }

    #[test]
    fn lines_that_cannot_be_read_are_errors() {
        let good = ["a.md#warm/risk", "icl run", "1", "0.87", "1 %", ""];
        for (column, wrong, expected) in [
            (0, "README.md", "the figure"),
            (0, "README.md#warm", "the figure"),
            (1, "cargo run", "the command"),
            (1, "icl update", "the command"),
            (1, "icl run --out x", "the command"),
            (2, "one", "the seeds"),
            (2, "", "the seeds"),
            (3, "", "the value"),
            (3, "never", "the value"),
            (3, "1 s", "the value"),
            (3, "1.2.3", "the value"),
            (4, "", "the tolerance"),
            (4, "-1", "the tolerance"),
            (4, "NaN", "the tolerance"),
            (5, "no", "the mark in the column quick"),
        ] {
            let mut line = good;
            line[column] = wrong;
            let [figure, command, seed, value, tolerance, quick] = line;
            let read = Figure::of_line(figure, command, seed, value, tolerance, quick);
            let error = read.err().unwrap_or_default();
            assert!(
                error.starts_with(&format!("found {expected} ")),
                "{wrong}: {error}"
            );
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_written_and_met_up_to_rounding_and_tolerance() {
        for (text, tolerance, value, distance) in [
            ("0.871", "0", 0.871, 0.0005),
            ("−0.5", "0", -0.5, 0.05),
            ("-12", "0", -12.0, 0.5),
            ("12.3 k", "0", 12_300.0, 50.0),
            ("2 M", "0", 2e6, 5e5),
            ("4.2 %", "0", 0.042, 0.0005),
            ("1,234", "0", 1234.0, 0.5),
            ("3.4×", "0", 3.4, 0.05),
            ("3.1e-6", "0", 3.1e-6, 5e-8),
            ("0.87", "0.01", 0.87, 0.015),
            ("0.87", "10 %", 0.87, 0.092),
            ("-0.5", "10%", -0.5, 0.1),
        ] {
            let figure = Figure::of("a.md", "icl", text, tolerance).unwrap();
            for side in [-1.0, 1.0] {
                assert!(figure.is_met(value + side * 0.999 * distance), "{text}");
                assert!(!figure.is_met(value + side * 1.001 * distance), "{text}");
            }
            assert!(!figure.is_met(f64::NAN));
        }
    }

    #[test]
    fn a_number_is_found_as_a_whole() {
        let n = |number: &str, text: &str| Written::read(number).unwrap().n_in(text);
        assert_eq!(n("0.87", "| 0.87 | 0.871 | 10.87 | −0.87 | -0.87 |"), 1);
        assert_eq!(n("0.87", "0.87, 0.87. 0.87–0.88 (0.87)"), 4);
        assert_eq!(n("12", "12.3, 12,345, 12e3, 3.12, x12"), 0);
        assert_eq!(n("5.3 k", "5.3 k passes and 15.3 k"), 1);
        assert_eq!(n("−0.87", "| −0.87 |"), 1);
    }
}
