//! Several devices of one process: the trainer starts the members that train on them together.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, scope};

use burn::module::AutodiffModule;
use burn::tensor::backend::AutodiffBackend;
use icl_core::{Group, Samples, Threads, Views};

use crate::error::{TrainError, TrainErrorKind, no_thread};
use crate::optimizer::rates::OwnRates;
use crate::progress::Callbacks;
use crate::step::copies::own;
use crate::trainer::Trainer;

/// Stack of the thread of a member in bytes: that of a main thread, whose work it does.
const STACK: usize = 8 << 20;

impl<B, S, V, C, O> Trainer<'_, B, S, V, C, O>
where
    B: AutodiffBackend,
    S: Samples,
    V: Views<Sample = S::Sample>,
    C: Send + Sync,
    O: Clone + Send,
{
    /// Returns whether this trainer starts members for its devices.
    pub(super) fn has_several_devices(&self) -> bool {
        self.devices.len() > 1 && self.group.is_alone()
    }

    /// Does a piece of work with an encoder, and perhaps a fresh one, by a member of a group on each device: the first
    /// on this thread, the others on threads of their own. Returns the result of the first, which alone reports
    /// progress.
    ///
    /// # Errors
    /// The error of the first member that failed by itself. Members that fail because another has left are not counted.
    pub(super) fn on_devices<M: AutodiffModule<B>, T>(
        &self,
        encoders: (M, Option<M>),
        callbacks: &mut Callbacks<'_>,
        work: impl Fn(
            &Trainer<'_, B, S, V, C, O>,
            (M, Option<M>),
            &mut Callbacks<'_>,
        ) -> Result<T, TrainError>
        + Sync,
    ) -> Result<T, TrainError> {
        let (first, others) = self.devices.split_first().expect("at least one device");
        let mut members = Threads::group(self.devices.len()).into_iter();
        let first_group = members.next().expect("one member for each device");
        let checkpoint = callbacks.checkpoint().map(ToOwned::to_owned);
        let (work, checkpoint) = (&work, checkpoint.as_deref());
        // Optimizers need not be shared by threads: each member gets its own.
        let shared = &self.member(self.group, first, ());
        scope(|scope| {
            let mut threads = Vec::new();
            for (group, device) in members.zip(others) {
                // A clone shares running statistics, which would follow it to the other device.
                let copied = |encoder: &M| own(encoder).fork(device);
                let encoders = (copied(&encoders.0), encoders.1.as_ref().map(copied));
                let optimizer = self.optimizer.clone();
                let member = move || {
                    let mut callbacks = Callbacks::new();
                    if let Some(path) = checkpoint {
                        callbacks = callbacks.with_checkpoint(path);
                    }
                    // The group is dropped at the end, with which the member leaves it.
                    let trainer = shared.member(&group, device, optimizer);
                    work(&trainer, encoders, &mut callbacks).map(drop)
                };
                let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, member);
                threads.push(thread.map_err(no_thread)?);
            }
            let outcome = work(
                &self.member(&first_group, first, self.optimizer.clone()),
                encoders,
                callbacks,
            );
            // The others do not wait for a member that has ended early.
            drop(first_group);
            let ended = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            let failures: Vec<TrainError> = ended.filter_map(Result::err).collect();
            match outcome {
                Err(error) if !is_of_another(&error) => Err(error),
                outcome => match failures.into_iter().find(|error| !is_of_another(error)) {
                    Some(error) => Err(error),
                    None => outcome,
                },
            }
        })
    }
}

impl<B: AutodiffBackend, S, V, C, O> Trainer<'_, B, S, V, C, O> {
    /// Returns the trainer of one device.
    fn member<'m, P>(
        &'m self,
        group: &'m dyn Group,
        device: &B::Device,
        optimizer: P,
    ) -> Trainer<'m, B, S, V, C, P> {
        Trainer {
            samples: self.samples,
            views: Arc::clone(&self.views),
            collate: Arc::clone(&self.collate),
            increment: self.increment,
            validation: self.validation,
            settings: self.settings.clone(),
            optimizer,
            rates: self.own_rates(),
            seed: self.seed,
            devices: vec![device.clone()],
            group,
        }
    }

    /// Returns a copy of the learning rates that are set, in their first state.
    pub(super) fn own_rates(&self) -> OwnRates<B> {
        self.rates.as_ref().map(|rates| rates.copied())
    }
}

/// Returns whether a member has failed because another one has left.
fn is_of_another(error: &TrainError) -> bool {
    error.kind() == TrainErrorKind::Left
}
