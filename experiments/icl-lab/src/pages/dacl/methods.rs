//! Explanation of how the numbers were made, and how that differs from the paper.

use icl_report::document::Block;
use icl_report::text::number::rounded;
use icl_train::UpdateRule;

use crate::pages::dacl::lars::scaled_lars_rate;
use crate::pages::dacl::published::DACL_SOURCE;
use crate::pages::dacl::record::DaclRecord;
use crate::pages::dacl::row::DaclRow;
use crate::pages::dacl::runs::DaclRuns;
use crate::pages::dacl::target::DaclTarget;
use crate::pages::paper::Provenance;

const TABLES: &str = "Columns: a logistic regression that has converged, on standardised features, with C among \
     0.001, 0.01, 0.1 and 1 by validation rows; the paper's classifier (LARS, learning rate 0.1 with a cosine, \
     batches of 256, 200 epochs, or 50 where there are more than 7000 training rows; features as they are); five \
     nearest neighbours by cosine. The converged column of “majority” and “supervised” is their own classifier. \
     The paper's figures stand in their own column, for Fashion-MNIST and CIFAR-10 only, as printed";

const IMAGES: &str = "Columns: a logistic regression that has converged, on standardised features, with C among \
     0.001, 0.01, 0.1 and 1 by validation images; the paper's classifier (LARS, learning rate 1 with a cosine, \
     batches of 256, 200 epochs; features as they are, of images without augmentations in all rows); five nearest \
     neighbours by cosine. The converged column of “majority” is its own classifier. The paper's figures stand in \
     their own column, as printed; they are those of a ResNet-50(4x) on the whole of CIFAR-10 after 1000 epochs \
     and cannot be compared with ours";

const GRAPHS: &str = "Columns: a logistic regression that has converged, on standardised features, with C by inner \
     folds; the classifier that the paper took from InfoGraph (100 updates of Adam on features as they are), with \
     the learning rate among 1e-4, 1e-3 and 1e-2 that is best on the test folds, as printed, and with the one that \
     inner folds choose; five nearest neighbours by cosine. All by 10 folds. The paper's figures are as printed";

const TABLES_DIFFER: &str = "Differences from the paper: an encoder of 12 layers whose width is ours (the paper's is in \
     an appendix that we do not have) with a head of 3 layers and 64 outputs; batches of at most 512 or a quarter of the rows instead of 4096, 40 epochs by default instead of 1000; \
     τ = 0.5, NT-Xent with 2B − 2 negatives; 6000 of the 60,000 labelled images of Fashion-MNIST, and 3000 and 1000 \
     of the first 4000 images of CIFAR-10 for training and test. The shallow encoder has 3 layers of twice the \
     width. The columns of images have no order for this encoder, so that permuted pixels need no permutation. \
     A fifth of the training rows are validation rows, which choose σ, C, and the learning rate (1e-3 or 3e-3) \
     and the epoch of the supervised row (early stopping: Adam, batches of 128, at most twice the epochs, ended \
     after 10 without a better validation accuracy); encoders are trained on all training rows without labels. \
     No test row is used for a choice. Normalisation statistics are re-estimated over the plain training rows \
     before features are computed.";

const ADAM_ON_TABLES: &str =
    "Optimizer: Adam at 1e-3 with a cosine instead of the paper's LARS at 0.1.";

