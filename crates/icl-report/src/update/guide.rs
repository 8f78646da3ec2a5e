//! Words of an update's document that do not depend on its numbers.

/// Terms of the page with a sentence on each.
pub(crate) const TERMS: [(&str, &str); 9] = [
    (
        "Before and after",
        "Before is the encoder that came in, after is the one that was written. Both are measured in \
         the same way, on all data, old and new, as they are in use: by the default method BatchNorm's \
         statistics stay those of before, else they are re-estimated over these data after the update.",
    ),
    (
        "Exact risk",
        "The contrastive loss L^{I,X′} that retraining on all data would minimise, averaged over the \
         samples, with every other sample as noise. Lower is better. It is measured in evaluation mode \
         on fixed views, so it depends on the parameters alone. Differences of less than 1 % may be \
         luck.",
    ),
    (
        "What this page does not say",
        "Whether a retrained encoder would be better still: nothing was retrained here. Nor anything \
         about the task that you use the embeddings for: measure that on data of your own.",
    ),
    (
        "NCE-I and NCE-II",
        "On old data the exact risk is the sum of these two (Theorem 1): the loss under the old noise \
         (L^{I,X}), and what the change of the noise adds (L^{II}). If the first rises while the second \
         falls, the encoder gives up some of what it knew about the old data alone in favour of the new \
         data.",
    ),
    (
        "Bias of inference and of fine-tuning",
        "The error of a loss that does not know of all the data: the loss that is used minus the loss of \
         retraining, each at the encoder of its column. Near 0 on old data, the old loss is still \
         valid; on new data the old loss does not see the samples at all, so the bias is minus their \
         risk.",
    ),
    (
        "Change ratio r",
        "How much the new noise weighs against the old, for an old sample; a pure number. At 1 new \
         samples are as near to it as old ones; above 1 they are nearer.",
    ),
    (
        "Nearest neighbours kept",
        "The share of the k most similar old samples of each old sample, by cosine similarity of \
         embeddings without augmentation, that is the same before and after, the encoder before being \
         used just as it came. It is 100 % if the embedding was only rotated. If you search by \
         similarity, this share of your results stays.",
    ),
    (
        "Cross-version recall",
        "The share of old samples whose new embedding is closer to their own old embedding than to that of any other old \
         sample. Where it is low, stored embeddings have to be computed again, also if neighbours are kept.",
    ),
    (
        "‖Δθ‖/‖θ‖",
        "Distance that training moved the parameters, relative to their size. At 0 nothing was learned.",
    ),
];
