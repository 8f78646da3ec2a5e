//! Evaluators of one's own, without a trainer.

use burn::tensor::backend::Backend;
use icl_core::{Alone, Increment, Seed};

use crate::evaluation::evaluator::Evaluator;
use crate::views::problem::Problem;

/// Temperature τ of evaluations and of training by default.
pub(crate) const TEMPERATURE: f64 = 0.1;
/// Number of negatives K in the formulas by default.
pub(crate) const NEGATIVES: f64 = 31.0;
/// Maximum number of samples over which a risk is computed, and statistics are re-estimated, by default.
pub(crate) const SAMPLES: usize = 2048;

/// Returns the seed of the fixed views under a root seed.
pub(crate) fn of_views(root: u64) -> Seed {
    Seed::new(root).child("evaluation")
}

impl<'a, B: Backend, S, V, C> Evaluator<'a, B, S, V, C> {
    /// Creates an evaluator of an increment of samples, for any training loop: temperature 0.1, 31 negatives, seed 0,
    /// the default device, and risks over at most 2048 samples. With the
    /// same numbers it gives the results of [`Trainer::evaluator`](crate::Trainer::evaluator), which re-estimates
    /// normalisation statistics over at least 2048 samples.
    ///
    /// The increment may be that of the training, or held-out samples alone:
    ///
    /// ```
    /// use burn::backend::Flex;
    /// use burn::module::Module;
    /// use burn::nn::{Linear, LinearConfig};
    /// use burn::tensor::{Tensor, backend::Backend};
    /// use icl_core::{Augment, Encoder, Increment, Mode, Stack};
    /// use icl_train::Evaluator;
    /// use rand::RngExt;
    ///
    /// #[derive(Module, Debug)]
    /// struct Mine<B: Backend> {
    ///     layer: Linear<B>,
    /// }
    ///
    /// impl<B: Backend> Encoder<B> for Mine<B> {
    ///     type Batch = Tensor<B, 2>;
    ///     fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
    ///         self.layer.forward(batch)
    ///     }
    /// }
    ///
    /// let samples: Vec<[f32; 2]> = (0..90).map(|i| [(i as f32).sin(), (i as f32).cos()]).collect();
    /// let views = Augment::new(|x: &[f32; 2], rng| x.map(|x| x + 0.1 * rng.random::<f32>()));
    /// let held_out = Increment::try_new((0..60).collect(), (60..90).collect())?;
    /// let encoder = Mine { layer: LinearConfig::new(2, 8).init(&Default::default()) };
    ///
    /// let evaluator = Evaluator::<Flex, _, _, _>::new(&samples, &views, &Stack, &held_out)
    ///     .with_temperature(0.2)
    ///     .with_seed(7);
    /// let risk = evaluator.held_out_risk(&encoder, &held_out)?;
    /// println!("{} ± {} nats on new data", risk.mean.new, risk.standard_error.new);
    /// # assert!(risk.mean.new > 0.0 && risk.standard_error.new > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(samples: &'a S, views: &'a V, collate: &'a C, increment: &'a Increment) -> Self {
        Self {
            problem: Problem {
                samples,
                views,
                collate,
                increment,
            },
            root_seed: 0,
            seed: of_views(0),
            temperature: TEMPERATURE,
            negatives: NEGATIVES,
            device: B::Device::default(),
            group: &Alone,
            max_samples: SAMPLES,
            max_statistics: SAMPLES,
            has_old_partners: false,
            validation: None,
            at: (0, 0),
        }
    }

    /// Sets the temperature τ, which must be above 0.
    #[must_use]
    pub fn with_temperature(self, temperature: f64) -> Self {
        Self {
            temperature,
            ..self
        }
    }

    /// Sets the number of negatives K in the formulas, which must be above 0.
    #[must_use]
    pub fn with_negatives(self, negatives: f64) -> Self {
        Self { negatives, ..self }
    }

    /// Sets the root seed, from which the fixed views are drawn.
    #[must_use]
    pub fn with_seed(self, root: u64) -> Self {
        Self {
            root_seed: root,
            seed: of_views(root),
            ..self
        }
    }

    /// Sets the device on which encoders are evaluated, which is that of their parameters.
    #[must_use]
    pub fn with_device(self, device: B::Device) -> Self {
        Self { device, ..self }
    }
}
