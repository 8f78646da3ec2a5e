//! The report of an epoch.

/// Epoch of a run that has ended, passed to [`Callbacks::on_epoch`](crate::Callbacks::on_epoch).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpochReport {
    /// Number of epochs trained so far, this one included.
    pub epoch: usize,
    /// Maximum number of epochs.
    pub n_epochs: usize,
    /// Number of steps done so far.
    pub n_steps: u64,
    /// Mean training loss of the epoch, in nats.
    pub loss: f64,
    /// Mean learning rate of the epoch's steps.
    pub learning_rate: f64,
    /// Exact risk at the last evaluation, in nats: over validation samples where
    /// [`Trainer::validation`](crate::Trainer::validation) sets them, else over training samples. NaN before there is
    /// one.
    pub risk: f64,
    /// Cost that is charged to the method so far, in full passes.
    pub charged_passes: f64,
    /// Training time so far in seconds, without evaluations.
    pub train_s: f64,
}
