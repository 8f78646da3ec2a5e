//! The checked configuration of graph views.

use burn::config::Config;

use super::{GraphViews, ViewKind};
use crate::error::DataError;

/// How graph views are made. The defaults are those of You et al. (2020).
///
/// A ratio r of n nodes is round(r · n) nodes. (The code of You et al. truncates, which leaves
/// graphs of fewer than five nodes as they are.) At least one node is always kept, and at least
/// one keeps its features.
#[derive(Config, Debug, PartialEq)]
pub struct GraphViewsConfig {
    /// The share of nodes that node dropping removes, from 0 to below 1.
    #[config(default = "0.2")]
    pub drop_ratio: f64,
    /// The share of nodes whose features attribute masking hides, from 0 to below 1.
    #[config(default = "0.2")]
    pub mask_ratio: f64,
    /// The share of nodes that the subgraph keeps, above 0 and at most 1.
    #[config(default = "0.8")]
    pub subgraph_ratio: f64,
    /// The kinds of augmentation, each view one of them with equal chances. A kind that stands in
    /// the list twice is drawn twice as often.
    #[config(default = "ViewKind::ALL.to_vec()")]
    pub kinds: Vec<ViewKind>,
}

impl GraphViewsConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`DataError::ViewRatio`] if a ratio lies outside its interval or is not a number, whether
    /// or not its kind is used; [`DataError::NoViewKinds`] if there are no kinds.
    pub fn try_init(&self) -> Result<GraphViews, DataError> {
        let share = 0.0..1.0;
        let below_one = "from 0 to below 1";
        let ratio = |name, found, within, expected| match within {
            true => Ok(()),
            false => Err(DataError::ViewRatio {
                name,
                found,
                expected,
            }),
        };
        let (drop, mask, keep) = (self.drop_ratio, self.mask_ratio, self.subgraph_ratio);
        ratio("drop_ratio", drop, share.contains(&drop), below_one)?;
        ratio("mask_ratio", mask, share.contains(&mask), below_one)?;
        let kept = keep > 0.0 && keep <= 1.0;
        ratio("subgraph_ratio", keep, kept, "above 0 and at most 1")?;
        if self.kinds.is_empty() {
            return Err(DataError::NoViewKinds);
        }
        Ok(GraphViews {
            config: self.clone(),
        })
    }

    /// As [`try_init`](Self::try_init).
    ///
    /// # Panics
    /// With the same words where `try_init` gives an error.
    pub fn init(&self) -> GraphViews {
        match self.try_init() {
            Ok(views) => views,
            Err(error) => panic!("{error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_their_interval_are_errors() {
        let config = GraphViewsConfig::new;
        for ratio in [-0.1, 1.0, 1.5, f64::NAN, f64::INFINITY] {
            for (name, config) in [
                ("drop_ratio", config().with_drop_ratio(ratio)),
                ("mask_ratio", config().with_mask_ratio(ratio)),
            ] {
                assert_eq!(
                    config.try_init().unwrap_err().to_string(),
                    format!("views: found {ratio} as {name}, expected a number from 0 to below 1")
                );
            }
        }
        for ratio in [-0.1, 0.0, 1.01, f64::NAN] {
            let error = config().with_subgraph_ratio(ratio).try_init().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "views: found {ratio} as subgraph_ratio, expected a number above 0 and at most 1"
                )
            );
        }
        let error = config().with_kinds(vec![]).try_init().unwrap_err();
        assert_eq!(
            error.to_string(),
            "views: found no kind of augmentation, expected at least one"
        );
    }

    #[test]
    fn the_ends_of_the_intervals_are_accepted() {
        GraphViewsConfig::new().init();
        GraphViewsConfig::new()
            .with_drop_ratio(0.0)
            .with_mask_ratio(0.0)
            .with_subgraph_ratio(1.0)
            .with_kinds(vec![ViewKind::Subgraph])
            .init();
    }

    #[test]
    #[should_panic = "views: found no kind of augmentation, expected at least one"]
    fn init_panics_with_the_same_words() {
        GraphViewsConfig::new().with_kinds(vec![]).init();
    }
}
