//! The measurement of memory, in a process of its own: other threads must be idle.

use icl_fuzz::measured;

#[test]
fn the_largest_moment_counts() {
    let (_, peak) = measured(|| {
        drop(std::hint::black_box(vec![1_u8; 5 << 20]));
        std::hint::black_box(vec![1_u8; 1 << 20])
    });
    assert!((5 << 20..6 << 20).contains(&peak), "{peak}");
}
