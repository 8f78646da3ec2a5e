//! Medians and how far values lie apart.

/// What stands for the values of all rounds.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    pub median: f64,
    pub least: f64,
    /// A tenth of the values is below.
    pub low: f64,
    /// A tenth of the values is above.
    pub high: f64,
}

impl Spread {
    /// # Panics
    /// If there are no values.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        // Between two values it is as far along as the quantile is.
        let quantile = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            values[below] + (values[above] - values[below]) * place.fract()
        };
        Self {
            median: quantile(0.5),
            least: values[0],
            low: quantile(0.1),
            high: quantile(0.9),
        }
    }
}
