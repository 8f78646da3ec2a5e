//! The trainer: encoders trained on old data, and updated when new data arrive.

mod checks;
mod division;
mod members;
mod train;

use std::sync::Arc;

use burn::lr_scheduler::LrScheduler;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{Alone, Group, Increment, Samples, Seed, Views};

use crate::error::{TrainError, TrainErrorKind};
use crate::evaluation::builder::of_views;
use crate::evaluation::evaluator::Evaluator;
use crate::method::{Method, NoiseSet};
use crate::optimizer::rates::{OfStep, OwnRates, Scheduled};
use crate::optimizer::{BurnOptimizer, DefaultOptimizer, UpdateRule};
use crate::settings::TrainingSettings;
use crate::trainer::division::Division;
use crate::views::problem::Problem;

/// Trains an encoder on the old data of a data set, and updates it with the new data.
///
/// [`pretrain`](Self::pretrain) gives θ₀, and [`update`](Self::update) moves it to X′ = X ∪ ΔX by any
/// [`Method`]. Both are deterministic: the same seed, settings, data and encoder give the same result.
/// No labels are needed. They train a copy: the caller's encoder and its clones keep their parameters and statistics.
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::{Tensor, backend::Backend};
/// use icl_core::{Augment, Encoder, Increment, Mode, Stack};
/// use icl_train::{Method, Trainer, TrainingSettings};
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
/// let increment = Increment::try_new((0..60).collect(), (60..90).collect())?;
/// let views = Augment::new(|x: &[f32; 2], rng| x.map(|x| x + 0.1 * rng.random::<f32>()));
/// let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(&samples, views, Stack, &increment)
///     .settings(TrainingSettings { epochs: 3, ..Default::default() })
///     .seed(7);
/// let encoder = Mine { layer: LinearConfig::new(2, 8).init(&Default::default()) };
/// let first = trainer.pretrain(encoder)?;
/// let updated = trainer.update(&Method::icl(), first.trained)?;
/// assert!(updated.parameter_change > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where tensors lie in the memory of this process, a trainer that is alone may take its steps on threads of a pool, on
/// which its kernels share their work ([`beside_kernels`](icl_core::beside_kernels)): an encoder finds other values of
/// thread-local variables there.
#[derive(Debug)]
pub struct Trainer<'a, B: AutodiffBackend, S, V, C, O = DefaultOptimizer> {
    pub(crate) samples: &'a S,
    pub(crate) views: Arc<V>,
    pub(crate) collate: Arc<C>,
    pub(crate) increment: &'a Increment,
    /// Samples by which a run decides when to stop, if not some that it trains on.
    pub(crate) validation: Option<&'a Increment>,
    pub(crate) settings: TrainingSettings,
    pub(crate) optimizer: O,
    /// Learning rates in the place of the method's.
    pub(crate) rates: OwnRates<B>,
    pub(crate) seed: u64,
    /// At least one; measurements are made on the first.
    pub(crate) devices: Vec<B::Device>,
    pub(crate) group: &'a dyn Group,
}

impl<'a, B: AutodiffBackend, S, V, C> Trainer<'a, B, S, V, C> {
    /// Creates a trainer for these samples with the default settings, seed 0 and the default device.
    /// `views` and `collate` may be values or references.
    pub fn new(samples: &'a S, views: V, collate: C, increment: &'a Increment) -> Self {
        Self {
            samples,
            views: Arc::new(views),
            collate: Arc::new(collate),
            increment,
            validation: None,
            settings: TrainingSettings::default(),
            optimizer: DefaultOptimizer,
            rates: None,
            seed: 0,
            devices: vec![B::Device::default()],
            group: &Alone,
        }
    }
}

