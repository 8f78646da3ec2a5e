//! The shape of embeddings that an encoder returns.

use burn::tensor::{Tensor, backend::Backend};

use crate::error::{TrainError, TrainErrorKind};

/// Returns the embeddings that an encoder `M` has returned from a `call` if they have a row for each of the views, and the width of
/// other embeddings.
///
/// # Errors
/// [`TrainErrorKind::Failed`] if they have another shape.
pub(crate) fn checked<M, B: Backend>(
    call: &'static str,
    embeddings: Tensor<B, 2>,
    expected: [usize; 2],
) -> Result<Tensor<B, 2>, TrainError> {
    let found = embeddings.dims();
    match found == expected && found[1] > 0 {
        true => Ok(embeddings),
        false => {
            let rows_of = |[n, width]: [usize; 2]| format!("{n} rows of width {width}");
            let place = format!("the encoder {}", name_of::<M>());
            let found = format!("{} from `{call}`", rows_of(found));
            let error = TrainError::new(place, found, rows_of([expected[0], expected[1].max(1)]));
            Err(error.with_kind(TrainErrorKind::Failed))
        }
    }
}

/// Returns the embeddings if they have a row of any width for each of `n` views.
///
/// # Errors
/// [`TrainErrorKind::Failed`] if they have not.
pub(crate) fn checked_rows<M, B: Backend>(
    call: &'static str,
    embeddings: Tensor<B, 2>,
    n: usize,
) -> Result<Tensor<B, 2>, TrainError> {
    let [_, width] = embeddings.dims();
    checked::<M, B>(call, embeddings, [n, width])
}

/// Joins the embeddings of batches, of which there is at least one.
///
/// # Errors
/// [`TrainErrorKind::Failed`] if their widths differ.
pub(crate) fn stacked<M, B: Backend>(
    call: &'static str,
    batches: Vec<Tensor<B, 2>>,
) -> Result<Tensor<B, 2>, TrainError> {
    let width = batches.first().map_or(1, |first| first.dims()[1]);
    let of_one_width = batches.into_iter().map(|batch| {
        let [n, _] = batch.dims();
        checked::<M, B>(call, batch, [n, width])
    });
    Ok(Tensor::cat(of_one_width.collect::<Result<_, _>>()?, 0))
}

/// Returns the name of a type of encoders, without the backend.
fn name_of<M>() -> String {
    let name = std::any::type_name::<M>();
    name.split('<').next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::TestBackend;

    struct Mine<B>(std::marker::PhantomData<B>);

    fn rows(n: usize, width: usize) -> Tensor<TestBackend, 2> {
        Tensor::zeros([n, width], &Default::default())
    }

    #[test]
    fn an_encoder_is_named_with_what_it_returned() {
        type M = Mine<TestBackend>;
        assert!(checked_rows::<M, _>("embed", rows(3, 2), 3).is_ok());
        let error = checked_rows::<M, _>("embed", rows(3, 2), 4).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("the encoder icl_train::evaluation::shape::")
                && text.ends_with(
                    "::Mine: found 3 rows of width 2 from `embed`, expected 4 rows of width 2"
                ),
            "{text}"
        );
        let error = stacked::<M, _>("encode", vec![rows(3, 2), rows(3, 1)]).unwrap_err();
        assert!(error.to_string().ends_with("expected 3 rows of width 2"));
    }
}
