//! Epochs of a trainer on Burn's renderers and in its loggers.

use burn::data::dataloader::Progress;
use burn::train::logger::MetricLogger;
use burn::train::metric::store::{EpochSummary, MetricsUpdate, NumericMetricUpdate, Split};
use burn::train::metric::{
    MetricDefinition, MetricEntry, MetricId, NumericAttributes, NumericEntry, SerializedEntry,
};
use burn::train::renderer::{MetricState, MetricsRenderer, TrainingProgress};

use crate::progress::EpochReport;

/// Metric of an epoch: its name, its unit, and its value.
type Quantity = (&'static str, Option<&'static str>, fn(&EpochReport) -> f64);

const OF_TRAINING: [Quantity; 3] = [
    ("Loss", Some("nats"), |it| it.loss),
    ("Learning Rate", None, |it| it.learning_rate),
    ("Charged passes", None, |it| it.charged_passes),
];
const OF_VALIDATION: [Quantity; 1] = [("Exact risk", Some("nats"), |it| it.risk)];

/// Shows the epochs of a [`Trainer`](crate::Trainer) on renderers of Burn, such as its terminal interface, and writes
/// them to loggers of Burn, such as `FileMetricLogger`.
///
/// `Loss`, `Learning Rate` and `Charged passes` are metrics of the training, and `Exact risk` is one of the validation.
/// An epoch before the first evaluation has no `Exact risk`.
///
/// ```
/// use burn::train::logger::InMemoryMetricLogger;
/// use icl_train::{Callbacks, EpochMetrics};
///
/// let mut metrics = EpochMetrics::new().with_logger(InMemoryMetricLogger::default());
/// let callbacks = Callbacks::new().on_epoch(|report| metrics.report(report));
/// # drop(callbacks);
/// ```
///
/// The terminal interface (feature `tui` of burn) asks for the end of a training by an `Interrupter`:
/// `TuiMetricsRendererWrapper::new(interrupter.clone(), None)` is the renderer, and
/// `Callbacks::new().end_when(move |_| interrupter.should_stop())` ends the run, with its result.
#[derive(Default)]
pub struct EpochMetrics {
    renderers: Vec<Box<dyn MetricsRenderer>>,
    loggers: Vec<Box<dyn MetricLogger>>,
}

impl std::fmt::Debug for EpochMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EpochMetrics")
            .field("renderers", &self.renderers.len())
            .field("loggers", &self.loggers.len())
            .finish()
    }
}

impl EpochMetrics {
    /// Creates metrics without a renderer or a logger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a renderer, which gets the metrics of all epochs from now on.
    #[must_use]
    pub fn with_renderer(mut self, renderer: impl MetricsRenderer + 'static) -> Self {
        let mut renderer: Box<dyn MetricsRenderer> = Box::new(renderer);
        for quantity in OF_TRAINING.iter().chain(&OF_VALIDATION) {
            renderer.register_metric(definition(quantity));
        }
        self.renderers.push(renderer);
        self
    }

    /// Adds a logger, which gets the metrics of all epochs from now on.
    #[must_use]
    pub fn with_logger(mut self, logger: impl MetricLogger + 'static) -> Self {
        let mut logger: Box<dyn MetricLogger> = Box::new(logger);
        for quantity in OF_TRAINING.iter().chain(&OF_VALIDATION) {
            logger.log_metric_definition(definition(quantity));
        }
        self.loggers.push(logger);
        self
    }

    /// Reports an epoch: the function for [`Callbacks::on_epoch`](crate::Callbacks::on_epoch).
    pub fn report(&mut self, report: EpochReport) {
        let trained = entries(&OF_TRAINING, &report);
        let validated = entries(&OF_VALIDATION, &report);
        for renderer in &mut self.renderers {
            let state = |it: NumericMetricUpdate| MetricState::Numeric(it.entry, it.numeric_entry);
            let progress = || TrainingProgress {
                progress: None,
                global_progress: Progress {
                    items_processed: report.epoch,
                    items_total: report.n_epochs,
                },
                iteration: usize::try_from(report.n_steps).ok(),
            };
            for entry in trained.clone() {
                renderer.update_train(state(entry));
            }
            renderer.render_train(progress(), Vec::new());
            for entry in validated.clone() {
                renderer.update_valid(state(entry));
            }
            renderer.render_valid(progress(), Vec::new());
        }
        for logger in &mut self.loggers {
            for (entries, split) in [(&trained, Split::Train), (&validated, Split::Valid)] {
                let update = MetricsUpdate::new(Vec::new(), entries.clone());
                logger.log(update, report.epoch, &split);
                logger.log_epoch_summary(EpochSummary::new(report.epoch, split));
            }
        }
    }
}

fn id(name: &str) -> MetricId {
    MetricId::new(name.to_owned().into())
}

fn definition((name, unit, _): &Quantity) -> MetricDefinition {
    let attributes = NumericAttributes {
        unit: unit.map(ToOwned::to_owned),
        higher_is_better: false,
    };
    MetricDefinition {
        metric_id: id(name),
        name: (*name).to_owned(),
        description: None,
        attributes: attributes.into(),
    }
}

/// Returns the values of an epoch that are known.
fn entries(of: &[Quantity], report: &EpochReport) -> Vec<NumericMetricUpdate> {
    let known = of.iter().filter_map(|&(name, unit, value)| {
        let value = value(report);
        // Before the first evaluation there is no risk; Burn's means over epochs would all be NaN with it.
        value.is_finite().then(|| {
            let numeric = NumericEntry::Value(value);
            let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
            let text = SerializedEntry::new(format!("{value:.4}{unit}"), numeric.serialize());
            let entry = MetricEntry::new(id(name), text);
            NumericMetricUpdate::new(entry, numeric.clone(), numeric)
        })
    });
    known.collect()
}
