//! InfoNCE and the exact risk.

use burn::tensor::ElementConversion;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_core::{InfoNceConfig, exact_risk};

use crate::work::repeated::{Work, as_in_training, embeddings};

const TEMPERATURE: f64 = 0.1;
/// The width of the embeddings whose risk is taken, and its K.
const D_RISK: usize = 64;
const NEGATIVES: f64 = 31.0;

/// InfoNCE of a batch with K = n − 1, and its gradients by anchors and positives.
pub fn info_nce<B: AutodiffBackend>(n: usize, width: usize, device: &B::Device) -> Work {
    let inputs = embeddings::<B>(n, width, device);
    let loss = InfoNceConfig::new().with_temperature(TEMPERATURE).init();
    let value = move || {
        let [anchors, positives] = inputs.clone().map(|it| it.require_grad());
        (
            loss.forward(anchors.clone(), positives.clone()),
            anchors,
            positives,
        )
    };
    let facts = format!("loss {:.5}", value().0.into_scalar().elem::<f64>());
    let step = move || {
        let (value, anchors, positives) = value();
        let gradients = value.backward();
        let by = [anchors, positives].map(|it| it.grad(&gradients));
        assert!(by.iter().all(Option::is_some), "both have gradients");
    };
    Work {
        facts,
        repeat: as_in_training::<B>(device, step),
    }
}

/// The exact risk of n samples, of which the first half is old (growth ratio 0.5).
pub fn risk<B: Backend>(n: usize, device: &B::Device) -> Work {
    let inputs = embeddings::<B>(n, D_RISK, device);
    let risk = move || {
        let [anchors, positives] = inputs.clone();
        exact_risk(anchors, positives, n / 2, TEMPERATURE, NEGATIVES)
    };
    let facts = format!("risk {:.5}", risk().all);
    // Its values are on the host, so the device has done its work.
    let repeat = move || {
        std::hint::black_box(risk());
    };
    Work {
        facts,
        repeat: Box::new(repeat),
    }
}
