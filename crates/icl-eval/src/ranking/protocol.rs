//! Ranking of all items for each query.

use std::fmt;

use icl_core::Seed;
use nalgebra::DMatrix;
use rand::seq::index;
use rayon::prelude::*;

use super::position::TargetPosition;
use crate::matrix::{check_count, check_rows, check_width};
use crate::neighbours::Directions;
use crate::{EvalError, Matrix};

/// Number of queries that are scored by one product.
const BLOCK: usize = 64;

/// Candidates among which a target is ranked. Prints as `full` or `sampled (N)`, for the label of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidates {
    /// All items that are not excluded.
    Full,
    /// A number of items that are not excluded, drawn without replacement for each query; all of them if there are
    /// fewer.
    ///
    /// Such measures are higher than those of the full ranking, have a variance of their own and may order two models
    /// the other way round (Krichene and Rendle, 2020): they serve comparisons with papers that print them.
    Sampled {
        /// Number of items besides the target.
        n: usize,
        /// Seed of the draws.
        seed: Seed,
    },
}

impl fmt::Display for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Sampled { n, .. } => write!(f, "sampled ({n})"),
        }
    }
}

/// Target of a query and the items that are no candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankedTarget<'a> {
    /// Row of the target among the items. It is a candidate, also if it is excluded.
    pub target: u32,
    /// Rows of items that are no candidates, in any order: the items that a user has seen.
    pub excluded: &'a [u32],
}

/// Ranks of the targets of queries among items.
///
/// The score of an item is the cosine similarity of query and item, as in the losses; a row of zeros has the score 0. A
/// block of queries is one product with all items, so the cost is n_queries·n_items·d, on rayon's threads. The result
/// does not depend on their number.
///
/// ```
/// use icl_eval::{Candidates, Matrix, RankedTarget, RankingProtocol};
///
/// let items = Matrix::try_new(vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0], 2)?;
/// let query = Matrix::try_new(vec![2.0, 1.0], 2)?;
/// // Item 2 is nearest and already seen; item 0 is the target.
/// let targets = [RankedTarget { target: 0, excluded: &[2] }];
/// let ranking = RankingProtocol::new(Candidates::Full).rank(&query, &items, &targets)?;
/// assert_eq!(ranking.hit_rate(1), 1.0);
/// # Ok::<(), icl_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankingProtocol {
    candidates: Candidates,
}

impl RankingProtocol {
    /// Creates the protocol.
    pub fn new(candidates: Candidates) -> Self {
        Self { candidates }
    }

    /// Ranks the target of each query `[n_queries, d]` among items `[n_items, d]`.
    ///
    /// # Errors
    /// [`EvalError`] if there is not one target for each query, there are no queries, the widths differ, a target or
    /// an excluded item is not below n_items, or no item but the target of a query is left.
    pub fn rank(
        &self,
        queries: &Matrix,
        items: &Matrix,
        targets: &[RankedTarget<'_>],
    ) -> Result<Ranking, EvalError> {
        check_count("targets", targets.len(), queries)?;
        check_width("queries", queries, items.n_columns())?;
        for of in targets {
            let items_of = |items: &[u32]| items.iter().map(|&item| item as usize).collect();
            let (target, excluded): (Vec<usize>, Vec<usize>) =
                (items_of(&[of.target]), items_of(of.excluded));
            check_rows("target", &target, items.n_rows())?;
            check_rows("excluded items", &excluded, items.n_rows())?;
        }
        let (n_items, d) = (items.n_rows(), items.n_columns());
        let items = Directions::of(items);
        let items = DMatrix::from_row_slice(n_items, d, items.values());
        let queries = Directions::of(queries);
        let blocks = queries.values().par_chunks(BLOCK * d).enumerate();
        let positions = blocks.map(|(block, queries)| {
            // Queries are the columns.
            let queries = DMatrix::from_column_slice(d, queries.len() / d, queries);
            let scores = &items * queries;
            let columns = scores.column_iter().zip(block * BLOCK..);
            columns
                .map(|(scores, query)| self.position(scores.as_slice(), query, targets[query]))
                .collect()
        });
        let positions: Vec<Result<Vec<TargetPosition>, EvalError>> = positions.collect();
        let positions: Vec<Vec<TargetPosition>> =
            positions.into_iter().collect::<Result<_, _>>()?;
        Ok(Ranking {
            candidates: self.candidates,
            positions: positions.concat(),
        })
    }

    /// Returns the position of the target of one query, given the scores of all items.
    fn position(
        &self,
        scores: &[f64],
        query: usize,
        of: RankedTarget<'_>,
    ) -> Result<TargetPosition, EvalError> {
        let mut is_candidate = vec![true; scores.len()];
        for &item in of.excluded.iter().chain([&of.target]) {
            is_candidate[item as usize] = false;
        }
        let others = scores.iter().zip(&is_candidate);
        let mut others: Vec<f64> = others
            .filter(|(_, is_candidate)| **is_candidate)
            .map(|(score, _)| *score)
            .collect();
        if others.is_empty() {
            return Err(EvalError::new(
                format_args!("query {query}"),
                "no candidate besides the target",
                "at least one item that is not excluded",
            ));
        }
        if let Candidates::Sampled { n, seed } = self.candidates {
            // Each query has a random stream of its own, so that threads change no draw.
            let mut rng = seed.at(query as u64).rng();
            let drawn = index::sample(&mut rng, others.len(), n.min(others.len()));
            others = drawn.iter().map(|at| others[at]).collect();
        }
        Ok(TargetPosition::among(scores[of.target as usize], others))
    }
}

/// Positions of the targets of all queries, and their means.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    candidates: Candidates,
    positions: Vec<TargetPosition>,
}

impl Ranking {
    /// Returns the candidates among which the targets were ranked.
    pub fn candidates(&self) -> Candidates {
        self.candidates
    }

    /// Returns the position of the target of each query, for paired comparisons.
    pub fn positions(&self) -> &[TargetPosition] {
        &self.positions
    }

    /// Returns the mean AUC of the queries, see [`TargetPosition::auc`].
    pub fn auc(&self) -> f64 {
        self.mean(TargetPosition::auc)
    }

    /// Returns HR@k, the mean over the queries; see [`TargetPosition::hit_rate`].
    pub fn hit_rate(&self, k: usize) -> f64 {
        self.mean(|position| position.hit_rate(k))
    }

    /// Returns nDCG@k, the mean over the queries; see [`TargetPosition::ndcg`].
    pub fn ndcg(&self, k: usize) -> f64 {
        self.mean(|position| position.ndcg(k))
    }

    fn mean(&self, of: impl Fn(&TargetPosition) -> f64) -> f64 {
        self.positions.iter().map(of).sum::<f64>() / self.positions.len() as f64
    }
}
