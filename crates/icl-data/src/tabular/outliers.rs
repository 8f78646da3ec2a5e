//! Values of a table outside the range of the data that its schema was fitted to.

use super::dataset::TabularDataset;
use super::statistics::FeatureStatistics;
use crate::error::DataError;
use crate::outliers::{Limits, Outlier, Outliers, OutliersFound};

impl TabularDataset {
    /// Treats numbers outside the range of the data that the schema was fitted to, and returns notes of them, for
    /// people to read: sentences without a full stop that begin with the name of the data set. A value that is clipped
    /// becomes the nearest of the range.
    ///
    /// # Errors
    /// [`DataError`] if there is one and it is to be an error.
    pub fn within_range(self, outliers: Outliers) -> Result<(Self, Vec<String>), DataError> {
        let mut found = OutliersFound::default();
        let d_features = self.d_features();
        let statistics = self.schema().statistics();
        // The feature of each column of numbers, and its range.
        let mut ranges = Vec::new();
        for column in self.schema().columns() {
            // Indicators and categories are 0 or 1.
            let Some(feature) = column.features.clone().next() else {
                continue;
            };
            let of_column = &statistics[feature];
            let limits = Limits::of(of_column.min.into(), of_column.max.into());
            ranges.push((feature, limits));
            for (row, features) in self.values().chunks_exact(d_features).enumerate() {
                let value = f64::from(features[feature]);
                let Some(nearest) = limits.nearest(value) else {
                    continue;
                };
                found.add(|| Outlier {
                    place: format!("row {}, column {}", row + 1, column.name),
                    value: in_units(of_column, value),
                    deviations: of_column.standardize(features[feature]).into(),
                    nearest: in_units(of_column, nearest),
                });
            }
        }
        let notes = outliers.notes(self.name(), &found)?;
        if outliers != Outliers::Clip || found.n == 0 {
            return Ok((self, notes));
        }
        Ok((self.clipped(&ranges, found.n), notes))
    }
}

/// Returns a feature in the units of the file, with the digits of single precision.
fn in_units(of: &FeatureStatistics, value: f64) -> f64 {
    let value = (value as f32).to_string().parse().unwrap_or(value);
    value + of.offset.unwrap_or(0.0)
}
