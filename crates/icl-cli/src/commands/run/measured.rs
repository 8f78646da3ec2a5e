//! Measurements of all methods after their runs with one seed.

use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{ByOrigin, Increment, Seed, Views};
use icl_eval::Matrix;
use icl_report::{
    EmbeddingMap, MadeBy, RunRecord, SCHEMA, TrainingCourse, TrainingSummary, UpdateFacts,
};
use icl_train::{TARGET_RATIO, plateau, time_to_target};

use crate::commands::run::comparison::{DomainTrainer, Ran, SeedComparison};
use crate::commands::run::evaluated_samples::EvaluatedSamples;
use crate::commands::run::protocol;
use crate::commands::run::protocol::{Kept, MethodAccuracies, Protocols};
use crate::domain::Domain;
use crate::domain::data::DataSet;
use crate::domain::recall::stored_recall;
use crate::domain::spread::EvaluatorOf;
use crate::options::choice;
use crate::options::protocol::max_evaluated;
use crate::options::training::PAPER_PATIENCE;
use crate::process::failure::Failure;

/// Measurements of a method's encoder after its run.
struct Measured {
    accuracies: MethodAccuracies,
    /// Exact risk with partners of views from the old data, if views have partners.
    risk_old_partners: Option<ByOrigin<f64>>,
    n_evaluated: usize,
    update: UpdateFacts,
}

impl<D: Domain, B: AutodiffBackend> SeedComparison<'_, D, B> {
    /// Returns the records of all methods, with targets, accuracies and floors, and the map.
    pub(super) fn write_up(
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
        let raw = |samples: &[usize]| match is_evaluated {
            true => self.domain.features(self.data, samples),
            false => Ok(None),
        };
        let width = raw(&increment.old()[..1])?.map_or(0, |raw| raw.n_columns());
        let evaluated = EvaluatedSamples::of(increment, max_evaluated(names, width), seed)?;
        let raw = raw(&evaluated.samples)?;
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
            .find(|one| one.run.method.name == icl_train::REFERENCE)
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
            let accuracies = protocols.accuracies(&one.run.method.name, &embeddings)?;
            map.after
                .push((one.run.method.name.clone(), plane(&embeddings)));
            let risk_old_partners = if self.domain.views().n_partners() > 0 {
                let risk = match one.run.keeps_first() {
                    true => of_old.risk_as_given(&one.encoder)?,
                    false => of_old.evaluate(one.encoder.clone())?.risk,
                };
                Some(risk.by_origin())
            } else {
                None
            };
            let causes = self.resolved.causes(Some(&one.run.method));
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
            method: one.run.method.name.clone(),
            budget: one.run.budget(),
            seed: self.seed,
            data: self.data.name().to_owned(),
            n_clipped: self.data.n_clipped(),
            split: self.resolved.split.to_string(),
            optimizer: Some(choice::name(&optimizer).to_owned()),
            backend: self.resolved.backend.clone(),
            made_by: MadeBy::command(self.command),
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
}

fn embed<D: Domain, B: Backend>(
    evaluator: &EvaluatorOf<'_, '_, D, B>,
    encoder: &D::Encoder<B>,
    samples: &[usize],
) -> Result<Matrix, Failure> {
    let (values, width) = evaluator.embed_to_host(encoder, samples)?;
    Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
}
