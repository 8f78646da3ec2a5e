//! One seed of a comparison: θ₀ from the old data, then every method.

use std::io::ErrorKind;
use std::path::PathBuf;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl::core::{GrowthRatio, Increment, Seed};
use icl::data::{GraphCollate, GraphDataset, GraphViews, GraphViewsConfig};
use icl::eval::Matrix;
use icl::meta::{
    Evaluator, Method, Problem, Start, Trainer, TrainingRecord, Watch, plateau, time_to_target,
};
use icl::models::{Gcn, GcnConfig, GraphBackend};
use icl::{EmbeddingMap, FloorParts, RiskParts, RunRecord, SCHEMA};

use super::progress::Display;
use super::resolved::{PAPER_PATIENCE, Resolved};
use super::{ENCODER, protocol};
use crate::failure::Failure;
use crate::work_folder::WorkFolder;
use crate::{encoder_file, interrupt};

/// The name of θ₀ in files.
const FIRST: &str = "theta0";

/// The target is the plateau of retraining times this.
const TARGET: f64 = 1.01;

/// What it takes to run all methods with one seed.
pub struct SeedComparison<'a, B: AutodiffBackend> {
    pub resolved: &'a Resolved,
    pub data: &'a GraphDataset,
    pub work: &'a WorkFolder,
    pub seed: u64,
    pub device: B::Device,
    pub display: &'a Display,
}

/// A method that has run.
struct Ran<B: AutodiffBackend + GraphBackend>
where
    B::InnerBackend: GraphBackend,
{
    method: Method,
    encoder: Gcn<B::InnerBackend>,
    record: TrainingRecord,
    parameter_change: f64,
}

type GraphTrainer<'a, B> = Trainer<'a, B, GraphDataset, GraphViews, GraphCollate>;
type GraphEvaluator<'a, B> = Evaluator<'a, B, GraphDataset, GraphViews, GraphCollate>;

impl<B> SeedComparison<'_, B>
where
    B: AutodiffBackend + GraphBackend,
    B::InnerBackend: GraphBackend,
{
    /// Runs all methods; their records and the map of their embeddings.
    pub fn run(&self) -> Result<(Vec<RunRecord>, EmbeddingMap), Failure> {
        let seed = Seed::new(self.seed);
        let alpha = GrowthRatio::try_new(self.resolved.alpha).map_err(Failure::input)?;
        let increment = self
            .data
            .increment(self.resolved.split, alpha, seed.child("data"))
            .map_err(Failure::input)?;
        let views = GraphViewsConfig::new().init();
        let trainer = GraphTrainer::<B> {
            problem: Problem {
                samples: self.data,
                views: &views,
                collate: &GraphCollate,
                increment: &increment,
            },
            settings: &self.resolved.settings,
            seed: self.seed,
            device: self.device.clone(),
        };
        let config = GcnConfig::new(self.data.d_features());
        let fresh = |name: &str| config.init::<B>(seed.child("init").child(name), &self.device);

        self.display
            .begin(&format!("seed {}: θ₀ on the old data", self.seed));
        let untrained = fresh("old");
        let first = trainer
            .pretrain(untrained.clone(), &mut self.watch(FIRST))
            .map_err(Failure::training)?;
        self.display.end(&format!(
            "seed {}  θ₀: {} epochs on {} old graphs, exact risk {:.4} nats",
            self.seed,
            first.record.n_epochs(),
            increment.old().len(),
            first
                .record
                .evaluations
                .last()
                .map_or(f64::NAN, |last| last.risk),
        ));
        self.save(&first.encoder, &config, FIRST)?;

        let mut ran = Vec::new();
        for method in &self.resolved.methods {
            let start = match method.start {
                Start::Trained => first.trained.clone(),
                Start::Scratch => fresh("scratch"),
            };
            let one = self.run_method(&trainer, method, start)?;
            self.save(&one.encoder, &config, method.name)?;
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
        trainer: &GraphTrainer<'_, B>,
        method: &Method,
        start: Gcn<B>,
    ) -> Result<Ran<B>, Failure> {
        self.display
            .begin(&format!("seed {}: {}", self.seed, method.name));
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

    /// The records of all methods, with targets, accuracies and floors, and the map.
    fn write_up(
        &self,
        trainer: &GraphTrainer<'_, B>,
        increment: &Increment,
        ran: &[Ran<B>],
        trained: &Gcn<B::InnerBackend>,
        untrained: &Gcn<B::InnerBackend>,
    ) -> Result<(Vec<RunRecord>, EmbeddingMap), Failure> {
        self.display
            .begin(&format!("seed {}: accuracies", self.seed));
        let evaluator = trainer.evaluator();
        let samples: Vec<usize> = (0..self.data.graphs().len()).collect();
        let seed = Seed::new(self.seed).child("evaluation");
        let protocol = protocol::Protocol::new(self.data, increment, seed)?;
        let embed = |encoder: &Gcn<B::InnerBackend>| embed(&evaluator, encoder, &samples);
        // The untrained encoder, too, gets the statistics that belong to its weights.
        let untrained = evaluator
            .evaluate(untrained.clone())
            .map_err(|error| Failure::Other(anyhow::anyhow!(error)))?;
        let floors = protocol.floors(&embed(&untrained.encoder)?)?;
        let target = ran
            .iter()
            .find(|one| one.method.name == icl::YARDSTICK)
            .and_then(|one| plateau(&one.record.evaluations))
            .map(|plateau| plateau * TARGET);
        let mut map = EmbeddingMap {
            seed: self.seed,
            labels: self.data.labels(),
            is_new: is_new(increment, samples.len()),
            before: protocol::plane(&embed(trained)?),
            after: Vec::new(),
        };
        let mut records = Vec::new();
        for one in ran {
            let embeddings = embed(&one.encoder)?;
            let accuracy = protocol.accuracy(&embeddings);
            map.after
                .push((one.method.name.to_owned(), protocol::plane(&embeddings)));
            records.push(self.record(one, increment, target, accuracy, floors));
        }
        Ok((records, map))
    }

    fn record(
        &self,
        one: &Ran<B>,
        increment: &Increment,
        target: Option<f64>,
        accuracy: icl::AccuracyParts,
        floors: FloorParts,
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
            data: self.data.name().to_owned(),
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
            accuracy,
            floors,
            parameter_change: one.parameter_change,
            seconds: record.seconds,
            evaluations: record.evaluations.clone(),
            epoch_losses: record.epoch_losses.clone(),
            learning_rates: record.learning_rates.clone(),
            support_learning_rates: record.support_learning_rates.clone(),
            old_fractions: record.old_fractions.clone(),
        }
    }

    fn save(
        &self,
        encoder: &Gcn<B::InnerBackend>,
        config: &GcnConfig,
        name: &str,
    ) -> Result<(), Failure> {
        let file = format!("{ENCODER}{name}-seed{}.safetensors", self.seed);
        let path = self.work.results().join(file);
        encoder_file::save(encoder, config, self.data.name(), &path)
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

    /// Removes the states of a seed that is done.
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

fn embed<B: GraphBackend>(
    evaluator: &GraphEvaluator<'_, B>,
    encoder: &Gcn<B>,
    samples: &[usize],
) -> Result<Matrix, Failure> {
    let embeddings = evaluator
        .embed(encoder, samples)
        .map_err(|error| Failure::Other(anyhow::anyhow!(error)))?;
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
