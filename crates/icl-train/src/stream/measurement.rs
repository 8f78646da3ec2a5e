//! Measurements of a stream without training: the risks on held-out samples, and the drift to what has arrived.

use burn::tensor::backend::AutodiffBackend;
use icl_core::drift::{Drift, DriftData, DriftTestConfig};
use icl_core::{Collate, Encoder, Error, HostRows, Increment, Samples, Seed, Views};

use crate::error::{TrainError, TrainErrorKind};
use crate::evaluation::Evaluator;
use crate::stream::advanced::Arriving;
use crate::stream::division::FEWEST_HELD_OUT;
use crate::stream::settings::Stream;
use crate::stream::state::{StreamMemory, StreamState};
use crate::trainer::evaluator;
use crate::views::problem::Problem;

impl<B, S, V, C, O> Stream<'_, B, S, V, C, O>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Returns the evaluator of some samples of this stream, which measures what the stream itself does not:
    /// embeddings, say. It is that of the root seed, so that a sample has the same views after all experiences.
    pub fn evaluator<'e>(
        &'e self,
        samples: &'e Increment,
    ) -> Evaluator<'e, B::InnerBackend, S, V, C> {
        let problem = Problem {
            samples: self.samples,
            views: &self.views,
            collate: &self.collate,
            increment: samples,
        };
        let device = self.devices[0].clone();
        evaluator(problem, &self.settings, self.seed, device, self.group)
    }

    /// Computes the risks of any encoder on the held-out samples of all experiences so far, such as of an untrained
    /// one, the reference of forward transfer, or of a retrained one as a control.
    ///
    /// # Errors
    /// [`TrainError`] if a sample cannot be read, the risk is not finite, or a member has left.
    pub fn risks<M>(&self, encoder: &M, state: &StreamState) -> Result<Vec<f64>, TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        let held_out = state.experiences().iter().map(|it| &it.held_out);
        held_out
            .map(|held_out| self.held_out_risk(encoder, held_out))
            .collect()
    }

    /// Measures the drift of the noise from the samples that are kept to all that waits and what arrives, as the live
    /// encoder sees it: of each, at most as many samples as are held out, with one fixed pair of views. Held-out
    /// samples of what arrives are left out.
    ///
    /// Returns the drift and its cost in full passes, which belongs to the charged cost, since it decides on an update.
    ///
    /// # Errors
    /// [`TrainError`] if the name or a sample has come before, nothing is kept, a sample cannot be read, an embedding
    /// is not finite, or a member has left.
    pub fn drift<M>(
        &self,
        state: &StreamState,
        live: &M,
        arriving: &Arriving<'_>,
        effect: f64,
    ) -> Result<(Drift, f64), TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        let divided = self.divided(state, arriving)?;
        let of_drift = |error| arriving.failed(error);
        let (temperature, negatives) = (self.settings.temperature, self.settings.negatives);
        let test = DriftTestConfig::new(temperature, negatives).with_effect(effect);
        let seed = self.seed_of(arriving.name);
        let mut n_measured = 0;
        let pairs = |drawn: &Increment| {
            n_measured += drawn.old().len();
            let pairs = self.evaluator(drawn).pairs_to_host(live, drawn);
            pairs.map_err(|error| of_measured(error, "kept and new samples"))
        };
        let memory = state.memory();
        let drift = memory.drift(
            &divided.training,
            test,
            (self.evaluation_samples, seed),
            pairs,
            of_drift,
        )?;
        Ok((drift, self.forward_passes::<M>(n_measured)))
    }

    /// Computes the exact NCE-I of held-out samples, with these as noise, on one fixed pair of views of each.
    ///
    /// # Errors
    /// As [`risks`](Self::risks).
    pub fn held_out_risk<M>(&self, encoder: &M, samples: &[usize]) -> Result<f64, TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        let held_out = Increment::before(samples.to_vec());
        let of_held_out = |error| of_measured(error, "held-out samples");
        let held_out = held_out.map_err(|error| of_held_out(error.into()))?;
        let risk = self
            .evaluator(&held_out)
            .held_out_risk_old(encoder, &held_out);
        let risk = risk.map_err(of_held_out)?;
        Ok(risk.mean.all.expect("held-out samples are old ones"))
    }

    /// Returns the passes of measured samples: both views of each, forward.
    pub(super) fn forward_passes<M: Encoder<B::InnerBackend>>(&self, n: usize) -> f64 {
        2.0 * n as f64 * M::FORWARD_SHARE
    }
}

/// Returns the error of a measurement of some samples. No caller acts on a fault of these: they are rejected input,
/// whatever it is, unless a member has left.
fn of_measured(error: TrainError, samples: &str) -> TrainError {
    match error.kind() {
        TrainErrorKind::Left | TrainErrorKind::Group => error,
        _ => error.within(samples).with_kind(TrainErrorKind::Invalid),
    }
}

impl StreamMemory {
    /// Measures the drift of the noise from the samples that are kept to all that waits and the `arriving` ones: of
    /// each, at most `n` samples, drawn by the seed of the experience, by the embeddings of a pair of views of
    /// each that `pairs` returns for the old samples of an increment. No encoder is needed, if there are embeddings.
    /// Returns what [`Policy::decide`](crate::Policy::decide) needs ([`Drift::deciding`]).
    ///
    /// # Errors
    /// Those of `pairs`, and of `wrong` if nothing is kept, or the embeddings do not fit each other.
    pub fn drift<E>(
        &self,
        arriving: &[usize],
        test: DriftTestConfig,
        (n, seed): (usize, Seed),
        mut pairs: impl FnMut(&Increment) -> Result<[HostRows; 2], E>,
        wrong: impl Fn(Error) -> E,
    ) -> Result<Drift, E> {
        let [old, new] = self.samples(arriving);
        let seed = seed.child("drift");
        let mut pairs = |samples: Vec<usize>, name: &str| {
            let all = Increment::before(samples).map_err(&wrong)?;
            pairs(&all.at_most(n.max(FEWEST_HELD_OUT), seed.child(name)))
        };
        let (old, new) = (pairs(old, "old")?, pairs(new, "new")?);
        DriftData::try_new(old.clone(), [old[1].clone(), new[1].clone()])
            .and_then(|data| data.with_new_pairs(new))
            .and_then(|data| {
                let test = test.with_seed(seed.child("null")).try_init()?;
                test.measure(&data)
            })
            .map_err(wrong)
    }
}
