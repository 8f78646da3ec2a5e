//! Trains and updates an encoder in a loop of one's own, without a trainer: sampler, loss, Burn's optimizer, averaged
//! weights and stopping rule. The only argument is the maximum number of epochs of each training.

mod data;

use anyhow::Result;
use burn::backend::{Autodiff, Flex};
use burn::module::{AutodiffModule, Module};
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams, Optimizer};
use burn::tensor::{Tensor, activation::relu, backend::Backend};
use icl::core::InfoNceConfig;
use icl::prelude::*;
use icl::train::{GainRule, Sampler, Sampling, WeightAverage};

use crate::data::{Point, WIDTH, noisy, points};

type B = Autodiff<Flex>;

/// Any module of Burn with a `forward` of its own.
#[derive(Module, Debug)]
struct Net<B: Backend> {
    first: Linear<B>,
    last: Linear<B>,
}

impl<B: Backend> Encoder<B> for Net<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.last.forward(relu(self.first.forward(batch)))
    }
}

// ANCHOR: loop
/// Trains by a sampling until a doubling of the cost is not worth it. Returns the averaged module and the number of
/// samples that passed.
fn train(
    mut net: Net<B>,
    sampling: Sampling,
    (points, increment): (&Vec<Point>, &Increment),
    max_epochs: usize,
) -> Result<(Net<B>, usize)> {
    let (device, seed) = (Default::default(), Seed::new(1));
    let views = Augment::new(noisy);
    let evaluator = Evaluator::<Flex, _, _, _>::new(points, &views, &Stack, increment);
    let sampler = Sampler::new(sampling, increment, 64, seed.child("order"));
    let nce = InfoNceConfig::new().with_negatives(Some(31.0)).init();
    let mut optimizer = AdamConfig::new().init();
    let mut average = WeightAverage::new(net.clone(), 0.99);
    let mut rule = GainRule::doubling(0.05);
    let (mut n_seen, mut n_evaluated) = (0, 0);
    for epoch in 0..max_epochs {
        let share = sampler.share(n_seen as f64 / increment.all().len() as f64);
        for batch in sampler.epoch(epoch, share) {
            let [anchors, positives] = [0, 1].map(|side| {
                let mut rng = seed.child("views").at(average.n_steps()).at(side).rng();
                let view = batch.samples.iter().map(|&i| noisy(&points[i], &mut rng));
                let rows: Tensor<B, 2> = Stack.collate(&view.collect::<Vec<_>>(), &device);
                net.encode(rows, Mode::Evaluation)
            });
            let gradients = nce.forward(anchors, positives).backward();
            let gradients = GradientsParams::from_grads(gradients, &net);
            net = optimizer.step(3e-3, net, gradients);
            average.push(&net);
            n_seen += batch.samples.len();
        }
        // Eight evaluations in a doubling of the cost. In the first steps the average follows the start.
        if 11 * n_seen < 12 * n_evaluated || average.n_steps() < 200 {
            continue;
        }
        n_evaluated = n_seen;
        let (losses, n_old) = match sampling {
            Sampling::Old => {
                let evaluated = evaluator.evaluate_old(average.get().valid())?;
                (evaluated.losses, evaluated.n_old)
            }
            _ => {
                let evaluated = evaluator.evaluate(average.get().valid())?;
                (evaluated.losses, evaluated.n_old)
            }
        };
        if rule.push_losses(n_seen as f64, losses, n_old).is_some() {
            break;
        }
    }
    Ok((average.into_inner(), n_seen))
}
// ANCHOR_END: loop

fn main() -> Result<()> {
    let max_epochs = std::env::args().nth(1).map_or(Ok(1000), |n| n.parse())?;
    let (points, increment) = points(Seed::new(7))?;
    let (training, held_out) = increment.hold_out(0.25, Seed::new(7))?;
    let device = Default::default();
    <B as Backend>::seed(&device, 1);
    let untrained = Net {
        first: LinearConfig::new(WIDTH, 64).init(&device),
        last: LinearConfig::new(64, 16).init(&device),
    };
    let data = (&points, &training);
    let (theta0, n_first) = train(untrained.clone(), Sampling::Old, data, max_epochs)?;
    let widening = Sampling::Widening(None);
    let (updated, n_updated) = train(theta0.clone(), widening, data, max_epochs)?;
    let (retrained, n_all) = train(untrained.clone(), Sampling::All, data, max_epochs)?;

    println!("encoder        old               new                samples");
    let views = Augment::new(noisy);
    let evaluator = Evaluator::<Flex, _, _, _>::new(&points, &views, &Stack, &held_out);
    for (name, net, n_seen) in [
        ("untrained", untrained, 0),
        ("θ₀", theta0, n_first),
        ("updated", updated, n_updated),
        ("retrained", retrained, n_all),
    ] {
        let risk = evaluator.held_out_risk(&net.valid(), &held_out)?;
        let (mean, error) = (risk.mean, risk.standard_error);
        println!(
            "{name:<12} {:.4} ± {:.4}   {:.4} ± {:.4}   {n_seen:>9}",
            mean.old, error.old, mean.new, error.new
        );
    }
    println!("risk over held-out old and new samples in nats, and its standard error");
    Ok(())
}
