//! Explanation of how the numbers were made, and how that differs from the paper.

use crate::dacl::published::DACL_SOURCE;
use crate::dacl::row::DaclRow;
use crate::dacl::runs::DaclRuns;
use crate::dacl::target::DaclTarget;
use crate::document::Block;
use crate::paper::Provenance;
use crate::text::number::rounded;

const TABLES: &str = "Columns: a logistic regression that has converged, on standardised features, with C among \
     0.001, 0.01, 0.1 and 1 by validation rows; the paper's classifier (LARS, learning rate 0.1 with a cosine, \
     batches of 256, 200 epochs, or 50 where there are more than 7000 training rows; features as they are); five \
     nearest neighbours by cosine. The converged column of “majority” and “supervised” is their own classifier. \
     The paper's figures stand in their own column, for Fashion-MNIST and CIFAR-10 only, as printed";

const GRAPHS: &str = "Columns: a logistic regression that has converged, on standardised features, with C by inner \
     folds; the classifier that the paper took from InfoGraph (100 updates of Adam on features as they are), with \
     the learning rate among 1e-4, 1e-3 and 1e-2 that is best on the test folds, as printed, and with the one that \
     inner folds choose; five nearest neighbours by cosine. All by 10 folds. The paper's figures are as printed";

const TABLES_DIFFER: &str = "Differences from the paper: an encoder of 12 layers whose width is ours (the paper's is in \
     an appendix that we do not have) with a head of 3 layers and 64 outputs; Adam at 1e-3 with a cosine instead of \
     LARS at 0.1; batches of at most 512 or a quarter of the rows instead of 4096, 40 epochs by default instead of 1000; \
     τ = 0.5, NT-Xent with 2B − 2 negatives; 6000 of the 60,000 labelled images of Fashion-MNIST, and 3000 and 1000 \
     of the first 4000 images of CIFAR-10 for training and test. The shallow encoder has 3 layers of twice the \
     width. The columns of images have no order for this encoder, so that permuted pixels need no permutation. \
     A fifth of the training rows are validation rows, which choose σ, C, and the learning rate (1e-3 or 3e-3) \
     and the epoch of the supervised row (early stopping: Adam, batches of 128, at most twice the epochs, ended \
     after 10 without a better validation accuracy); encoders are trained on all training rows without labels. \
     No test row is used for a choice. Normalisation statistics are re-estimated over the plain training rows \
     before features are taken.";

const GRAPHS_DIFFER: &str = "Differences from the paper: GIN of 4 layers whose width is 64 unless stated (the paper's is \
     512), 20 epochs by default, batches of at most 128, Adam at 1e-3, τ = 1, NT-Xent with \
     2B − 2 negatives; graphs without node features have the local degree profile; accuracy is the \
     mean over the last five epochs, as in the paper, for REDDIT-BINARY that at the last; seeds change weights, noise and folds. An encoder is trained on all \
     graphs without labels, as the paper and InfoGraph do, and statistics are re-estimated over the plain graphs. \
     REDDIT-BINARY has one seed.";

/// Returns the explanation of the columns.
pub(crate) fn notes(target: DaclTarget) -> String {
    match target {
        DaclTarget::Table1 => format!("{TABLES} ({DACL_SOURCE}, Table 1)."),
        DaclTarget::Table4 => format!("{GRAPHS} ({DACL_SOURCE}, Table 4)."),
    }
}

/// Returns the section on how the numbers were made.
pub(crate) fn how(runs: DaclRuns<'_>, provenance: &Provenance) -> Vec<Block> {
    let settings: Vec<String> = provenance
        .settings
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let mut text = format!("Settings: {}.", settings.join(", "));
    let chosen = chosen_sigmas(runs);
    if !chosen.is_empty() {
        text += &format!(" σ of the Gaussian noise, by seed: {}.", chosen.join("; "));
    }
    let seconds: f64 = runs.records.iter().map(|record| record.time_s).sum();
    text += &format!(
        " All rows of this page together took {} min.",
        rounded(seconds / 60.0, 1)
    );
    vec![
        Block::heading("How the numbers were made"),
        Block::text(text),
        Block::text(match runs.target {
            DaclTarget::Table1 => TABLES_DIFFER,
            DaclTarget::Table4 => GRAPHS_DIFFER,
        }),
    ]
}

fn chosen_sigmas(runs: DaclRuns<'_>) -> Vec<String> {
    let of = |data| {
        let records = runs.of(data, DaclRow::Gaussian);
        let chosen = records.filter_map(|r| r.training.and_then(|of| of.chosen));
        chosen.map(|of| of.to_string()).collect::<Vec<_>>()
    };
    let sets = runs.data_sets().into_iter();
    sets.map(|data| (data, of(data)))
        .filter(|(_, of)| !of.is_empty())
        .map(|(data, of)| format!("{} {}", data.name(), of.join(", ")))
        .collect()
}
