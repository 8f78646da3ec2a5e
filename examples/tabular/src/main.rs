//! Keeps an encoder of a table of numbers up to date: the digits 0 to 4 are old, 5 to 9 new, and mixup makes the views.
//! The only argument is the maximum number of epochs of each training.

#[path = "../../table.rs"]
mod table;

use anyhow::Result;
use burn::backend::{Autodiff, Flex};
use icl::data::{TableViewsConfig, TabularDataset, embedded};
use icl::eval::{Accuracies, KnnProtocolConfig, Matrix};
use icl::models::{Mlp, MlpConfig};
use icl::prelude::*;

fn main() -> Result<()> {
    let epochs = std::env::args().nth(1).map_or(Ok(100), |n| n.parse())?;
    let (seed, alpha) = (Seed::new(1), GrowthRatio::try_new(0.5)?);
    // Columns are standardised by the old rows. Where the old classes are named, α has no effect.
    let (table, split) = (
        embedded::tables("digits-table")?,
        "class:0,1,2,3,4".parse()?,
    );
    let (data, increment) = TabularDataset::split(&table, split, alpha, seed)?;
    // Each column is mixed by its kind, with rows of the data that a step learns from.
    let views = TableViewsConfig::new().with_alpha_mix(0.5);
    let views = views.init(data.schema());
    let settings = TrainingSettings {
        epochs,
        ..Default::default()
    };
    let trainer = Trainer::<Autodiff<Flex>, _, _, _>::new(&data, &views, Stack, &increment);
    let trainer = trainer.settings(settings).seed(1);
    let config = MlpConfig::new(data.d_features()).with_projection(Some(64));
    let untrained: Mlp<Autodiff<Flex>> = config.init(seed, &Default::default());
    let first = trainer.pretrain(untrained.clone())?;
    let updated = trainer.update(&Method::icl(), first.trained.clone())?;
    let (theta0, fresh) = (first.trained.clone(), Some(untrained.clone()));
    let retrained =
        trainer.update_with(&Method::retraining(), theta0, fresh, &mut Callbacks::new())?;

    let plain = (0..data.n_rows()).flat_map(|row| views.plain(&data.row(row)));
    let raw = Matrix::try_from_f32(&plain.collect::<Vec<f32>>(), data.d_features())?;
    let knn = KnnProtocolConfig::default().try_init()?;
    let accuracies = Accuracies::new(&knn, data.labels(), seed).with_raw(&raw);
    table::print(
        &trainer,
        (&accuracies, "values"),
        &untrained,
        &first,
        [&updated, &retrained],
    )
}
