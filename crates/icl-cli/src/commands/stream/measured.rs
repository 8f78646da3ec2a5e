//! Measurements after an experience.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::Increment;
use icl_eval::effective_rank;
use icl_report::{StreamedExperience, TrainingSummary};
use icl_train::{Experience, StreamMemory, StreamState, Trainer, parameter_norm};

use crate::commands::stream::embedder::{Embedder, neighbours_kept, recall};
use crate::commands::stream::step::{Advanced, Step, StepRecord, failure};
use crate::commands::stream::strategy::{Row, StrategyRun, StrategyStep};
use crate::domain::Domain;
use crate::domain::spread::{check_spread, embed};
use crate::files::encoder_work::ENCODER;
use crate::process::causes::Causes;
use crate::process::failure::Failure;
use crate::process::terminal::tell;

impl<D: Domain, B: AutodiffBackend> Step<'_, D, B> {
    fn embedder<'j>(&'j self, causes: &'j Causes<'j>) -> Embedder<'j, D, B> {
        Embedder {
            gathered: self.gathered,
            seed: self.resolved.training.seed,
            device: &self.devices[0],
            causes,
        }
    }

    /// Measures a strategy after the experience.
    ///
    /// # Errors
    /// If a sample cannot be read, or a risk or an embedding is not finite.
    pub(super) fn done(
        &self,
        run: &StrategyRun<'_>,
        advanced: &Advanced<D, B>,
    ) -> Result<StrategyStep, Failure> {
        let experiences: Vec<&Experience> = advanced.state.experiences().iter().collect();
        let n = experiences.len();
        let experience = experiences[n - 1];
        let causes = self.causes(run);
        for &risk in experience.risks.iter().chain([&experience.served]) {
            causes.check_held_out(risk)?;
        }
        let embedder = self.embedder(&causes);
        let accuracies = embedder.embed(&advanced.after, &experiences)?.accuracies(n);
        let served_accuracy = match (&advanced.before, experience.updated) {
            (None, _) => None,
            (Some(_), false) => accuracies.as_ref().and_then(|it| it[n - 1]),
            (Some(before), true) => embedder
                .embed(before, &experiences)?
                .accuracies(n)
                .and_then(|it| it[n - 1]),
        };
        Ok(StrategyStep {
            risks: experience.risks.clone().into(),
            experience: Experience {
                risks: Vec::new(),
                ..experience.clone()
            },
            accuracies: accuracies.map(Row::from),
            served_accuracy,
        })
    }

    /// Returns the facts about the experience, as the chosen strategy has gone through it.
    ///
    /// # Errors
    /// If a sample cannot be read, or embeddings cannot be compared.
    pub(super) fn record(
        &self,
        run: &StrategyRun<'_>,
        advanced: &Advanced<D, B>,
        experience: &Experience,
        steps: &[StepRecord],
    ) -> Result<StepRecord, Failure> {
        let experiences: Vec<&Experience> = advanced.state.experiences().iter().collect();
        let n = experiences.len();
        let causes = self.causes(run);
        let embedder = self.embedder(&causes);
        let untrained = self
            .gathered
            .domain
            .fresh::<B>(self.init().child("old"), &self.devices[0])?
            .valid();
        let stream = self.stream(run, self.resolved.training.settings.clone());
        let last = StreamState::from_parts(vec![experience.clone()], StreamMemory::default());
        let untrained_risk = stream.risks(&untrained, &last).map_err(failure)?[0];
        let untrained_accuracy = embedder.embed(&untrained, &experiences)?.accuracies(n);
        let after = embedder.embed(&advanced.after, &experiences)?.panels();
        let moved = match advanced.before.as_ref().filter(|_| experience.updated) {
            None => [None; 2],
            Some(before) => {
                let before = embedder.embed(before, &experiences)?.panels();
                [neighbours_kept(&before, &after)?, recall(&before, &after)?]
            }
        };
        let neighbours_kept_of_first = match steps.first() {
            None => None,
            Some(first) => {
                let folder = self.folder.experience(0, &first.streamed.name);
                let first = self.read(&folder.join(ENCODER))?.valid();
                let first = embedder.embed(&first, &experiences)?.panels();
                neighbours_kept(&first, &after)?
            }
        };
        let [parameter_norm, effective_rank] = self.norm_and_rank(run, advanced, &causes)?;
        let arrived = self.arrived();
        Ok(StepRecord {
            streamed: StreamedExperience {
                name: arrived.name.clone(),
                arrived: arrived.arrived.clone(),
                n_samples: experience.n_samples,
                n_held_out: experience.panel.len(),
                n_clipped: arrived.n_clipped,
                updated: experience.updated,
                n_old: advanced.sizes[0],
                n_new: advanced.sizes[1],
                served_risk: experience.served,
                risk: experience.risks[n - 1],
                parameter_norm,
                effective_rank: Some(effective_rank),
                neighbours_kept: moved[0],
                neighbours_kept_of_first,
                cross_version_recall: moved[1],
                training: TrainingSummary {
                    epochs: experience.epochs,
                    charged_passes: experience.cost.charged(),
                    cost: experience.cost,
                    stopped_by: experience.stopped_by,
                    train_s: advanced.train_s,
                    parameter_change: advanced.parameter_change,
                },
            },
            decision: advanced.decision.clone(),
            untrained_risk,
            untrained_accuracy: untrained_accuracy.and_then(|it| it[n - 1]),
            checksum: arrived.checksum.clone(),
            files: arrived.files.clone(),
        })
    }

    /// Returns the norm of the encoder's parameters, and the effective rank of its embeddings of the held-out samples of the first
    /// experience, the same after all experiences.
    fn norm_and_rank(
        &self,
        run: &StrategyRun<'_>,
        advanced: &Advanced<D, B>,
        causes: &Causes<'_>,
    ) -> Result<[f64; 2], Failure> {
        let panel = &advanced.state.experiences()[0].panel;
        let increment = Increment::before(panel.clone()).map_err(Failure::input)?;
        let path = run.folder(self.next).join(ENCODER);
        let encoder = self.read(if path.exists() { &path } else { &run.encoder })?;
        let (domain, training) = (&*self.gathered.domain, &self.resolved.training);
        let trainer = Trainer::<B, D::Data, _, _>::new(
            &*self.gathered.data,
            domain.views(),
            domain.collate(),
            &increment,
        )
        .settings(training.settings.clone())
        .seed(training.seed)
        .devices(self.devices.iter().cloned())
        .group(self.group);
        let evaluator = trainer.evaluator();
        let unreadable = |error| causes.training(error);
        // The rank is that of the parameters alone: statistics that a training left behind would change it.
        let (valid, _) = evaluator
            .with_statistics(encoder.valid())
            .map_err(unreadable)?;
        let rows = embed::<D, _>(&evaluator, &valid, panel, causes)?;
        check_spread::<D, B>(&evaluator, domain, (&rows, panel), &self.devices[0], causes)?;
        Ok([parameter_norm::<B, _>(&encoder), effective_rank(&rows)])
    }

    /// Tells what a strategy has done.
    pub(super) fn tell(&self, run: &StrategyRun<'_>, experience: &Experience) {
        let risk = experience.risks.last().copied().flatten();
        let risk = risk.map_or(String::new(), |risk| format!("{risk:.4} nats"));
        let name = &experience.name;
        let strategy = &run.strategy.name;
        match (experience.updated, experience.served) {
            (true, None) => tell(format_args!("{name}: {strategy}: begins with risk {risk}")),
            (true, Some(served)) => tell(format_args!(
                "{name}: {strategy}: risk {served:.4} → {risk}, {} epochs, {:.0} passes",
                experience.epochs,
                experience.cost.charged()
            )),
            (false, _) => tell(format_args!("{name}: {strategy}: waits, risk {risk}")),
        }
    }
}
