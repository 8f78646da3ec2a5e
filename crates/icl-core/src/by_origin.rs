//! Quantities of all, old and new data.

use std::ops::Index;

use serde::{Deserialize, Serialize};

use crate::Increment;

/// Origin of a sample in an [`Increment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The old data X.
    Old,
    /// The new data ΔX.
    New,
}

/// Values of one quantity for all data X′, for the old data X and for the new data ΔX.
///
/// It is serialised as a map with the keys `all`, `old` and `new`, in this order.
///
/// ```
/// use icl_core::{ByOrigin, Increment, Origin};
///
/// let increment = Increment::try_new(vec![0, 1, 2], vec![3, 4])?;
/// let sizes = ByOrigin::try_measure(&increment, |rows| Ok::<_, icl_core::Error>(rows.len()))?;
/// assert_eq!(sizes.as_array(), [&5, &3, &2]);
/// assert_eq!(sizes[Origin::New], 2);
/// assert_eq!(sizes.map(|n| n as f64 / 5.0).old, 0.6);
/// # Ok::<(), icl_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ByOrigin<T> {
    /// Value for all data, X′ = X ∪ ΔX.
    pub all: T,
    /// Value for the old data X.
    pub old: T,
    /// Value for the new data ΔX.
    pub new: T,
}

impl<T> ByOrigin<T> {
    /// Measures a quantity on all, old and new data, in this order. `measure` receives the indices of
    /// the samples.
    ///
    /// # Errors
    /// The first error of `measure`.
    pub fn try_measure<E>(
        increment: &Increment,
        mut measure: impl FnMut(&[usize]) -> Result<T, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            all: measure(&increment.all())?,
            old: measure(increment.old())?,
            new: measure(increment.new_data())?,
        })
    }

    /// Applies a function to each value: all, old and new, in this order.
    pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> ByOrigin<U> {
        ByOrigin {
            all: of(self.all),
            old: of(self.old),
            new: of(self.new),
        }
    }

    /// Returns references to the values.
    pub fn as_ref(&self) -> ByOrigin<&T> {
        ByOrigin {
            all: &self.all,
            old: &self.old,
            new: &self.new,
        }
    }

    /// Returns the values in the order all, old, new.
    pub fn as_array(&self) -> [&T; 3] {
        [&self.all, &self.old, &self.new]
    }
}

impl<T> Index<Origin> for ByOrigin<T> {
    type Output = T;

    /// Returns the value for the old or for the new data.
    fn index(&self, origin: Origin) -> &T {
        match origin {
            Origin::Old => &self.old,
            Origin::New => &self.new,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_serialised_by_its_field_names_in_their_order() {
        let parts = ByOrigin {
            all: Some(1.5),
            old: None,
            new: Some(2.0),
        };
        let text = serde_json::to_string(&parts).unwrap();
        assert_eq!(text, r#"{"all":1.5,"old":null,"new":2.0}"#);
        let read: ByOrigin<Option<f64>> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, parts);
    }

    #[test]
    fn each_part_is_measured_on_its_own_rows() {
        let increment = Increment::try_new(vec![4, 2], vec![7, 9, 8]).unwrap();
        let rows = ByOrigin::try_measure(&increment, |rows| Ok::<_, ()>(rows.to_vec())).unwrap();
        assert_eq!(rows[Origin::Old], [4, 2]);
        assert_eq!(rows[Origin::New], [7, 9, 8]);
        assert_eq!(rows.as_ref().map(Vec::len).as_array(), [&5, &2, &3]);
        let failed = ByOrigin::try_measure(&increment, |rows| match rows.len() {
            3 => Err("new"),
            n => Ok(n),
        });
        assert_eq!(failed, Err("new"));
    }
}
