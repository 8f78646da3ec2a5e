//! Sentences that several pages share.

/// Where the paper's numbers are from.
pub(crate) const SOURCE: &str = "Ji et al., WSDM 2023";

/// Why the paper's rule is not to be trusted.
pub(crate) const WARNING: &str = "The paper's rule, the epoch of the lowest training loss, follows the noise of the batches: two runs \
     of a frozen network that differ in nothing but their random views come out 6 times apart in one \
     case of ten. Its columns are here so that the paper's claim can be tested as it was made. Speed \
     is to be read from the time to target.";

/// How one run serves both rules.
pub(crate) const ONE_RUN_TWO_RULES: &str = "One training run serves both rules. The paper's: training ends when the epoch's mean training loss \
     has found no new minimum for 50 epochs, and the epoch of that minimum counts. Ours: until then \
     the exact risk is measured all along, and what counts is when it first falls, and stays for \
     three evaluations, under retraining's plateau + 1 %. So “never” means: not before the run ended, \
     by the paper's rule or at the most epochs. Where the most epochs came first, the epoch of the \
     lowest loss so far stands for that of the rule.";

/// How the runs differ from the paper's.
pub(crate) const DEVIATIONS: &str = "Differences from the paper: one optimizer and learning rate for all plain methods instead of a \
     search over 1e-3, 1e-4 and 1e-5; what is measured is a moving average of the parameters; medians \
     with the least and greatest seed instead of means of five runs; this machine's processor instead \
     of one V100.";

/// How to read a speed-up.
pub(crate) const HOW_TO_READ: &str = "A speed-up is retraining's cost divided by the method's in the same seed: above 1 is quicker. Large: \
     the median over the seeds; small: [slowest–quickest]. “Never”: the target was not reached. “At \
     start”: θ₀ was at the target before the first step, so that there was nothing to speed up and no \
     number can say by how much. A dash: nothing to compare.";
