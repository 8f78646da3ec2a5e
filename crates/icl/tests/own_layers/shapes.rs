//! Encoders that return embeddings of another shape: an error with their name, at once.

use icl::core::PairEmbeddings;
use icl::train::{Callbacks, TrainError, TrainErrorKind};

use super::*;

/// Fault of an encoder.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    OneRowLess,
    OneRowMore,
    MeanOfTheBatch,
    NoColumn,
    /// Only in training, where batches have two views of each sample.
    InTraining,
    /// Only in the embeddings for other tasks.
    InEmbed,
}

const FAULTS: [Fault; 6] = [
    Fault::OneRowLess,
    Fault::OneRowMore,
    Fault::MeanOfTheBatch,
    Fault::NoColumn,
    Fault::InTraining,
    Fault::InEmbed,
];

#[derive(Module, Debug)]
struct Faulty<B: Backend> {
    layer: Linear<B>,
    fault: usize,
}

impl<B: Backend> Faulty<B> {
    fn new(fault: Fault) -> Self {
        Self {
            layer: LinearConfig::new(4, 4).init(&Default::default()),
            fault: FAULTS.iter().position(|it| *it == fault).unwrap(),
        }
    }
}

impl<B: Backend> Encoder<B> for Faulty<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        let rows = self.layer.forward(batch);
        let [n, d] = rows.dims();
        match FAULTS[self.fault] {
            Fault::OneRowLess => rows.narrow(0, 0, n - 1),
            Fault::OneRowMore => Tensor::cat(vec![rows.clone(), rows.narrow(0, 0, 1)], 0),
            Fault::MeanOfTheBatch => rows.mean_dim(0),
            Fault::NoColumn => Tensor::zeros([n, 0], &rows.device()),
            Fault::InTraining if matches!(mode, Mode::Training(_)) => rows.reshape([n / 2, 2 * d]),
            Fault::InTraining | Fault::InEmbed => rows,
        }
    }

    fn embed(&self, batch: Tensor<B, 2>) -> Tensor<B, 2> {
        let rows = self.encode(batch, Mode::Evaluation);
        match FAULTS[self.fault] {
            Fault::InEmbed => rows.mean_dim(0),
            _ => rows,
        }
    }
}

#[test]
fn a_wrong_number_of_rows_names_the_encoder() {
    use burn::module::AutodiffModule;

    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let is_named = |error: &TrainError| {
        let text = error.to_string();
        error.kind() == TrainErrorKind::Failed
            && text.contains("own_layers::shapes::Faulty: found ")
            && text.contains(" rows of width ")
    };
    let meta: Method = "sampling=stratified,loss=corrected,optimizer=meta"
        .parse()
        .unwrap();
    for fault in FAULTS {
        let encoder = || Faulty::<B>::new(fault);
        if fault != Fault::InEmbed {
            let chunked = TrainingSettings {
                chunk: Some(4),
                ..settings()
            };
            let in_chunks = super::trainer(&samples, &increment).settings(chunked);
            for error in [
                trainer.pretrain(encoder()).map(drop),
                trainer.update(&Method::icl(), encoder()).map(drop),
                trainer.update(&meta, encoder()).map(drop),
                in_chunks.pretrain(encoder()).map(drop),
            ] {
                let error = error.unwrap_err();
                assert!(is_named(&error), "{fault:?}: {error}");
            }
        }
        let evaluator = trainer.evaluator();
        if fault != Fault::InTraining {
            let error = evaluator.embed(&encoder().valid(), &[0, 1, 2]).unwrap_err();
            assert!(is_named(&error), "{fault:?}: {error}");
            assert!(
                error.to_string().contains("from `embed`, expected 3 rows"),
                "{error}"
            );
        }
        if ![Fault::InTraining, Fault::InEmbed].contains(&fault) {
            let error = evaluator
                .held_out_risk(&encoder().valid(), &increment)
                .unwrap_err();
            assert!(is_named(&error), "{fault:?}: {error}");
        }
    }
    let error = trainer
        .pretrain(Faulty::new(Fault::OneRowLess))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("found 59 rows of width 4 from `encode`, expected 60 rows of width 4"),
        "{error}"
    );
}

/// A recommender whose catalogue is right, and whose pairs are not.
#[derive(Module, Debug)]
struct WithCatalogue<B: Backend> {
    layer: Linear<B>,
}

impl<B: Backend> Encoder<B> for WithCatalogue<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.layer.forward(batch)
    }

    fn encode_pairs(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> PairEmbeddings<B> {
        let pairs = PairEmbeddings::of_halves(self.encode(batch, mode));
        let n = pairs.anchors.dims()[0];
        PairEmbeddings {
            positives: pairs.positives.narrow(0, 0, n - 1),
            ..pairs
        }
    }

    fn has_catalogue(&self) -> bool {
        true
    }
}

#[test]
fn pairs_of_a_catalogue_are_checked() {
    let (samples, increment) = (points(1), increment());
    let encoder = WithCatalogue {
        layer: LinearConfig::new(4, 4).init(&Default::default()),
    };
    let method = Method::named("warm").unwrap();
    let trainer = trainer(&samples, &increment);
    let error = trainer.update_with(&method, encoder, None, &mut Callbacks::new());
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("WithCatalogue: found ") && text.contains("from `encode_pairs`"),
        "{text}"
    );
}
