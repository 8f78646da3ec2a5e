//! Memory that kernels work in, kept by each thread from one use to the next.

use std::cell::RefCell;

/// Numbers in a cache line.
const LINE: usize = 16;

thread_local! {
    static SPARE: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

/// Lends `work` as many numbers as it asks for, from the start of a cache line on. They are what the
/// last use left: fresh memory costs more, page by page, than what is done in it.
#[inline(always)]
pub(crate) fn with_scratch<R>(length: usize, work: impl FnOnce(&mut [f32]) -> R) -> R {
    let mut buffer = SPARE
        .with_borrow_mut(Vec::pop)
        .filter(|spare| spare.len() >= length + LINE)
        .unwrap_or_else(|| vec![0.0; length + LINE]);
    let start = buffer.as_ptr().align_offset(LINE * size_of::<f32>());
    let result = work(&mut buffer[start.min(LINE)..][..length]);
    SPARE.with_borrow_mut(|spare| spare.push(buffer));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

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
