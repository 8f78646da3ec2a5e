//! Trainability: what an encoder learns from an experience, beside a fresh one.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, Increment, Samples, Seed, Views};
use icl_meta::RateChoice;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::evaluation::StopRule;
use crate::progress::{Evaluation, TrainingRecord};
use crate::trainer::Trainer;
use crate::trainer::settings::TrainingSettings;

/// Training of an encoder on the samples of one experience, beside that of a fresh encoder with the same seeds, views and
/// order of samples.
///
/// The *level* is the lowest risk that the fresh encoder has at the ends of its epochs. A [`ratio`](Self::ratio) that
/// rises from experience to experience means that the encoder loses the ability to learn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trainability {
    /// Risk of NCE-I in nats over the samples after the training of the encoder.
    pub risk: f64,
    /// Risk after the same training of the fresh encoder.
    pub fresh_risk: f64,
    /// Training passes after which the encoder is first at the level, at the end of an epoch: 0 if it was there before its
    /// training, `None` if it is never there.
    pub passes: Option<f64>,
    /// Training passes after which the fresh encoder is first at the level.
    pub fresh_passes: f64,
    /// `passes/fresh_passes`: below 1 if the encoder learns faster than a fresh one. `None` if it is never at the level, or
    /// the fresh encoder was there before its training.
    pub ratio: Option<f64>,
    /// Cost of both trainings with their evaluations, in full passes: charged to a method that decides by it.
    pub cost: f64,
}

impl Trainability {
    /// Compares two records of runs of the same length. Risks are those at the ends of both runs.
    fn of([risk, fresh_risk]: [f64; 2], [own, fresh]: [&TrainingRecord<f64>; 2]) -> Self {
        let risks = fresh.evaluations.iter().map(|it| it.risk);
        let level = risks.fold(f64::INFINITY, f64::min);
        let passes_to = |evaluations: &[Evaluation<f64>]| {
            let first = evaluations.iter().find(|it| it.risk <= level);
            first.map(|it| it.sample_passes as f64)
        };
        let passes = passes_to(&own.evaluations);
        let fresh_passes = passes_to(&fresh.evaluations).unwrap_or(0.0);
        let cost = |record: &TrainingRecord<f64>| record.cost.charged() + record.cost.measuring;
        Self {
            risk,
            fresh_risk,
            passes,
            fresh_passes,
            ratio: passes
                .map(|passes| passes / fresh_passes)
                .filter(|ratio| ratio.is_finite()),
            cost: cost(own) + cost(fresh),
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
    /// Trains an encoder and a fresh one on the new samples of the increment, or on the old ones if there are no new ones,
    /// by NCE-I for `epochs` epochs at the fixed learning rate, and compares what they have learned. The trained encoders
    /// are discarded.
    ///
    /// Their risks are computed after each epoch over at most
    /// [`steering_panel`](field@TrainingSettings::steering_panel) of these samples. All other settings are those of this
    /// trainer.
    ///
    /// # Errors
    /// As [`pretrain`](Self::pretrain).
    pub fn trainability<M>(
        &self,
        encoder: M,
        fresh: M,
        epochs: usize,
    ) -> Result<Trainability, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        let samples = match self.increment.new_data() {
            [] => self.increment.old(),
            new => new,
        };
        let experience = Increment::before(samples.to_vec());
        let experience = experience.expect("an increment has at least two samples of each kind");
        let trainer =
            Trainer::<B, S, &V, &C>::new(self.samples, &self.views, &self.collate, &experience)
                .settings(TrainingSettings {
                    epochs,
                    stop: StopRule::Never,
                    evaluate_every: Some(1),
                    pretraining_rate: RateChoice::Fixed,
                    ..self.settings.clone()
                })
                .seed(Seed::new(self.seed).child("trainability").value())
                .device(self.device.clone());
        let own = trainer.pretrain(encoder)?;
        let fresh = trainer.pretrain(fresh)?;
        let risks = [own.risk, fresh.risk];
        Ok(Trainability::of(risks, [&own.record, &fresh.record]))
    }
}
