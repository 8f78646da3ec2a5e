//! Measurements after an experience.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_eval::{Matrix, effective_rank};
use icl_report::{StreamedExperience, TrainingSummary, verdict_sentences};
use icl_train::{SparseRow, parameter_norm};

use crate::commands::stream::embedder::{Embedded, Embedder, recall};
use crate::commands::stream::experience::{
    CurrentExperience, ExperienceRecord, StrategyOutcome, failure, first_held_out,
};
use crate::commands::stream::strategy::{Accuracies, StrategyRun};
use crate::domain::Domain;
use crate::domain::recall::neighbours_kept;
use crate::domain::spread::{check_spread, embed};
use crate::files::encoder_work::{ENCODER, REJECTED};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

impl<D: Domain, B: AutodiffBackend> CurrentExperience<'_, D, B> {
    /// Measures a strategy after the experience, and says what it has done. Also returns the facts about the
    /// experience, if this is the chosen strategy.
    ///
    /// # Errors
    /// If a sample cannot be read, a risk or an embedding is not finite, or embeddings cannot be compared.
    pub(super) fn measure(
        &self,
        run: &StrategyRun<'_>,
        outcome: &StrategyOutcome<D, B>,
        records: &[ExperienceRecord],
    ) -> Result<(Accuracies, Option<ExperienceRecord>), Failure> {
        let experiences = outcome.state.experiences();
        let experience = outcome.experience();
        let causes = self.causes(run);
        let risks = experience.risks.measured().iter().map(|it| Some(it.1));
        for risk in risks.chain([experience.served]) {
            causes.check_held_out(risk)?;
        }
        let stream = self.measuring(run);
        let first = first_held_out(experiences)?;
        let evaluator = stream.evaluator(&first);
        let embedder = Embedder {
            gathered: self.gathered,
            experiences,
            evaluator: &evaluator,
            seed: self.resolved.training.seed,
            causes: &causes,
        };
        let after = embedder.embed(&outcome.after)?;
        let before = outcome.before.as_ref().map(|it| embedder.embed(it));
        let before = before.transpose()?;
        let accuracies = after.accuracies();
        // Without an update the encoder that was live is the one afterwards.
        let served_accuracy = match (experience.served, &before) {
            (None, _) => None,
            (Some(_), None) => accuracies.as_ref().and_then(|it| *it.last()?),
            (Some(_), Some(before)) => before.last_accuracy(),
        };
        let done = Accuracies {
            accuracies: accuracies.map(SparseRow::from),
            served_accuracy,
        };
        self.tell(run, outcome);
        if !run.is_own() {
            return Ok((done, None));
        }
        let moved = self.moved(&embedder, before, after, records)?;
        let domain = &*self.gathered.domain;
        let untrained = domain.fresh::<B>(self.init().child("old"), &self.devices[0])?;
        let untrained = untrained.valid();
        let untrained_risk = stream.held_out_risk(&untrained, &experience.held_out);
        let untrained_risk = untrained_risk.map_err(failure)?;
        let untrained_accuracy = embedder.embed(&untrained)?.last_accuracy();
        let norm_and_rank = self.norm_and_rank(run, &embedder)?;
        let record = ExperienceRecord {
            streamed: self.streamed(outcome, moved, norm_and_rank),
            decision: experience.decision.clone(),
            untrained_risk,
            untrained_accuracy,
            provenance: self.arrived().provenance.clone(),
        };
        Ok((done, Some(record)))
    }

    /// Returns the experience as a line of `stream.jsonl` has it.
    fn streamed(
        &self,
        outcome: &StrategyOutcome<D, B>,
        [
            neighbours_kept,
            neighbours_kept_of_first,
            cross_version_recall,
        ]: [Option<f64>; 3],
        [parameter_norm, effective_rank]: [f64; 2],
    ) -> StreamedExperience {
        let arrived = self.arrived();
        let experience = outcome.experience();
        StreamedExperience {
            name: arrived.name.clone(),
            arrived: arrived.arrived.clone(),
            n_samples: experience.n_samples,
            n_held_out: experience.held_out.len(),
            n_clipped: arrived.n_clipped,
            updated: experience.updated,
            is_rejected: experience.is_rejected,
            n_old: experience.n_old,
            n_new: experience.n_new,
            served_risk: experience.served,
            risk: experience.risks.last(),
            verdict: outcome.held_out.verdict,
            task: outcome.held_out.task,
            parameter_norm,
            effective_rank: Some(effective_rank),
            neighbours_kept,
            neighbours_kept_of_first,
            cross_version_recall,
            training: TrainingSummary {
                epochs: experience.epochs,
                charged_passes: experience.cost.charged(),
                cost: experience.cost,
                stopped_by: experience.stopped_by,
                train_s: outcome.train_s,
                parameter_change: outcome.parameter_change,
            },
        }
    }

    /// Returns how the embeddings of held-out samples have moved: the neighbours that are kept since the update and
    /// since the first experience, and the samples that are found by their embeddings before the update.
    fn moved(
        &self,
        embedder: &Embedder<'_, D, B::InnerBackend>,
        before: Option<Embedded>,
        after: Embedded,
        records: &[ExperienceRecord],
    ) -> Result<[Option<f64>; 3], Failure> {
        let after = after.held_out();
        let kept = |before: &Matrix| -> Result<Option<f64>, Failure> {
            Ok(neighbours_kept(before, &after)?.map(|it| it.share))
        };
        let [since_update, found] = match before.map(|it| it.held_out()) {
            None => [None; 2],
            Some(before) => [kept(&before)?, recall(&before, &after)?],
        };
        let kept_of_first = match records.first() {
            None => None,
            Some(first) => {
                let folder = self.folder.experience(0, &first.streamed.name);
                let first = self.read(&folder.join(ENCODER))?.valid();
                kept(&embedder.embed(&first)?.held_out())?
            }
        };
        Ok([since_update, kept_of_first, found])
    }

    /// Returns the norm of the encoder's parameters, and the effective rank of its embeddings of the held-out samples of the first
    /// experience, the same after all experiences.
    fn norm_and_rank(
        &self,
        run: &StrategyRun<'_>,
        embedder: &Embedder<'_, D, B::InnerBackend>,
    ) -> Result<[f64; 2], Failure> {
        let path = run.folder(self.next).join(ENCODER);
        let encoder = self.read(if path.exists() { &path } else { &run.encoder })?;
        let Embedder {
            evaluator, causes, ..
        } = embedder;
        let valid = encoder.valid();
        let held_out = &embedder.experiences[0].held_out;
        let rows = embed::<D, _>(evaluator, &valid, held_out, causes)?;
        let (domain, device) = (&*self.gathered.domain, &self.devices[0]);
        check_spread::<D, B>(evaluator, domain, (&rows, held_out), device, causes)?;
        Ok([parameter_norm::<B, _>(&encoder), effective_rank(&rows)])
    }

    /// Says what a strategy has done, and the verdict on its update.
    fn tell(&self, run: &StrategyRun<'_>, outcome: &StrategyOutcome<D, B>) {
        let experience = outcome.experience();
        let risk = experience.risks.last();
        let risk = risk.map_or(String::new(), |risk| format!("{risk:.4} nats"));
        let name = &experience.name;
        let strategy = &run.strategy.name;
        let cost = || {
            let (n, passes) = (experience.epochs, experience.cost.charged());
            format!("{n} epochs, {passes:.0} passes")
        };
        let done = match (experience.updated, experience.served) {
            (true, None) => format!("begins with risk {risk}"),
            (true, Some(served)) => format!("risk {served:.4} → {risk}, {}", cost()),
            (false, _) if experience.is_rejected => {
                format!("update rejected, risk stays {risk}, {}", cost())
            }
            (false, _) => format!("waits, risk {risk}"),
        };
        tell(format_args!("{name}: {strategy}: {done}"));
        if let Some(verdict) = &outcome.held_out.verdict {
            let rejected = self.folder.experience(self.at, name).join(REJECTED);
            let rejected = rejected.display().to_string();
            let kept = experience.is_rejected.then_some(["is served", &rejected]);
            let sentences = verdict_sentences(verdict, kept);
            tell(format_args!("{name}: {sentences}"));
        }
    }
}
