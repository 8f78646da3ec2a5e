//! Embeddings of an encoder's own data, which must not all be the same: then nothing could be found by them.

use anyhow::anyhow;
use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::Seed;
use icl_eval::{Matrix, effective_rank};
use icl_train::Evaluator;

use crate::domain::Collated;
use crate::domain::Domain;
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Effective rank of embeddings that are all multiples of one vector, up to rounding.
const MIN_RANK: f64 = 1.0001;
/// Mean cosine of embeddings that all point the same way, up to rounding.
const MAX_COSINE: f64 = 0.99999;

/// Evaluator of the samples of a domain.
pub type EvaluatorOf<'a, 'd, D, B> = Evaluator<
    'a,
    B,
    <D as Domain>::Data,
    &'d <D as Domain>::Views,
    Collated<<D as Domain>::Collate>,
>;

/// Embeds samples without augmentation, with the statistics of the encoder.
///
/// # Errors
/// If a sample cannot be read, or an embedding is not finite.
pub fn embed<D: Domain, B: Backend>(
    evaluator: &EvaluatorOf<'_, '_, D, B>,
    encoder: &D::Encoder<B>,
    samples: &[usize],
    causes: &Causes<'_>,
) -> Result<Matrix, Failure> {
    let (values, width) = evaluator.embed_to_host(encoder, samples)?;
    Matrix::try_new(values, width).map_err(|error| causes.embeddings(error))
}

/// Checks that the embeddings of these samples, which are the encoder's own data, are not all the same. If an untrained encoder
/// does not tell them apart either, as where all graphs have one shape, this is reported.
///
/// # Errors
/// If they are, or an untrained encoder cannot be evaluated.
pub fn check_spread<D: Domain, B: AutodiffBackend>(
    evaluator: &EvaluatorOf<'_, '_, D, B::InnerBackend>,
    domain: &D,
    (embeddings, samples): (&Matrix, &[usize]),
    device: &B::Device,
    causes: &Causes<'_>,
) -> Result<(), Failure> {
    let Some(found) = collapse(embeddings) else {
        return Ok(());
    };
    let untrained = domain.fresh::<B>(Seed::new(0), device)?.valid();
    let (untrained, _) = evaluator.with_statistics(untrained)?;
    if collapse(&embed::<D, _>(evaluator, &untrained, samples, causes)?).is_none() {
        return Err(causes.collapsed(anyhow!(
            "embeddings of {} old samples: found {found}, expected more than {MIN_RANK} and less than {MAX_COSINE}: the \
             encoder has collapsed and is not written",
            embeddings.n_rows(),
        )));
    }
    tell(format_args!(
        "note: the embeddings of {} old samples are all the same, as those of an untrained encoder are",
        embeddings.n_rows()
    ));
    Ok(())
}

/// Returns the effective rank and the mean cosine in words, if nothing tells the rows apart.
fn collapse(embeddings: &Matrix) -> Option<String> {
    let (rank, cosine) = (effective_rank(embeddings), mean_cosine(embeddings));
    // Negated, so that NaN counts as collapsed.
    let has_collapsed = embeddings.n_rows() > 1 && !(rank > MIN_RANK && cosine < MAX_COSINE);
    has_collapsed
        .then(|| format!("an effective rank of {rank:.3} and a mean cosine of {cosine:.6}"))
}

/// Returns the mean cosine of two different rows, by the length of the sum of all directions. Rows of zeros have no
/// direction and are left out; with fewer than two others the result is NaN.
fn mean_cosine(embeddings: &Matrix) -> f64 {
    let (mut sum, mut n) = (vec![0.0; embeddings.n_columns()], 0.0);
    for row in embeddings.rows() {
        let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        if length == 0.0 {
            continue;
        }
        n += 1.0;
        sum.iter_mut()
            .zip(row)
            .for_each(|(sum, value)| *sum += value / length);
    }
    if n < 2.0 {
        return f64::NAN;
    }
    // ‖Σu‖² = n + the sum of u·v over all ordered pairs of different unit rows.
    (sum.iter().map(|value| value * value).sum::<f64>() - n) / (n * (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_that_nothing_tells_apart_have_collapsed() {
        let check = |values: &[f64]| collapse(&Matrix::try_new(values.to_vec(), 2).unwrap());
        // Different ones, and a single one.
        assert_eq!(check(&[1.0, 0.0, 1.0, 0.01, 2.0, 1.0]), None);
        assert_eq!(check(&[1.0, 0.0]), None);
        for same in [
            [1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
            [1.0, 2.0, 3.0, 6.0, 5.0, 10.0],
            [1.0, 2.0, -1.0, -2.0, 1.0, 2.0],
            [0.0; 6],
        ] {
            assert!(check(&same).unwrap().starts_with("an effective rank of "));
        }
        let same = check(&[1.0, 2.0, 2.0, 4.0]).unwrap();
        assert!(same.ends_with("a mean cosine of 1.000000"), "{same}");
    }

    #[test]
    fn rows_of_zeros_have_no_cosine() {
        let of = |values: &[f64]| mean_cosine(&Matrix::try_new(values.to_vec(), 2).unwrap());
        let alike = of(&[3.0, 4.0, 0.0, 0.0, 6.0, 8.0, 0.0, 0.0]);
        assert!((alike - 1.0).abs() < 1e-12, "{alike}");
        assert_eq!(of(&[1.0, 0.0, 0.0, 0.0, 0.0, 2.0]), 0.0);
        assert!(of(&[1.0, 0.0, 0.0, 0.0]).is_nan());
    }
}
