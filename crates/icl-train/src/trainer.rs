//! The one training loop.

use std::cell::Cell;
use std::time::Instant;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, SampleError, Samples, Seed, Views};

use crate::checkpoint::Identity;
use crate::evaluation::evaluator::{Evaluated, Evaluator};
use crate::evaluation::risk::Risk;
use crate::noise_queue::old_queue::OldQueue;
use crate::progress::step_report::PhaseClock;
use crate::sampling::plan::{EpochPlan, Planner, StepPlan};
use crate::step::batch_loss::BatchLoss;
use crate::step::prefetch::{Batches, Request, prefetch};
use crate::step::run::Run;
use crate::{
    Evaluation, Method, Noise, Objective, OptimizerChoice, Outcome, Problem, Progress, StopRule,
    TrainError, TrainingRecord, TrainingSettings, Watch,
};

/// Trains an encoder on a problem.
#[derive(Debug)]
pub struct Trainer<'a, B: AutodiffBackend, S, V, C> {
    /// The data.
    pub problem: Problem<'a, S, V, C>,
    /// The settings.
    pub settings: &'a TrainingSettings,
    /// The run's root seed: order, views, dropout and evaluation have streams of their own.
    pub seed: u64,
    /// Where to train.
    pub device: B::Device,
}

/// How an encoder is evaluated.
type Evaluate<'a, M, R> = &'a dyn Fn(M) -> Result<Evaluated<M, R>, SampleError>;

