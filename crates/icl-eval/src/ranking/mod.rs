//! The rank of a target among candidates: recommendation and the matching of pairs.

mod position;
mod protocol;

pub use position::TargetPosition;
pub use protocol::{Candidates, RankedTarget, Ranking, RankingProtocol};
