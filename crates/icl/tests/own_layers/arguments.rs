//! Arguments that cannot be: an error that names them, of a type that `?` takes.

use std::error::Error;

use burn::module::AutodiffModule;
use icl::eval::{Accuracies, KnnProtocolConfig};
use icl::train::{TrainError, TrainErrorKind};

use super::*;

#[test]
fn samples_that_are_not_there_are_named() {
    let (samples, increment) = (points(1), increment());
    let evaluator = trainer(&samples, &increment);
    let evaluator = evaluator.evaluator();
    let encoder = Stock::<B>::new(0.0).valid();
    let text = |error: TrainError| error.to_string();
    for found in [
        text(evaluator.embed(&encoder, &[]).unwrap_err()),
        text(evaluator.embed_to_host(&encoder, &[]).unwrap_err()),
    ] {
        assert_eq!(found, "samples: found 0 samples, expected at least 1");
    }
    let beyond = "samples: found sample 90, expected an index below 90";
    assert_eq!(
        text(evaluator.embed(&encoder, &[3, 90]).unwrap_err()),
        beyond
    );
    let held_out = Increment::try_new(vec![0, 1], vec![88, 91]).unwrap();
    let beyond = "the held-out samples: found sample 91, expected an index below 90";
    assert_eq!(
        text(evaluator.held_out_risk(&encoder, &held_out).unwrap_err()),
        beyond
    );
    assert_eq!(
        text(
            evaluator
                .held_out_risk_old(&encoder, &held_out)
                .unwrap_err()
        ),
        beyond
    );
    assert_eq!(
        text(evaluator.pairs_to_host(&encoder, &held_out).unwrap_err()),
        beyond
    );
    let old = Increment::before(vec![0, 1, 2]).unwrap();
    assert_eq!(
        text(evaluator.held_out_risk(&encoder, &old).unwrap_err()),
        "the new held-out samples: found 0 samples, expected at least 2"
    );

    // An increment of other data.
    let few: Vec<[f32; 4]> = points(1).into_iter().take(80).collect();
    let trainer = super::trainer(&few, &increment);
    let evaluator = trainer.evaluator();
    let beyond = "the increment: found sample 80, expected an index below 80";
    for found in [
        evaluator.evaluate(encoder.clone()).map(drop),
        evaluator.evaluate_old(encoder.clone()).map(drop),
        evaluator.with_statistics(encoder.clone()).map(drop),
        trainer.pretrain(Stock::new(0.0)).map(drop),
    ] {
        assert_eq!(text(found.unwrap_err()), beyond);
    }
}

#[test]
fn evaluations_that_cannot_be_are_named() {
    let (samples, increment) = (points(1), increment());
    let encoder = Stock::<B>::new(0.0).valid();
    let trainer = trainer(&samples, &increment);
    let few = trainer
        .evaluator()
        .with_at_most(3)
        .evaluate(encoder.clone());
    assert_eq!(
        few.unwrap_err().to_string(),
        "evaluation_samples: found 3, expected at least 4"
    );
    // Settings are not checked before.
    let of = |change: fn(&mut TrainingSettings)| {
        let mut settings = settings();
        change(&mut settings);
        let trainer = super::trainer(&samples, &increment).settings(settings);
        let found = trainer.evaluator().evaluate(encoder.clone());
        found.unwrap_err().to_string()
    };
    assert_eq!(
        of(|it| it.evaluation_samples = 0),
        "evaluation_samples: found 0, expected at least 4"
    );
    assert!(of(|it| it.temperature = 0.0).starts_with("temperature: found 0"));
    assert!(of(|it| it.negatives = f64::NAN).starts_with("negatives: found NaN"));
    let old = Increment::before((0..60).collect()).unwrap();
    let trainer = super::trainer(&samples, &old);
    let found = trainer.evaluator().evaluate(encoder.clone());
    let found = found.map(drop).unwrap_err();
    assert_eq!(found.kind(), TrainErrorKind::NothingNew);
    assert!(trainer.evaluator().evaluate_old(encoder).is_ok());
}

/// The README's `main` ends with `Box<dyn Error>`.
#[test]
fn every_error_is_one_that_the_question_mark_takes() {
    fn main(n_labels: usize) -> Result<f64, Box<dyn Error>> {
        let (samples, increment) = (points(1), increment());
        let trainer = trainer(&samples, &increment);
        let first = trainer.pretrain(Stock::new(0.0))?;
        let updated = trainer.update(&Method::icl(), first.trained)?;
        let evaluator = trainer.evaluator();
        let evaluated = evaluator.evaluate(updated.encoder.clone())?;
        evaluator.evaluate_old(updated.encoder.clone())?;
        evaluator.with_statistics(updated.encoder.clone())?;
        evaluator.embed(&updated.encoder, &[0, 1])?;
        evaluator.embed_to_host(&updated.encoder, &[0, 1])?;
        evaluator.pairs_to_host(&updated.encoder, &increment)?;
        evaluator.held_out_risk(&updated.encoder, &increment)?;
        evaluator.held_out_risk_old(&updated.encoder, &increment)?;
        let labels: Vec<usize> = (0..n_labels).map(|at| at % 2).collect();
        let knn = KnnProtocolConfig::default().try_init()?;
        let accuracies = Accuracies::new(&knn, &labels, icl::core::Seed::new(1));
        evaluator.measure(
            |of, rows, untrained| accuracies.measure(of, rows, untrained),
            updated.encoder,
            Stock::<B>::new(0.0).valid(),
        )?;
        Ok(evaluated.risk.all)
    }
    assert!(main(90).unwrap().is_finite());
    let error = main(89).unwrap_err();
    let cause = error.source().expect("the error of the protocol");
    assert_eq!(error.to_string(), "the protocol on the embeddings");
    assert_eq!(
        cause.to_string(),
        "labels: found 89, expected 90, one for each row"
    );
    fn is_concrete<E: Error + Send + Sync + 'static>() {}
    is_concrete::<TrainError>();
    is_concrete::<icl::eval::EvalError>();
}
