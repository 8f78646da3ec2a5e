//! Checks of an evaluation: of its arguments, of the members that share it, and of the embeddings that it rests on.

use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Alone, Collate, Encoder, Increment, Samples, Views, host_values};

use crate::devices::replicas::check_alike;
use crate::error::{TrainError, TrainErrorKind, not_finite};
use crate::evaluation::evaluator::Evaluator;
use crate::evaluation::fixed_views::CHUNK;
use crate::identity::{Identity, digest_of};

/// Largest difference of directions, coordinate by coordinate, that is rounding: single precision has seven digits.
const ROUNDING: f64 = 1e-6;

impl<B, S, V, C> Evaluator<'_, B, S, V, C>
where
    B: Backend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Checks the settings of the evaluation, and that all samples of the increment exist.
    pub(super) fn check(&self) -> Result<(), TrainError> {
        self.check_formula()?;
        let n = self.max_samples.min(self.max_statistics);
        TrainError::unless(n >= 4, "evaluation_samples", n, "at least 4")?;
        self.check_samples("the increment", &self.problem.increment.all())
    }

    /// Checks the numbers of the formulas.
    pub(super) fn check_formula(&self) -> Result<(), TrainError> {
        for (field, found) in [
            ("temperature", self.temperature),
            ("negatives", self.negatives),
        ] {
            let is_valid = found.is_finite() && found > 0.0;
            TrainError::unless(is_valid, field, found, "a number above 0")?;
        }
        Ok(())
    }

    /// Checks that an argument has samples, and that all exist.
    pub(super) fn check_samples(
        &self,
        argument: &'static str,
        samples: &[usize],
    ) -> Result<(), TrainError> {
        if samples.is_empty() {
            let error = TrainError::new(argument, "0 samples", "at least 1");
            return Err(error.with_kind(TrainErrorKind::Failed));
        }
        self.problem.check_samples(argument, samples)
    }

    /// Checks that all members of a group evaluate the same samples in the same way: each does a part of the work for all.
    pub(super) fn check_members(
        &self,
        samples: &[usize],
        increment: &Increment,
    ) -> Result<(), TrainError> {
        let facts = || {
            let partners = match self.has_old_partners {
                true => "old",
                false => "all",
            };
            Identity::of([
                ("stream", "evaluation".to_owned()),
                ("seed", self.root_seed.to_string()),
                ("temperature", self.temperature.to_string()),
                ("negatives", self.negatives.to_string()),
                ("evaluated samples", digest_of(samples)),
                ("old samples", digest_of(increment.old())),
                ("partners", partners.to_owned()),
            ])
        };
        Ok(check_alike(self.group, facts)?)
    }

    /// Checks the risk of an encoder and the embeddings `[n, d]` of both views of each sample, from which it was computed. `before` is
    /// the encoder with its own statistics.
    ///
    /// # Errors
    /// - [`TrainErrorKind::NonFinite`] if the risk is not finite;
    /// - [`TrainErrorKind::Collapsed`] if all embeddings are zero or have one direction.
    pub(super) fn check_risk<M>(
        &self,
        risk: (&'static str, f64),
        before: &M,
        samples: &[usize],
        embeddings: [Tensor<B, 2>; 2],
    ) -> Result<(), TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        self.check_finite(risk, before, samples)?;
        let Some(what) = collapse(&embeddings.map(rows).concat()) else {
            return Ok(());
        };
        let (n, (step, epoch), seed) = (samples.len(), self.at, self.root_seed);
        let error = TrainError::message(format!(
            "the embeddings of all {n} samples are {what} at step {step} (epoch {epoch}, seed {seed}), expected different \
             directions: check the encoder, its input and the learning rate"
        ));
        Err(error.with_kind(TrainErrorKind::Collapsed { step }))
    }

    /// Checks that a risk is finite.
    pub(super) fn check_finite<M>(
        &self,
        (what, found): (&'static str, f64),
        encoder: &M,
        samples: &[usize],
    ) -> Result<(), TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        match found.is_finite() {
            true => Ok(()),
            false => {
                let sample = self.first_bad(encoder, samples)?;
                Err(not_finite(what, found, self.at, self.root_seed, sample))
            }
        }
    }

    /// Finds the first sample whose embedding is not finite among those over which statistics are re-estimated.
    pub(crate) fn first_bad_of_statistics<M>(
        &self,
        encoder: &M,
    ) -> Result<Option<usize>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        let subset = self.subset(self.problem.increment, self.max_statistics);
        self.first_bad(encoder, &subset.all())
    }

    /// Finds the first sample whose embedding is not finite: of its plain view, or else of one of its fixed views. Returns `None`
    /// if no sample is at fault, since the embeddings of all are not finite, or those of none.
    pub(crate) fn first_bad<M>(
        &self,
        encoder: &M,
        samples: &[usize],
    ) -> Result<Option<usize>, TrainError>
    where
        M: Encoder<B>,
        C: Collate<B, V::View, M::Batch>,
    {
        if samples.is_empty() {
            return Ok(None);
        }
        let first = |kinds: &[Vec<bool>]| {
            let is_bad = |at: &usize| kinds.iter().any(|is_finite| !is_finite[*at]);
            let mut bad = (0..samples.len()).filter(is_bad);
            let first = bad.next();
            first.filter(|_| 1 + bad.count() < samples.len())
        };
        let mut plain = Vec::new();
        for chunk in samples.chunks(CHUNK) {
            plain.extend(finite(self.embed(encoder, chunk)?));
        }
        if let Some(at) = first(&[plain]) {
            return Ok(Some(samples[at]));
        }
        // Each member of a group looks by itself: only those with an error are here.
        let views = self.views_by(&Alone, samples, samples, self.problem.increment);
        let of_views = views.embeddings(encoder)?;
        let of_views = of_views.map(|rows| finite(rows).collect::<Vec<bool>>());
        Ok(first(&of_views).map(|at| samples[at]))
    }
}

