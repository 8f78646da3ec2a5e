//! Groups of members that train one encoder together: processes of several machines, or threads of one.

mod alone;
mod threads;

use std::fmt::Debug;

pub use alone::Alone;
pub use threads::Threads;

use crate::Error;

/// The collective operations through which the members of a group train one encoder together. The trainer knows nothing
/// else of other processes.
///
/// All members call the same operations in the same order, and each call returns when every member has made it.
/// Operations work on values in host memory, so that they are the same for every backend and device.
///
/// ```
/// use icl_core::{Group, Threads};
///
/// let sums: Vec<Vec<f32>> = std::thread::scope(|scope| {
///     let members = Threads::group(3).into_iter();
///     let threads: Vec<_> = members.map(|member| scope.spawn(move || {
///         let mut values = vec![member.rank() as f32, 1.0];
///         member.sum(&mut values)?;
///         Ok::<_, icl_core::Error>(values)
///     })).collect();
///     threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Result<_, _>>()
/// })?;
/// assert_eq!(sums, [[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]);
/// # Ok::<(), icl_core::Error>(())
/// ```
///
/// # Errors
/// All operations return an error of the kind [`Left`](crate::ErrorKind::Left) if a member has left the group, and of
/// the kind [`Group`](crate::ErrorKind::Group) if one called another operation.
pub trait Group: Debug + Send + Sync {
    /// Returns the rank of this member, below [`size`](Self::size).
    fn rank(&self) -> usize;

    /// Returns the number of members, at least 1.
    fn size(&self) -> usize;

    /// Returns the values of every member in the order of their ranks. Lengths may differ.
    fn gather(&self, own: &[f32]) -> Result<Gathered<f32>, Error>;

    /// Returns the values of every member in double precision, as [`gather`](Self::gather) does.
    fn gather_f64(&self, own: &[f64]) -> Result<Gathered<f64>, Error>;

    /// Replaces the values by their sums over all members, which have the same bits at every member.
    fn sum(&self, values: &mut [f32]) -> Result<(), Error>;

    /// Replaces the values by their sums in double precision, as [`sum`](Self::sum) does.
    fn sum_f64(&self, values: &mut [f64]) -> Result<(), Error>;

    /// Replaces the bytes of every member by those of member `root`. Lengths may differ before.
    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), Error>;

    /// Returns whether the flag is set at any member, so that all members decide the same.
    fn any(&self, flag: bool) -> Result<bool, Error> {
        let mut flags = [f64::from(u8::from(flag))];
        self.sum_f64(&mut flags)?;
        Ok(flags[0] > 0.0)
    }

    /// Returns whether the group has no other member.
    fn is_alone(&self) -> bool {
        self.size() == 1
    }
}

/// Values of all members of a group, in the order of their ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered<T> {
    values: Vec<T>,
    /// Ends of the values of each member.
    ends: Vec<usize>,
}

impl<T: Clone> Gathered<T> {
    /// Joins the values of each member.
    pub fn new<'a>(of_members: impl IntoIterator<Item = &'a [T]>) -> Self
    where
        T: 'a,
    {
        let (mut values, mut ends) = (Vec::new(), Vec::new());
        for of_member in of_members {
            values.extend_from_slice(of_member);
            ends.push(values.len());
        }
        Self { values, ends }
    }

    /// Returns the values of a member.
    ///
    /// # Panics
    /// If `rank` is not below the size of the group.
    pub fn of(&self, rank: usize) -> &[T] {
        let first = rank.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[first..self.ends[rank]]
    }

    /// Returns the values of all members, one after another.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}
