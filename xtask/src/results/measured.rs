//! Values from the records of runs.

use anyhow::{Context, ensure};
use serde_json::Value;

use super::figure::Figure;

/// Key of the last entry of a list.
const LAST: &str = "last";

/// Records of a run, one line of JSON for each method and seed.
pub struct Records(Vec<Value>);

impl Records {
    /// Reads the text of a `record.jsonl`.
    ///
    /// # Errors
    /// If a line is no JSON.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        let lines = text.lines().map(serde_json::from_str);
        Ok(Self(lines.collect::<Result<_, _>>()?))
    }

    /// Returns the measured value of a figure: the median over its seeds.
    ///
    /// # Errors
    /// If a seed has no record of the method, or the record no number at the key.
    pub fn value(&self, figure: &Figure) -> anyhow::Result<f64> {
        let values = figure.seeds.iter().map(|&seed| self.of_seed(figure, seed));
        let mut values: Vec<f64> = values.collect::<anyhow::Result<_>>()?;
        values.sort_by(f64::total_cmp);
        let n = values.len();
        ensure!(n > 0, "found no seed, expected at least one");
        Ok((values[(n - 1) / 2] + values[n / 2]) / 2.0)
    }

    fn of_seed(&self, figure: &Figure, seed: u64) -> anyhow::Result<f64> {
        let is_it =
            |record: &&Value| record["method"] == figure.method.as_str() && record["seed"] == seed;
        let record =
            self.0.iter().find(is_it).with_context(|| {
                format!("found no record of {} with seed {seed}", figure.method)
            })?;
        let mut keys = figure.key.split('.');
        keys.try_fold(record, |value, key| match value {
            Value::Array(items) if key == LAST => items.last(),
            Value::Array(items) => items.get(key.parse::<usize>().ok()?),
            value => value.get(key),
        })
        .and_then(Value::as_f64)
        .with_context(|| {
            format!(
                "found no number at {} in the record of {} with seed {seed}",
                figure.key, figure.method
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: &str = r#"{"method":"warm","seed":1,"held_out_risk":{"new":0.8},"losses":[3,2.5]}
{"method":"icl","seed":1,"held_out_risk":{"new":0.5},"charged_passes":null}
{"method":"icl","seed":2,"held_out_risk":{"new":0.7}}
{"method":"icl","seed":3,"held_out_risk":{"new":0.9}}
"#;

    fn value(method: &str, key: &str, seeds: &[u64]) -> anyhow::Result<f64> {
        let mut figure = Figure::made_up("a.md", method, "1");
        figure.key = key.into();
        figure.seeds = seeds.to_vec();
        Records::read(RECORDS)?.value(&figure)
    }

    #[test]
    fn a_value_is_the_median_over_the_seeds() {
        let key = "held_out_risk.new";
        assert_eq!(value("warm", key, &[1]).unwrap(), 0.8);
        assert_eq!(value("icl", key, &[3, 1, 2]).unwrap(), 0.7);
        assert!((value("icl", key, &[1, 2]).unwrap() - 0.6).abs() < 1e-12);
        assert_eq!(value("warm", "losses.0", &[1]).unwrap(), 3.0);
        assert_eq!(value("warm", "losses.last", &[1]).unwrap(), 2.5);
    }

    #[test]
    fn what_is_not_there_is_named() {
        for (method, key, seed, expected) in [
            (
                "cold",
                "held_out_risk.new",
                1,
                "no record of cold with seed 1",
            ),
            (
                "warm",
                "held_out_risk.new",
                2,
                "no record of warm with seed 2",
            ),
            ("warm", "held_out_risk", 1, "no number at held_out_risk"),
            ("warm", "losses.2", 1, "no number at losses.2"),
            ("icl", "charged_passes", 1, "no number at charged_passes"),
        ] {
            let error = value(method, key, &[seed]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(Records::read("{").is_err());
    }
}
