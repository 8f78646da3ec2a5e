//! The crate of a Burn user: a convolutional encoder of one's own is trained on yesterday's images of bars, and updated
//! with today's thicker ones.

use std::{cell::Cell, error::Error, ops::Range, path::Path};

use burn::data::dataset::Dataset;
use burn::lr_scheduler::{composed::ComposedLrSchedulerConfig, cosine::CosineAnnealingLrSchedulerConfig};
use burn::lr_scheduler::linear::LinearLrSchedulerConfig;
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig, conv::{Conv2d, Conv2dConfig}};
use burn::{grad_clipping::GradientClippingConfig, module::AutodiffModule, optim::AdamWConfig};
use burn::prelude::*;
use burn::record::{FullPrecisionSettings, NamedMpkFileRecorder};
use burn::tensor::activation::relu;
use burn::tensor::backend::AutodiffBackend;
use burn_store::{ModuleSnapshot, SafetensorsStore};
use icl::core::{FromDataset, HeldOutRisk};
use icl::eval::{Accuracies, AccuracyWithFloors, KnnProtocolConfig, LinearProbeConfig, Protocol};
use icl::prelude::*;
use icl::train::{EpochMetrics, StopRule};
use rand::RngExt;

pub const SIDE: usize = 10;
pub type Image = [f32; SIDE * SIDE];

/// 600 images of a bar in one of four directions, the class; from image 400 on bars are thicker.
pub struct Bars;
impl Dataset<Image> for Bars {
    fn get(&self, index: usize) -> Option<Image> {
        let mut rng = Seed::new(5).at(index as u64).rng();
        let angle = (index % 4) as f32 * 0.785 + 0.3 * (rng.random::<f32>() - 0.5);
        let width = if index < 400 { 0.8 } else { 2.2 };
        let at = |pixel| pixel as f32 - SIDE as f32 / 2.0 + 0.5;
        let distance = |i| at(i % SIDE) * angle.sin() - at(i / SIDE) * angle.cos();
        (index < 600).then(|| std::array::from_fn(|i| f32::from(distance(i).abs() < width)))
    }
    fn len(&self) -> usize { 600 }
}

#[derive(Module, Debug)]
pub struct Cnn<B: Backend> {
    conv: Conv2d<B>,
    norm: BatchNorm<B>,
    out: Linear<B>,
}
impl<B: Backend> Cnn<B> {
    pub fn new(device: &B::Device) -> Self {
        let conv = Conv2dConfig::new([1, 8], [3, 3]).with_stride([2, 2]);
        Self {
            conv: conv.init(device),
            norm: BatchNormConfig::new(8).init(device),
            out: LinearConfig::new(8 * 4 * 4, 16).init(device),
        }
    }
}
impl<B: Backend> Encoder<B> for Cnn<B> {
    type Batch = Tensor<B, 2>;
    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        let images = batch.reshape([-1, 1, SIDE as i32, SIDE as i32]);
        let features = relu(self.norm.forward(self.conv.forward(images)));
        self.out.forward(features.flatten(1, 3))
    }
}

/// Held-out risk before and after the update, accuracies of nearest neighbours and of a linear probe, the encoder.
pub type Report<B> = ([HeldOutRisk; 2], [AccuracyWithFloors; 2], Cnn<B>);
/// Trains and updates; a run that was ended after `max_steps` is continued by the next call.
pub fn run<B>(dir: &Path, max_steps: u32, mut shown: EpochMetrics) -> Result<Report<B::InnerBackend>, Box<dyn Error>>
where
    B: AutodiffBackend,
{
    let device = B::Device::default();
    B::seed(&device, 1);
    let untrained = Cnn::<B>::new(&device);
    let samples = FromDataset::new(Bars);
    let views = Augment::new(|image: &Image, rng| image.map(|x| x + 0.5 * (rng.random::<f32>() - 0.5)));
    let of = |old: Range<usize>, new: Range<usize>| Increment::try_new(old.collect(), new.collect());
    let (trained, validation, held_out) = (of(0..280, 400..520)?, of(280..340, 520..560)?, of(340..400, 560..600)?);
    let clipping = Some(GradientClippingConfig::Norm(1.0));
    let adam = AdamWConfig::new().with_weight_decay(1e-4).with_grad_clipping(clipping);
    let schedule = ComposedLrSchedulerConfig::new()
        .linear(LinearLrSchedulerConfig::new(0.1, 1.0, 20))
        .cosine(CosineAnnealingLrSchedulerConfig::new(3e-3, 400));
    let settings = TrainingSettings { epochs: 30, stop: StopRule::ExactRisk, patience: 5, ..Default::default() };
    let trainer = Trainer::<B, _, _, _>::new(&samples, views, Stack, &trained)
        .optimizer(adam.init::<B, Cnn<B>>())
        .scheduler(schedule.init()?)
        .validation(&validation)
        .settings(settings);
    let yesterday = trainer.pretrain(untrained.clone())?;
    let n_steps = Cell::new(0);
    let mut callbacks = Callbacks::new()
        .on_epoch(|report| shown.report(report))
        .on_progress(|_| n_steps.set(n_steps.get() + 1))
        .stop_when(|| n_steps.get() >= max_steps)
        .with_checkpoint(dir.join("today.checkpoint"));
    let today = trainer.update_with(&Method::icl(), yesterday.trained, None, &mut callbacks)?.encoder;
    today.clone().save_file(dir.join("today"), &NamedMpkFileRecorder::<FullPrecisionSettings>::new())?;
    today.save_into(&mut SafetensorsStore::from_file(dir.join("today.safetensors")))?;
    let evaluator = trainer.evaluator();
    let risk = |encoder| evaluator.held_out_risk(encoder, &held_out);
    let labels: Vec<usize> = (0..600).map(|index| index % 4).collect();
    let measure = |protocol: &dyn Protocol| {
        let accuracies = Accuracies::new(protocol, &labels, Seed::new(1));
        let of = |of: &Increment, rows, untrained| accuracies.measure(of, rows, untrained);
        Ok::<_, TrainError>(evaluator.measure(of, today.clone(), untrained.clone().valid())?.result)
    };
    let knn = measure(&KnnProtocolConfig::default().try_init()?)?;
    let probe = measure(&LinearProbeConfig::default().try_init()?)?;
    Ok(([risk(&yesterday.encoder)?, risk(&today)?], [knn, probe], today))
}
