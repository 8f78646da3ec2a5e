//! Methods start where they say.

use icl::train::Callbacks;

use super::*;

#[test]
fn methods_that_differ_in_their_start_alone_have_other_results() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    let theta0 = trainer.pretrain(Stock::new(0.0)).unwrap().trained;
    let fresh = Stock::new(0.0);
    let warm = trainer.update(&Method::named("warm").unwrap(), theta0.clone());
    let of = |method: &Method| {
        let (trained, fresh) = (theta0.clone(), Some(fresh.clone()));
        trainer
            .update_with(method, trained, fresh, &mut Callbacks::new())
            .unwrap()
    };
    let (warm, retrained) = (warm.unwrap(), of(&Method::retraining()));
    let blended = of(&"start=shrink-perturb".parse().unwrap());
    // From θ₀ the risk falls from that of θ₀, from scratch from that of the fresh encoder.
    let first = |of: &icl::train::Outcome<Stock<B>, B>| of.first_risk.all;
    let evaluated = |encoder: &Stock<B>| {
        use burn::module::AutodiffModule;
        trainer
            .evaluator()
            .evaluate(encoder.valid())
            .unwrap()
            .risk
            .all
    };
    assert_eq!(first(&warm), evaluated(&theta0));
    assert_eq!(first(&retrained), evaluated(&fresh));
    let risks = [&warm, &retrained, &blended].map(|it| it.risk.all);
    assert!(
        risks[0] != risks[1] && risks[0] != risks[2] && risks[1] != risks[2],
        "{risks:?}"
    );
    // The start alone differs: warm starts of a fresh encoder are retraining.
    let same = trainer.update(&Method::named("warm").unwrap(), fresh.clone());
    assert_eq!(same.unwrap().risk, retrained.risk);
}

#[test]
fn a_start_that_needs_a_fresh_encoder_says_which_call_takes_it() {
    let (samples, increment) = (points(1), increment());
    let trainer = trainer(&samples, &increment);
    for start in ["scratch", "shrink-perturb:0.4:0.1"] {
        let method: Method = format!("start={start}").parse().unwrap();
        let error = trainer.update(&method, Stock::new(0.0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "start: found {start} without a fresh encoder, expected one: pass it to Trainer::update_with as `fresh`"
            )
        );
    }
}

/// Layers of any width, to blend with others.
#[derive(Module, Debug)]
struct Wide<B: Backend> {
    layer: Linear<B>,
}

impl<B: Backend> Encoder<B> for Wide<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, _mode: Mode<'_>) -> Tensor<B, 2> {
        self.layer.forward(batch)
    }
}

#[test]
fn encoders_that_cannot_be_blended_are_an_error() {
    let (samples, increment) = (points(1), increment());
    let wide = |d| Wide {
        layer: LinearConfig::new(4, d).init(&Default::default()),
    };
    let method: Method = "start=shrink-perturb".parse().unwrap();
    let trainer = trainer(&samples, &increment);
    let error = trainer.update_with(&method, wide(8), Some(wide(5)), &mut Callbacks::new());
    assert_eq!(
        error.unwrap_err().to_string(),
        "the fresh encoder: found a parameter of shape [4, 5], expected a parameter of shape [4, 8] as in the trained \
         encoder, with which shrink-perturb:0.4:0.1 blends it"
    );
}
