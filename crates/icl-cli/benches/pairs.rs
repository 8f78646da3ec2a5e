//! Speed on pairs: an epoch of a recommender with two towers next to PyTorch's, for several numbers of negatives. Run by
//! `cargo xtask bench pairs FILE`, where FILE holds the interactions (`scripts/data/ml-100k.sh` gets MovieLens 100K).
//!
//! Both sides take turns of epochs, so that other work on the machine falls on both; the first epoch of either does not
//! count. Both use as many threads: `RAYON_NUM_THREADS`, else all. PyTorch's side needs a Python with it: `PYTHON`, else
//! `python3`; without it its rows are missing. Nothing is asserted: a machine's speed is no property of the program.

mod peer;

use std::error::Error;
use std::path::Path;

use burn::backend::{Autodiff, Flex};
use icl_core::{Increment, Seed};
use icl_data::{NextItemCollate, NextItemDataset, NextItemViews, read_interactions};
use icl_models::{TwoTower, TwoTowerConfig};
use icl_train::{NegativesForm, NegativesPeak, StepNegatives, StopRule, Trainer, TrainingSettings};

use crate::peer::{Peer, n_threads};

type B = Autodiff<Flex>;

/// Numbers of negatives.
const NUMBERS: [usize; 3] = [4, 64, 256];
/// Epochs of each side and number that count, after one that does not.
const N_EPOCHS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|it| it != "--bench")
        .collect();
    let [path] = &arguments[..] else {
        println!("pairs: skipped, expected a file of interactions as argument");
        return Ok(());
    };
    let path = Path::new(path);
    let n_threads = n_threads()?;
    let interactions = read_interactions(path)?;
    let train = NextItemDataset::new(&interactions, &[interactions.leave_one_out().train]);
    let mut peer = Peer::start("pairs.py", &[path.into(), n_threads.to_string().into()]);
    let name = peer.as_ref().map_or("no PyTorch found", |peer| &peer.name);
    println!(
        "Two towers, {} pairs, {} items, width 64, batch 256; {n_threads} threads; {N_EPOCHS} epochs each; {name}\n",
        train.samples().len(),
        train.n_items()
    );
    println!("| K | icl, s | least–most | PyTorch, s | least–most | ratio |");
    println!("|---|---|---|---|---|---|");
    for k in NUMBERS {
        let mut sides: [Vec<f64>; 2] = Default::default();
        for epoch in 0..=N_EPOCHS {
            let ours = epoch_of_ours(&train, k)?;
            let theirs = peer.as_mut().map(|peer| epoch_of(peer, k)).transpose()?;
            if epoch > 0 {
                sides[0].push(ours);
                sides[1].extend(theirs);
            }
        }
        let [ours, theirs] = sides.map(|side| Spread::of(side).unwrap_or_default());
        println!(
            "| {k} | {:.2} | {:.2}–{:.2} | {:.2} | {:.2}–{:.2} | {:.2} |",
            ours.median,
            ours.least,
            ours.most,
            theirs.median,
            theirs.least,
            theirs.most,
            ours.median / theirs.median
        );
    }
    Ok(())
}

/// Returns the seconds of an epoch of the trainer: views, collation, draws and steps, without evaluations.
fn epoch_of_ours(train: &NextItemDataset, k: usize) -> Result<f64, Box<dyn Error>> {
    let increment = Increment::before((0..train.samples().len()).collect())?;
    let settings = TrainingSettings {
        epochs: 1,
        batch_size: 256,
        learning_rate: 1e-3,
        stop: StopRule::Never,
        average_decay: Some(0.0),
        step_negatives: StepNegatives {
            peak: NegativesPeak::Number(k as f64),
            form: NegativesForm::Drawn,
            ..StepNegatives::default()
        },
        ..TrainingSettings::default()
    };
    let collate = NextItemCollate::new(train.n_items());
    let trainer = Trainer::<B, _, _, _>::new(train, NextItemViews::default(), collate, &increment)
        .settings(settings);
    let encoder: TwoTower<B> =
        TwoTowerConfig::new(train.n_items()).init(Seed::new(0), &Default::default());
    Ok(trainer.pretrain(encoder)?.record.seconds.training())
}

/// Returns the seconds of an epoch of PyTorch's side.
fn epoch_of(peer: &mut Peer, k: usize) -> Result<f64, Box<dyn Error>> {
    peer.request(k)?;
    Ok(peer.answer()?.parse()?)
}

/// Seconds of some epochs.
#[derive(Default)]
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    /// None of no epochs.
    fn of(mut seconds: Vec<f64>) -> Option<Self> {
        seconds.sort_by(f64::total_cmp);
        Some(Self {
            least: *seconds.first()?,
            median: *seconds.get(seconds.len() / 2)?,
            most: *seconds.last()?,
        })
    }
}
