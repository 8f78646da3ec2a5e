//! Errors of collective operations.

/// Error of a collective operation, after which the group cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// A member has left the group, after an error of its own or because it was ended.
    #[error(
        "the group: found that member {rank} has left it, expected all members until the end of the run"
    )]
    Left {
        /// Rank of the member.
        rank: usize,
    },
    /// Members called different operations, or the same one with different lengths.
    #[error("the group: found {found} at member {rank}, expected {expected} as at member {at}")]
    OutOfStep {
        /// Rank of the member that differs.
        rank: usize,
        /// Its operation.
        found: String,
        /// Operation of the member that returns this error.
        expected: String,
        /// Rank of that member.
        at: usize,
    },
    /// The members are not set up alike: each would train something else.
    #[error(
        "the group: found {field} {found} at member {rank}, expected {expected} as at member 0"
    )]
    Unlike {
        /// Rank of the first member that differs from member 0.
        rank: usize,
        /// Name of the first fact that differs, such as a setting.
        field: String,
        /// Its value at that member.
        found: String,
        /// Its value at member 0.
        expected: String,
    },
    /// The parameters of the members have come apart.
    #[error(
        "the group: found other parameters at member {rank} than at member 0 after step {step}, expected the same"
    )]
    Diverged {
        /// Rank of the first member whose parameters differ.
        rank: usize,
        /// Number of steps done.
        step: u64,
    },
    /// The engine below cannot transport the values.
    #[error("the group: {0}")]
    Transport(String),
}
