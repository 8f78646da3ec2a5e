//! Views of graphs: their configuration, and the drawn and the plain ones.

use burn::config::Config;
use icl_core::{Pairing, Rng, Views};
use rand::RngExt;

use super::kind::ViewKind;
use super::view::GraphView;
use crate::error::DataError;
use crate::graph::sample::Graph;

/// Configuration of graph views. The defaults are those of You et al. (2020).
///
/// A ratio r of n nodes is round(r · n) nodes. (Deviation: the code of You et al. truncates, which
/// leaves graphs of fewer than five nodes unchanged.) At least one node is always kept, and at
/// least one keeps its features.
#[derive(Config, Debug, PartialEq)]
pub struct GraphViewsConfig {
    /// Share of nodes that node dropping removes, from 0 to below 1.
    #[config(default = "0.2")]
    pub drop_ratio: f64,
    /// Share of nodes whose features attribute masking hides, from 0 to below 1.
    #[config(default = "0.2")]
    pub mask_ratio: f64,
    /// Share of nodes that a subgraph keeps, above 0 and at most 1.
    #[config(default = "0.8")]
    pub subgraph_ratio: f64,
    /// Kinds of augmentation, of which one is drawn uniformly for each view. A kind that is listed
    /// twice is drawn twice as often.
    #[config(default = "ViewKind::ALL.to_vec()")]
    pub kinds: Vec<ViewKind>,
}

impl GraphViewsConfig {
    /// Checks the configuration and creates the views.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if a ratio lies outside its interval or is not a number, even if
    ///   its kind is not used;
    /// - if there are no kinds.
    pub fn try_init(&self) -> Result<GraphViews, DataError> {
        let share = 0.0..1.0;
        let below_one = "from 0 to below 1";
        let ratio = |name, found, within, expected| {
            let (found, expected) = (format!("{found} as {name}"), format!("a number {expected}"));
            DataError::unless(within, "views", found, expected)
        };
        let (drop, mask, keep) = (self.drop_ratio, self.mask_ratio, self.subgraph_ratio);
        ratio("drop_ratio", drop, share.contains(&drop), below_one)?;
        ratio("mask_ratio", mask, share.contains(&mask), below_one)?;
        let kept = keep > 0.0 && keep <= 1.0;
        ratio("subgraph_ratio", keep, kept, "above 0 and at most 1")?;
        let has_kinds = !self.kinds.is_empty();
        DataError::unless(
            has_kinds,
            "views",
            "no kind of augmentation",
            "at least one",
        )?;
        Ok(GraphViews {
            config: self.clone(),
        })
    }

    /// Checks the configuration and creates the views, see [`try_init`](Self::try_init).
    ///
    /// # Panics
    /// If `try_init` returns an error, with the error's message.
    pub fn init(&self) -> GraphViews {
        match self.try_init() {
            Ok(views) => views,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Augmentations that make the positive pairs of graphs (You et al., 2020, "Graph contrastive
/// learning with augmentations").
///
/// For every graph and every view, one kind is drawn uniformly from the configured ones. (So does
/// the paper; the authors' code draws one kind for a whole batch, which makes the loss fluctuate
/// between epochs.) Created by [`GraphViewsConfig::init`].
///
/// ```
/// use icl_core::{Seed, Views};
/// use icl_data::{Graph, GraphViewsConfig};
///
/// let ring = Graph::try_new(
///     &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]],
///     vec![1.0; 5],
///     1,
///     0,
/// )?;
/// let views = GraphViewsConfig::new().init();
/// let seed = Seed::new(1).child("views");
/// let first = views.view(&ring, &mut seed.at(0).rng());
/// let again = views.view(&ring, &mut seed.at(0).rng());
/// assert_eq!(first, again);
/// assert_eq!(views.plain(&ring).kept(), [0, 1, 2, 3, 4]);
/// # Ok::<(), icl_data::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct GraphViews {
    config: GraphViewsConfig,
}

impl GraphViews {
    /// Returns the configuration, whose values are all checked.
    pub fn config(&self) -> &GraphViewsConfig {
        &self.config
    }

    /// Makes a random view in a slot that holds an earlier view, whose buffers are reused.
    pub fn view_into(&self, sample: &Graph, rng: &mut Rng, slot: &mut GraphView) {
        slot.restart(sample);
        let kinds = &self.config.kinds;
        match kinds[rng.random_range(0..kinds.len() as u32) as usize] {
            ViewKind::NodeDropping => slot.drop_nodes(self.config.drop_ratio, rng),
            ViewKind::AttributeMasking => slot.mask_attributes(self.config.mask_ratio, rng),
            ViewKind::Subgraph => slot.walk(self.config.subgraph_ratio, rng),
        }
    }
}

impl Views for GraphViews {
    type Sample = Graph;
    type View = GraphView;

    fn view(&self, sample: &Graph, rng: &mut Rng) -> GraphView {
        let mut view = GraphView::empty(sample);
        self.view_into(sample, rng, &mut view);
        view
    }

    fn plain(&self, sample: &Graph) -> GraphView {
        let mut view = GraphView::empty(sample);
        view.keep_all();
        view
    }

    fn paired_view_into(
        &self,
        sample: &Graph,
        _pairing: &Pairing<'_, Graph>,
        rng: &mut Rng,
        slot: &mut GraphView,
    ) {
        self.view_into(sample, rng, slot);
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
