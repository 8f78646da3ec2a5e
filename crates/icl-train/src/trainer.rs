//! The one training loop.

use std::cell::Cell;
use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, Increment, SampleError, Samples, Seed, Views};

use crate::checkpoint::identity::Identity;
use crate::checkpoint::saved::{restore, save};
use crate::error::TrainError;
use crate::evaluation::evaluator::{Evaluated, Evaluator};
use crate::evaluation::risk::Risk;
use crate::evaluation::stopping::StopRule;
use crate::method::{LossKind, Method};
use crate::noise_queue::old_queue::OldQueue;
use crate::problem::Problem;
use crate::progress::step_report::PhaseClock;
use crate::progress::{Callbacks, Evaluation, Outcome, Progress, TrainingRecord};
use crate::sampling::choice::Sampling;
use crate::sampling::plan::{EpochPlan, Planner, StepPlan};
use crate::settings::TrainingSettings;
use crate::step::batch_loss::BatchLoss;
use crate::step::distillation::Teacher;
use crate::step::prefetch::{Batches, Request, prefetch};
use crate::step::run::Run;

/// Trains encoders on a data set: the first one on the old data, and its updates.
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
#[derive(Debug)]
pub struct Trainer<'a, B: AutodiffBackend, S, V, C> {
    samples: &'a S,
    views: V,
    collate: C,
    increment: &'a Increment,
    settings: TrainingSettings,
    seed: u64,
    device: B::Device,
}

/// Name of the random stream of updates. All methods share it, so that they see one order and one set
/// of views.
const UPDATE: &str = "update";

/// How an encoder is evaluated.
type Evaluate<'a, M, R> = &'a dyn Fn(M) -> Result<Evaluated<M, R>, SampleError>;

impl<'a, B: AutodiffBackend, S, V, C> Trainer<'a, B, S, V, C> {
    /// Creates a trainer of these samples with the default settings, the seed 0 and the default
    /// device. References to views and collation serve as well as values.
    pub fn new(samples: &'a S, views: V, collate: C, increment: &'a Increment) -> Self {
        Self {
            samples,
            views,
            collate,
            increment,
            settings: TrainingSettings::default(),
            seed: 0,
            device: B::Device::default(),
        }
    }

    /// Sets the root seed of the run: order, views, dropout and evaluation have streams of their own.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the settings of every training run. They are checked when one begins.
    pub fn settings(mut self, settings: TrainingSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the device that encoders are trained on.
    pub fn device(mut self, device: B::Device) -> Self {
        self.device = device;
        self
    }

    fn problem(&self) -> Problem<'_, S, V, C> {
        Problem {
            samples: self.samples,
            views: &self.views,
            collate: &self.collate,
            increment: self.increment,
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
    /// Returns the evaluator of this run: its fixed views are those of the root seed, the same for
    /// every method.
    pub fn evaluator(&self) -> Evaluator<'_, B::InnerBackend, S, V, C> {
        Evaluator {
            problem: self.problem(),
            seed: Seed::new(self.seed).child("evaluation"),
            temperature: self.settings.temperature,
            negatives: self.settings.negatives,
            device: self.device.clone(),
        }
    }

    /// Trains a fresh encoder on the old data by NCE-I under p(X), stopped by the exact risk over
    /// the old data: this is θ₀. Since all data are old, [`old_queue`](TrainingSettings::old_queue) is
    /// not used.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn pretrain<M>(&self, encoder: M) -> Result<Outcome<M, B, f64>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.pretrain_with(encoder, &mut Callbacks::new())
    }

