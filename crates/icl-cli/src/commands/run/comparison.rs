//! One seed of a comparison: θ₀ trained on the old data, then every method.

use std::path::PathBuf;

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{ExactRisk, Group, Increment, Seed};
use icl_models::{DataOrigin, Origin, Parent};
use icl_report::{EmbeddingMap, RunRecord};
use icl_train::{
    Budget, Callbacks, Identity, Trainer, TrainingRecord, TrainingSettings, UpdateRule,
};

use crate::commands::run::options::Resolved;
use crate::commands::run::plan::PlannedRun;
use crate::commands::run::protocol::{FLOORS, in_files, state_name};
use crate::domain::Collated;
use crate::domain::Domain;
use crate::domain::data::{DataSet, tell_equal};
use crate::domain::encoder_file;
use crate::domain::encoder_file::TrainedOn;
use crate::files::whole::remove_if_there;
use crate::files::work_folder::WorkFolder;
use crate::files::work_place::ENCODER;
use crate::options::budget::UpdateBudget;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::progress::{Display, ended, notes};
use crate::process::terminal::tell;

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
    /// Command line of the comparison.
    pub command: &'a str,
}

/// Method that has run.
pub(super) struct Ran<M> {
    pub(super) run: PlannedRun,
    pub(super) encoder: M,
    /// Exact risk before and after the run, over the same samples.
    pub(super) risks: [ExactRisk; 2],
    pub(super) record: TrainingRecord,
    pub(super) parameter_change: f64,
}

pub(super) type DomainTrainer<'a, D, B> = Trainer<
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
        let seed = Seed::new(self.seed).child("data");
        let split = &self.resolved.split;
        let increment = self.data.increment(split, self.resolved.alpha, seed)?;
        if self.seed == *self.resolved.seeds.start() {
            tell_equal(self.data, &increment)?;
        }
        let contents = self.data.contents()?;
        let source = |part: &str, samples: &[usize]| {
            let contents = samples.iter().map(|&sample| contents[sample]);
            DataOrigin::new(part, self.data.name(), contents)
        };
        let sources = [
            source("old", increment.old()),
            source("new", increment.new_data()),
        ];
        let (rule, hold_out) = (&self.resolved.division, &self.resolved.options.hold_out);
        // By seed, not by content: seeds are repetitions, each with held-out samples of its own.
        let n_all = [increment.old().len(), increment.new_data().len()];
        let (increment, held_out) = rule.divide(increment, hold_out, seed)?;
        if rule.alpha.is_some() && self.seed == *self.resolved.seeds.start() {
            tell(format_args!(
                "note: with this --alpha, each seed trains on {} of {} old and {} of {} new samples",
                increment.old().len(),
                n_all[0],
                increment.new_data().len(),
                n_all[1]
            ));
        }
        let held_out = held_out.as_ref();
        match self.domain.refitted(self.data, split, increment.old())? {
            None => self.run_on(&increment, held_out, &sources),
            Some((domain, data)) => {
                let refitted = SeedComparison::<D, B> {
                    domain: &domain,
                    data: &data,
                    ..*self
                };
                refitted.run_on(&increment, held_out, &sources)
            }
        }
    }

    /// Runs all methods on an increment of the data, and computes their risk over held-out samples.
    fn run_on(
        &self,
        increment: &Increment,
        held_out: Option<&Increment>,
        sources: &[DataOrigin; 2],
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
        let passes = first.record.cost.charged();
        let passes_per_sample = passes / increment.old().len() as f64;
        let origin = self.origin(passes, &sources[..1]);
        let theta_0 = (&first.encoder, FIRST);
        let digest = self.save(theta_0, (&origin, &[]), passes_per_sample)?;
        let theta_0 = Parent {
            digest,
            origin: Some(origin),
        };

        let mut ran = Vec::new();
        for run in &self.resolved.runs {
            let method = &run.method;
            let fresh = || fresh("scratch");
            let fresh = method.start.needs_fresh().then(fresh).transpose()?;
            let starts = (first.trained.clone(), fresh);
            let mut one = self.run_method(increment, (run, passes_per_sample), starts)?;
            if run.keeps_first() {
                // To keep θ₀ is to use it as it is: with its own statistics.
                one.encoder = first.encoder.clone();
                let risk = trainer.evaluator().risk_as_given(&one.encoder);
                one.risks = [risk.map_err(|error| self.resolved.causes(None).training(error))?; 2];
            }
            let origin = self.origin(one.record.cost.charged(), sources);
            let origin = (&origin, std::slice::from_ref(&theta_0));
            self.save((&one.encoder, &method.name), origin, passes_per_sample)?;
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

    fn run_method(
        &self,
        increment: &Increment,
        (run, passes_per_sample): (&PlannedRun, f64),
        (trained, fresh): (D::Trained<B>, Option<D::Trained<B>>),
    ) -> Result<Ran<D::Encoder<B::InnerBackend>>, Failure> {
        let method = &run.method;
        let budget = match run.budget {
            UpdateBudget::Share(share) => Some(Budget::OfRetraining {
                share,
                passes_per_sample,
            }),
            UpdateBudget::Passes(passes) => Some(Budget::Passes(passes)),
            UpdateBudget::None | UpdateBudget::Minutes(_) => None,
        };
        self.display
            .begin(&format!("seed {}: {}", self.seed, method.name));
        // --epochs limits runs without a budget. A budget limits the cost instead: on fewer samples, to more epochs.
        let epochs = budget.map_or(self.resolved.settings.epochs, |_| usize::MAX);
        let outcome = self
            .trainer(increment)
            .settings(TrainingSettings {
                budget,
                epochs,
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
            run: run.clone(),
            parameter_change: outcome.parameter_change,
            risks: [outcome.first_risk, outcome.risk],
            encoder: outcome.encoder,
            record,
        })
    }

    /// Returns a training of this seed.
    fn origin(&self, passes: f64, sources: &[DataOrigin]) -> Origin {
        encoder_file::origin(self.command, self.seed, passes, sources.to_vec())
    }

    /// Writes an encoder under a name with its training and the encoders before it, and returns the digest of its file.
    /// Updates are predicted by the cost of θ₀.
    fn save(
        &self,
        (encoder, name): (&D::Encoder<B::InnerBackend>, &str),
        (origin, parents): (&Origin, &[Parent]),
        passes_per_sample: f64,
    ) -> Result<String, Failure> {
        let file = format!("{ENCODER}{}-seed{}.safetensors", in_files(name), self.seed);
        let path = self.work.results().join(file);
        // What a seed held out has no rule by contents.
        let share = self.resolved.options.hold_out.share();
        let hold_out = (share == 0.0).then_some(share);
        let trained_on = TrainedOn {
            data: self.data.name(),
            classes: &self.data.class_names(),
            settings: &self.resolved.settings,
            origin,
            parents,
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
        let runs = self.resolved.runs.iter();
        let methods = runs.map(|run| run.method.name.as_str());
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
