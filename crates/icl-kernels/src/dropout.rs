//! Dropout masks, drawn on the host so that a seed gives the same mask on every backend.

use std::sync::Arc;

use burn::tensor::{DType, Tensor, TensorData, backend::Backend};
use rand::Rng;
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Number of steps in which a probability of dropping is counted.
const STEPS: f64 = 65536.0;

/// Number of elements drawn from the 64 bits of one random number.
const DRAWN_TOGETHER: usize = 4;

/// Number of elements in a word.
const WORD: usize = u64::BITS as usize;

/// Number of words that a thread draws at a time.
const WORDS_AT_ONCE: usize = 1 << 10;

/// A dropout mask (Srivastava et al., 2014): each element is 0 with probability p and otherwise
/// 1/(1 − p), so that its mean is 1.
///
/// The mask is kept in host memory, one bit per element. Kernels on the CPU read the bits; other
/// backends convert the mask to a [`tensor`](Self::tensor). Clones share the bits.
#[derive(Debug, Clone)]
pub struct DropoutMask {
    /// Element i is kept where bit i % 64 of word i / 64 is set.
    words: Arc<[u64]>,
    scale: f32,
}

impl DropoutMask {
    /// Creates a mask whose elements are `scale` where `kept` is true and 0 elsewhere.
    pub fn new(kept: &[bool], scale: f32) -> Self {
        let word = |kept: &[bool]| {
            let bits = kept.iter().enumerate();
            bits.fold(0, |word, (bit, &kept)| word | u64::from(kept) << bit)
        };
        Self {
            words: kept.chunks(WORD).map(word).collect(),
            scale,
        }
    }

    /// Draws a mask of at least `n` elements, each dropped with probability `p`.
    ///
    /// `p` is rounded to a multiple of 1/65536, at most 65535/65536: four elements are drawn from
    /// each 64 random bits. Threads draw parts of the mask, each from its place in the stream of
    /// `rng`.
    pub fn draw(n: usize, p: f64, rng: &mut Pcg64) -> Self {
        // At most STEPS − 1, with which the scale is finite and the threshold fits 16 bits.
        let threshold = (p * STEPS).round().min(STEPS - 1.0);
        let scale = (STEPS / (STEPS - threshold)) as f32;
        let threshold = threshold as u16;
        let mut words = vec![0_u64; n.div_ceil(WORD)];
        words
            .par_chunks_mut(WORDS_AT_ONCE)
            .enumerate()
            .for_each(|(part, words)| {
                let mut rng = rng.clone();
                let first = part * WORDS_AT_ONCE * WORD;
                rng.advance((first / DRAWN_TOGETHER) as u128);
                for (word, first) in words.iter_mut().zip((first..).step_by(WORD)) {
                    *word = draw_word(n - first, threshold, &mut rng);
                }
            });
        // The threads drew from copies.
        rng.advance(n.div_ceil(DRAWN_TOGETHER) as u128);
        Self {
            words: words.into(),
            scale,
        }
    }

    /// Returns the value of an element that is kept, usually 1/(1 − p).
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Converts the mask to a tensor of this shape, row after row.
    ///
    /// # Panics
    /// If the mask has fewer elements than `shape`.
    pub fn tensor<B: Backend, const D: usize>(
        &self,
        shape: [usize; D],
        device: &B::Device,
        dtype: DType,
    ) -> Tensor<B, D> {
        let n = shape.iter().product();
        assert!(
            self.words.len() * WORD >= n,
            "a dropout mask of at most {} elements cannot fill a tensor of {n}",
            self.words.len() * WORD
        );
        let values = self.values(n);
        Tensor::from_data(TensorData::new(values, shape), (device, dtype))
    }

    /// Returns the first `n` elements. It has no type parameters, so that programs need not compile it again.
    fn values(&self, n: usize) -> Vec<f32> {
        let elements = [0.0, self.scale];
        let mut values = vec![0.0; n];
        values
            .par_chunks_mut(WORDS_AT_ONCE * WORD)
            .zip(self.words.par_chunks(WORDS_AT_ONCE))
            .for_each(|(values, words)| {
                for (values, word) in values.chunks_mut(WORD).zip(words) {
                    for (bit, value) in values.iter_mut().enumerate() {
                        *value = elements[(word >> bit & 1) as usize];
                    }
                }
            });
        values
    }

    /// Returns the bits of the 64 elements from `first` on, the lowest first; 0 beyond the end.
    #[cfg(feature = "flex")]
    #[inline(always)]
    pub(crate) fn bits(&self, first: usize) -> u64 {
        let (word, shift) = (first / WORD, first % WORD);
        let low = self.words[word] >> shift;
        match self.words.get(word + 1) {
            Some(next) if shift > 0 => low | next << (WORD - shift),
            _ => low,
        }
    }
}

