//! Memory that is reused: for results by all threads, as working space by each.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use crate::device::keep_freed_memory;
use burn::tensor::{Bytes, DType, Shape, Tensor};
use burn_flex::{Flex, FlexTensor, Layout};

use super::floats::wrap;

/// Maximum number of values that are kept: 1 GiB, the need of a step on half a million nodes.
const LIMIT: usize = 1 << 28;

/// Inverse of the share of memory that a result may leave unused: batches of graphs differ in size.
const UNUSED: usize = 4;

/// Number of results after which memory that was not reused is released: a few training steps.
const PATIENCE: u64 = 512;

/// Memory of all threads, since a step may run on another one than the step before.
static KEPT: Mutex<Kept> = Mutex::new(Kept::new());

/// Returns a tensor of this shape that `write` fills. `write` must set every number, since reused
/// memory still holds the values of an earlier result.
///
/// To map and clear fresh memory costs more than most operators take to compute. A reference to each
/// result is therefore kept, and its memory is used again once no other reference is left.
pub(crate) fn result<const D: usize>(
    shape: [usize; D],
    write: impl FnOnce(&mut [f32]),
) -> Tensor<Flex, D> {
    let length = shape.iter().product();
    let layout = Layout::contiguous(Shape::new(shape));
    let memory = Kept::of_all(|kept| kept.take(length).unwrap_or_else(|| kept.fresh(length)));
    let mut result = memory.with_layout(layout);
    let numbers: &mut [f32] = result.storage_mut();
    let capacity = numbers.len();
    write(&mut numbers[..length]);
    Kept::of_all(|kept| kept.keep(result.clone(), capacity));
    wrap(result)
}

struct Kept {
    results: Vec<One>,
    n_numbers: usize,
    n_results: u64,
}

struct One {
    tensor: FlexTensor,
    capacity: usize,
    /// Number of results when it was used last.
    used: u64,
}

impl Kept {
    /// Calls `work`, which must not compute, with what is kept.
    fn of_all<R>(work: impl FnOnce(&mut Self) -> R) -> R {
        // It is whole between two statements, also after a panic.
        work(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
    }

    const fn new() -> Self {
        Self {
            results: Vec::new(),
            n_numbers: 0,
            n_results: 0,
        }
    }

    /// Takes the smallest memory for this length to which there is no other reference.
    fn take(&mut self, length: usize) -> Option<FlexTensor> {
        self.n_results += 1;
        let capacities = length..=length + length / UNUSED;
        let fits = |one: &One| capacities.contains(&one.capacity) && one.tensor.is_unique();
        let fitting = self.results.iter().enumerate().filter(|(_, one)| fits(one));
        let (at, _) = fitting.min_by_key(|(_, one)| one.capacity)?;
        Some(self.remove(at).tensor)
    }

    /// Allocates memory for this length. If some of the memory kept is slightly too small, lengths
    /// vary: it is replaced by more than the length.
    fn fresh(&mut self, length: usize) -> FlexTensor {
        // Memory that is still referenced stays in the list, where it can be used again once it is free.
        let last = self.n_results.saturating_sub(PATIENCE);
        self.results
            .retain(|one| one.used >= last || !one.tensor.is_unique());
        self.n_numbers = self.results.iter().map(|one| one.capacity).sum();
        let capacities = length - length / UNUSED..length;
        let nearly = |one: &One| capacities.contains(&one.capacity) && one.tensor.is_unique();
        let capacity = match self.results.iter().position(nearly) {
            Some(at) => {
                self.remove(at);
                length + length / (2 * UNUSED)
            }
            None => length,
        };
        let memory = Bytes::from_elems(vec![0_f32; capacity]);
        FlexTensor::new(
            memory,
            Layout::contiguous(Shape::new([capacity])),
            DType::F32,
        )
    }

    fn remove(&mut self, at: usize) -> One {
        let one = self.results.swap_remove(at);
        self.n_numbers -= one.capacity;
        one
    }

    fn keep(&mut self, tensor: FlexTensor, capacity: usize) {
        keep_freed_memory();
        if self.n_numbers + capacity <= LIMIT {
            self.n_numbers += capacity;
            self.results.push(One {
                tensor,
                capacity,
                used: self.n_results,
            });
        }
    }
}

/// Number of values in a cache line.
const LINE: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with a slice of `length` numbers that begins on a cache line. The slice holds values
/// of an earlier use, because clearing it would cost more than the work.
#[inline(always)]
pub(crate) fn with_scratch<R>(length: usize, work: impl FnOnce(&mut [f32]) -> R) -> R {
    // Removed while in use: `work` may need scratch of its own, as may a task that the thread runs while it waits.
    let mut buffer = SPARE
        .with_borrow_mut(Vec::pop)
        .filter(|spare| spare.len() >= length + LINE)
        .unwrap_or_else(|| vec![0.0; length + LINE]);
    // The buffer is one line longer than the slice, which can therefore begin at a line.
    let start = buffer.as_ptr().align_offset(LINE * size_of::<f32>());
    let result = work(&mut buffer[start.min(LINE)..][..length]);
    SPARE.with_borrow_mut(|spare| spare.push(buffer));
    result
}

#[cfg(test)]
mod tests {
    use super::super::floats::Floats;
    use super::*;
    use crate::testing::to_vec;

