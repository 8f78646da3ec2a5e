//! Training and measuring of the encoders of an experiment, the same for all data.

use crate::pages::ans::{AnsCourse, AnsMeasures, AnsRow, AnsSettings};
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_cli::parts::{Failure, interrupt};
use icl_core::{
    Collate, CollateFor, Encoder, Increment, Samples, Seed, TrainableEncoder, Views, host_values,
};
use icl_eval::{Candidates, Matrix, RankedTarget, RankingProtocol};
use icl_train::{
    Callbacks, NegativesForm, NegativesPeak, NegativesSchedule, Outcome, StepNegatives, StopRule,
    Trainer, TrainingSettings,
};

/// Number of candidates of the sampled ranking.
const SAMPLED: usize = 100;
/// Number of views of an encoder pass.
const CHUNK: usize = 512;

/// Measures of a trained encoder.
#[derive(Debug)]
pub struct Measured {
    /// AUC on training pairs.
    pub training_auc: Option<f64>,
    /// Measures on validation pairs.
    pub validation: AnsMeasures,
    /// Measures on the test.
    pub test: AnsMeasures,
    /// The same among a sample of candidates.
    pub sampled: Option<AnsMeasures>,
    /// Measures of the untrained encoder on the test.
    pub untrained: Option<AnsMeasures>,
    /// Parameter change.
    pub parameter_change: f64,
    /// Number of steps.
    pub n_steps: u64,
    /// Number of negatives of each epoch.
    pub step_negatives: Vec<f64>,
}

/// Returns the settings of a row's training. Negatives are drawn for each anchor; no rule stops it before the last of
/// the row's epochs.
pub fn training_settings(settings: &AnsSettings, row: &AnsRow) -> TrainingSettings {
    let (schedule, turn) = match row.course {
        AnsCourse::Fixed | AnsCourse::Popularity => (NegativesSchedule::Fixed, 0.1),
        AnsCourse::Up => (NegativesSchedule::Up, 0.1),
        AnsCourse::Down => (NegativesSchedule::Down, 0.1),
        AnsCourse::Ans => (NegativesSchedule::Ans, 0.1),
        AnsCourse::Mirrored => (NegativesSchedule::Ans, 0.9),
        AnsCourse::Stagewise => (NegativesSchedule::Stagewise, 0.1),
    };
    TrainingSettings {
        epochs: row.epochs,
        batch_size: settings.batch_size,
        learning_rate: settings.learning_rate,
        temperature: settings.temperature,
        negatives: settings.peak,
        step_negatives: StepNegatives {
            schedule,
            peak: NegativesPeak::Number(row.peak),
            turn,
            form: NegativesForm::Drawn,
        },
        stop: StopRule::Never,
        // `stagewise` takes its K from the evaluations; no other course needs one before the end.
        evaluate_every: Some(match row.course {
            AnsCourse::Stagewise => 1,
            _ => row.epochs,
        }),
        // The encoder after the last step is measured, as the page says.
        average_decay: Some(0.0),
        ..TrainingSettings::default()
    }
}

/// Trains an encoder on all samples.
///
/// # Errors
/// If the training fails, or it is interrupted.
pub fn trained<B, S, V, C, M>(
    (samples, views, collate): (&S, V, C),
    encoder: M,
    settings: TrainingSettings,
    (seed, device): (u64, &B::Device),
) -> Result<Outcome<M, B, f64>, Failure>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    M: TrainableEncoder<B>,
    C: CollateFor<B, V::View, M>,
{
    let all = (0..samples.n_samples()).collect();
    let increment = Increment::before(all).map_err(Failure::input)?;
    let trainer = Trainer::<B, _, _, _>::new(samples, views, collate, &increment)
        .settings(settings)
        .seed(seed)
        .device(device.clone());
    let mut callbacks = Callbacks::new().stop_when(interrupt::requested);
    trainer
        .pretrain_with(encoder, &mut callbacks)
        .map_err(Failure::training)
}

/// Encodes views, in their order.
///
/// # Errors
/// If a value is not finite.
pub fn encoded<B, V, C, M>(
    encoder: &M,
    collate: &C,
    views: &[V],
    device: &B::Device,
) -> Result<Matrix, Failure>
where
    B: Backend,
    M: Encoder<B>,
    C: Collate<B, V, M::Batch>,
{
    let (mut values, mut width) = (Vec::new(), 1);
    for chunk in views.chunks(CHUNK) {
        let rows = encoder.embed(collate.collate(chunk, device));
        width = rows.dims()[1];
        values.extend(host_values(rows));
    }
    Matrix::try_new(values, width).map_err(|error| Failure::Other(error.into()))
}

/// Ranks the target of each query among all items, or among a sample that the seed draws. `k` is the number of first items of
/// the hit rate.
///
/// # Errors
/// If a query has no candidate besides its target.
pub fn ranked(
    (queries, items): (&Matrix, &Matrix),
    targets: &[RankedTarget<'_>],
    k: usize,
    sampled: Option<Seed>,
) -> Result<AnsMeasures, Failure> {
    let candidates = match sampled {
        None => Candidates::Full,
        Some(seed) => Candidates::Sampled { n: SAMPLED, seed },
    };
    let ranking = RankingProtocol::new(candidates)
        .rank(queries, items, targets)
        .map_err(|error| Failure::Other(error.into()))?;
    Ok(AnsMeasures {
        auc: ranking.auc(),
        hit_rate: ranking.hit_rate(k),
        ndcg: ranking.ndcg(10),
    })
}