/// Draws a word, of which the first `n` elements (at most 64) are used.
fn draw_word(n: usize, threshold: u16, rng: &mut Pcg64) -> u64 {
    let mut word = 0;
    for first in (0..n.min(WORD)).step_by(DRAWN_TOGETHER) {
        word |= at_least(rng.next_u64(), threshold) << first;
    }
    word
}

/// Compares the four numbers of 16 bits in `draws` with a threshold: bit i is set where the i-th is at least as large.
///
/// The highest bit of each number decides, or else the difference of the others, which borrows from none of its
/// neighbours.
fn at_least(draws: u64, threshold: u16) -> u64 {
    const ONES: u64 = 0x0001_0001_0001_0001;
    const HIGHEST: u64 = 0x8000 * ONES;
    /// Product by which bits 0, 16, 32 and 48 come to bits 48 to 51.
    const TOGETHER: u64 = 1 << 48 | 1 << 33 | 1 << 18 | 1 << 3;
    let low = u64::from(threshold & 0x7fff) * ONES;
    let low_is_at_least = (draws | HIGHEST) - low;
    let is_at_least = match threshold & 0x8000 {
        0 => draws | low_is_at_least,
        _ => draws & low_is_at_least,
    };
    ((is_at_least & HIGHEST) >> 15).wrapping_mul(TOGETHER) >> 48 & 15
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestBackend, to_vec};
    use rand::SeedableRng;

    fn values(mask: &DropoutMask, n: usize) -> Vec<f64> {
        to_vec(&mask.tensor::<TestBackend, 1>([n], &Default::default(), DType::F32))
    }

    #[test]
    fn four_numbers_are_compared_at_once() {
        let mut rng = Pcg64::seed_from_u64(3);
        let extremes = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
        for round in 0..10_000 {
            let random = rng.next_u64();
            let numbers: [u16; 4] = std::array::from_fn(|lane| match round % 2 {
                0 => (random >> (16 * lane)) as u16,
                _ => extremes[(random >> (16 * lane)) as usize % extremes.len()],
            });
            let draws = numbers
                .iter()
                .rev()
                .fold(0, |draws, &it| draws << 16 | u64::from(it));
            for threshold in extremes.into_iter().chain(numbers) {
                let lanes = numbers.iter().enumerate();
                let expected = lanes.fold(0, |bits, (lane, &it)| {
                    bits | u64::from(it >= threshold) << lane
                });
                assert_eq!(
                    at_least(draws, threshold),
                    expected,
                    "{numbers:?} {threshold}"
                );
            }
        }
    }

    #[test]
    fn a_probability_of_almost_one_keeps_some() {
        let mask = DropoutMask::draw(1 << 22, 0.999_999, &mut Pcg64::seed_from_u64(1));
        let values = values(&mask, 1 << 22);
        let n_kept = values.iter().filter(|&&v| v == 65536.0).count();
        // 64 are expected, with a standard deviation of 8.
        assert!((24..=104).contains(&n_kept), "{n_kept}");
    }

    #[test]
    fn a_mask_keeps_the_mean() {
        for p in [0.1, 0.5, 0.9] {
            let n = 400_001;
            let mask = DropoutMask::draw(n, p, &mut Pcg64::seed_from_u64(1));
            let values = values(&mask, n);
            let dropped = values.iter().filter(|&&v| v == 0.0).count() as f64 / n as f64;
            // Five standard deviations of a binomial share.
            assert!((dropped - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt());
            let kept = f64::from(mask.scale());
            assert!(values.iter().all(|&v| v == 0.0 || v == kept));
            assert!((kept * (1.0 - p) - 1.0).abs() < 1e-3);
        }
    }

    /// However threads share it, a mask is what one generator draws, four elements a number.
    #[test]
    fn a_mask_is_one_stream() {
        let [mut drawn, mut expected] = [(); 2].map(|()| Pcg64::seed_from_u64(2));
        for n in [1, 66, 400_003] {
            let mask = DropoutMask::draw(n, 0.3, &mut drawn);
            let kept: Vec<bool> = (0..n.div_ceil(4))
                .flat_map(|_| {
                    let draws = expected.next_u64();
                    [0, 16, 32, 48].map(|shift| (draws >> shift) % 65536 >= 19661)
                })
                .take(n)
                .collect();
            let expected = DropoutMask::new(&kept, mask.scale());
            assert!(values(&mask, n) == values(&expected, n));
        }
        assert_eq!(drawn, expected);
    }
}
