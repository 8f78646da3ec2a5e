//! The trainer: encoders trained on old data, and updated when new data arrive.

mod checks;
mod division;
mod training_loop;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Alone, Collate, Encoder, Group, Increment, Samples, Seed, Views};

use crate::error::TrainError;
use crate::evaluation::evaluator::Evaluator;
use crate::method::{LossKind, Method, NoiseSet, Sampling};
use crate::negatives::StepNegativesError;
use crate::progress::{Callbacks, Outcome};
use crate::settings::TrainingSettings;
use crate::step::copies::own;
use crate::step::distillation::Teacher;
use crate::trainer::division::Division;
use crate::trainer::training_loop::{Evaluations, TrainingLoop};
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
/// let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(&samples, views, Stack::new(), &increment)
///     .settings(TrainingSettings { epochs: 3, ..Default::default() })
///     .seed(7);
/// let encoder = Mine { layer: LinearConfig::new(2, 8).init(&Default::default()) };
/// let first = trainer.pretrain(encoder)?;
/// let updated = trainer.update(&Method::icl(), first.trained)?;
/// assert!(updated.parameter_change > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Where tensors lie in the memory of this process, a trainer that is alone may take its steps on threads of rayon's global pool, beside the
/// kernels ([`beside_kernels`](icl_core::beside_kernels)): an encoder finds other values of thread-local variables there.
#[derive(Debug)]
pub struct Trainer<'a, B: AutodiffBackend, S, V, C> {
    pub(crate) samples: &'a S,
    pub(crate) views: V,
    pub(crate) collate: C,
    pub(crate) increment: &'a Increment,
    pub(crate) settings: TrainingSettings,
    pub(crate) seed: u64,
    pub(crate) device: B::Device,
    pub(crate) group: &'a dyn Group,
}

/// Number of samples over which the statistics of a result are re-estimated, or more if its risk is over more.
const STATISTICS: usize = 2048;

/// Name of the random stream of the first training.
const PRETRAINING: &str = "pretraining";

/// Name of the random stream of updates. All methods share it, so that they see the same order and the
/// same views.
const UPDATE: &str = "update";

impl<'a, B: AutodiffBackend, S, V, C> Trainer<'a, B, S, V, C> {
    /// Creates a trainer for these samples with the default settings, seed 0 and the default device.
    /// `views` and `collate` may be values or references.
    pub fn new(samples: &'a S, views: V, collate: C, increment: &'a Increment) -> Self {
        Self {
            samples,
            views,
            collate,
            increment,
            settings: TrainingSettings::default(),
            seed: 0,
            device: B::Device::default(),
            group: &Alone,
        }
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

    /// Sets the device on which encoders are trained.
    pub fn device(mut self, device: B::Device) -> Self {
        self.device = device;
        self
    }

    /// Sets the group whose members train the encoder together; this trainer is one of them. Default: [`Alone`].
    ///
    /// All members have equal encoders, data, settings and seeds, and make the same calls; a run begins with the check that they do.
    /// Batches keep their size: each member takes its part of a batch, and losses and gradients are those of the whole batch. Random numbers of the encoder and
    /// normalisation statistics are those of each part, so that without both the result is that of one process but for
    /// rounding. Only the member of rank 0 writes checkpoints.
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

    /// Checks that the noise of the method's loss can come from a catalogue, if the encoder has one.
    fn check_catalogue(&self, has_catalogue: bool, method: &Method) -> Result<(), TrainError> {
        let is_from_batch =
            method.separates_noise() || self.settings.noise_set == NoiseSet::BothViews;
        match has_catalogue && is_from_batch {
            true => Err(StepNegativesError::Catalogue.into()),
            false => Ok(()),
        }
    }

    fn division(&self) -> Result<Division<'_>, TrainError> {
        let seed = Seed::new(self.seed).child("held out for negatives");
        Division::new(self.increment, &self.settings, seed)
    }

