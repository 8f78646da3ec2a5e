//! One seed of a comparison: θ₀ trained on the old data, then every method.

use std::io::ErrorKind;
use std::path::PathBuf;

use burn::module::AutodiffModule;
use icl_core::{GrowthRatio, Increment, Samples, Seed};
use icl_eval::Matrix;
use icl_report::{EmbeddingMap, RiskParts, RunRecord, SCHEMA};
use icl_train::{
    Evaluator, Method, Problem, Start, Trainer, TrainingRecord, Watch, plateau, time_to_target,
};

use crate::backend::{ProgramBackend, TrainingBackend};
use crate::commands::run::options::Resolved;
use crate::commands::run::protocol;
use crate::commands::run::protocol::{Judgement, Protocols};
use crate::domain::encoder_file;
use crate::domain::{Collation, Domain};
use crate::files::run_results::ENCODER;
use crate::files::work_folder::WorkFolder;
use crate::options::training::PAPER_PATIENCE;
use crate::options::values::has_old_noise;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::Display;

/// Name of θ₀ in files.
const FIRST: &str = "theta0";

/// Ratio of the target to the plateau of retraining.
const TARGET: f64 = 1.01;

/// Run of all methods with one seed.
pub struct SeedComparison<'a, D: Domain, B: TrainingBackend> {
    pub resolved: &'a Resolved,
    pub domain: &'a D,
    pub data: &'a D::Data,
    pub work: &'a WorkFolder,
    pub seed: u64,
    pub device: B::Device,
    pub display: &'a Display,
}

/// Method that has run.
struct Ran<M> {
    method: Method,
    encoder: M,
    record: TrainingRecord,
    parameter_change: f64,
}

type DomainTrainer<'a, D, B> =
    Trainer<'a, B, <D as Domain>::Data, <D as Domain>::Views, Collation<D>>;
type DomainEvaluator<'a, D, B> =
    Evaluator<'a, B, <D as Domain>::Data, <D as Domain>::Views, Collation<D>>;