    fn address(x: &Tensor<Flex, 1>) -> *const f32 {
        let x = x.clone().into_primitive().tensor();
        x.storage::<f32>().as_ptr()
    }

    // Sizes that no other test of this process has, since results of all threads are kept together.

    #[test]
    fn only_what_nobody_holds_is_used_again() {
        const N: usize = 1_000_000;
        let first = result([N], |out| out.fill(1.0));
        let view = first.clone().narrow(0, 10, 5);
        let address_of_first = address(&first);
        drop(first);
        // A view still sees it.
        let second = result([N], |out| out.fill(2.0));
        assert_eq!(to_vec(&view), [1.0; 5]);
        assert_ne!(address(&second), address_of_first);
        drop(view);
        let third = std::thread::spawn(|| result([N], |out| out.fill(3.0)));
        let third = third.join().unwrap();
        assert_eq!(address(&third), address_of_first);
        assert_eq!(to_vec(&second), vec![2.0; N]);
    }

    #[test]
    fn memory_serves_what_leaves_little_of_it_unused() {
        const N: usize = 5_000_000;
        let address_of_first = address(&result([N], |out| out.fill(1.0)));
        let smaller = result([N / 10 * 9], |out| out.fill(2.0));
        assert_eq!(address(&smaller), address_of_first);
        assert_eq!(
            to_vec(&(smaller.clone() + smaller.clone())),
            vec![4.0; N / 10 * 9]
        );
        let numbers = Floats::of(smaller.clone().narrow(0, N / 10 * 9 - 10, 10));
        assert_eq!(*numbers, [2.0; 10]);
        drop((smaller, numbers));
        assert_ne!(
            address(&result([N / 10 * 7], |out| out.fill(3.0))),
            address_of_first
        );
        let again = result([N], |out| out.fill(4.0));
        assert_eq!(address(&again), address_of_first);
    }

    #[test]
    fn where_lengths_vary_memory_grows_beyond_them() {
        let mut kept = Kept::new();
        let first = kept.fresh(1000);
        assert_eq!(first.layout().num_elements(), 1000);
        kept.keep(first, 1000);
        let longer = kept.fresh(1008);
        assert_eq!(longer.layout().num_elements(), 1134);
        assert!(kept.results.is_empty() && kept.n_numbers == 0);
        kept.keep(longer, 1134);
        assert!(kept.take(1020).is_some());
    }

    #[test]
    fn what_is_not_used_again_is_given_up() {
        let mut kept = Kept::new();
        let one = |length: usize| {
            let bytes = Bytes::from_elems(vec![0_f32; length]);
            FlexTensor::new(bytes, Layout::contiguous(Shape::new([length])), DType::F32)
        };
        let held = one(7);
        kept.keep(one(5), 5);
        kept.keep(held.clone(), 7);
        for _ in 0..=PATIENCE {
            assert!(kept.take(40).is_none());
            kept.fresh(40);
        }
        assert!(kept.take(5).is_none());
        assert_eq!((kept.results.len(), kept.n_numbers), (1, 7));
        kept.keep(one(1), LIMIT);
        assert_eq!(kept.n_numbers, 7);
        drop(held);
        assert!(kept.take(7).is_some());
    }

    #[test]
    fn uses_within_one_another_do_not_overlap() {
        with_scratch(10, |outer| {
            outer.fill(1.0);
            with_scratch(20, |inner| inner.fill(2.0));
            assert_eq!(outer, [1.0; 10]);
        });
        with_scratch(5, |again| assert_eq!(again.len(), 5));
    }
}
