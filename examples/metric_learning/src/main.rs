//! Supervised metric learning through the same losses: a positive pair are two samples of one class.
//!
//! The encoder of the digits 0 to 4 is updated when the digits 5 to 9 arrive. The only argument is the maximum number
//! of epochs of each training.

mod same_class;

use anyhow::Result;
use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use icl::core::Seed;
use icl::data::embedded;
use icl::eval::{KnnProtocolConfig, Matrix};
use icl::models::{Mlp, MlpConfig};
use icl::prelude::*;
use icl::train::Callbacks;

use crate::same_class::{D_PIXELS, SameClass, share_of_same_class};

/// Digits from this one on are new.
const FIRST_NEW: usize = 5;
/// Share of old and of new samples that no training sees.
const HELD_OUT: f64 = 0.6;

fn main() -> Result<()> {
    let epochs = std::env::args().nth(1).map_or(Ok(60), |n| n.parse())?;
    let seed = Seed::new(1);
    let table = embedded::tables("digits-table")?;
    let (labels, numbers) = (table.labels(), table.numbers()?);
    let digits: Vec<[f32; D_PIXELS]> = numbers.as_chunks().0.to_vec();
    let samples: Vec<usize> = (0..digits.len()).collect();
    let (old, new) = samples.iter().partition(|&&it| labels[it] < FIRST_NEW);
    let (training, held_out) = Increment::try_new(old, new)?.hold_out(HELD_OUT, seed)?;
    // Partners are drawn within a part, so that no training sees a held-out sample.
    let parts = [training.all(), held_out.all()];
    let views = SameClass::new(&digits, labels, &parts);

    let settings = TrainingSettings {
        epochs,
        ..Default::default()
    };
    let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(&samples, &views, Stack, &training)
        .settings(settings.clone())
        .seed(1);
    let config = MlpConfig::new(D_PIXELS).with_n_layers(2).with_width(64);
    let untrained: Mlp<Autodiff<Flex>> = config.init(seed, &Default::default());
    let first = trainer.pretrain(untrained.clone())?;
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    let (theta0, fresh) = (first.trained.clone(), Some(untrained.clone()));
    let retrained =
        trainer.update_with(&Method::retraining(), theta0, fresh, &mut Callbacks::new())?;

    // Neighbours are training samples, old and new; held-out samples are classified.
    let knn = KnnProtocolConfig::default().try_init()?;
    let accuracy = |rows: &Matrix, of: &[usize]| {
        let classes = |of: &[usize]| of.iter().map(|&it| labels[it]).collect::<Vec<_>>();
        let index = training.all();
        let (known, asked) = (rows.select(&index), rows.select(of));
        knn.accuracy(&known, &classes(&index), &asked, &classes(of))
    };
    let parts = [held_out.old(), held_out.new_data()];
    let evaluator = trainer.evaluator();
    println!(
        "{:<12} risk of old       risk of new       accuracy old   new",
        "encoder"
    );
    let (untrained, _) = evaluator.with_statistics(untrained.valid())?;
    for (name, encoder) in [
        ("untrained", &untrained),
        ("θ₀", &first.encoder),
        ("updated", &updated.encoder),
        ("retrained", &retrained.encoder),
    ] {
        let risk = evaluator.held_out_risk(encoder, &held_out)?;
        let (values, width) = evaluator.embed_to_host(encoder, &samples)?;
        let rows = Matrix::try_new(values, width)?;
        let [old, new] = [accuracy(&rows, parts[0])?, accuracy(&rows, parts[1])?];
        let (mean, error) = (risk.mean, risk.standard_error);
        println!(
            "{name:<12} {:.4} ± {:.4}   {:.4} ± {:.4}   {old:>12.3} {new:.3}",
            mean.old, error.old, mean.new, error.new
        );
    }
    let pixels = Matrix::try_from_f32(&numbers, D_PIXELS)?;
    let [old, new] = [accuracy(&pixels, parts[0])?, accuracy(&pixels, parts[1])?];
    println!("{:<48} {old:>12.3} {new:.3}", "pixels");
    println!(
        "risk over held-out samples in nats, and its standard error; accuracy of held-out samples by 20 neighbours"
    );

    // Samples of the anchor's class are among the noise: the losses have no labels.
    let [old, new] = parts.map(|of| share_of_same_class(labels, of, &held_out.all()));
    let floor = |share: f64| (settings.negatives * share).ln_1p();
    println!(
        "of the noise {:.1} % (old) and {:.1} % (new) are of the anchor's class: averaged over partners, no risk is below \
         {:.2} and {:.2} nats",
        100.0 * old,
        100.0 * new,
        floor(old),
        floor(new)
    );
    Ok(())
}
