//! Ranks of the positives among the noise, and the number of negatives that they advise.

use comfy_table::{CellAlignment, Table, presets};
use icl_core::Error;
use icl_core::negatives::{
    FLAT, Optimum, Rank, Ranks, course, effectiveness_by_k, reliability, separation,
};
use serde::Serialize;

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
}

/// Ranks of the positives in numbers, and what they advise. The best K and its range are `None` if the AUC is ½ or below,
/// or 1.
#[derive(Debug, Serialize)]
pub struct Ranking {
    auc: f64,
    mu: Option<f64>,
    right_predictions: Vec<RightPrediction>,
    k_opt: Option<usize>,
    k_range: Option<[usize; 2]>,
    advice: String,
}

impl Ranking {
    /// Summarises ranks.
    ///
    /// # Errors
    /// [`Error`] never for ranks among noise.
    pub fn of(ranks: &Ranks) -> Result<Self, Error> {
        let auc = ranks.auc();
        let mu = separation(auc).ok();
        // Self-pairs are left out: the noise of one anchor may be smaller than that of another.
        let n_noise = ranks.of_anchors().iter().map(Rank::n_noise).min();
        let n_noise = n_noise.unwrap_or(0);
        let mut ks = vec![1, 4, 20, n_noise];
        ks.retain(|k| *k <= n_noise);
        ks.dedup();
        let right = |k: usize| {
            let gaussian = mu.map(|mu| reliability(mu, k as f64));
            let measured = ranks.right(k)?;
            Some(RightPrediction {
                k,
                measured,
                gaussian,
            })
        };
        let optimum = match mu.filter(|mu| *mu > 0.0) {
            Some(mu) => Optimum::of(&effectiveness_by_k(mu, &course(mu, 3.0), 1.0, MAX_ADVISED)?),
            None => None,
        };
        Ok(Self {
            auc,
            mu,
            right_predictions: ks.into_iter().filter_map(right).collect(),
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
            Some(mu) => format!("separation μ = {mu:.4}"),
            None => "no finite separation μ".to_owned(),
        };
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY);
        table.set_header(["K", "P(B) measured", "P(B) of Gaussians"]);
        for RightPrediction {
            k,
            measured,
            gaussian,
        } in &self.right_predictions
        {
            let gaussian = gaussian.map_or_else(|| "–".to_owned(), |p| format!("{p:.6}"));
            table.add_row([k.to_string(), format!("{measured:.6}"), gaussian]);
        }
        for column in table.column_iter_mut() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        format!(
            "AUC of positives against noise = {:.4}, {separation}\n{table}\n{}",
            self.auc, self.advice
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
         of the labels and predictions rise to it in the simulated course, since one AUC tells of only one point of a \
         training.",
        flat.start(),
        flat.end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(below: usize, tied: usize, above: usize) -> Ranking {
        let ranks = Ranks::new(vec![Rank { below, tied, above }; 3]);
        Ranking::of(&ranks).unwrap()
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
        assert_eq!(ranking(0, 1, 0).right_predictions.len(), 1);
        assert!(ranking(9999, 0, 1).advice.contains("at least 1000"));
    }
}
