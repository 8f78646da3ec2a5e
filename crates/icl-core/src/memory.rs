//! Memory that the allocator keeps.

use std::sync::Once;

/// Asks the allocator to keep what is freed, instead of giving it back to the system and getting it
/// again, page by page, in the next training step. Where steps are short that takes as long as the
/// arithmetic. Only the first call does anything; kernels for the processor call it by themselves.
///
/// The allocator of glibc gives freed memory back above a threshold, which it raises with the
/// largest mapping that was ever freed, up to 32 MiB; so one of that size is freed here, untouched.
/// Other allocators take no notice.
pub fn keep_freed_memory() {
    /// A little less than the limit, to which the allocator adds its own bookkeeping.
    const LARGEST: usize = (32 << 20) - (64 << 10);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::hint::black_box(vec![0_u8; LARGEST])));
}