impl<'a, B: AutodiffBackend, S, V, C, O> Trainer<'a, B, S, V, C, O> {
    /// Sets the optimizer: any of Burn's with a configuration of its own, such as weight decay or gradient clipping, or
    /// one that implements Burn's trait. Every run begins with this state of it. Default:
    /// [`DefaultOptimizer`], Muon for matrices and kernels and Adam for all other parameters.
    ///
    /// ```
    /// # use burn::backend::{Autodiff, Flex};
    /// # use burn::nn::Linear;
    /// use burn::optim::AdamWConfig;
    /// # use icl_core::{Augment, Increment, Stack};
    /// # use icl_train::Trainer;
    ///
    /// # let samples = vec![[0.0_f32; 2]; 8];
    /// # let increment = Increment::before((0..8).collect())?;
    /// # let views = Augment::new(|x: &[f32; 2], _| *x);
    /// # type B = Autodiff<Flex>;
    /// let trainer = Trainer::<B, _, _, _>::new(&samples, views, Stack, &increment)
    ///     .optimizer(AdamWConfig::new().with_weight_decay(1e-4).init::<B, Linear<B>>());
    /// # Ok::<(), icl_core::Error>(())
    /// ```
    pub fn optimizer<P>(self, optimizer: P) -> Trainer<'a, B, S, V, C, BurnOptimizer<P>> {
        self.with_optimizer(BurnOptimizer(optimizer))
    }

    /// Sets one of the optimizers among which a program chooses at run time.
    pub fn update_rule(self, rule: UpdateRule) -> Trainer<'a, B, S, V, C, UpdateRule> {
        self.with_optimizer(rule)
    }

    /// Sets a scheduler of Burn for the learning rates of the steps, in the place of the method's rate axis and of
    /// [`learning_rate`](field@TrainingSettings::learning_rate). Every run begins with this state of it, and
    /// checkpoints hold its record. A method whose rate follows the run refuses it.
    ///
    /// ```
    /// # use burn::backend::{Autodiff, Flex};
    /// use burn::lr_scheduler::cosine::CosineAnnealingLrSchedulerConfig;
    /// # use icl_core::{Augment, Increment, Stack};
    /// # use icl_train::Trainer;
    ///
    /// # let samples = vec![[0.0_f32; 2]; 8];
    /// # let increment = Increment::before((0..8).collect())?;
    /// # let views = Augment::new(|x: &[f32; 2], _| *x);
    /// let cosine = CosineAnnealingLrSchedulerConfig::new(1e-3, 500).init()?;
    /// let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(&samples, views, Stack, &increment)
    ///     .scheduler(cosine);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn scheduler(mut self, scheduler: impl LrScheduler + 'static) -> Self {
        self.rates = Some(Box::new(Scheduled(scheduler)));
        self
    }

    /// Sets the learning rates of the steps to a function of the step, counted from 0, as
    /// [`scheduler`](Self::scheduler) does.
    #[must_use]
    pub fn rates(mut self, of_step: impl Fn(u64) -> f64 + Send + Sync + 'static) -> Self {
        self.rates = Some(Box::new(OfStep(Arc::new(of_step))));
        self
    }

    pub(crate) fn with_optimizer<P>(self, optimizer: P) -> Trainer<'a, B, S, V, C, P> {
        Trainer {
            samples: self.samples,
            views: self.views,
            collate: self.collate,
            increment: self.increment,
            validation: self.validation,
            settings: self.settings,
            optimizer,
            rates: self.rates,
            seed: self.seed,
            devices: self.devices,
            group: self.group,
        }
    }

    /// Sets validation samples, which no run trains on: by their risk a run decides when to stop, and
    /// [`StopRule::ExactRisk`](crate::StopRule::ExactRisk) and the rules of a gain return the encoder with the lowest
    /// one. At most [`monitor_samples`](field@TrainingSettings::monitor_samples) of them are evaluated, with their
    /// proportion of old and new; [`pretrain`](Self::pretrain) takes the old ones alone. Default: training samples.
    ///
    /// The risks of the record's evaluations and of callbacks are then over them; those of the
    /// [`Outcome`](crate::Outcome) are over training samples in any case.
    pub fn validation(mut self, validation: &'a Increment) -> Self {
        self.validation = Some(validation);
        self
    }

    /// Sets the root seed. The order of samples, views, dropout and evaluation each draw from a separate
    /// stream of it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the settings of every training run. They are checked when a run begins.
    pub fn settings(mut self, settings: TrainingSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the device on which encoders are trained and measured.
    pub fn device(self, device: B::Device) -> Self {
        self.devices([device])
    }

    /// Sets the devices on which encoders are trained together, each by a thread that the trainer starts. They divide
    /// batches as the members of a [`group`](Self::group) do. Results lie on the first device, which also makes all
    /// measurements outside a run. A trainer of a group uses its first device alone.
    ///
    /// # Panics
    /// If there is none.
    pub fn devices(mut self, devices: impl IntoIterator<Item = B::Device>) -> Self {
        self.devices = devices.into_iter().collect();
        assert!(
            !self.devices.is_empty(),
            "found no device, expected at least one"
        );
        self
    }

    /// Sets the group whose members train the encoder together; this trainer is one of them. Default: [`Alone`].
    ///
    /// All members have equal encoders, data, settings and seeds, and make the same calls; a run begins with the check
    /// that they do. Batches keep their size: each member takes its part of a batch, and losses and gradients are those
    /// of the whole batch. Random numbers of the encoder and normalisation statistics are those of each part, so that
    /// without both the result is that of one process but for rounding. Only the member of rank 0 writes checkpoints.
    pub fn group(mut self, group: &'a dyn Group) -> Self {
        self.group = group;
        self
    }

    pub(crate) fn problem(&self) -> Problem<'_, S, V, C> {
        Problem {
            samples: self.samples,
            views: &self.views,
            collate: &self.collate,
            increment: self.increment,
        }
    }

    /// Returns the problem with other samples.
    fn problem_of<'p>(&'p self, increment: &'p Increment) -> Problem<'p, S, V, C> {
        Problem {
            increment,
            ..self.problem()
        }
    }

    /// Checks that the method's loss can take the noise of both views, if that is set.
    fn check_noise_set(&self, method: &Method) -> Result<(), TrainError> {
        let is_of_both = self.settings.noise_set == NoiseSet::BothViews;
        TrainError::unless(
            !(is_of_both && method.separates_noise()),
            "noise set",
            "both",
            "other: the loss of this method separates old noise from new, which is defined for the other side's views only",
        )
        .map_err(|error| error.with_kind(TrainErrorKind::Failed))
    }

    /// Checks that the noise of the method's loss can come from a catalogue, if the encoder has one.
    fn check_catalogue(&self, has_catalogue: bool, method: &Method) -> Result<(), TrainError> {
        let is_from_batch =
            method.separates_noise() || self.settings.noise_set == NoiseSet::BothViews;
        TrainError::unless(
            !(has_catalogue && is_from_batch),
            "the encoder",
            "a catalogue of candidates for the negatives with a loss or a noise set that takes them from the batch",
            "an encoder without one, or loss=info-nce and the noise set other",
        )
    }

    fn division(&self) -> Result<Division<'_>, TrainError> {
        let seed = Seed::new(self.seed).child("held out for negatives");
        Division::new(self.increment, &self.settings, seed)
    }
}

