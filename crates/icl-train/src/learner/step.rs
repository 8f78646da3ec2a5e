//! A step of Burn's training loop with a contrastive loss, around any encoder.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burn::config::Config;
use burn::module::{AutodiffModule, Module, ModuleDisplay};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::train::{InferenceStep, TrainOutput, TrainStep};
use icl_core::{Encoder, GrowthRatio, Mode, PairEmbeddings, Seed};

use super::output::{PairBatch, PairInput, PairOutput};
use crate::error::TrainError;
use crate::method::{LossKind, NoiseSet};
use crate::step::contrastive::{Anchors, Contrastive};

/// Configuration of a [`ContrastiveStep`].
#[derive(Config, Debug)]
pub struct ContrastiveStepConfig {
    /// Loss of a batch. NCE-I treats the batch as one population; both forms of Eq. 9 separate its old samples from its
    /// new ones, and need at least two of each in every batch. Default: NCE-I.
    #[config(default = "LossKind::InfoNce")]
    pub loss: LossKind,
    /// Noise samples of NCE-I; with both views it is NT-Xent. Default: the other views.
    #[config(default = "NoiseSet::OtherViews")]
    pub noise_set: NoiseSet,
    /// Temperature τ, a finite number above 0.
    #[config(default = 0.1)]
    pub temperature: f64,
    /// Number of negatives K in the formulas, a finite number above 0; the noise term is K times a mean, so that
    /// batches may hold more or fewer.
    #[config(default = 31.0)]
    pub negatives: f64,
    /// Growth ratio α of the data, from 0 to 1, for losses that separate old samples from new ones; by default that of
    /// each batch, which is right for batches drawn from all data alike.
    #[config(default = "None")]
    pub alpha: Option<f64>,
    /// Seed of the randomness that an encoder draws from [`Mode::Training`], with the number of the step; a resumed
    /// training counts its steps from 0 again. Burn's own layers draw from `Backend::seed`.
    #[config(default = 0)]
    pub seed: u64,
}

impl ContrastiveStepConfig {
    /// Creates a step around an encoder.
    ///
    /// # Errors
    /// [`TrainError`] if a number is not in its range, or if the noise of a loss that separates old samples from new
    /// ones is set to both views or comes from the encoder's catalogue, or NT-Xent is set with such an encoder.
    pub fn try_init<B: Backend, E: Encoder<B>>(
        &self,
        encoder: E,
    ) -> Result<ContrastiveStep<B, E>, TrainError> {
        for (field, found) in [
            ("temperature", self.temperature),
            ("negatives", self.negatives),
        ] {
            let is_valid = found.is_finite() && found > 0.0;
            TrainError::unless(is_valid, field, found, "a finite number above 0")?;
        }
        let alpha = self.alpha.map(GrowthRatio::try_new).transpose()?;
        let (kind, noise_set) = (self.loss, self.noise_set);
        let separates = kind != LossKind::InfoNce;
        let is_of_both = noise_set == NoiseSet::BothViews;
        TrainError::unless(
            !(separates && is_of_both),
            "noise_set",
            format!("both views with the loss {kind}"),
            "the other views, or the loss info-nce",
        )?;
        TrainError::unless(
            !(encoder.has_catalogue() && (separates || is_of_both)),
            "encoder",
            "a catalogue of candidates for the negatives",
            "one without, or the loss info-nce with the other views as noise",
        )?;
        Ok(ContrastiveStep {
            encoder,
            loss: Contrastive {
                kind,
                temperature: self.temperature,
                negatives: self.negatives,
                is_drawn: false,
                noise_set,
                alpha: alpha.unwrap_or(GrowthRatio::from_counts(1, 0)),
            },
            is_alpha_of_batch: alpha.is_none(),
            seed: self.seed,
            n_steps: Arc::default(),
            backend: std::marker::PhantomData,
        })
    }

