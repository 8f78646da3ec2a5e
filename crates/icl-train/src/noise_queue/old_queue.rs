//! The queue of recent embeddings of old samples.

use std::cell::RefCell;

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::QueuedNoise;
use serde::{Deserialize, Serialize};

use icl_core::module_bytes::Unfit;

/// Queue of the latest embeddings of old samples from training steps, first in, first out: old noise
/// that costs no encoder pass (He et al., 2020, section 3.2).
///
/// An entry is the direction of a second view. It is collected when its batch is encoded for the step
/// itself, not when a policy or the second order evaluates the batch again, and it enters the queue at the
/// end of the step. The queue is constant within a step, so that every evaluation of a batch has the same
/// loss.
#[derive(Debug)]
pub(crate) struct OldQueue<B: Backend> {
    capacity: usize,
    entries: Option<QueuedNoise<B>>,
    waiting: RefCell<Vec<QueuedNoise<B>>>,
}

impl<B: Backend> OldQueue<B> {
    /// Creates an empty queue for at most `capacity` entries.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            entries: None,
            waiting: RefCell::new(Vec::new()),
        }
    }

    /// Returns the entries, or `None` if the queue is empty.
    pub(crate) fn entries(&self) -> Option<&QueuedNoise<B>> {
        self.entries.as_ref()
    }

    /// Collects embeddings `[n, d]` of old samples, which enter the queue at the end of the step.
    pub(crate) fn put_by(&self, embeddings: Tensor<B, 2>, samples: &[usize]) {
        let noise = QueuedNoise::new(embeddings, samples.to_vec());
        self.waiting.borrow_mut().push(noise);
    }

    /// Adds the collected embeddings at the end of a step.
    pub(crate) fn take_in(&mut self) {
        let waiting = self.waiting.take();
        if waiting.is_empty() {
            return;
        }
        let queues = self.entries.take().into_iter().chain(waiting).collect();
        self.entries = Some(QueuedNoise::newest_of(queues, self.capacity));
    }
}

/// Saved state of a queue.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SavedQueue {
    samples: Vec<usize>,
    /// Directions `[m, d]` in the precision of the backend.
    directions: Option<TensorData>,
}

impl<B: Backend> OldQueue<B> {
    /// Returns the state between two steps.
    pub(crate) fn save(&self) -> SavedQueue {
        SavedQueue {
            samples: self
                .entries()
                .map_or_else(Vec::new, |e| e.samples().to_vec()),
            directions: self.entries().map(|e| e.directions().to_data()),
        }
    }

    /// Restores a saved state.
    pub(crate) fn load(mut self, saved: SavedQueue, device: &B::Device) -> Result<Self, Unfit> {
        self.entries = match saved.directions {
            None => None,
            Some(data) => {
                let dtype = data.dtype;
                let is_whole = match data.shape[..] {
                    [n, width] => {
                        let n_bytes = n
                            .checked_mul(width)
                            .and_then(|n| n.checked_mul(dtype.size()));
                        n == saved.samples.len()
                            && n <= self.capacity
                            && n_bytes == Some(data.bytes.len())
                            && dtype.is_float()
                    }
                    _ => false,
                };
                if !is_whole {
                    return Err(Unfit::Kind);
                }
                let directions = Tensor::from_data(data, (device, dtype));
                Some(QueuedNoise::from_directions(directions, saved.samples))
            }
        };
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::{TestAutodiff, to_vec};

    fn rows(values: &[[f32; 2]]) -> Tensor<TestAutodiff, 2> {
        let data = TensorData::new(values.concat(), [values.len(), 2]);
        Tensor::from_data(data, &Default::default())
    }

    fn samples(queue: &OldQueue<TestAutodiff>) -> Vec<usize> {
        queue
            .entries()
            .map_or_else(Vec::new, |e| e.samples().to_vec())
    }

    #[test]
    fn it_is_first_in_first_out_and_stands_still_within_a_step() {
        let mut queue = OldQueue::new(5);
        for (first, expected) in [
            (0, vec![0, 1, 2]),
            (3, vec![1, 2, 3, 4, 5]),
            (6, vec![4, 5, 6, 7, 8]),
        ] {
            let before = samples(&queue);
            queue.put_by(rows(&[[1.0, 0.0]; 2]), &[first, first + 1]);
            queue.put_by(rows(&[[0.0, 1.0]]), &[first + 2]);
            assert_eq!(samples(&queue), before);
            queue.take_in();
            assert_eq!(samples(&queue), expected);
        }
        queue.take_in();
        assert_eq!(samples(&queue), [4, 5, 6, 7, 8]);
    }

    #[test]
    fn what_is_saved_is_loaded_to_the_bit() {
        let mut queue = OldQueue::new(3);
        let device = Default::default();
        let empty = OldQueue::<TestAutodiff>::new(3).load(queue.save(), &device);
        assert!(empty.unwrap().entries().is_none());
        queue.put_by(rows(&[[0.1, 0.7], [3.0, -0.2]]), &[8, 9]);
        queue.take_in();
        let saved = queue.save();
        let bytes = rmp_serde::to_vec_named(&saved).unwrap();
        let read: SavedQueue = rmp_serde::from_slice(&bytes).unwrap();
        let loaded = OldQueue::<TestAutodiff>::new(3)
            .load(read, &device)
            .unwrap();
        assert_eq!(samples(&loaded), [8, 9]);
        let values = |q: &OldQueue<TestAutodiff>| to_vec(q.entries().unwrap().directions());
        assert_eq!(values(&loaded), values(&queue));
        let torn = SavedQueue {
            samples: vec![8],
            ..saved
        };
        assert!(
            OldQueue::<TestAutodiff>::new(3)
                .load(torn, &device)
                .is_err()
        );
    }
}
