//! The losses and biases of every anchor.

use burn::tensor::backend::AutodiffBackend;
use burn::tensor::{DType, Tensor, TensorData};
use icl_core::drift::AnchorTerms;
use icl_core::{Contrast, GrowthRatio, NoiseLosses, Origin, Strategy, host_values};

use super::words::Columns;
use crate::backend::{BACKENDS, OnBackend};
use crate::process::failure::Failure;
use crate::process::terminal::tell;

/// Computation of the losses from the terms of anchors.
pub struct Losses<'a> {
    pub terms: &'a [AnchorTerms],
    pub alpha: GrowthRatio,
    pub negatives: f64,
}

impl OnBackend for Losses<'_> {
    type Output = Columns;

    fn run<B: AutodiffBackend>(self, devices: &[B::Device]) -> Result<Columns, Failure> {
        let device = &devices[0];
        let dtype = if icl_core::has_double_precision::<B::InnerBackend>(device) {
            DType::F64
        } else {
            tell(format_args!(
                "note: {} has no double precision: the losses are those of single precision",
                BACKENDS[0]
            ));
            DType::F32
        };
        let tensor = |of: fn(&AnchorTerms) -> f64| {
            let values: Vec<f64> = self.terms.iter().map(of).collect();
            let data = TensorData::new(values, [self.terms.len()]);
            Tensor::<B::InnerBackend, 1>::from_data(data, (device, dtype))
        };
        let contrast = Contrast {
            positive: tensor(|it| it.positive),
            log_noise_old: tensor(|it| it.log_noise_old),
            log_noise_new: tensor(|it| it.log_noise_new),
        };
        let losses = NoiseLosses::new(&contrast, self.negatives, self.alpha);
        let bias = |strategy, origin| losses.bias(strategy, origin);
        let columns = [
            losses.old.clone(),
            losses.new.clone(),
            losses.all.clone(),
            losses.nce_ii.clone(),
            losses.log_change_ratio.clone().exp(),
            bias(Strategy::Inference, Origin::Old),
            bias(Strategy::FineTuning, Origin::New),
        ];
        Ok(columns.map(host_values))
    }
}
