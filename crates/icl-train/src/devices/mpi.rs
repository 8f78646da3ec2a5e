//! Groups of processes that MPI starts.

use std::sync::Mutex;

use icl_core::{Error, Gathered, Group};
use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence, Root};

use crate::devices::replicas::of_group;

/// Largest number of elements of one call: MPI counts in 32 bits.
const MOST: usize = 1 << 30;

/// Member of the group of all processes of an `mpirun`.
///
/// MPI is called only from the thread that created the member; a member that is alone never calls it. MPI ends all processes when one
/// of them ends by an error.
pub struct Mpi {
    /// Open until this member leaves.
    universe: Mutex<Option<Universe>>,
    rank: usize,
    size: usize,
}

impl std::fmt::Debug for Mpi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mpi")
            .field("rank", &self.rank)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl Mpi {
    /// Joins the group of all processes. A process that no `mpirun` has started is a group of its own.
    ///
    /// # Errors
    /// [`Error`] if this process has joined before.
    pub fn join() -> Result<Self, Error> {
        // Funneled: one thread alone calls MPI.
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)
            .ok_or_else(|| of_group("that MPI runs already", "one group a process"))?;
        let world = universe.world();
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        Ok(Self {
            universe: Mutex::new(Some(universe)),
            rank,
            size,
        })
    }

    /// Ends the processes of all members with an exit status.
    pub fn abort(&self, status: u8) -> ! {
        SimpleCommunicator::world().abort(i32::from(status))
    }

    /// Leaves the group, which waits until all members leave it. No operation may follow. Dropping a member has the same effect.
    pub fn leave(&self) {
        if let Ok(mut universe) = self.universe.lock() {
            universe.take();
        }
    }

    /// Gathers values of every member.
    fn all<T: Equivalence + Clone + Default>(&self, own: &[T]) -> Gathered<T> {
        if self.size == 1 {
            return Gathered::new([own]);
        }
        let world = SimpleCommunicator::world();
        let mut lengths = vec![0_u64; self.size];
        world.all_gather_into(&(own.len() as u64), &mut lengths[..]);
        // The pieces of all members arrive in one list, whose places MPI counts in 32 bits, too.
        let most = (MOST / self.size).max(1);
        let n_rounds = lengths.iter().map(|&n| (n as usize).div_ceil(most)).max();
        let mut of_members = vec![Vec::new(); self.size];
        for round in 0..n_rounds.unwrap_or(0) {
            let piece = |n: usize| (round * most).min(n)..((round + 1) * most).min(n);
            let counts: Vec<i32> = lengths
                .iter()
                .map(|&n| piece(n as usize).len() as i32)
                .collect();
            let starts = counts.iter().scan(0, |end, &count| {
                let start = *end;
                *end += count;
                Some(start)
            });
            let starts: Vec<i32> = starts.collect();
            let n: i32 = counts.iter().sum();
            let mut values = vec![T::default(); n as usize];
            let mut parts = PartitionMut::new(&mut values[..], &counts[..], &starts[..]);
            world.all_gather_varcount_into(&own[piece(own.len())], &mut parts);
            for (of_member, (&start, &count)) in
                of_members.iter_mut().zip(starts.iter().zip(&counts))
            {
                of_member.extend_from_slice(&values[start as usize..(start + count) as usize]);
            }
        }
        Gathered::new(of_members.iter().map(Vec::as_slice))
    }

    /// Replaces values by their sums.
    fn summed<T: Equivalence + Clone + Default>(&self, values: &mut [T]) {
        if self.size == 1 {
            return;
        }
        let world = SimpleCommunicator::world();
        for values in values.chunks_mut(MOST) {
            let own = values.to_vec();
            world.all_reduce_into(&own[..], values, SystemOperation::sum());
        }
    }
}

impl Group for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, own: &[f32]) -> Result<Gathered<f32>, Error> {
        Ok(self.all(own))
    }

    fn gather_f64(&self, own: &[f64]) -> Result<Gathered<f64>, Error> {
        Ok(self.all(own))
    }

    fn sum(&self, values: &mut [f32]) -> Result<(), Error> {
        self.summed(values);
        Ok(())
    }

    fn sum_f64(&self, values: &mut [f64]) -> Result<(), Error> {
        self.summed(values);
        Ok(())
    }

    fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        if self.size == 1 {
            return Ok(());
        }
        let world = SimpleCommunicator::world();
        let root = world.process_at_rank(root as i32);
        let mut n = bytes.len() as u64;
        root.broadcast_into(&mut n);
        bytes.resize(n as usize, 0);
        for bytes in bytes.chunks_mut(MOST) {
            root.broadcast_into(bytes);
        }
        Ok(())
    }
}
