//! The result of a training run, and the change of its parameters.

use burn::module::{AutodiffModule, Module, ModuleVisitor, Param};
use burn::tensor::Tensor;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{ExactRisk, host_values};

use crate::evaluation::evaluated::Evaluated;
use crate::progress::record::{Evaluation, TrainingRecord};

/// Result of a training run: the encoder in two forms, and the record of the run.
#[derive(Debug, Clone)]
pub struct Outcome<M: AutodiffModule<B>, B: AutodiffBackend, R = ExactRisk> {
    /// Encoder of the run, from which a further training run starts: that of the lowest risk if the stopping rule
    /// follows the risk ([`StopRule`](crate::StopRule)), else the last one. Its parameters are averaged as [`average_decay`](crate::TrainingSettings::average_decay) says.
    ///
    /// Start from this field, not from a clone of `encoder`: Burn loses in such a clone the
    /// information which parameters are trained. Its normalisation statistics are those of `encoder`. After an update
    /// with frozen statistics both keep them frozen until another start frees them; an encoder that is read from a file
    /// is free.
    pub trained: M,
    /// The same encoder for inference: without gradients, and with re-estimated normalisation statistics, unless they
    /// are frozen.
    pub encoder: M::InnerModule,
    /// Exact risk of the encoder at the start of the run, over the same samples as `risk`.
    pub first_risk: R,
    /// Exact risk of this encoder, over at most [`evaluation_samples`](field@crate::TrainingSettings::evaluation_samples) training samples.
    pub risk: R,
    /// Relative change ‖θ − θ_start‖/‖θ_start‖ of the parameters over the run, see
    /// [`parameter_change`].
    pub parameter_change: f64,
    /// Record of the run, with its [warnings](TrainingRecord::warnings).
    pub record: TrainingRecord<R>,
}

impl<M: AutodiffModule<B>, B: AutodiffBackend, R: Clone> Outcome<M, B, R> {
    /// Returns the outcome of a method that trains nothing: the encoder, its one evaluation as in a training run,
    /// its risk, and what the statistics of its normalisation cost.
    pub(crate) fn untrained(
        encoder: M,
        risk: R,
        measured: Evaluated<M::InnerModule, R>,
        statistics: f64,
    ) -> Self {
        let mut empty = TrainingRecord::empty();
        empty.cost.statistics = statistics;
        Self {
            trained: encoder,
            encoder: measured.encoder,
            first_risk: measured.risk.clone(),
            risk: measured.risk,
            parameter_change: 0.0,
            record: TrainingRecord {
                evaluations: vec![Evaluation {
                    epoch: 0,
                    sample_passes: 0,
                    charged_passes: 0.0,
                    train_s: 0.0,
                    risk,
                }],
                ..empty
            },
        }
    }
}

/// Computes the relative change of an encoder's parameters over all that are trained.
///
/// ```text
/// ‖θ_after − θ_before‖ / ‖θ_before‖
/// ```
///
/// Normalisation statistics and other parameters that are not trained do not count. The result is NaN
/// if no parameter is trained, and infinite if θ_before = 0 has changed. A training method whose change
/// is exactly 0 has not trained, or has found no encoder that is better than the first.
///
/// # Panics
/// If the numbers of parameters differ: the encoders are not of one architecture.
pub fn parameter_change<B: AutodiffBackend, M: Module<B>>(before: &M, after: &M) -> f64 {
    let (mut start, mut end) = (Values::default(), Values::default());
    before.visit(&mut start);
    after.visit(&mut end);
    let (start, end) = (start.0, end.0);
    let lengths = |values: &[(bool, Vec<f64>)]| -> Vec<usize> {
        values.iter().map(|(_, values)| values.len()).collect()
    };
    assert_eq!(lengths(&start), lengths(&end), "one architecture");
    let (mut moved, mut length) = (0.0, 0.0);
    for ((_, before), (is_trained, after)) in start.iter().zip(&end) {
        for (before, after) in before.iter().zip(after).filter(|_| *is_trained) {
            moved += (after - before).powi(2);
            length += before.powi(2);
        }
    }
    (moved / length).sqrt()
}

/// Values of the float parameters and whether each is trained, in the order of the module, so that sums
/// over them are reproducible to the bit.
#[derive(Default)]
struct Values(Vec<(bool, Vec<f64>)>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let tensor = param.val();
        self.0.push((tensor.is_require_grad(), host_values(tensor)));
    }
}
