//! One seed of a comparison: θ₀ trained on the old data, then every method.

use std::path::PathBuf;

use burn::module::AutodiffModule;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{ByOrigin, ExactRisk, Group, GrowthRatio, Increment, Seed, Views};
use icl_eval::Matrix;
use icl_report::{EmbeddingMap, RunRecord, SCHEMA, TrainingCourse, TrainingSummary, UpdateFacts};
use icl_train::{
    Budget, Callbacks, Identity, Method, TARGET_RATIO, Trainer, TrainingRecord, TrainingSettings,
    UpdateRule, plateau, time_to_target,
};

use crate::commands::run::evaluated_samples::EvaluatedSamples;
use crate::commands::run::options::Resolved;
use crate::commands::run::protocol;
use crate::commands::run::protocol::{
    FLOORS, Kept, MethodAccuracies, Protocols, in_files, state_name,
};
use crate::domain::Collated;
use crate::domain::Domain;
use crate::domain::data::{DataSet, tell_equal};
use crate::domain::encoder_file;
use crate::domain::encoder_file::TrainedOn;
use crate::domain::recall::stored_recall;
use crate::domain::spread::EvaluatorOf;
use crate::files::whole::remove_if_there;
use crate::files::work_folder::WorkFolder;
use crate::files::work_place::ENCODER;
use crate::options::budget::UpdateBudget;
use crate::options::choice;
use crate::options::protocol::max_evaluated;
use crate::options::training::PAPER_PATIENCE;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::{Display, ended, notes};

/// Name of θ₀ in files.
const FIRST: &str = "theta0";

/// Run of all methods with one seed.
pub struct SeedComparison<'a, D: Domain, B: AutodiffBackend> {
    pub resolved: &'a Resolved,
    pub domain: &'a D,
    pub data: &'a D::Data,
    pub work: &'a WorkFolder,
    pub identity: &'a Identity,
    pub seed: u64,
    pub devices: &'a [B::Device],
    pub group: &'a dyn Group,
    pub display: &'a Display,
}

/// Measurements of a method's encoder after its run.
struct Measured {
    accuracies: MethodAccuracies,
    /// Exact risk with partners of views from the old data, if views have partners.
    risk_old_partners: Option<ByOrigin<f64>>,
    n_evaluated: usize,
    update: UpdateFacts,
}

/// Method that has run.
struct Ran<M> {
    method: Method,
    encoder: M,
    /// Exact risk before and after the run, over the same samples.
    risks: [ExactRisk; 2],
    record: TrainingRecord,
    parameter_change: f64,
}

type DomainTrainer<'a, D, B> = Trainer<
    'a,
    B,
    <D as Domain>::Data,
    &'a <D as Domain>::Views,
    Collated<<D as Domain>::Collate>,
    UpdateRule,
>;