impl<B, S, V, C, O> Trainer<'_, B, S, V, C, O>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Returns the evaluator of this trainer. It draws one fixed pair of views of each sample from the
    /// root seed, the same for every method, and computes risks over at most
    /// [`evaluation_samples`](field@TrainingSettings::evaluation_samples) training samples.
    pub fn evaluator(&self) -> Evaluator<'_, B::InnerBackend, S, V, C> {
        let device = self.devices[0].clone();
        evaluator(
            self.problem(),
            &self.settings,
            self.seed,
            device,
            self.group,
        )
    }

    /// Returns the evaluator by which a run decides when to stop: over at most
    /// [`monitor_samples`](field@TrainingSettings::monitor_samples) training samples, with statistics over half as
    /// many. A re-estimation passes the data through the encoder as often as the risk itself, or more.
    pub(crate) fn monitor_evaluator<'e>(
        &'e self,
        increment: &'e Increment,
    ) -> Evaluator<'e, B::InnerBackend, S, V, C> {
        let n = self.settings.monitor_samples;
        Evaluator {
            problem: self.problem_of(increment),
            validation: self.validation,
            max_statistics: self.settings.max_statistics()[0],
            ..self.evaluator().with_at_most(n)
        }
    }
}

/// Returns the evaluator of a root seed.
pub(crate) fn evaluator<'a, B: Backend, S, V, C>(
    problem: Problem<'a, S, V, C>,
    settings: &TrainingSettings,
    root_seed: u64,
    device: B::Device,
    group: &'a dyn Group,
) -> Evaluator<'a, B, S, V, C> {
    Evaluator {
        problem,
        root_seed,
        seed: of_views(root_seed),
        temperature: settings.temperature,
        negatives: settings.negatives,
        device,
        group,
        max_samples: settings.evaluation_samples,
        max_statistics: settings.max_statistics()[1],
        has_old_partners: false,
        validation: None,
        at: (0, 0),
    }
}
