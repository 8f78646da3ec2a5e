//! Memory of results, used again when nobody holds them any more.

use std::cell::RefCell;

use burn::tensor::{Bytes, DType, Shape, Tensor};
use burn_flex::{Flex, FlexTensor, Layout};
use icl_core::keep_freed_memory;

use super::wrap;

/// Numbers that one thread keeps at most: 512 MiB.
const LIMIT: usize = 1 << 27;

/// Results after which one that was not used again is given up: those of a few training steps.
const PATIENCE: u64 = 512;

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept::new()) };
}

/// A tensor of this shape that `write` fills. It must write every number: what stands there is what
/// the last use left.
///
/// Fresh memory costs more, page by page and then zero by zero, than what most operators do in it.
/// So the thread keeps a reference to each result, and once that is the only one the memory serves
/// another result of the same length.
pub(super) fn result<const D: usize>(
    shape: [usize; D],
    write: impl FnOnce(&mut [f32]),
) -> Tensor<Flex, D> {
    let length = shape.iter().product();
    let layout = Layout::contiguous(Shape::new(shape));
    let mut result = match KEPT.with_borrow_mut(|kept| kept.take(length)) {
        Some(spare) => spare.with_layout(layout),
        None => FlexTensor::new(Bytes::from_elems(vec![0_f32; length]), layout, DType::F32),
    };
    write(result.storage_mut());
    KEPT.with_borrow_mut(|kept| kept.keep(result.clone(), length));
    wrap(result)
}

struct Kept {
    results: Vec<One>,
    n_numbers: usize,
    n_results: u64,
}

struct One {
    tensor: FlexTensor,
    length: usize,
    /// How many results there were when it was used last.
    used: u64,
}

impl Kept {
    const fn new() -> Self {
        Self {
            results: Vec::new(),
            n_numbers: 0,
            n_results: 0,
        }
    }

    /// Memory of this length that nobody else holds.
    fn take(&mut self, length: usize) -> Option<FlexTensor> {
        self.n_results += 1;
        let fits = |one: &One| one.length == length && one.tensor.is_unique();
        let Some(at) = self.results.iter().rposition(fits) else {
            let last = self.n_results.saturating_sub(PATIENCE);
            self.results
                .retain(|one| one.used >= last || !one.tensor.is_unique());
            self.n_numbers = self.results.iter().map(|one| one.length).sum();
            return None;
        };
        self.n_numbers -= length;
        Some(self.results.swap_remove(at).tensor)
    }

    fn keep(&mut self, tensor: FlexTensor, length: usize) {
        keep_freed_memory();
        if self.n_numbers + length <= LIMIT {
            self.n_numbers += length;
            self.results.push(One {
                tensor,
                length,
                used: self.n_results,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::to_vec;

    fn address(x: &Tensor<Flex, 1>) -> *const f32 {
        let x = x.clone().into_primitive().tensor();
        x.storage::<f32>().as_ptr()
    }

    #[test]
    fn only_what_nobody_holds_is_used_again() {
        let first = result([1000], |out| out.fill(1.0));
        let view = first.clone().narrow(0, 10, 5);
        let address_of_first = address(&first);
        drop(first);
        // A view still sees it.
        let second = result([1000], |out| out.fill(2.0));
        assert_eq!(to_vec(&view), [1.0; 5]);
        assert_ne!(address(&second), address_of_first);
        drop(view);
        let third = result([1000], |out| out.fill(3.0));
        assert_eq!(address(&third), address_of_first);
        assert_eq!(to_vec(&second), [2.0; 1000]);
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
            assert!(kept.take(6).is_none());
        }
        assert!(kept.take(5).is_none());
        assert_eq!((kept.results.len(), kept.n_numbers), (1, 7));
        kept.keep(one(1), LIMIT);
        assert_eq!(kept.n_numbers, 7);
        drop(held);
        assert!(kept.take(7).is_some());
    }
}
