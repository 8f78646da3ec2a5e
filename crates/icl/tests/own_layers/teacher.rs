//! The teacher of distillation is in evaluation mode, whatever layers the encoder has.

use std::sync::Mutex;

use icl::train::{Callbacks, Outcome};

use super::*;

/// An encoder that writes down what it returned, by backend.
#[derive(Module, Debug)]
struct Watched<B: Backend> {
    inner: Stock<B>,
}

/// Embeddings of the batches of steps: of the encoder, and of its teacher.
static CALLS: Mutex<[Vec<Vec<f64>>; 2]> = Mutex::new([Vec::new(), Vec::new()]);

/// Number of views of a step.
const N: usize = 60;

impl<B: Backend> Encoder<B> for Watched<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        let found = self.inner.forward(batch.clone());
        let is_training = matches!(mode, Mode::Training(_));
        // Evaluations embed one view of each sample, the teacher both.
        if is_training || batch.dims()[0] == N {
            let mut calls = CALLS.lock().unwrap();
            calls[usize::from(!is_training)].push(host_values(found.clone()));
        }
        found
    }

    fn recalibrated(self, batches: &Batches<'_, Tensor<B, 2>>) -> Result<Self, SampleError> {
        let inner = self.inner.recalibrated(batches)?;
        Ok(Self { inner })
    }
}

/// What the layer of the encoder and that of its teacher were given.
type Calls = [Vec<Vec<f64>>; 2];

fn distilled(dropout: f64) -> (Outcome<Watched<B>, B>, Calls) {
    *CALLS.lock().unwrap() = Default::default();
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment).settings(TrainingSettings {
        epochs: 2,
        batch_size: 30,
        ..settings()
    });
    // One step an epoch, of the 30 new samples.
    let method: Method = "sampling=new,loss=info-nce+distillation".parse().unwrap();
    let encoder = Watched {
        inner: Stock::new(dropout),
    };
    let outcome = trainer.update_with(&method, encoder, None, &mut Callbacks::new());
    let calls = std::mem::take(&mut *CALLS.lock().unwrap());
    (outcome.unwrap(), calls)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

#[test]
fn stock_layers_of_a_teacher_are_in_evaluation_mode() {
    // Without dropout, the statistics of a batch are all that differs from evaluation.
    let (_, [of_encoder, of_teacher]) = distilled(0.0);
    assert_eq!((of_encoder.len(), of_teacher.len()), (2, 2));
    assert!(
        distance(&of_encoder[0], &of_teacher[0]) > 1e-3,
        "the encoder normalises by its batch, the teacher by stored statistics"
    );
    // Dropout has no part in the teacher: it embeds the same views in the same way.
    let (_, [_, with_dropout]) = distilled(0.5);
    assert!(distance(&with_dropout[0], &of_teacher[0]) < 1e-5);
}
