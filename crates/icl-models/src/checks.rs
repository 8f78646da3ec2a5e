//! Checks that several configurations share.

use icl_core::Error;

/// Checks that no field is 0. A field that is `None` passes.
pub(crate) fn check_fields<T: Into<Option<usize>>>(
    fields: impl IntoIterator<Item = (&'static str, T)>,
) -> Result<(), Error> {
    let mut fields = fields.into_iter();
    fields.try_for_each(|(field, n)| Error::unless(n.into() != Some(0), field, 0, "at least 1"))
}

/// Checks that the constant ε of a normalisation is a finite number above 0.
pub(crate) fn check_epsilon(epsilon: f64) -> Result<(), Error> {
    let holds = epsilon.is_finite() && epsilon > 0.0;
    Error::unless(holds, "epsilon", epsilon, "a number above 0")
}