impl<D: Domain, B: AutodiffBackend> SeedComparison<'_, D, B> {
    /// Splits the data and runs all methods; returns their records and the map of their embeddings.
    pub fn run(&self) -> Result<(Vec<RunRecord>, EmbeddingMap), Failure> {
        let alpha = GrowthRatio::try_new(self.resolved.alpha).map_err(Failure::input)?;
        let seed = Seed::new(self.seed).child("data");
        let split = &self.resolved.split;
        let increment = self.data.increment(split, alpha, seed)?;
        if self.seed == *self.resolved.seeds.start() {
            tell_equal(self.data, &increment)?;
        }
        let held_out = &self.resolved.options.hold_out;
        // By seed, not by content: seeds are repetitions, each with held-out samples of its own.
        let (increment, held_out) = held_out.draw(increment, seed)?;
        let held_out = held_out.as_ref();
        match self.domain.refitted(self.data, split, increment.old())? {
            None => self.run_on(&increment, held_out),
            Some((domain, data)) => {
                let refitted = SeedComparison::<D, B> {
                    domain: &domain,
                    data: &data,
                    ..*self
                };
                refitted.run_on(&increment, held_out)
            }
        }
    }

    /// Runs all methods on an increment of the data, and computes their risk over held-out samples.
    fn run_on(
        &self,
        increment: &Increment,
        held_out: Option<&Increment>,
    ) -> Result<(Vec<RunRecord>, EmbeddingMap), Failure> {
        let seed = Seed::new(self.seed);
        let trainer = self.trainer(increment);
        let fresh = |name: &str| {
            let seed = seed.child("init").child(name);
            self.domain.fresh::<B>(seed, &self.devices[0])
        };

        self.display
            .begin(&format!("seed {}: θ₀ on the old data", self.seed));
        let untrained = fresh("old")?;
        let first = trainer
            .pretrain_with(untrained.clone(), &mut self.callbacks(FIRST))
            .map_err(|error| self.resolved.causes(None).training(error))?;
        self.display.end(&format!(
            "seed {}  θ₀: {} epochs on {} old {}, exact risk {:.4} nats{}",
            self.seed,
            first.record.n_epochs(),
            increment.old().len(),
            <D::Data as DataSet>::SAMPLES,
            first.risk,
            notes(&first.record),
        ));
        let passes_per_sample = first.record.cost.charged() / increment.old().len() as f64;
        self.save(&first.encoder, FIRST, passes_per_sample)?;

        let mut ran = Vec::new();
        for method in &self.resolved.methods {
            let fresh = || fresh("scratch");
            let fresh = method.start.needs_fresh().then(fresh).transpose()?;
            let budget = self.budget(method, passes_per_sample);
            let starts = (first.trained.clone(), fresh);
            let one = self.run_method(increment, (method, budget), starts)?;
            self.save(&one.encoder, &method.name, passes_per_sample)?;
            ran.push(one);
        }
        self.write_up(
            &trainer,
            (increment, held_out),
            &ran,
            &first.encoder,
            &untrained.valid(),
        )
    }

    /// The trainer of this seed.
    fn trainer<'a>(&'a self, increment: &'a Increment) -> DomainTrainer<'a, D, B> {
        let (views, collate) = (self.domain.views(), self.domain.collate());
        Trainer::new(self.data, views, collate, increment)
            .settings(self.resolved.settings.clone())
            .update_rule(self.resolved.options.pretraining.training.step.optimizer)
            .seed(self.seed)
            .devices(self.devices.iter().cloned())
            .group(self.group)
    }

    /// Returns the budget of a method; none for retraining to its end.
    fn budget(&self, method: &Method, passes_per_sample: f64) -> Option<Budget> {
        match self.resolved.budget {
            _ if method.name == icl_train::REFERENCE => None,
            UpdateBudget::Share(share) => Some(Budget::OfRetraining {
                share,
                passes_per_sample,
            }),
            UpdateBudget::Passes(passes) => Some(Budget::Passes(passes)),
            UpdateBudget::None | UpdateBudget::Minutes(_) => None,
        }
    }

    fn run_method(
        &self,
        increment: &Increment,
        (method, budget): (&Method, Option<Budget>),
        (trained, fresh): (D::Trained<B>, Option<D::Trained<B>>),
    ) -> Result<Ran<D::Encoder<B::InnerBackend>>, Failure> {
        self.display
            .begin(&format!("seed {}: {}", self.seed, method.name));
        let outcome = self
            .trainer(increment)
            .settings(TrainingSettings {
                budget,
                ..self.resolved.settings.clone()
            })
            .update_with(method, trained, fresh, &mut self.callbacks(&method.name))
            .map_err(|error| self.resolved.causes(Some(method)).training(error))?;
        let record = outcome.record;
        if method.loss.is_some() {
            let ended = ended(&record, outcome.risk.all);
            self.display
                .end(&format!("seed {}  {}: {ended}", self.seed, method.name));
        }
        Ok(Ran {
            method: method.clone(),
            parameter_change: outcome.parameter_change,
            risks: [outcome.first_risk, outcome.risk],
            encoder: outcome.encoder,
            record,
        })
    }

    /// Returns the records of all methods, with targets, accuracies and floors, and the map.
    fn write_up(
        &self,
        trainer: &DomainTrainer<'_, D, B>,
        (increment, held_out): (&Increment, Option<&Increment>),
        ran: &[Ran<D::Encoder<B::InnerBackend>>],
        trained: &D::Encoder<B::InnerBackend>,
        untrained: &D::Encoder<B::InnerBackend>,
    ) -> Result<(Vec<RunRecord>, EmbeddingMap), Failure> {
        self.display
            .begin(&format!("seed {}: accuracies", self.seed));
        let evaluator = trainer.evaluator();
        let seed = Seed::new(self.seed).child("evaluation");
        let names = &self.resolved.protocols;
        let is_evaluated = self.data.has_labels() && !names.is_empty();
        let raw = is_evaluated.then(|| self.domain.features(self.data));
        let raw = raw.transpose()?.flatten();
        let width = raw.as_ref().map_or(0, Matrix::n_columns);
        let evaluated = EvaluatedSamples::of(increment, max_evaluated(names, width), seed)?;
        let shown = evaluated.shown();
        let embed = |encoder: &D::Encoder<B::InnerBackend>| {
            embed::<D, B::InnerBackend>(&evaluator, encoder, &evaluated.samples)
        };
        // The untrained encoder, too, gets the statistics that belong to its weights.
        let untrained = evaluator.evaluate(untrained.clone())?;
        let untrained = embed(&untrained.encoder)?;
        let kept = Kept {
            work: self.work,
            identity: self.identity,
            display: self.display,
            seed: self.seed,
        };
        let features = (raw.as_ref(), &untrained);
        let protocols = Protocols::new::<D>(names, self.data, features, &evaluated, seed, kept)?;
        let plane = |embeddings: &Matrix| protocol::plane(&embeddings.select(&shown));
        let target = ran
            .iter()
            .find(|one| one.method.name == icl_train::REFERENCE)
            .and_then(|one| plateau(&one.record.evaluations))
            .map(|plateau| plateau.map(|risk| risk * TARGET_RATIO));
        let stored = embed(trained)?;
        let old = evaluated.increment.old();
        let mut map = EmbeddingMap {
            seed: self.seed,
            labels: shown.iter().map(|&at| protocols.labels()[at]).collect(),
            is_new: evaluated.are_new(&shown),
            before: plane(&stored),
            after: Vec::new(),
        };
        let of_old = trainer.evaluator().with_old_partners();
        let mut records = Vec::new();
        for one in ran {
            let embeddings = embed(&one.encoder)?;
            let accuracies = protocols.accuracies(&one.method.name, &embeddings)?;
            map.after
                .push((one.method.name.clone(), plane(&embeddings)));
            let risk_old_partners = if self.domain.views().n_partners() > 0 {
                let evaluated = of_old.evaluate(one.encoder.clone())?;
                Some(evaluated.risk.by_origin())
            } else {
                None
            };
            let causes = self.resolved.causes(Some(&one.method));
            let held_out = match held_out {
                Some(held_out) => {
                    let risk = evaluator.held_out_risk(&one.encoder, held_out);
                    Some((risk.map_err(|error| causes.training(error))?, held_out))
                }
                None => None,
            };
            let recall = stored_recall(&embeddings.select(old), &stored.select(old))?;
            let measured = Measured {
                accuracies,
                risk_old_partners,
                n_evaluated: evaluated.samples.len(),
                update: UpdateFacts::of(&one.record, increment, held_out, recall),
            };
            records.push(self.record(one, target, measured));
        }
        Ok((records, map))
    }

    fn record(
        &self,
        one: &Ran<D::Encoder<B::InnerBackend>>,
        target: Option<ByOrigin<f64>>,
        measured: Measured,
    ) -> RunRecord {
        let (record, accuracies) = (&one.record, measured.accuracies);
        let reached = target.and_then(|target| time_to_target(&record.evaluations, &target));
        let lowest = record.lowest_loss_epoch(PAPER_PATIENCE);
        let [start, end] = one.risks;
        let optimizer = self.resolved.options.pretraining.training.step.optimizer;
        RunRecord {
            schema: SCHEMA,
            method: one.method.name.clone(),
            seed: self.seed,
            data: self.data.name().to_owned(),
            n_clipped: self.data.n_clipped(),
            split: self.resolved.split.to_string(),
            optimizer: Some(choice::name(&optimizer).to_owned()),
            backend: self.resolved.backend.clone(),
            target: target.map(|target| target.all),
            target_by_origin: target,
            epochs_to_target: reached.map(|reached| reached.epochs),
            passes_to_target: reached.map(|reached| reached.sample_passes),
            charged_to_target: reached.map(|reached| reached.charged_passes),
            time_to_target_s: reached.map(|reached| reached.train_s),
            lowest_loss_epoch: lowest,
            lowest_loss_s: lowest.map(|epoch| record.epoch_ends_s[epoch - 1]),
            risk: end.by_origin(),
            risk_old_partners: measured.risk_old_partners,
            n_evaluated: measured.n_evaluated,
            nce1_old: end.nce1_old,
            nce2_old: end.nce2_old,
            start,
            end,
            linear_probe: accuracies.linear_probe,
            knn: accuracies.knn,
            few_labels: accuracies.few_labels,
            added_protocols: accuracies.added,
            seconds: record.seconds,
            update: measured.update,
            training: TrainingSummary::of(record, one.parameter_change),
            course: TrainingCourse::of(record),
        }
    }

    /// Writes an encoder. Updates are predicted by the cost of θ₀.
    fn save(
        &self,
        encoder: &D::Encoder<B::InnerBackend>,
        name: &str,
        passes_per_sample: f64,
    ) -> Result<(), Failure> {
        let file = format!("{ENCODER}{}-seed{}.safetensors", in_files(name), self.seed);
        let path = self.work.results().join(file);
        // What a seed held out has no rule by contents.
        let share = self.resolved.options.hold_out.share();
        let hold_out = (share == 0.0).then_some(share);
        let trained_on = TrainedOn {
            data: self.data.name(),
            hold_out,
            passes_per_sample: Some(passes_per_sample),
        };
        encoder_file::save(encoder, self.domain, trained_on, &path)
    }

    fn callbacks(&self, name: &str) -> Callbacks<'_> {
        Callbacks::new()
            .on_progress(|progress| self.display.advance(&progress))
            .stop_when(interrupt::requested)
            .with_checkpoint(self.state(name))
    }

    fn state(&self, name: &str) -> PathBuf {
        self.work
            .state(&format!("seed{}-{}", self.seed, in_files(name)))
    }

    /// Removes the states of a complete seed.
    pub fn forget(&self) -> Result<(), Failure> {
        let methods = self.resolved.methods.iter();
        let methods = methods.map(|method| method.name.as_str());
        let trained = [FIRST].into_iter().chain(methods.clone());
        let trained = trained.map(|name| self.state(name));
        let evaluated = [FLOORS].into_iter().chain(methods).flat_map(|name| {
            let protocols = self.resolved.protocols.iter();
            protocols.map(move |protocol| state_name(self.seed, name, protocol))
        });
        for path in trained.chain(evaluated.map(|name| self.work.state(&name))) {
            let removed = remove_if_there(&path);
            removed.map_err(|error| Failure::file(&path, "cannot be removed", error))?;
        }
        Ok(())
    }
}

fn embed<D: Domain, B: Backend>(
    evaluator: &EvaluatorOf<'_, '_, D, B>,
    encoder: &D::Encoder<B>,
    samples: &[usize],
) -> Result<Matrix, Failure> {
    let (values, width) = evaluator.embed_to_host(encoder, samples)?;
    Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
}
