//! Words of a stream's document that do not depend on its numbers.

/// Terms of the page with a sentence on each.
pub(crate) const TERMS: [(&str, &str); 10] = [
    (
        "Experience",
        "A part of the data that arrives at once. A share of it is held out: no training sees those samples, and all risks \
         and accuracies of this page are measured on them.",
    ),
    (
        "Risk",
        "The contrastive loss that retraining would minimise, averaged over the held-out samples of an experience. Lower is \
         better. Differences of less than 1 % may be luck.",
    ),
    (
        "Served risk",
        "The risk, on an experience, of the encoder that was live when it came: the one before its update. It is what users \
         of the embeddings got.",
    ),
    (
        "Verdict",
        "Whether the encoder after an update is better than the one before, by the differences of their losses on the same \
         held-out samples: old ones are those of the experiences before, new ones those of this one. An update that is worse \
         is rejected, unless `--accept` was given: the encoder that is served stays, and the data wait for the next update.",
    ),
    (
        "Retraining and other controls",
        "Encoders that go through the same stream next to the method, with all old samples and without a budget. `retraining` \
         begins from scratch after every experience, `never` is the first encoder without updates.",
    ),
    (
        "Charged passes",
        "Cost in full passes of samples through the encoder, with everything that the method needs to decide. What only \
         measures for this page is charged to nobody.",
    ),
    (
        "Forgetting",
        "By how much the encoder is worse at an experience at the end than right after that experience \
         (forgetting_first), or than it ever was (forgetting_max).",
    ),
    (
        "Transfer",
        "The literature calls two kinds of quantities transfer: levels, which are means of parts of the matrix, and \
         differences. The formula next to each name says which it is.",
    ),
    (
        "Neighbours kept and cross-version recall",
        "Neighbours kept: the share of the nearest held-out samples of each held-out sample that is the same as before; it \
         does not change if the embedding is only rotated. Cross-version recall: how often an old embedding finds the new \
         one of its own sample; it does. Where the recall is low, embeddings that are stored have to be computed again.",
    ),
    (
        "Effective rank",
        "The number of directions that the embeddings use, as the exponential of the entropy of their singular values \
         (RankMe). A fall towards 1 is a collapse.",
    ),
];