/// Returns the rows of a tensor on the host.
fn rows<B: Backend>(embeddings: Tensor<B, 2>) -> Vec<Vec<f64>> {
    let [_, width] = embeddings.dims();
    let values = host_values(embeddings);
    values.chunks(width).map(<[f64]>::to_vec).collect()
}

/// Returns whether each row is finite.
fn finite<B: Backend>(embeddings: Tensor<B, 2>) -> impl Iterator<Item = bool> {
    let is_finite = |row: Vec<f64>| row.iter().all(|x| x.is_finite());
    rows(embeddings).into_iter().map(is_finite)
}

/// Returns what rows are if no direction tells them apart: "zero" or "the same".
fn collapse(rows: &[Vec<f64>]) -> Option<&'static str> {
    let direction = |row: &Vec<f64>| -> Vec<f64> {
        let largest = row.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        // By the largest first, so that no square overflows or underflows.
        let scaled = row.iter().map(|x| x / largest);
        let length = scaled.clone().map(|x| x * x).sum::<f64>().sqrt();
        match largest == 0.0 {
            true => row.clone(),
            false => scaled.map(|x| x / length).collect(),
        }
    };
    if rows.iter().flatten().all(|x| *x == 0.0) {
        return Some("zero");
    }
    let first = direction(rows.first()?);
    let is_first = |row| {
        let pairs = direction(row).into_iter().zip(&first);
        pairs.map(|(x, y)| (x - y).abs()).all(|by| by <= ROUNDING)
    };
    rows.iter().all(is_first).then_some("the same")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_no_direction_tells_apart_have_collapsed() {
        let of = |rows: &[[f64; 2]]| {
            let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
            collapse(&rows)
        };
        assert_eq!(of(&[[0.0, 0.0], [0.0, -0.0]]), Some("zero"));
        assert_eq!(of(&[[3e-300, 0.0], [1e300, 0.0]]), Some("the same"));
        assert_eq!(of(&[[1.0, 1.0], [2.0, 2.0 + 1e-7]]), Some("the same"));
        assert_eq!(of(&[[1.0, 1.0], [1.0, 1.0001]]), None);
        assert_eq!(of(&[[1.0, 1.0], [-1.0, -1.0]]), None);
        // One zero, such as a text without a known word, is an embedding.
        assert_eq!(of(&[[1.0, 1.0], [0.0, 0.0]]), None);
        assert_eq!(of(&[[0.0, 0.0], [1.0, 1.0]]), None);
    }
}
