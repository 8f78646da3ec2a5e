//! One figure of a page of results: a line of the table.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

/// Figure of a page, and the run that it is of.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Page, as a path from the repository's root.
    pub page: PathBuf,
    /// Words on the figure's line of the page.
    pub words: String,
    /// Method whose record has the value.
    pub method: String,
    /// Place of the value in the record: keys with points between them. Of numbers in a row the mean counts.
    pub key: String,
    /// Arguments of `icl` for the run, without its folder.
    pub command: String,
    /// Seeds with spaces between them, over which the value is the median.
    pub seeds: String,
    /// Value as the page has it.
    pub value: String,
    /// Share of the value by which a measured one may differ, next to the rounding of the written one.
    pub tolerance: f64,
    /// Commit at which the value was measured.
    #[serde(rename = "commit")]
    _commit: String,
    /// Day on which it was measured.
    #[serde(rename = "date")]
    _date: String,
    /// Whether the run takes minutes at most, on data that come with the program.
    pub quick: bool,
}

impl Figure {
    /// Returns the name of the figure on its page.
    pub fn name(&self) -> String {
        format!("{}/{}", self.method, self.key)
    }

    /// Returns a sentence if the value that the records have is another one, up to rounding and the tolerance.
    pub fn problem(&self, records: &[Value]) -> Option<String> {
        let words = match (self.measured(records), number(&self.value)) {
            (Ok(found), Some((value, rounding))) => {
                // The last factor is for the rounding of the decimal numbers themselves.
                let most = self.tolerance * value.abs() + rounding * (1.0 + 1e-9);
                if (found - value).abs() <= most {
                    return None;
                }
                format!("found {found}, expected {}", self.value)
            }
            (Err(error), _) => error,
            (_, None) => format!("found the value {:?}, expected a number", self.value),
        };
        let (page, name) = (self.page.display(), self.name());
        Some(format!("{page}: {name}, seeds {}: {words}", self.seeds))
    }

    /// Returns the measured value: the median over the seeds.
    ///
    /// # Errors
    /// A sentence, if a seed has no record of the method, or the record no number at the key.
    fn measured(&self, records: &[Value]) -> Result<f64, String> {
        let Self { method, key, .. } = self;
        let of_seed = |seed: &str| {
            let seed: u64 = seed
                .parse()
                .map_err(|_| format!("found the seed {seed:?}, expected a number"))?;
            let is_it = |it: &&Value| it["method"] == **method && it["seed"] == seed;
            let record = records.iter().find(is_it);
            let record = record.ok_or(format!("found no record of {method} with seed {seed}"))?;
            let value = record.pointer(&format!("/{}", key.replace('.', "/")));
            let value = value.and_then(number_or_mean);
            value.ok_or(format!(
                "found no number at {key} in the record of {method} with seed {seed}"
            ))
        };
        let seeds = self.seeds.split(' ');
        let mut values: Vec<f64> = seeds.map(of_seed).collect::<Result<_, _>>()?;
        values.sort_by(f64::total_cmp);
        let n = values.len();
        Ok((values[(n - 1) / 2] + values[n / 2]) / 2.0)
    }

    /// Returns the number of times that a line of the page holds the value: not as a part of another number.
    pub fn n_in(&self, line: &str) -> usize {
        let is_whole = |(at, _): &(usize, &str)| {
            let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '−');
            let mut after = line[at + self.value.len()..].chars();
            let continues = match after.next() {
                Some('.' | ',') => after.next().is_some_and(|c| c.is_ascii_digit()),
                Some(c) => c.is_ascii_alphanumeric(),
                None => false,
            };
            !line[..*at].ends_with(joins) && !continues
        };
        line.match_indices(&self.value).filter(is_whole).count()
    }
}

/// Returns a number, or the mean of an array of numbers, such as a row of a stream's risks.
fn number_or_mean(value: &Value) -> Option<f64> {
    let Value::Array(cells) = value else {
        return value.as_f64();
    };
    let sum: f64 = cells.iter().map(Value::as_f64).sum::<Option<f64>>()?;
    Some(sum / cells.len() as f64).filter(|mean| mean.is_finite())
}

