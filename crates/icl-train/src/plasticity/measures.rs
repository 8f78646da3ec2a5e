//! The measures of plasticity in one struct.

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, HostRows, SampleError, Samples, Views};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::method::DORMANT;
use crate::plasticity::norm::parameter_norm;
use crate::plasticity::trainability::Trainability;
use crate::trainer::Trainer;

/// Measures of plasticity of an encoder (Dohare et al., 2024): over a stream, the share of dormant units and the norm of
/// the parameters rise and the effective rank falls where an encoder loses the ability to learn.
///
/// They are signs of it. [`trainability`](Self::trainability) is the direct test, and costs two training runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Plasticity {
    /// Share of hidden units whose mean |activation| is at most 0.01 of the mean of their layer
    /// ([`UnitActivity::dormant_share`](crate::UnitActivity::dormant_share)); `None` for an encoder that does not expose
    /// its units.
    pub dormant_share: Option<f64>,
    /// Effective rank of the embeddings. Compare only runs of one method.
    pub effective_rank: f64,
    /// Norm of the trained parameters ([`parameter_norm`]).
    pub parameter_norm: f64,
    /// Trainability on an experience ([`Trainer::trainability`]), if it was measured.
    pub trainability: Option<Trainability>,
    /// Cost of the first two measures, in full passes: charged to nobody, unless they decide something.
    pub passes: f64,
}

impl<B, S, V, C> Trainer<'_, B, S, V, C>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Collate<View = V::View>,
{
    /// Measures the plasticity of an encoder over the plain views of some samples, without its trainability. Its
    /// normalisation statistics are re-estimated first, over samples of the increment.
    ///
    /// `effective_rank` computes the effective rank of the embeddings, such as `icl_eval::effective_rank`.
    ///
    /// # Errors
    /// [`TrainError`] if a setting is out of its range, the increment refers to a sample that the data set does not contain,
    /// a sample cannot be read, or with the error of `effective_rank`.
    ///
    /// # Panics
    /// If there are no samples.
    pub fn plasticity<M>(
        &self,
        encoder: &M,
        samples: &[usize],
        effective_rank: impl FnOnce(HostRows) -> Result<f64, SampleError>,
    ) -> Result<Plasticity, TrainError>
    where
        M: AutodiffModule<B> + Encoder<B, Batch = C::Batch<B>>,
        M::InnerModule: Encoder<B::InnerBackend, Batch = C::Batch<B::InnerBackend>>,
    {
        self.settings.check()?;
        self.problem().check()?;
        let measured = || -> Result<_, SampleError> {
            let evaluator = self.evaluator();
            let (valid, n_views) = evaluator.with_statistics(encoder.valid())?;
            let rank = effective_rank(evaluator.embed_to_host(&valid, samples)?)?;
            let activity = evaluator.unit_activity(&valid, samples)?;
            Ok((rank, activity, n_views))
        };
        let (effective_rank, activity, n_views) = measured().map_err(TrainError::of_evaluation)?;
        let n_panels = 1 + u64::from(activity.is_some());
        let n_views = n_views + n_panels * samples.len() as u64;
        Ok(Plasticity {
            dormant_share: activity.map(|it| it.dormant_share(DORMANT)),
            effective_rank,
            parameter_norm: parameter_norm::<B, M>(encoder),
            trainability: None,
            passes: n_views as f64 * M::FORWARD_SHARE,
        })
    }
}