    /// Creates a step around an encoder.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init<B: Backend, E: Encoder<B>>(&self, encoder: E) -> ContrastiveStep<B, E> {
        self.try_init(encoder)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// An encoder with a contrastive loss, as a model that Burn's `Learner` trains and validates: a `TrainStep` on an
/// autodiff backend, an `InferenceStep` on every backend.
///
/// Input is a [`PairBatch`], output a [`PairOutput`], which feeds Burn's `LossMetric` and every
/// [`PairMetric`](crate::PairMetric). Validation computes the same loss in [`Mode::Evaluation`]. Nothing calls
/// [`Encoder::recalibrated`]: call it on the result, if the encoder has statistics of its own.
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::{Tensor, backend::Backend};
/// use burn::train::TrainStep;
/// use icl_core::{Encoder, Mode};
/// use icl_train::{ContrastiveStep, ContrastiveStepConfig, LossKind, PairBatch};
///
/// #[derive(Module, Debug)]
/// struct OneLayer<B: Backend> {
///     layer: Linear<B>,
/// }
///
/// impl<B: Backend> Encoder<B> for OneLayer<B> {
///     type Batch = Tensor<B, 2>;
///
///     fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
///         self.layer.forward(batch)
///     }
/// }
///
/// type B = Autodiff<Flex>;
/// let device = Default::default();
/// let encoder = OneLayer::<B> { layer: LinearConfig::new(3, 2).init(&device) };
/// let model: ContrastiveStep<B, _> =
///     ContrastiveStepConfig::new().with_loss(LossKind::Corrected).init(encoder);
/// // Four anchors, two of them old, and their positives: `Learner::new(model, optimizer, scheduler)` does this for each batch.
/// let views = Tensor::<B, 2>::from_data([[1., 2., 0.], [0., 1., 2.], [2., 0., 1.], [3., 1., 1.]], &device);
/// let views = Tensor::cat(vec![views.clone(), views * 1.1 + 0.1], 0);
/// let output = TrainStep::step(&model, PairBatch { views, n_old: 2 });
/// assert!(output.item.loss.into_scalar() > 0.0);
/// ```
#[derive(Module, Debug)]
pub struct ContrastiveStep<B: Backend, E> {
    encoder: E,
    #[module(skip)]
    loss: Contrastive,
    is_alpha_of_batch: bool,
    seed: u64,
    /// Training steps so far, of all clones: a `Learner` clones its model at every step.
    #[module(skip)]
    n_steps: Arc<AtomicU64>,
    backend: std::marker::PhantomData<B>,
}

impl<B: Backend, E: Encoder<B>> ContrastiveStep<B, E> {
    /// Returns the encoder.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// Returns the encoder without the loss.
    pub fn into_encoder(self) -> E {
        self.encoder
    }

    /// Computes the output of embedded pairs, with the loss still on its graph.
    ///
    /// # Panics
    /// If the loss separates old samples from new ones and there are fewer than two of either.
    fn output(&self, pairs: PairEmbeddings<B>, n_old: usize, seed: Seed) -> PairOutput<B> {
        let [n, _] = pairs.anchors.dims();
        assert!(n_old <= n, "a batch of {n} pairs: found {n_old} old ones");
        let mut loss = self.loss;
        if self.is_alpha_of_batch {
            loss.alpha = GrowthRatio::from_counts(n_old, n - n_old);
        }
        let (anchors, positives) = (pairs.anchors.clone(), pairs.positives.clone());
        let losses = loss.of_anchors(pairs, n_old, Anchors::All, 0..n, seed);
        PairOutput {
            loss: loss.mean(losses, (n_old, n), Anchors::All),
            pairs: PairInput {
                anchors,
                positives,
                n_old,
            },
        }
    }
}

impl<B, E> TrainStep for ContrastiveStep<B, E>
where
    B: AutodiffBackend,
    E: AutodiffModule<B, InnerModule: ModuleDisplay>
        + Encoder<B, Batch: Send + 'static>
        + ModuleDisplay,
{
    type Input = PairBatch<E::Batch>;
    type Output = PairOutput<B::InnerBackend>;

    /// # Panics
    /// If the loss separates old samples from new ones and the batch has fewer than two of either.
    fn step(&self, batch: Self::Input) -> TrainOutput<Self::Output> {
        let step = self.n_steps.fetch_add(1, Ordering::Relaxed);
        let seed = Seed::new(self.seed).at(step);
        let mut rng = seed.rng();
        let pairs = self
            .encoder
            .encode_pairs(batch.views, Mode::Training(&mut rng));
        let PairOutput { loss, pairs } = self.output(pairs, batch.n_old, seed);
        let gradients = loss.backward();
        let output = PairOutput {
            loss: loss.inner(),
            pairs: PairInput {
                anchors: pairs.anchors.inner(),
                positives: pairs.positives.inner(),
                n_old: pairs.n_old,
            },
        };
        TrainOutput::new(self, gradients, output)
    }
}

impl<B, E> InferenceStep for ContrastiveStep<B, E>
where
    B: Backend,
    E: Encoder<B, Batch: Send + 'static>,
{
    type Input = PairBatch<E::Batch>;
    type Output = PairOutput<B>;

    /// # Panics
    /// If the loss separates old samples from new ones and the batch has fewer than two of either.
    fn step(&self, batch: Self::Input) -> PairOutput<B> {
        let pairs = self.encoder.encode_pairs(batch.views, Mode::Evaluation);
        self.output(pairs, batch.n_old, Seed::new(self.seed))
    }
}
