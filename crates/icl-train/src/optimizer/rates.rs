//! Learning rates of a run's steps: a schedule of the method, a scheduler of Burn, or a function of the step.

use std::fmt;
use std::sync::Arc;

use burn::lr_scheduler::LrScheduler;
use burn::tensor::backend::Backend;
use icl_core::module_bytes::{Bytes, load_record, save_record, unfit};
use icl_core::{Error, Schedule};

/// Number of steps whose rates are compared.
const N_COMPARED: u64 = 16;

/// Source of the learning rates of a run, with its state.
pub(crate) trait Rates<B: Backend>: Send + Sync {
    /// Returns the name of the source, for messages.
    fn name(&self) -> String;

    /// Returns a copy with a state of its own.
    fn copied(&self) -> Box<dyn Rates<B>>;

    /// Returns the learning rate of the next step, whose index is `step`, counted from 0. A schedule of the method takes
    /// `place` instead, its place in the run, which under a budget counts by the cost.
    fn next(&mut self, step: u64, place: u64) -> f64;

    /// Returns the state as bytes, if there is one.
    ///
    /// # Errors
    /// If Burn cannot write it down.
    fn save(&self) -> Result<Option<Bytes>, Error> {
        Ok(None)
    }

    /// Restores a saved state.
    ///
    /// # Errors
    /// If it is the state of another source.
    fn load(&mut self, saved: Option<Bytes>, _device: &B::Device) -> Result<(), Error> {
        saved.map_or(Ok(()), |_| Err(unfit()))
    }
}

/// Learning rates of a trainer, in the place of those of a method.
pub(crate) type OwnRates<B> = Option<Box<dyn Rates<B>>>;

impl<B: Backend> dyn Rates<B> {
    /// Returns a text by which a checkpoint recognises the source: its name and the rates of the first steps, since a
    /// function and the configuration of a scheduler cannot be compared.
    pub(crate) fn identity(&self) -> String {
        let mut own = self.copied();
        let rates: Vec<f64> = (0..N_COMPARED).map(|step| own.next(step, step)).collect();
        format!("{} with the first rates {rates:?}", self.name())
    }
}

impl<B: Backend> fmt::Debug for dyn Rates<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl<B: Backend> Rates<B> for Schedule {
    fn name(&self) -> String {
        "the rate of the method".to_owned()
    }

    fn copied(&self) -> Box<dyn Rates<B>> {
        Box::new(*self)
    }

    fn next(&mut self, _step: u64, place: u64) -> f64 {
        self.at(place)
    }
}

/// Function of the step.
#[derive(Clone)]
pub(crate) struct OfStep(pub(crate) Arc<dyn Fn(u64) -> f64 + Send + Sync>);

impl<B: Backend> Rates<B> for OfStep {
    fn name(&self) -> String {
        "a function of the step".to_owned()
    }

    fn copied(&self) -> Box<dyn Rates<B>> {
        Box::new(self.clone())
    }

    fn next(&mut self, step: u64, _place: u64) -> f64 {
        (self.0)(step)
    }
}

/// Scheduler of Burn.
#[derive(Clone)]
pub(crate) struct Scheduled<S>(pub(crate) S);

impl<B: Backend, S: LrScheduler + 'static> Rates<B> for Scheduled<S> {
    fn name(&self) -> String {
        std::any::type_name::<S>().to_owned()
    }

    fn copied(&self) -> Box<dyn Rates<B>> {
        Box::new(self.clone())
    }

    fn next(&mut self, _step: u64, _place: u64) -> f64 {
        self.0.step()
    }

    fn save(&self) -> Result<Option<Bytes>, Error> {
        save_record::<B, _>(self.0.to_record::<B>()).map(Some)
    }

    fn load(&mut self, saved: Option<Bytes>, device: &B::Device) -> Result<(), Error> {
        let record = load_record::<B, S::Record<B>>(saved.ok_or_else(unfit)?, device)?;
        self.0 = self.0.clone().load_record::<B>(record);
        Ok(())
    }
}