    fn training_loop<'t>(
        &'t self,
        method: &'t Method,
        increment: &'t Increment,
        stream: &'static str,
    ) -> TrainingLoop<'t, B, S, V, C> {
        TrainingLoop {
            problem: self.problem_of(increment),
            settings: &self.settings,
            method,
            root_seed: self.seed,
            stream,
            device: self.device.clone(),
            group: self.group,
        }
    }
}

impl<B, S, V, C> Trainer<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Returns the evaluator of this trainer. It draws one fixed pair of views of each sample from the
    /// root seed, the same for every method, and computes risks over at most
    /// [`panel`](field@TrainingSettings::panel) training samples.
    pub fn evaluator(&self) -> Evaluator<'_, B::InnerBackend, S, V, C> {
        Evaluator {
            problem: self.problem(),
            root_seed: self.seed,
            seed: Seed::new(self.seed).child("evaluation"),
            temperature: self.settings.temperature,
            negatives: self.settings.negatives,
            device: self.device.clone(),
            group: self.group,
            max_samples: self.settings.panel,
            max_statistics: self.settings.panel.max(STATISTICS),
            has_old_partners: false,
        }
    }

    /// Returns the evaluator that steers a run: over at most
    /// [`steering_panel`](field@TrainingSettings::steering_panel) training samples, with statistics over half as many. A
    /// re-estimation passes the data through the encoder as often as the risk itself, or more.
    pub(crate) fn steering_evaluator<'e>(
        &'e self,
        increment: &'e Increment,
    ) -> Evaluator<'e, B::InnerBackend, S, V, C> {
        let panel = self.settings.steering_panel;
        Evaluator {
            problem: self.problem_of(increment),
            max_statistics: panel.div_ceil(2).max(4),
            ..self.evaluator().with_at_most(panel)
        }
    }

    /// Trains a fresh encoder on the old data X by NCE-I (Eq. 1) under the noise distribution p(X). The
    /// result is θ₀, from which updates start.
    ///
    /// Evaluations compute the exact risk over the old data alone.
    ///
    /// # Errors
    /// [`TrainError`] if a setting is out of its range, the increment refers to a sample that the data
    /// set does not contain, a sample cannot be read, the encoder has no parameter to train or does not return one row for each view,
    /// a loss, a risk or a parameter is not finite, all embeddings are zero or the same, or members of a group differ.
    pub fn pretrain<M>(&self, encoder: M) -> Result<Outcome<M, B, f64>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.pretrain_with(encoder, &mut Callbacks::new())
    }

    /// Trains as [`pretrain`](Self::pretrain) does, with callbacks and checkpoints.
    ///
    /// # Errors
    /// As [`pretrain`](Self::pretrain), and [`TrainError`] if a checkpoint cannot be written or belongs
    /// to another run, or the callbacks stop the run.
    pub fn pretrain_with<M>(
        &self,
        encoder: M,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B, f64>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.settings.check()?;
        self.settings.check_negatives()?;
        self.problem().check()?;
        let measuring = self.evaluator();
        let Division { trained, held_out } = self.division()?;
        let steering = self.steering_evaluator(&trained);
        let held_out = held_out.map(|panel| panel.without_new());
        let evaluations = Evaluations {
            steer: &|encoder| {
                let evaluated = steering.evaluate_old(encoder)?;
                steering.with_held_out(evaluated, held_out.as_ref())
            },
            measure: &|encoder| measuring.evaluate_old(encoder),
            first_bad: &|encoder, samples| measuring.first_bad(encoder, samples),
        };
        let method = Method {
            rate: self.settings.pretraining_rate,
            ..Method::new(Sampling::Old, LossKind::InfoNce)
        };
        self.check_catalogue(encoder.has_catalogue(), &method)?;
        let encoder = own(&encoder);
        let training = self.training_loop(&method, &trained, PRETRAINING);
        let identity = training.check_members(&encoder, callbacks)?;
        self.check_data(|by| Ok(by.evaluate_old(encoder.valid())?.risk))?;
        training.run(encoder, None, identity, &evaluations, callbacks)
    }

    /// Updates an encoder that was trained on the old data by a method that starts from it, with evaluations of the exact risk over
    /// X′. A method without a loss evaluates the encoder once and returns it unchanged.
    ///
    /// # Errors
    /// [`TrainError`] as for [`pretrain`](Self::pretrain), and if
    ///
    /// - the method starts from another encoder than the trained one, as retraining does: [`update_with`](Self::update_with) takes a
    ///   fresh encoder;
    /// - the increment has no new samples;
    /// - the method's choices do not fit each other ([`Method::check`]), or [`NoiseSet::BothViews`] is set for a loss that
    ///   separates old noise from new.
    pub fn update<M>(&self, method: &Method, trained: M) -> Result<Outcome<M, B>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.update_with(method, trained, None, &mut Callbacks::new())
    }

    /// Updates as [`update`](Self::update) does, by any method, with callbacks and checkpoints. `fresh` is an encoder of the same
    /// architecture with random parameters, which all starts but `trained` need ([`Start::needs_fresh`](crate::Start::needs_fresh)):
    /// from scratch it is trained in the place of `trained`.
    ///
    /// # Errors
    /// As [`update`](Self::update), and [`TrainError`] if the start needs a fresh encoder and there is none, or it cannot be
    /// blended with the trained one, a checkpoint cannot be written or belongs to another run, or the callbacks stop the run.
    pub fn update_with<M>(
        &self,
        method: &Method,
        trained: M,
        fresh: Option<M>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.settings.check()?;
        self.settings.check_negatives()?;
        self.problem().check()?;
        if self.increment.new_data().is_empty() {
            return Err(TrainError::NothingNew);
        }
        if self.settings.noise_set == NoiseSet::BothViews && method.separates_noise() {
            return Err(TrainError::BothViews);
        }
        method.check()?;
        let fresh = fresh.as_ref().map(own);
        let encoder = method.start.encoder::<B, M>(own(&trained), fresh)?;
        self.check_catalogue(encoder.has_catalogue(), method)?;
        let measuring = self.evaluator();
        let division = self.division()?;
        let (increment, held_out) = (division.trained, division.held_out);
        let steering = self.steering_evaluator(&increment);
        let evaluations = Evaluations {
            steer: &|encoder| {
                let evaluated = steering.evaluate(encoder)?;
                steering.with_held_out(evaluated, held_out.as_ref())
            },
            measure: &|encoder| measuring.evaluate(encoder),
            first_bad: &|encoder, samples| {
                // The statistics of a teacher hold samples that are not in the batch.
                let found = measuring.first_bad(encoder, samples)?;
                found.map_or_else(
                    || measuring.first_bad_of_statistics(encoder),
                    |at| Ok(Some(at)),
                )
            },
        };
        let training = self.training_loop(method, &increment, UPDATE);
        let identity = training.check_members(&encoder, callbacks)?;
        self.check_data(|by| Ok(by.evaluate(encoder.valid())?.risk.all))?;
        let Some(loss) = method.loss else {
            let evaluated = (evaluations.steer)(encoder.valid())?;
            let measured = (evaluations.measure)(encoder.valid())?;
            return Ok(Outcome::untrained(encoder, evaluated.risk, measured));
        };
        // The teacher is the first encoder after re-estimation of its statistics.
        let teacher = match loss.distillation {
            true => {
                let (encoder, n_views) = measuring.with_statistics(encoder.valid())?;
                Some(Teacher {
                    encoder,
                    n_views,
                    weight: self.settings.distillation_weight,
                    distance: self.settings.distillation_distance,
                })
            }
            false => None,
        };
        training.run(encoder, teacher, identity, &evaluations, callbacks)
    }
}
