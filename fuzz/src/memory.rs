//! Memory that a piece of work takes at most.

use peak_alloc::PeakAlloc;

/// Counts the bytes that the process has allocated.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Does the work and returns with its result the largest number of bytes that were allocated during it, next to those
/// that were allocated before. Other threads must be idle.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, u64) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let result = work();
    let peak = ALLOCATOR.peak_usage().saturating_sub(before);
    (result, peak as u64)
}