impl<B, S, V, C> Trainer<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<B, View = V::View> + Collate<B::InnerBackend, View = V::View>,
{
    /// The evaluator of this run: its fixed views are those of the root seed, the same for every
    /// method.
    pub fn evaluator(&self) -> Evaluator<'_, B::InnerBackend, S, V, C> {
        Evaluator {
            problem: self.problem,
            seed: Seed::new(self.seed).child("evaluation"),
            temperature: self.settings.temperature,
            negatives: self.settings.negatives,
            device: self.device.clone(),
        }
    }

    /// Trains a fresh encoder on the old data by NCE-I under p(X), stopped by the exact risk over
    /// the old data: this is θ₀. All data being old, there is no use for
    /// [`old_queue`](TrainingSettings::old_queue) here, and none is made of it.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn pretrain<M>(
        &self,
        encoder: M,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome<M, B, f64>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = <C as Collate<B>>::Batch>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = <C as Collate<B::InnerBackend>>::Batch>,
    {
        let evaluator = self.evaluator();
        let evaluate = |encoder| evaluator.evaluate_old(encoder);
        let method = Method::of(Objective::InfoNce(Noise::Old));
        self.run(&method, encoder, None, "pretraining", &evaluate, watch)
    }

    /// Updates an encoder by a method, watched by the exact risk over X′; a method without an
    /// objective is only evaluated. `encoder` is what the method starts from: θ₀, or a fresh one where
    /// it says so. `stream` names the run's randomness: methods of one name see one order and one set
    /// of views.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn train<M>(
        &self,
        method: &Method,
        encoder: M,
        stream: &str,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome<M, B>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = <C as Collate<B>>::Batch>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = <C as Collate<B::InnerBackend>>::Batch>,
    {
        self.settings.check()?;
        self.problem.check()?;
        if self.problem.increment.new_data().is_empty() {
            return Err(TrainError::NothingNew);
        }
        let evaluator = self.evaluator();
        let evaluate = |encoder| evaluator.evaluate(encoder);
        let has_old_noise = method.objective.is_some_and(Objective::is_stratified);
        if let Some(found) = self.settings.old_queue.filter(|_| !has_old_noise) {
            return Err(TrainError::NoOldNoise { found });
        }
        let Some(objective) = method.objective else {
            return inference(encoder, &evaluate);
        };
        let needs_parts = method.optimizer == OptimizerChoice::Meta;
        if needs_parts && !objective.is_stratified() {
            return Err(TrainError::NoSupport);
        }
        // Distillation keeps near the first encoder as it is for use. It must not record a graph: no
        // backward pass would ever free it.
        let teacher = match objective {
            Objective::Distillation => {
                let evaluated = evaluate(encoder.valid()).map_err(TrainError::Sample)?;
                Some(M::from_inner(evaluated.encoder).no_grad())
            }
            _ => None,
        };
        self.run(method, encoder, teacher, stream, &evaluate, watch)
    }

    fn run<M, R>(
        &self,
        method: &Method,
        encoder: M,
        teacher: Option<M>,
        stream: &str,
        evaluate: Evaluate<'_, M::InnerModule, R>,
        watch: &mut Watch<'_>,
    ) -> Result<Outcome<M, B, R>, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = <C as Collate<B>>::Batch>,
        R: Risk,
    {
        self.settings.check()?;
        self.problem.check()?;
        let seed = Seed::new(self.seed).child(stream);
        let objective = method.objective.expect("inference does not get here");
        let increment = self.problem.increment;
        let order = seed.child("order");
        let planner = Planner::new(objective, method.optimizer, increment, self.settings, order);
        let loss = BatchLoss {
            objective,
            alpha: increment.growth_ratio(),
            settings: self.settings,
            teacher,
            queue: self
                .settings
                .old_queue
                .filter(|_| objective.is_stratified())
                .map(OldQueue::new),
            sample_passes: Cell::new(0),
            clock: PhaseClock::new(watch.follows_steps()),
        };
        let fraction = objective.first_fraction(self.settings, increment.old().len());
        let widest = match objective {
            Objective::InfoNce(Noise::Widening(_)) => 1.0,
            _ => fraction,
        };
        let n_steps = planner.epoch(0, widest).steps.len();
        let most_steps = self.settings.epochs as u64 * n_steps as u64;
        let mut run =
            Run::<M, B, R>::new(encoder, method, loss, most_steps, fraction, self.seed, seed);
        let identity = self.identity(method, stream, run.start_digest());
        if let Some(path) = watch.checkpoint() {
            run = run.resumed(path, &identity)?;
        }
        if run.counters.is_complete {
            let encoder = run.average.get().valid();
            let evaluated = evaluate(encoder).map_err(TrainError::Sample)?;
            return Ok(run.end(evaluated.encoder));
        }
        let encoder = std::thread::scope(|scope| {
            let device = self.device.clone();
            let views = seed.child("views");
            let batches =
                prefetch::<B, S, V, C>(scope, self.problem, views, device, watch.follows_steps());
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
                    watch.tell(Progress {
                        epoch,
                        n_epochs: self.settings.epochs,
                        risk: run.counters.risk.unwrap_or(f64::NAN),
                    });
                }
                // The evaluation may have widened the share of old data.
                let mut steps = planner.epoch(epoch, run.counters.fraction()).steps;
                steps.drain(..run.counters.n_steps);
                self.epoch(&mut run, steps, &batches, seed, &identity, watch)?;
                run.counters.end_epoch(&mut run.record);
            }
        })?;
        run.counters.is_complete = true;
        if let Some(path) = watch.checkpoint().map(ToOwned::to_owned) {
            run.save(&path, &identity, watch)?;
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
        let new = self.problem.increment.new_data();
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
        watch: &mut Watch<'_>,
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
            watch.tell_step(report);
            let is_stopped = watch.is_stopped();
            let is_due = is_stopped || watch.is_save_due();
            if let Some(path) = watch.checkpoint().filter(|_| is_due).map(ToOwned::to_owned) {
                run.save(&path, identity, watch)?;
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
        let increment = self.problem.increment;
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
            ("objective", format!("{:?}", method.objective)),
            ("optimizer choice", format!("{:?}", method.optimizer)),
            ("rate choice", format!("{:?}", method.rate)),
            (
                "number of samples",
                self.problem.samples.n_samples().to_string(),
            ),
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
