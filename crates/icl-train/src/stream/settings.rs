//! A stream over samples, and its settings.

use burn::tensor::backend::AutodiffBackend;
use icl_core::{Alone, Group, Increment, Seed};

use crate::optimizer::{BurnOptimizer, DefaultOptimizer, UpdateRule};
use crate::settings::TrainingSettings;
use crate::stream::keep::Keep;
use crate::stream::policy::Policy;
use crate::stream::strategy::Strategy;
use crate::trainer::Trainer;

/// A stream of increments: an encoder that is updated for one experience after the other.
///
/// An experience is an increment: X is what [`Keep`] has kept of the experiences before, ΔX what has arrived, less a
/// share that is held out. After each update the encoder is measured on the held-out samples of the experiences so
/// far. The noise of each measurement is the held-out samples of that experience, so that the risks of a column of
/// the matrix can be compared.
///
/// | method | experience |
/// |---|---|
/// | [`first`](Self::first) | the first, on which an encoder is trained |
/// | [`adopt`](Self::adopt) | the first, with an encoder that was trained elsewhere |
/// | [`next`](Self::next) | a later one, by which the encoder is updated, together with all that waits |
/// | [`wait`](Self::wait) | a later one that waits for the next update |
/// | [`reject`](Self::reject) | a later one that waits because its update was rejected |
///
/// [`decide`](Self::decide) chooses between `next` and `wait` by a [`Policy`].
///
/// State in, state out: all of them return the state from which the stream continues, also in another process. All
/// random draws of an experience depend on the root seed and on its name: a later experience changes no earlier one.
/// The optimizer starts again at each experience, as in TiC-CLIP (Garg et al., 2024).
///
/// The growth ratio of an update is that of the samples that it has: with a bounded buffer new data weigh more than
/// their share of all data that have come.
///
/// ```
/// use burn::backend::{Autodiff, Flex};
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig};
/// use burn::tensor::{Tensor, backend::Backend};
/// use icl_core::{Augment, Encoder, Mode, Stack};
/// use icl_train::{Arriving, Callbacks, Keep, Method, NextUpdate, Stream, TrainingSettings};
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
/// let stream = Stream::<Autodiff<Flex>, _, _, _>::new(&samples, views, Stack)
///     .settings(TrainingSettings { epochs: 3, ..Default::default() })
///     .keep(Keep::Equal(30))
///     .seed(7);
/// let arriving = |name, from: usize| Arriving {
///     name,
///     samples: (from..from + 30).collect(),
///     held_out: None,
/// };
/// let encoder = Mine { layer: LinearConfig::new(2, 8).init(&Default::default()) };
/// let monday = stream.first(encoder, arriving("monday", 0), &mut Callbacks::new())?;
/// let update = NextUpdate {
///     method: &Method::icl(),
///     fresh: None,
///     callbacks: &mut Callbacks::new(),
/// };
/// let tuesday = stream.next(monday.live, arriving("tuesday", 30), update)?;
/// let risks = tuesday.live.state.matrix();
/// assert!(risks[1].iter().all(Option::is_some));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stream<'a, B: AutodiffBackend, S, V, C, O = DefaultOptimizer> {
    pub(super) samples: &'a S,
    pub(super) views: V,
    pub(super) collate: C,
    pub(super) settings: TrainingSettings,
    optimizer: O,
    pub(super) keep: Keep,
    pub(super) policy: Policy,
    pub(super) hold_out: f64,
    pub(super) evaluation_samples: usize,
    pub(super) seed: u64,
    pub(super) devices: Vec<B::Device>,
    pub(super) group: &'a dyn Group,
}

