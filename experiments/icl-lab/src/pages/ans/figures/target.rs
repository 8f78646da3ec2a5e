//! Figures of the paper of numbers that can be reproduced without data.

/// Figure of Wu et al. (2022) that the model of label noise draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsTarget {
    /// Figure 4: the best K over the separation of the labels.
    Figure4,
    /// Figure 5: effectiveness and shares of samples in stages of a training.
    Figure5,
}

impl AnsTarget {
    /// Returns the name in commands and of the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Figure4 => "ans4",
            Self::Figure5 => "ans5",
        }
    }

    /// Returns the title of the page.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Figure4 => "Figure 4 of ANS, reproduced: the best number of negatives",
            Self::Figure5 => "Figure 5 of ANS, reproduced: stages of a training",
        }
    }
}
