//! Ranks of the positives among the noise, and the number of negatives that they advise.

use std::f64::consts::PI;

use comfy_table::{CellAlignment, Table, presets};
use icl_core::Error;
use icl_core::drift::AnchorDrift;
use icl_core::negatives::{
    FLAT, Optimum, Rank, course, effectiveness_by_k, reliability, separation,
};
use serde::Serialize;

use super::words::error_in_words;

/// Largest number of negatives that is considered.
const MAX_ADVISED: usize = 1000;

/// Probability that a prediction with K negatives is right.
#[derive(Debug, Serialize)]
struct RightPrediction {
    k: usize,
    /// Share of draws of K noise samples that are all below the positive.
    measured: f64,
    /// P(μ, K) of the model of two Gaussians; `None` without a separation μ.
    gaussian: Option<f64>,
    /// Standard error of `measured`, where a random subset is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_standard_error: Option<f64>,
    /// Standard error of `gaussian`.
    #[serde(skip_serializing_if = "Option::is_none")]
    gaussian_standard_error: Option<f64>,
}

/// Ranks of the positives in numbers, and what they advise. The best K and its range are `None` if the AUC is ½ or below,
/// or 1.
#[derive(Debug, Serialize)]
pub struct Ranking {
    auc: f64,
    mu: Option<f64>,
    /// Standard errors, where a random subset is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    auc_standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mu_standard_error: Option<f64>,
    right_predictions: Vec<RightPrediction>,
    k_opt: Option<usize>,
    k_range: Option<[usize; 2]>,
    advice: String,
}

impl Ranking {
    /// Summarises the ranks of the positives of anchors.
    ///
    /// # Errors
    /// [`Error`] never for ranks among noise.
    pub fn of(drift: &AnchorDrift) -> Result<Self, Error> {
        let error = |it: f64| drift.is_of_subset().then_some(it);
        let found = drift.estimate_of_rank(Rank::auc);
        let auc = found.mean;
        let mu = separation(auc).ok();
        // Delta method with dμ/dAUC = 2√π·exp(μ²/4), since μ = √2·Φ⁻¹(AUC).
        let slope = |mu: f64| 2.0 * PI.sqrt() * (mu * mu / 4.0).exp();
        let mu_error = mu.and_then(|mu| error(slope(mu) * found.standard_error));
        // Self-pairs are left out: the noise of one anchor may be smaller than that of another.
        let n_noise = drift.n_ranked();
        let mut ks = vec![1, 4, 20];
        if !drift.is_of_subset() {
            ks.push(n_noise);
        }
        ks.retain(|k| *k <= n_noise);
        ks.dedup();
        let right = |k: usize| {
            let of_k = |mu: f64| reliability(mu, k as f64);
            let measured = drift.estimate_of_rank(|rank| rank.right(k).unwrap_or(f64::NAN));
            let of_gaussians = mu.zip(mu_error);
            RightPrediction {
                k,
                measured: measured.mean,
                gaussian: mu.map(of_k),
                measured_standard_error: error(measured.standard_error),
                // Half the difference over μ ± its error.
                gaussian_standard_error: of_gaussians
                    .map(|(mu, error)| (of_k(mu + error) - of_k(mu - error)) / 2.0),
            }
        };
        // As `icl negatives --train-auc AUC --lambda 1`, which the help promises.
        let optimum = match mu.filter(|mu| *mu > 0.0) {
            Some(mu) => Optimum::of(&effectiveness_by_k(mu, &course(mu, 3.0), 1.0, MAX_ADVISED)?),
            None => None,
        };
        Ok(Self {
            auc,
            mu,
            auc_standard_error: error(found.standard_error),
            mu_standard_error: mu_error,
            right_predictions: ks.into_iter().map(right).collect(),
            k_opt: optimum.as_ref().map(|optimum| optimum.k),
            k_range: optimum
                .as_ref()
                .map(|it| [*it.flat.start(), *it.flat.end()]),
            advice: advice(auc, optimum.as_ref()),
        })
    }