impl<D: Domain, B: TrainingBackend> SeedComparison<'_, D, B> {
    /// Runs all methods; returns their records and the map of their embeddings.
    pub fn run(&self) -> Result<(Vec<RunRecord>, EmbeddingMap), Failure> {
        let seed = Seed::new(self.seed);
        let alpha = GrowthRatio::try_new(self.resolved.alpha).map_err(Failure::input)?;
        let increment = D::increment(self.data, self.resolved.split, alpha, seed.child("data"))?;
        let trainer = DomainTrainer::<D, B> {
            problem: Problem {
                samples: self.data,
                views: self.domain.views(),
                collate: &Collation::new(),
                increment: &increment,
            },
            settings: &self.resolved.settings,
            seed: self.seed,
            device: self.device.clone(),
        };
        let fresh = |name: &str| {
            let seed = seed.child("init").child(name);
            self.domain.fresh::<B>(seed, &self.device)
        };

        self.display
            .begin(&format!("seed {}: θ₀ on the old data", self.seed));
        let untrained = fresh("old")?;
        let first = trainer
            .pretrain(untrained.clone(), &mut self.watch(FIRST))
            .map_err(Failure::training)?;
        self.display.end(&format!(
            "seed {}  θ₀: {} epochs on {} old {}, exact risk {:.4} nats",
            self.seed,
            first.record.n_epochs(),
            increment.old().len(),
            D::SAMPLES,
            first
                .record
                .evaluations
                .last()
                .map_or(f64::NAN, |last| last.risk),
        ));
        self.save(&first.encoder, FIRST)?;

        let mut ran = Vec::new();
        for method in &self.resolved.methods {
            let start = match method.start {
                Start::Trained => first.trained.clone(),
                Start::Scratch => fresh("scratch")?,
            };
            let one = self.run_method(&trainer, method, start)?;
            self.save(&one.encoder, method.name)?;
            ran.push(one);
        }
        self.write_up(
            &trainer,
            &increment,
            &ran,
            &first.encoder,
            &untrained.valid(),
        )
    }

    fn run_method(
        &self,
        trainer: &DomainTrainer<'_, D, B>,
        method: &Method,
        start: D::Trained<B>,
    ) -> Result<Ran<D::Encoder<B::InnerBackend>>, Failure> {
        self.display
            .begin(&format!("seed {}: {}", self.seed, method.name));
        // Methods without old noise of their own are refused with a queue of it.
        let mut settings = self.resolved.settings.clone();
        settings.old_queue = settings.old_queue.filter(|_| has_old_noise(method));
        let trainer = DomainTrainer::<D, B> {
            settings: &settings,
            problem: trainer.problem,
            seed: trainer.seed,
            device: trainer.device.clone(),
        };
        // One name for all methods: they see one order and one set of views.
        let outcome = trainer
            .train(method, start, "update", &mut self.watch(method.name))
            .map_err(Failure::training)?;
        let record = &outcome.record;
        if method.objective.is_some() {
            self.display.end(&format!(
                "seed {}  {}: {} epochs, {:.2} s, exact risk {:.4} nats",
                self.seed,
                method.name,
                record.n_epochs(),
                record.seconds.training(),
                record
                    .evaluations
                    .last()
                    .map_or(f64::NAN, |last| last.risk.all),
            ));
        }
        Ok(Ran {
            method: method.clone(),
            parameter_change: outcome.parameter_change,
            encoder: outcome.encoder,
            record: outcome.record,
        })
    }

    /// Returns the records of all methods, with targets, accuracies and floors, and the map.
    fn write_up(
        &self,
        trainer: &DomainTrainer<'_, D, B>,
        increment: &Increment,
        ran: &[Ran<D::Encoder<B::InnerBackend>>],
        trained: &D::Encoder<B::InnerBackend>,
        untrained: &D::Encoder<B::InnerBackend>,
    ) -> Result<(Vec<RunRecord>, EmbeddingMap), Failure> {
        self.display
            .begin(&format!("seed {}: accuracies", self.seed));
        let evaluator = trainer.evaluator();
        let samples: Vec<usize> = (0..self.data.n_samples()).collect();
        let seed = Seed::new(self.seed).child("evaluation");
        let embed = |encoder: &D::Encoder<B::InnerBackend>| {
            embed::<D, B::InnerBackend>(&evaluator, encoder, &samples)
        };
        // The untrained encoder, too, gets the statistics that belong to its weights.
        let untrained = evaluator
            .evaluate(untrained.clone())
            .map_err(|error| Failure::Input(anyhow::anyhow!(error)))?;
        let untrained = embed(&untrained.encoder)?;
        let protocols = Protocols::new(self.domain, self.data, &untrained, increment, seed)?;
        let target = ran
            .iter()
            .find(|one| one.method.name == icl_train::YARDSTICK)
            .and_then(|one| plateau(&one.record.evaluations))
            .map(|plateau| plateau * TARGET);
        let mut map = EmbeddingMap {
            seed: self.seed,
            labels: D::labels(self.data),
            is_new: is_new(increment, samples.len()),
            before: protocol::plane(&embed(trained)?),
            after: Vec::new(),
        };
        let mut records = Vec::new();
        for one in ran {
            let embeddings = embed(&one.encoder)?;
            let judgement = protocols.judge(&embeddings);
            map.after
                .push((one.method.name.to_owned(), protocol::plane(&embeddings)));
            records.push(self.record(one, increment, target, judgement));
        }
        Ok((records, map))
    }

    fn record(
        &self,
        one: &Ran<D::Encoder<B::InnerBackend>>,
        increment: &Increment,
        target: Option<f64>,
        judgement: Judgement,
    ) -> RunRecord {
        let record = &one.record;
        let reached = target.and_then(|target| time_to_target(&record.evaluations, target));
        let lowest = record.lowest_loss_epoch(PAPER_PATIENCE);
        let start = record.evaluations[0].risk;
        let end = record.evaluations[record.evaluations.len() - 1].risk;
        RunRecord {
            schema: SCHEMA,
            method: one.method.name.to_owned(),
            seed: self.seed,
            data: D::name(self.data).to_owned(),
            alpha: increment.growth_ratio().value(),
            split: self.resolved.split.to_string(),
            n_old: increment.old().len(),
            n_new: increment.new_data().len(),
            backend: self.resolved.backend.clone(),
            epochs: record.n_epochs(),
            sample_passes: record.sample_passes,
            train_s: record.seconds.training(),
            target,
            epochs_to_target: reached.map(|reached| reached.epochs),
            passes_to_target: reached.map(|reached| reached.sample_passes),
            time_to_target_s: reached.map(|reached| reached.train_s),
            lowest_loss_epoch: lowest,
            lowest_loss_s: lowest.map(|epoch| record.epoch_ends_s[epoch - 1]),
            risk: RiskParts {
                all: end.all,
                old: end.old,
                new: end.new,
            },
            nce1_old: end.nce1_old,
            nce2_old: end.nce2_old,
            start,
            end,
            accuracy: judgement.svm.accuracy,
            floors: judgement.svm.floors,
            linear_probe: Some(judgement.linear_probe),
            knn: Some(judgement.knn),
            parameter_change: one.parameter_change,
            seconds: record.seconds,
            evaluations: record.evaluations.clone(),
            epoch_losses: record.epoch_losses.clone(),
            learning_rates: record.learning_rates.clone(),
            support_learning_rates: record.support_learning_rates.clone(),
            old_fractions: record.old_fractions.clone(),
        }
    }

    fn save(&self, encoder: &D::Encoder<B::InnerBackend>, name: &str) -> Result<(), Failure> {
        let file = format!("{ENCODER}{name}-seed{}.safetensors", self.seed);
        let path = self.work.results().join(file);
        encoder_file::save(encoder, self.domain, D::name(self.data), &path)
    }

    fn watch(&self, name: &str) -> Watch<'_> {
        Watch::new()
            .on_progress(|progress| self.display.advance(&progress))
            .stop_when(interrupt::requested)
            .with_checkpoint(self.state(name))
    }

    fn state(&self, name: &str) -> PathBuf {
        self.work.state(&format!("seed{}-{name}", self.seed))
    }

    /// Removes the states of a complete seed.
    pub fn forget(&self) -> Result<(), Failure> {
        let methods = self.resolved.methods.iter().map(|method| method.name);
        for path in [FIRST]
            .into_iter()
            .chain(methods)
            .map(|name| self.state(name))
        {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Failure::file(&path, "cannot be removed", error));
                }
                _ => (),
            }
        }
        Ok(())
    }
}

fn embed<D: Domain, B: ProgramBackend>(
    evaluator: &DomainEvaluator<'_, D, B>,
    encoder: &D::Encoder<B>,
    samples: &[usize],
) -> Result<Matrix, Failure> {
    let embeddings = evaluator
        .embed(encoder, samples)
        .map_err(|error| Failure::Input(anyhow::anyhow!(error)))?;
    protocol::matrix(embeddings)
}

/// Whether each of `n` samples is new.
fn is_new(increment: &Increment, n: usize) -> Vec<bool> {
    let mut is_new = vec![false; n];
    for &index in increment.new_data() {
        is_new[index] = true;
    }
    is_new
}
