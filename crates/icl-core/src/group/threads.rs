//! Groups whose members are threads of one process.

use std::ops::AddAssign;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::group::{Gathered, Group};
use crate::{Error, ErrorKind};

/// Member of a group of threads: several devices of one process, or tests.
///
/// Sums are computed in the order of the ranks, so that they are the same in every run. A member that is dropped, after
/// an error or a panic of its thread too, leaves the group: operations of the others then return an error of the kind
/// [`Left`](ErrorKind::Left) instead of waiting.
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    size: usize,
    meeting: Arc<Meeting>,
}

/// Values that a member gives to an operation.
#[derive(Debug, Clone)]
enum Brought {
    Single(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<u8>),
}

/// An operation with the values of a member.
type Call = Arc<(Operation, Brought)>;

/// Operation, with what must be the same at all members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Gather,
    Sum(usize),
    Broadcast(usize),
}

/// The place at which the members of a group meet.
#[derive(Debug)]
struct Meeting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Calls of the members that have arrived at the operation that begins.
    arrived: Vec<Option<Call>>,
    /// Calls of all members of the operation that ends, until each has taken them, and the number of those that have.
    complete: Option<(Arc<[Call]>, usize)>,
    /// Rank of the first member that left.
    left: Option<usize>,
}

impl Threads {
    /// Creates the members of a group, in the order of their ranks.
    ///
    /// # Panics
    /// If `size` is 0.
    pub fn group(size: usize) -> Vec<Self> {
        assert!(size > 0, "a group has at least one member");
        let meeting = Arc::new(Meeting {
            state: Mutex::new(State {
                arrived: vec![None; size],
                complete: None,
                left: None,
            }),
            changed: Condvar::new(),
        });
        let member = |rank| Self {
            rank,
            size,
            meeting: Arc::clone(&meeting),
        };
        (0..size).map(member).collect()
    }

    /// Brings a call to the others, and returns the calls of all members when they have arrived.
    fn meet(&self, operation: Operation, brought: Brought) -> Result<Arc<[Call]>, Error> {
        let mut state = self.meeting.lock();
        // Other members may not have fetched the calls of the previous operation yet.
        while state.complete.is_some() {
            state.check_nobody_left()?;
            state = self.meeting.wait(state);
        }
        state.check_nobody_left()?;
        state.arrived[self.rank] = Some(Arc::new((operation, brought)));
        if state.arrived.iter().all(Option::is_some) {
            let calls = state.arrived.iter_mut().filter_map(Option::take).collect();
            state.complete = Some((calls, 0));
            self.meeting.changed.notify_all();
        }
        let calls = loop {
            // Checked first: the result of a complete operation is valid even if a member has left since.
            if let Some((calls, n_taken)) = &mut state.complete {
                *n_taken += 1;
                break Arc::clone(calls);
            }
            state.check_nobody_left()?;
            state = self.meeting.wait(state);
        };
        if state
            .complete
            .as_ref()
            .is_some_and(|(_, n_taken)| *n_taken == self.size)
        {
            state.complete = None;
            self.meeting.changed.notify_all();
        }
        drop(state);
        let own = &calls[self.rank];
        let unlike = calls.iter().position(|other| !is_alike(own, other));
        match unlike {
            None => Ok(calls),
            Some(rank) => {
                let found = format!("{} at member {rank}", described(&calls[rank]));
                let expected = format!("{} as at member {}", described(own), self.rank);
                Err(Error::new("the group", found, expected).with_kind(ErrorKind::Group))
            }
        }
    }

    /// Replaces values by their sums in the order of the ranks.
    fn sum_of<T: AddAssign + Copy>(
        &self,
        values: &mut [T],
        brought: Brought,
        of: fn(&Brought) -> &[T],
    ) -> Result<(), Error> {
        let calls = self.meet(Operation::Sum(values.len()), brought)?;
        values.copy_from_slice(of(&calls[0].1));
        for call in &calls[1..] {
            for (sum, value) in values.iter_mut().zip(of(&call.1)) {
                *sum += *value;
            }
        }
        Ok(())
    }
}

impl Group for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, own: &[f32]) -> Result<Gathered<f32>, Error> {
        let calls = self.meet(Operation::Gather, Brought::Single(own.to_vec()))?;
        Ok(Gathered::new(calls.iter().map(|call| call.1.single())))
    }

    fn gather_f64(&self, own: &[f64]) -> Result<Gathered<f64>, Error> {
        let calls = self.meet(Operation::Gather, Brought::Double(own.to_vec()))?;
        Ok(Gathered::new(calls.iter().map(|call| call.1.double())))
    }

    fn sum(&self, values: &mut [f32]) -> Result<(), Error> {
        self.sum_of(values, Brought::Single(values.to_vec()), Brought::single)
    }

    fn sum_f64(&self, values: &mut [f64]) -> Result<(), Error> {
        self.sum_of(values, Brought::Double(values.to_vec()), Brought::double)
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let own = match self.rank == root {
            true => std::mem::take(bytes),
            false => Vec::new(),
        };
        let calls = self.meet(Operation::Broadcast(root), Brought::Bytes(own))?;
        bytes.clear();
        bytes.extend_from_slice(calls[root].1.bytes());
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.meeting.lock().left.get_or_insert(self.rank);
        self.meeting.changed.notify_all();
    }
}

impl Meeting {
    /// Locks the state. A panic of another member leaves it whole: nothing panics while it is locked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another member changes the state.
    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check_nobody_left(&self) -> Result<(), Error> {
        match self.left {
            Some(rank) => {
                let found = format!("that member {rank} has left it");
                let error = Error::new("the group", found, "all members until the end of the run");
                Err(error.with_kind(ErrorKind::Left))
            }
            None => Ok(()),
        }
    }
}

impl Brought {
    /// Returns the values in single precision. The meeting has checked that all members bring the same type.
    fn single(&self) -> &[f32] {
        match self {
            Self::Single(values) => values,
            Self::Double(_) | Self::Bytes(_) => &[],
        }
    }

    fn double(&self) -> &[f64] {
        match self {
            Self::Double(values) => values,
            Self::Single(_) | Self::Bytes(_) => &[],
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(values) => values,
            Self::Single(_) | Self::Double(_) => &[],
        }
    }
}

/// Returns whether two members call the same operation with values of the same type.
fn is_alike(a: &(Operation, Brought), b: &(Operation, Brought)) -> bool {
    a.0 == b.0 && std::mem::discriminant(&a.1) == std::mem::discriminant(&b.1)
}

/// Describes a call for a message.
fn described((operation, brought): &(Operation, Brought)) -> String {
    let of = match brought {
        Brought::Single(_) => "numbers in single precision",
        Brought::Double(_) => "numbers in double precision",
        Brought::Bytes(_) => "bytes",
    };
    match operation {
        Operation::Gather => format!("a gathering of {of}"),
        Operation::Sum(n) => format!("a sum of {n} {of}"),
        Operation::Broadcast(root) => format!("a broadcast of {of} from member {root}"),
    }
}