    /// Writes the ranking for the terminal: AUC and separation, a table over K, and the advice.
    pub fn text(&self) -> String {
        let separation = match self.mu {
            Some(mu) => format!(
                "separation μ = {mu:.4}{}",
                error_in_words(self.mu_standard_error, 4)
            ),
            None => "no finite separation μ".to_owned(),
        };
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY);
        table.set_header(["K", "P(B) measured", "P(B) of Gaussians"]);
        for of in &self.right_predictions {
            let cell = |p: f64, error| format!("{p:.6}{}", error_in_words(error, 6));
            let gaussian = of.gaussian.map(|p| cell(p, of.gaussian_standard_error));
            let gaussian = gaussian.unwrap_or_else(|| "–".to_owned());
            table.add_row([
                of.k.to_string(),
                cell(of.measured, of.measured_standard_error),
                gaussian,
            ]);
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!(
            "AUC of positives against noise = {:.4}{}, {separation}\n{table}\n{}",
            self.auc,
            error_in_words(self.auc_standard_error, 4),
            self.advice
        )
    }
}

/// Says in one sentence how many negatives are best, and what this takes for granted.
fn advice(auc: f64, optimum: Option<&Optimum>) -> String {
    let Some(Optimum {
        k,
        flat,
        is_at_bound,
        ..
    }) = optimum
    else {
        let reason = match auc > 0.5 {
            true => "every positive scores above all noise, so that the AUC sets no limit",
            false => {
                "the noise scores as high as the positives or higher, so that labels say nothing"
            }
        };
        return format!("No number of negatives is advised: {reason}.");
    };
    let best = match is_at_bound {
        true => format!("at least {k}"),
        false => k.to_string(),
    };
    format!(
        "Recommended number of negatives: {best} ({} to {} are within {FLAT} of the best P(A) − P(B)), if this AUC is that \
         of the labels and predictions rise to it in the simulated course, since one AUC describes only one point of a \
         training.",
        flat.start(),
        flat.end()
    )
}

#[cfg(test)]
mod tests {
    use icl_core::drift::{DriftData, DriftTestConfig};

    use super::*;

    /// The ranking of an anchor and a positive with right angles between them, and noise on both sides of the right
    /// angle.
    fn ranking(below: usize, tied: usize, above: usize) -> Ranking {
        let sides = [
            ([-1.0, 0.5], below),
            ([0.0, -1.0], tied),
            ([1.0, 0.5], above),
        ];
        let noise: Vec<f64> = sides.iter().flat_map(|(row, n)| row.repeat(*n)).collect();
        let noise = [noise[..2].to_vec(), noise[2..].to_vec()].map(|rows| (rows, 2));
        let pair = [vec![1.0, 0.0], vec![0.0, 1.0]].map(|row| (row, 2));
        let data = DriftData::try_new(pair, noise).unwrap();
        let test = DriftTestConfig::new(0.1, 31.0)
            .with_relabellings(39)
            .try_init();
        Ranking::of(&test.unwrap().measure(&data).unwrap().old).unwrap()
    }

    /// At an AUC of 0.95 the best number at λ = 1 is 20, as SciPy finds it too.
    #[test]
    fn an_auc_advises_a_number_with_its_range() {
        let found = ranking(95, 0, 5);
        assert_eq!(found.k_opt, Some(20));
        assert!((found.auc - 0.95).abs() < 1e-12);
        let [low, high] = found.k_range.unwrap();
        assert!(low < 20 && high > 20);
        assert!(
            found
                .advice
                .starts_with("Recommended number of negatives: 20 (")
        );
        let ks: Vec<usize> = found.right_predictions.iter().map(|it| it.k).collect();
        assert_eq!(ks, [1, 4, 20, 100]);
        assert!((found.right_predictions[0].measured - 0.95).abs() < 1e-12);
        assert!((found.right_predictions[0].gaussian.unwrap() - 0.95).abs() < 1e-9);
        assert_eq!(found.right_predictions[3].measured, 0.0);
    }

    #[test]
    fn no_number_is_advised_without_a_limit_or_a_label() {
        let perfect = ranking(4, 0, 0);
        assert_eq!(
            (perfect.mu, perfect.k_opt, perfect.k_range),
            (None, None, None)
        );
        assert!(
            perfect.advice.contains("every positive"),
            "{}",
            perfect.advice
        );
        assert!(perfect.text().contains("no finite separation"));
        for chance in [ranking(0, 6, 0), ranking(1, 0, 5), ranking(0, 0, 3)] {
            assert_eq!(chance.k_opt, None);
            assert!(chance.advice.contains("say nothing"), "{}", chance.advice);
        }
        assert_eq!(ranking(0, 2, 0).right_predictions.len(), 2);
        assert_eq!(ranking(1, 2, 1).right_predictions.len(), 2);
        assert!(ranking(9999, 0, 1).advice.contains("at least 1000"));
    }
}