impl<'a, B: AutodiffBackend, S, V, C> Stream<'a, B, S, V, C> {
    /// Creates a stream over these samples with the default settings of training: it keeps all samples, holds out a
    /// tenth of each experience and measures at most 512 held-out samples of each; seed 0, default device, alone.
    pub fn new(samples: &'a S, views: V, collate: C) -> Self {
        Self {
            samples,
            views,
            collate,
            settings: TrainingSettings::default(),
            optimizer: DefaultOptimizer,
            keep: Keep::All,
            policy: Policy::default(),
            hold_out: 0.1,
            evaluation_samples: 512,
            seed: 0,
            devices: vec![B::Device::default()],
            group: &Alone,
        }
    }
}

impl<'a, B: AutodiffBackend, S, V, C, O> Stream<'a, B, S, V, C, O> {
    /// Sets the optimizer of every update, as [`Trainer::optimizer`] does.
    #[must_use]
    pub fn optimizer<P>(self, optimizer: P) -> Stream<'a, B, S, V, C, BurnOptimizer<P>> {
        self.with_optimizer(BurnOptimizer(optimizer))
    }

    /// Sets one of the optimizers among which a program chooses at run time.
    #[must_use]
    pub fn update_rule(self, rule: UpdateRule) -> Stream<'a, B, S, V, C, UpdateRule> {
        self.with_optimizer(rule)
    }

    fn with_optimizer<P>(self, optimizer: P) -> Stream<'a, B, S, V, C, P> {
        Stream {
            samples: self.samples,
            views: self.views,
            collate: self.collate,
            settings: self.settings,
            optimizer,
            keep: self.keep,
            policy: self.policy,
            hold_out: self.hold_out,
            evaluation_samples: self.evaluation_samples,
            seed: self.seed,
            devices: self.devices,
            group: self.group,
        }
    }

    /// Sets the settings of every update.
    #[must_use]
    pub fn settings(self, settings: TrainingSettings) -> Self {
        Self { settings, ..self }
    }

    /// Sets the old samples that are kept.
    #[must_use]
    pub fn keep(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// Sets when [`decide`](Self::decide) is for an update, and what the updates may cost. Default: every experience,
    /// without a budget.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Sets what is kept, when to update, and at what cost, by a strategy.
    #[must_use]
    pub fn strategy(self, strategy: &Strategy) -> Self {
        self.keep(strategy.keep).policy(strategy.policy.clone())
    }

    /// Sets the share of each experience that is held out, above 0 and below 1.
    #[must_use]
    pub fn hold_out(self, share: f64) -> Self {
        Self {
            hold_out: share,
            ..self
        }
    }

    /// Sets the maximum number of held-out samples of an experience.
    #[must_use]
    pub fn evaluation_samples(self, n: usize) -> Self {
        Self {
            evaluation_samples: n,
            ..self
        }
    }

    /// Sets the root seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the devices on which encoders are trained together, as [`Trainer::devices`] does; measurements use the
    /// first.
    ///
    /// # Panics
    /// At the first training or measurement, if there is none.
    #[must_use]
    pub fn devices(self, devices: impl IntoIterator<Item = B::Device>) -> Self {
        let devices = devices.into_iter().collect();
        Self { devices, ..self }
    }

    /// Sets the group whose members train and measure the encoders together; this stream is one of them. All members go
    /// through the same experiences in the same order. Default: [`Alone`].
    #[must_use]
    pub fn group(self, group: &'a dyn Group) -> Self {
        Self { group, ..self }
    }

    /// Returns the seed of an experience.
    pub(super) fn seed_of(&self, name: &str) -> Seed {
        Seed::new(self.seed).child("stream").child(name)
    }

    /// Returns the trainer of an increment.
    pub(super) fn trainer<'t>(
        &'t self,
        increment: &'t Increment,
        seed: u64,
    ) -> Trainer<'t, B, S, &'t V, &'t C, O>
    where
        O: Clone,
    {
        Trainer::new(self.samples, &self.views, &self.collate, increment)
            .settings(self.settings.clone())
            .with_optimizer(self.optimizer.clone())
            .seed(seed)
            .devices(self.devices.iter().cloned())
            .group(self.group)
    }
}
