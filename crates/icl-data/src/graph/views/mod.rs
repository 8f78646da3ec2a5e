//! Graph augmentations (You et al., 2020, "Graph contrastive learning with augmentations").

mod config;
mod kind;
mod subgraph;
mod subset;
mod view;

use icl_core::{Rng, Views};
use rand::RngExt;

use super::sample::Graph;
pub use config::GraphViewsConfig;
pub use kind::ViewKind;
pub use view::GraphView;

/// The augmentations that make a positive pair of graphs.
///
/// For every graph and every view, one kind is drawn uniformly from the configured ones (as the
/// paper has it; the authors' code draws one for a whole batch, which makes the loss of an epoch
/// swing). Made by [`GraphViewsConfig::init`].
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
    /// The configuration, with all values checked.
    pub fn config(&self) -> &GraphViewsConfig {
        &self.config
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

    fn view_into(&self, sample: &Graph, rng: &mut Rng, slot: &mut GraphView) {
        slot.restart(sample);
        let kinds = &self.config.kinds;
        match kinds[rng.random_range(0..kinds.len() as u32) as usize] {
            ViewKind::NodeDropping => slot.drop_nodes(self.config.drop_ratio, rng),
            ViewKind::AttributeMasking => slot.mask_attributes(self.config.mask_ratio, rng),
            ViewKind::Subgraph => slot.walk(self.config.subgraph_ratio, rng),
        }
    }
}

#[cfg(test)]
mod tests;
