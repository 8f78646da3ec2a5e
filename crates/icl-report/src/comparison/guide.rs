//! Words of a comparison that do not depend on its numbers.

/// Definition of the target.
pub(crate) const TARGET: &str = "retraining's plateau of the exact risk + 1 %, on old and on new data each, held for three evaluations in a row";

/// Sentence in place of the target where retraining was not run.
pub(crate) const NO_TARGET: &str =
    "No target: retraining was not run, so nothing says which risk is good enough.";

/// Caveat on the paper's rule.
pub(crate) const LOWEST_LOSS: &str = "Do not read speed from this table. The paper counts the epochs \
     until the lowest training loss, which follows the noise of the batches: two runs that differ in \
     nothing but their random views come out 6 times apart in one case of ten. The table is here only \
     so that the paper's numbers can be compared.";

/// Terms of the page with a sentence on each.
pub(crate) const TERMS: [(&str, &str); 14] = [
    (
        "The question",
        "An encoder with parameters θ₀ was trained on old data X. New data ΔX have arrived; together \
         they are X′, of which they are the share α. Training a fresh encoder on all of X′ (retraining) \
         is safe and expensive. Each other method starts from θ₀: does it become as good as the \
         retrained encoder, and at what cost?",
    ),
    (
        "Exact risk",
        "The contrastive loss L^{I,X′} that retraining minimises, averaged over the samples, with every \
         other sample as noise instead of the few of one batch. Lower is better. It is measured in \
         evaluation mode on fixed views (random changes of each sample, drawn once from the seed and \
         the same for every method and epoch), so it depends on the parameters alone and not on the \
         luck of a batch. Every claim of speed on this page rests on it.",
    ),
    (
        "The method to use",
        "The cheapest that is not clearly worse than retraining, on old or on new data, measured on held-out samples \
         where there are any. A difference is clear where it is more than 1 % of the risk and the 95 % interval of the \
         paired differences over the seeds (Student's t) does not hold 0; with one seed, where it is more than twice \
         the standard error over the samples. More seeds find smaller differences.",
    ),
    (
        "Target",
        "Retraining's plateau (the median of its last five exact risks) + 1 %. A method has reached it \
         when its risk lies at or below it on old and on new data, each, in three evaluations in a row. Where θ₀ lies at the target \
         before the first step there is nothing to speed up, and no speed-up is given.",
    ),
    (
        "Speed-up",
        "Retraining's cost to the target divided by the method's in the same seed: above 1 is cheaper \
         than retraining. “At start”: the method was at the target before the first step, so there was \
         nothing to speed up. Seeds in which retraining itself did not stay at the target are left out, \
         unless the method never arrived.",
    ),
    (
        "Median and range",
        "Numbers are medians over the seeds, with [least–greatest] where seeds differ. A seed that never \
         reached the target counts as infinitely late: if at least half of them never did, the median \
         is “never”.",
    ),
    (
        "BatchNorm's statistics",
        "They are re-estimated by a pass over the measured samples of X′ before every measurement, but for \
         inference and methods that freeze them, as icl does, which keep those of θ₀. \
         Those gathered during training belong to parameters that have changed since, and alone can shift \
         the risk by a few tenths of a nat.",
    ),
    (
        "L^{I,X}, L^{II} and drift",
        "On old data the exact risk is L^{I,X} + L^{II}: the loss under the old noise, and what the \
         change of the noise adds. The published objective trains on L^{II} there and drops L^{I,X}, as \
         if θ₀ had reached its minimum. If L^{I,X} on old data rises while a method trains, the method \
         unlearns the old data; if L^{II} falls meanwhile, its own objective does not notice.",
    ),
    (
        "Accuracy and its floors",
        "Each protocol reads classes from the frozen embeddings. Compare an accuracy with its floors \
         only, which need no training of the encoder: the most frequent class (M), the same protocol \
         on the sample's size (S), on raw features (R), and on the embeddings of an untrained encoder \
         (U). Where a floor is as high as the methods, accuracy cannot tell the methods apart, and \
         small differences between them are noise. Of many samples, some drawn at random are evaluated \
         (`n_evaluated` of a record), the same for all methods.",
    ),
    (
        "Partners from X",
        "Where views mix samples (mixup noise), the view of an old sample may hold a share of a new one, so \
         its similarity to its positive changes when data arrive, even with the encoder unchanged. The exact \
         risk draws partners from all data; the columns with partners from X draw them from the old data \
         alone. Their difference is what the new partners contribute.",
    ),
    (
        "Bias and change ratio",
        "A bias is the loss that a method uses minus the loss of retraining, at the encoder at the end. \
         The change ratio r says how much the new noise weighs against the old, for an old sample: at \
         1 new samples are as near to it as old ones.",
    ),
    (
        "Cross-version recall",
        "The share of old samples whose embedding by the method's encoder is closer to their own embedding by θ₀ than to \
         that of any other old sample. Where it is low, stored embeddings have to be computed again. Retraining begins \
         from scratch, so its embeddings have little in common with those of θ₀.",
    ),
    (
        "‖Δθ‖/‖θ‖",
        "Distance that training moved the encoder's parameters, relative to their size. At 0 nothing was \
         learned, whatever the other numbers say.",
    ),
    (
        "Seconds, sample passes and charged passes",
        "Seconds are of training on this machine, evaluation not counted; they differ from machine to \
         machine and from run to run. A sample pass is one view going through the encoder in training: it \
         depends on the method alone. Charged passes hold all that the method itself has used: the passes of \
         training, of inner steps, teachers and agents, and the evaluations that decide when it stops; a pass \
         without a gradient counts as its measured share of a full one. Evaluations that only measure are \
         charged to nobody. Nothing here holds the training of θ₀ itself.",
    ),
];