    /// Trains as [`pretrain`](Self::pretrain), with callbacks and checkpoints.
    ///
    /// # Errors
    /// [`TrainError`].
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
        self.problem().check()?;
        let evaluator = self.evaluator();
        let evaluate = |encoder| evaluator.evaluate_old(encoder);
        let method = Method::new(Sampling::Old, LossKind::InfoNce);
        self.run(&method, encoder, None, "pretraining", &evaluate, callbacks)
    }

    /// Updates an encoder by a method, watched by the exact risk over X′; a method without a loss is
    /// only evaluated. `encoder` is what the method starts from: θ₀, or a fresh one where its start is
    /// [`Start::Scratch`](crate::Start::Scratch).
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn update<M>(&self, method: &Method, encoder: M) -> Result<Outcome<M, B>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.update_with(method, encoder, &mut Callbacks::new())
    }

    /// Updates as [`update`](Self::update), with callbacks and checkpoints.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn update_with<M>(
        &self,
        method: &Method,
        encoder: M,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.settings.check()?;
        self.problem().check()?;
        if self.increment.new_data().is_empty() {
            return Err(TrainError::NothingNew);
        }
        let unused_queue = |_: &usize| !method.separates_noise();
        if let Some(found) = self.settings.old_queue.filter(unused_queue) {
            return Err(TrainError::NoOldNoise { found });
        }
        method.check()?;
        let evaluator = self.evaluator();
        let evaluate = |encoder| evaluator.evaluate(encoder);
        let Some(loss) = method.loss else {
            return inference(encoder, &evaluate);
        };
        // Distillation keeps near the first encoder as it is for use. It must not record a graph: no
        // backward pass would ever free it.
        let teacher = if loss.distillation {
            let evaluated = evaluate(encoder.valid()).map_err(TrainError::Sample)?;
            Some(Teacher {
                encoder: M::from_inner(evaluated.encoder).no_grad(),
                weight: self.settings.distillation_weight,
                distance: self.settings.distillation_distance,
            })
        } else {
            None
        };
        self.run(method, encoder, teacher, UPDATE, &evaluate, callbacks)
    }

    fn run<M, R>(
        &self,
        method: &Method,
        encoder: M,
        teacher: Option<Teacher<M>>,
        stream: &str,
        evaluate: Evaluate<'_, M::InnerModule, R>,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Outcome<M, B, R>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        R: Risk,
    {
        let loss = method.loss.expect("a method without a loss trains nothing");
        let seed = Seed::new(self.seed).child(stream);
        let (increment, settings) = (self.increment, &self.settings);
        let planner = Planner::new(method, increment, settings, seed.child("order"));
        let batch_loss = BatchLoss {
            loss: loss.kind,
            alpha: increment.growth_ratio(),
            settings,
            teacher,
            queue: settings
                .old_queue
                .filter(|_| loss.separates_noise())
                .map(OldQueue::new),
            sample_passes: Cell::new(0),
            clock: PhaseClock::new(callbacks.follows_steps()),
        };
        let sampling = method.sampling;
        let fraction = sampling.first_fraction(settings, increment.old().len());
        let widest = sampling.widening_from().map_or(fraction, |_| 1.0);
        let n_steps = planner.epoch(0, widest).steps.len();
        let most_steps = settings.epochs as u64 * n_steps as u64;
        let mut run = Run::<M, B, R>::new(
            encoder, method, batch_loss, most_steps, fraction, self.seed, seed,
        );
        let identity = self.identity(method, stream, run.start_digest());
        if let Some(path) = callbacks.checkpoint() {
            run = restore(run, path, &identity)?;
        }
        if run.counters.is_complete {
            let encoder = run.average.get().valid();
            let evaluated = evaluate(encoder).map_err(TrainError::Sample)?;
            return Ok(run.end(evaluated.encoder));
        }
        let encoder = std::thread::scope(|scope| {
            let device = self.device.clone();
            let views = seed.child("views");
            let batches = prefetch::<B, S, V, C>(
                scope,
                self.problem(),
                views,
                device,
                callbacks.follows_steps(),
            );
            loop {
                let epoch = run.record.n_epochs();
                let plan = planner.epoch(epoch, run.counters.fraction());
                // An epoch that a checkpoint has interrupted was evaluated before it began.
                if run.counters.n_steps == 0 {
                    if let Some(encoder) =
                        self.begin_epoch(&mut run, &plan, &batches, seed, evaluate)?
                    {
                        return Ok::<_, TrainError>(encoder);
                    }
                    callbacks.tell(Progress {
                        epoch,
                        n_epochs: self.settings.epochs,
                        risk: run.counters.risk.unwrap_or(f64::NAN),
                    });
                }
                // The evaluation may have widened the share of old data.
                let mut steps = planner.epoch(epoch, run.counters.fraction()).steps;
                steps.drain(..run.counters.n_steps);
                self.epoch(&mut run, steps, &batches, seed, &identity, callbacks)?;
                run.counters.end_epoch(&mut run.record);
            }
        })?;
        run.counters.is_complete = true;
        if let Some(path) = callbacks.checkpoint().map(ToOwned::to_owned) {
            save(&run, &path, &identity, callbacks)?;
        }
        Ok(run.end(encoder))
    }

    /// Evaluates if it is time; the evaluated encoder if the run ends here.
    fn begin_epoch<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        plan: &EpochPlan,
        batches: &Batches<M::Batch>,
        seed: Seed,
        evaluate: Evaluate<'_, M::InnerModule, R>,
    ) -> Result<Option<M::InnerModule>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B>,
        R: Risk,
    {
        let epoch = run.record.n_epochs();
        let (stop, patience) = (self.settings.stop, self.settings.patience);
        let last_loss = run.record.epoch_losses.last();
        let n_worse = last_loss.map_or(0, |&loss| run.counters.losses.push(loss));
        let by_loss = stop == StopRule::TrainingLoss && n_worse >= patience;
        let is_last = by_loss || epoch == self.settings.epochs;
        if !is_last && epoch != run.counters.next_evaluation {
            return Ok(None);
        }
        let new = self.increment.new_data();
        let old_queue = run.queue_bias(plan, new, batches, seed)?;
        let (evaluated, risk) = run.evaluate(evaluate, old_queue)?;
        run.counters.next_evaluation = self.settings.next_evaluation(epoch, plan.steps.len());
        run.counters.add_risk(&risk);
        let n_worse = run.counters.risks.push(risk.all());
        let by_risk = stop == StopRule::ExactRisk && n_worse >= patience;
        Ok((is_last || by_risk).then_some(evaluated))
    }

    fn epoch<M, R>(
        &self,
        run: &mut Run<'_, M, B, R>,
        steps: Vec<StepPlan>,
        batches: &Batches<M::Batch>,
        seed: Seed,
        identity: &Identity,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<(), TrainError>
    where
        M: AutodiffModule<B> + Encoder<B>,
        R: Risk,
    {
        let n_steps = steps.len();
        let epoch = run.record.n_epochs();
        batches.request(Request { epoch, steps });
        for _ in 0..n_steps {
            let wait = Instant::now();
            let prepared = batches.next().map_err(TrainError::Sample)?;
            run.record.seconds.wait += wait.elapsed().as_secs_f64();
            let report = run.step(prepared, seed)?;
            callbacks.tell_step(report);
            let is_stopped = callbacks.is_stopped();
            let is_due = is_stopped || callbacks.is_save_due();
            if let Some(path) = callbacks
                .checkpoint()
                .filter(|_| is_due)
                .map(ToOwned::to_owned)
            {
                save(run, &path, identity, callbacks)?;
            }
            if is_stopped {
                let step = run.record.n_steps;
                return Err(TrainError::Interrupted { step });
            }
        }
        Ok(())
    }

    /// What a checkpoint of this run must agree with.
    fn identity(&self, method: &Method, stream: &str, start: u32) -> Identity {
        let increment = self.increment;
        let mut samples = crc32fast::Hasher::new();
        for part in [increment.old(), increment.new_data()] {
            samples.update(&(part.len() as u64).to_le_bytes());
            for &index in part {
                samples.update(&(index as u64).to_le_bytes());
            }
        }
        let facts = [
            ("seed", self.seed.to_string()),
            ("stream", stream.to_owned()),
            ("method", method.to_string()),
            ("number of samples", self.samples.n_samples().to_string()),
            ("increment", format!("{:08x}", samples.finalize())),
            ("first encoder", format!("{start:08x}")),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value));
        Identity::new(facts.into_iter().chain(self.settings.facts()))
    }
}

/// The outcome of a method that trains nothing.
fn inference<M, B, I>(
    encoder: M,
    evaluate: Evaluate<'_, I, icl_core::ExactRisk>,
) -> Result<Outcome<M, B>, TrainError>
where
    B: AutodiffBackend,
    M: AutodiffModule<B, InnerModule = I>,
{
    let evaluated = evaluate(encoder.valid()).map_err(TrainError::Sample)?;
    Ok(Outcome {
        trained: encoder,
        encoder: evaluated.encoder,
        parameter_change: 0.0,
        record: TrainingRecord {
            evaluations: vec![Evaluation {
                epoch: 0,
                sample_passes: 0,
                train_s: 0.0,
                risk: evaluated.risk,
                old_queue: None,
            }],
            ..TrainingRecord::empty()
        },
    })
}
