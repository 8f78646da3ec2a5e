//! The experiences of a stream that wait for the next update.

use burn::tensor::backend::AutodiffBackend;
use icl_core::{Collate, Encoder, Samples, Views};

use crate::error::TrainError;
use crate::stream::advanced::Arriving;
use crate::stream::settings::Stream;
use crate::stream::state::{Experience, StreamState};

impl<B, S, V, C, O> Stream<'_, B, S, V, C, O>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
{
    /// Lets the next experience wait: the live encoder is measured on its held-out samples, and its training samples
    /// belong to the new ones of the next update.
    ///
    /// # Errors
    /// [`TrainError`] if the name or a sample has come before, the experience has too few samples, or one cannot be
    /// read.
    pub fn wait<M>(
        &self,
        state: StreamState,
        live: &M,
        arriving: &Arriving<'_>,
    ) -> Result<StreamState, TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        let divided = self.divided(&state, arriving)?;
        let served = self.held_out_risk(live, &divided.held_out)?;
        let waiting = Experience {
            served: Some(served),
            ..Experience::default()
        };
        self.after(state, live, arriving, divided, waiting)
    }

    /// Lets the next experience wait after an update for it that was rejected, say by a [`Verdict`](crate::Verdict):
    /// the state is that of [`wait`](Self::wait), except that the experience is charged with the cost of the attempt.
    /// `state` and `live` are those before [`next`](Self::next), and `attempt` is the last experience of the state that
    /// it returned. Steps of the attempt do not count as
    /// [`TrainingSettings::steps_before`](crate::TrainingSettings::steps_before).
    ///
    /// # Errors
    /// Those of [`wait`](Self::wait).
    pub fn reject<M>(
        &self,
        mut state: StreamState,
        live: &M,
        arriving: &Arriving<'_>,
        attempt: &Experience,
    ) -> Result<StreamState, TrainError>
    where
        M: Encoder<B::InnerBackend>,
        C: Collate<B::InnerBackend, V::View, M::Batch>,
    {
        let divided = self.divided(&state, arriving)?;
        // The cost of the attempt includes that of its decision.
        state.memory.deciding = 0.0;
        state.memory.decision.clone_from(&attempt.decision);
        let rejected = Experience {
            updated: false,
            is_rejected: true,
            ..attempt.clone()
        };
        self.after(state, live, arriving, divided, rejected)
    }

    /// Moves what waits to the samples that are kept, as if an update had taken place, so that decisions can be tried
    /// before anything is trained.
    #[must_use]
    pub fn assume_updated(&self, mut state: StreamState) -> StreamState {
        state.memory.absorb(self.keep, |name| self.seed_of(name));
        state
    }
}