/// Reads a number as a page writes it, such as `0.871`, `12.3 k` or `4 %`: its value, and half of its last
/// digit's place, which rounding may have changed.
fn number(text: &str) -> Option<(f64, f64)> {
    let units = [(" %", 1e-2), (" k", 1e3), (" M", 1e6), ("", 1.0)];
    let with_unit = |(suffix, unit)| Some((text.strip_suffix(suffix)?, unit));
    let (digits, unit): (&str, f64) = units.into_iter().find_map(with_unit)?;
    let digits = digits.replace('−', "-");
    let value: f64 = digits.parse().ok().filter(|it: &f64| it.is_finite())?;
    let n_decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let place = 10_f64.powi(-i32::try_from(n_decimals).ok()?);
    Some((value * unit, place * unit / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn figure(value: &str, tolerance: f64) -> Figure {
        let figure = json!({
            "page": "a.md", "words": "", "method": "icl", "key": "risk.new", "command": "run", "seeds": "1",
            "value": value, "tolerance": tolerance, "commit": "c", "date": "d", "quick": true,
        });
        serde_json::from_value(figure).unwrap()
    }

    #[test]
    fn values_are_met_up_to_rounding_and_tolerance() {
        for (text, tolerance, value, distance) in [
            ("0.871", 0.0, 0.871, 0.0005),
            ("−0.5", 0.0, -0.5, 0.05),
            ("-12", 0.0, -12.0, 0.5),
            ("12.3 k", 0.0, 12_300.0, 50.0),
            ("2 M", 0.0, 2e6, 5e5),
            ("4.2 %", 0.0, 0.042, 0.0005),
            ("0.87", 0.1, 0.87, 0.092),
            ("-0.5", 0.1, -0.5, 0.1),
        ] {
            let problem = |found: f64| {
                let record = json!({"method": "icl", "seed": 1, "risk": {"new": found}});
                figure(text, tolerance).problem(&[record])
            };
            for side in [-1.0, 1.0] {
                assert_eq!(problem(value + side * 0.999 * distance), None, "{text}");
                assert!(problem(value + side * 1.001 * distance).is_some(), "{text}");
            }
        }
        let record = json!({"method": "icl", "seed": 1, "risk": {"new": 1.0}});
        for text in ["", "much", "NaN", "1,234", "1 s"] {
            assert!(
                figure(text, 0.0)
                    .problem(std::slice::from_ref(&record))
                    .is_some()
            );
        }
    }

    #[test]
    fn of_a_row_the_mean_counts() {
        let problem = |row: Value| {
            let record = json!({"method": "icl", "seed": 1, "risk": [[9.0], row]});
            let figure = Figure {
                key: "risk.1".into(),
                ..figure("2.5", 0.0)
            };
            figure.problem(&[record])
        };
        assert_eq!(problem(json!([1.0, 2.0, 4.5])), None);
        for other in [json!([1.0, 2.0]), json!([2.5, null]), json!([])] {
            assert!(problem(other.clone()).is_some(), "{other}");
        }
    }

    #[test]
    fn a_value_is_the_median_over_the_seeds() {
        let record = |seed: u64, new| json!({"method": "icl", "seed": seed, "risk": {"new": new}});
        let records = [record(1, 0.5), record(2, 0.7), record(3, 0.9)];
        let problem = |value: &str, method: &str, key: &str, seeds: &str| {
            let (method, key, seeds) = (method.into(), key.into(), seeds.into());
            let figure = Figure {
                method,
                key,
                seeds,
                ..figure(value, 0.0)
            };
            figure.problem(&records).unwrap_or_default()
        };
        assert_eq!(problem("0.7", "icl", "risk.new", "3 1 2"), "");
        assert_eq!(problem("0.6", "icl", "risk.new", "1 2"), "");
        for (method, key, seeds, error) in [
            ("icl", "risk.new", "1", "found 0.5, expected 0.7"),
            (
                "warm",
                "risk.new",
                "1",
                "found no record of warm with seed 1",
            ),
            (
                "icl",
                "risk.new",
                "1 4",
                "found no record of icl with seed 4",
            ),
            (
                "icl",
                "risk",
                "1",
                "found no number at risk in the record of icl with seed 1",
            ),
        ] {
            let expected = format!("a.md: {method}/{key}, seeds {seeds}: {error}");
            assert_eq!(problem("0.7", method, key, seeds), expected);
        }
    }

    #[test]
    fn a_number_is_found_as_a_whole() {
        let n = |number: &str, text: &str| figure(number, 0.0).n_in(text);
        assert_eq!(n("0.87", "| 0.87 | 0.871 | 10.87 | −0.87 | -0.87 |"), 1);
        assert_eq!(n("0.87", "0.87, 0.87. 0.87–0.88 (0.87)"), 4);
        assert_eq!(n("12", "12.3, 12,345, 12e3, 3.12, x12"), 0);
        assert_eq!(n("5.3 k", "5.3 k passes and 15.3 k"), 1);
        assert_eq!(n("−0.87", "| −0.87 |"), 1);
    }
}