const IMAGES_DIFFER: &str = "Differences from the paper: a ResNet-18 with a first convolution of 3 x 3 at 32 pixels and a \
     head of 2 layers and 128 outputs, instead of a ResNet-50(4x); 3000 and 1000 of the first 4000 images of CIFAR-10 \
     for training and test, instead of 50,000 and 10,000; Adam at 1e-3 with a cosine, instead of LARS at 16 with a \
     warm-up; batches of at most 128 by default instead of 4096, and 8 epochs instead of 1000; τ = 0.5, NT-Xent with \
     2B − 2 negatives. α = 0.9 and ρ = 0.5 are fixed, where the paper chooses them. SimCLR's augmentations are \
     those of this library, without blur. SimCLR with four views and SimCLR + DACL each make two positive pairs of \
     an image in a step, with a pass and a loss for each pair; both take twice the passes of SimCLR. The exact risk \
     is that of the first pair. A fifth of the training images are validation images, which choose C; encoders are \
     trained on all training images without labels. No test image is used for a choice. Normalisation statistics \
     are re-estimated over the plain training images before features are computed.";

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
        DaclTarget::Table2 => format!("{IMAGES} ({DACL_SOURCE}, Table 2)."),
        DaclTarget::Table4 => format!("{GRAPHS} ({DACL_SOURCE}, Table 4)."),
    }
}

/// Returns the section on how the numbers were made.
pub(crate) fn how(runs: DaclRuns<'_>, provenance: &Provenance) -> Vec<Block> {
    let mut text = format!("Settings: {}.", provenance.settings());
    let chosen = chosen_sigmas(runs);
    if !chosen.is_empty() {
        text += &format!(" σ of the Gaussian noise, by seed: {}.", chosen.join("; "));
    }
    let seconds: f64 = runs.records.iter().map(|record| record.time_s).sum();
    text += &format!(
        " All rows of this page together took {} min.",
        rounded(seconds / 60.0, 1)
    );
    let differ = match runs.target {
        DaclTarget::Table1 => TABLES_DIFFER,
        DaclTarget::Table2 => IMAGES_DIFFER,
        DaclTarget::Table4 => GRAPHS_DIFFER,
    };
    let mut blocks = vec![
        Block::heading("How the numbers were made"),
        Block::text(text),
        Block::text(differ),
    ];
    if runs.target == DaclTarget::Table1 {
        blocks.push(Block::text(optimizer_on_tables(runs)));
    }
    blocks
}

/// Returns the sentences on the optimizer, which is an option on tables.
fn optimizer_on_tables(runs: DaclRuns<'_>) -> String {
    let is_lars = |record: &DaclRecord| record.settings.optimizer == UpdateRule::Lars;
    if !runs.own().any(is_lars) {
        return ADAM_ON_TABLES.to_owned();
    }
    let mut rates: Vec<String> = Vec::new();
    for data in runs.data_sets() {
        let mut trained = runs.own().filter(|record| record.data == data);
        if let Some(training) = trained.find_map(|record| record.training) {
            let rate = rounded(scaled_lars_rate(training.n_steps), 2);
            rates.push(format!("{} {rate}", data.name()));
        }
    }
    let rates = match rates.as_slice() {
        [] => String::new(),
        rates => format!(": {}", rates.join(", ")),
    };
    format!(
        "Optimizer: LARS with a cosine, as in the paper, but in n steps instead of its 15,000 at a learning rate of \
         0.1. A step changes a weight by at most lr·η/(1 − m) of its length. So that the sum of this bound over the \
         steps is the paper's, the learning rate is 0.1 · 15,000 / n{rates}. Biases, γ and β have no such bound: \
         their steps grow with the learning rate. The supervised row keeps Adam."
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::dacl::data_set::DaclDataSet;
    use crate::pages::dacl::fixture::record;

    #[test]
    fn the_page_says_which_optimizer_and_rate_trained() {
        let mut records = vec![record(DaclDataSet::Digits, DaclRow::LinearAlpha90, 0, 0.9)];
        let of = |records: &[DaclRecord]| {
            let target = DaclTarget::Table1;
            optimizer_on_tables(DaclRuns { target, records })
        };
        assert_eq!(of(&records), ADAM_ON_TABLES);
        records[0].settings.optimizer = UpdateRule::Lars;
        // 160 steps.
        let text = of(&records);
        assert!(
            text.contains("is 0.1 · 15,000 / n: digits 9.38. "),
            "{text}"
        );
        records[0].training = None;
        assert!(of(&records).contains("is 0.1 · 15,000 / n. "));
    }
}
