//! The bits of all batches of a run, in steps and in evaluations, recorded at commit 017370e; those of
//! meta-optimization after commit c3dc308, without a queue of old noise. A change of them changes every recorded result.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData};
use icl_core::Collate;
use icl_core::testing::TestAutodiff;
use icl_train::{Method, Sampling, Trainer, TrainingSettings};

use crate::toy::{
    Jitter, corrected, distillation, increment, info_nce, meta, points, published, settings, start,
};

/// Collation that adds the checksum of each batch, so that the order of batches does not matter.
struct Summed<'a>(&'a AtomicU64);

impl<B: Backend> Collate<B, [f32; 4], Tensor<B, 2>> for Summed<'_> {
    fn collate(&self, views: &[[f32; 4]], device: &B::Device) -> Tensor<B, 2> {
        let mut hasher = crc32fast::Hasher::new();
        for value in views.as_flattened() {
            hasher.update(&value.to_le_bytes());
        }
        self.0
            .fetch_add(u64::from(hasher.finalize()), Ordering::Relaxed);
        Tensor::from_data(TensorData::new(views.concat(), [views.len(), 4]), device)
    }
}

/// Returns the sum of the checksums of all batches of `run`.
fn digest(run: impl Fn(&Trainer<'_, TestAutodiff, Vec<[f32; 4]>, Jitter, Summed<'_>>)) -> u64 {
    let (samples, increment, sum) = (points(), increment(), AtomicU64::new(0));
    let settings = TrainingSettings {
        epochs: 3,
        ..settings()
    };
    let trainer = Trainer::new(&samples, Jitter, Summed(&sum), &increment)
        .settings(settings)
        .seed(5);
    run(&trainer);
    sum.into_inner()
}

fn of_update(method: &Method) -> u64 {
    digest(|trainer| {
        trainer.update(method, start()).expect("three epochs");
    })
}

#[test]
fn the_batches_of_every_sampling_keep_their_bits() {
    let pretraining = digest(|trainer| {
        trainer.pretrain(start()).expect("three epochs");
    });
    let methods = [
        info_nce(Sampling::All),
        info_nce(Sampling::New),
        info_nce(Sampling::Share(0.2)),
        info_nce(Sampling::Buffer),
        info_nce(Sampling::Stratified),
        distillation(),
        corrected(),
        meta(published()),
    ];
    let updates = methods.each_ref().map(of_update);
    let expected = [
        75_327_934_050,
        34_941_146_458,
        47_107_461_385,
        53_835_744_556,
        63_707_248_896,
        // Those of fine-tuning, and the batches of steps once more, for the teacher.
        34_941_146_458 + 5_158_950_850,
        63_707_248_896,
        111_472_202_753,
    ];
    assert_eq!((pretraining, updates), (43_248_254_717, expected));
}
