//! The inputs that an output of a convolution sees along one axis.

use super::super::window::Window;

/// The inputs along one axis that each output sees through each tap of the window.
pub(super) struct Axis {
    n_taps: usize,
    sources: Vec<Option<usize>>,
    runs: Vec<Vec<TapRun>>,
    classes: Vec<usize>,
}

/// Consecutive taps that see consecutive inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TapRun {
    pub first_tap: usize,
    pub first_source: usize,
    pub length: usize,
}

impl Axis {
    /// The axis of a convolution of `side` inputs: output o sees input o·stride + tap − padding.
    pub(super) fn forward(side: usize, window: Window) -> Self {
        Self::new(window.output(side), window.size, |output, tap| {
            let source = (output * window.stride + tap).checked_sub(window.padding)?;
            (source < side).then_some(source)
        })
    }

    /// The axis of the transposed convolution, whose `side` outputs are the inputs of the convolution.
    pub(super) fn transposed(side: usize, window: Window) -> Self {
        let n_sources = window.output(side);
        Self::new(side, window.size, |output, tap| {
            let distance = (output + window.padding).checked_sub(tap)?;
            let source = distance / window.stride;
            (distance % window.stride == 0 && source < n_sources).then_some(source)
        })
    }

    fn new(
        n_outputs: usize,
        n_taps: usize,
        source: impl Fn(usize, usize) -> Option<usize>,
    ) -> Self {
        let sources: Vec<_> = (0..n_outputs * n_taps)
            .map(|at| source(at / n_taps, at % n_taps))
            .collect();
        let mut patterns: Vec<Vec<bool>> = Vec::new();
        let mut classes = Vec::with_capacity(n_outputs);
        for taps in sources.chunks_exact(n_taps) {
            let pattern: Vec<_> = taps.iter().map(Option::is_some).collect();
            let known = patterns.iter().position(|known| *known == pattern);
            classes.push(known.unwrap_or(patterns.len()));
            if known.is_none() {
                patterns.push(pattern);
            }
        }
        Self {
            n_taps,
            runs: sources.chunks_exact(n_taps).map(runs).collect(),
            sources,
            classes,
        }
    }

    pub(super) fn n_outputs(&self) -> usize {
        self.classes.len()
    }

    /// Returns the input that `output` sees through each tap, none for padding.
    #[inline(always)]
    pub(super) fn sources(&self, output: usize) -> &[Option<usize>] {
        &self.sources[output * self.n_taps..][..self.n_taps]
    }

    /// Returns the inputs that `output` sees as runs, without padding.
    #[inline(always)]
    pub(super) fn runs(&self, output: usize) -> &[TapRun] {
        &self.runs[output]
    }

    /// Returns the class of `output`: outputs of one class see padding through the same taps.
    pub(super) fn class(&self, output: usize) -> usize {
        self.classes[output]
    }
}

fn runs(taps: &[Option<usize>]) -> Vec<TapRun> {
    let mut runs: Vec<TapRun> = Vec::new();
    for (tap, source) in taps.iter().enumerate() {
        let Some(source) = *source else { continue };
        match runs.last_mut() {
            Some(run)
                if run.first_tap + run.length == tap && run.first_source + run.length == source =>
            {
                run.length += 1;
            }
            _ => runs.push(TapRun {
                first_tap: tap,
                first_source: source,
                length: 1,
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window {
        size: 3,
        stride: 2,
        padding: 1,
    };

    #[test]
    fn the_two_directions_see_the_same_pairs() {
        for side in 1..8 {
            let (forward, transposed) =
                (Axis::forward(side, WINDOW), Axis::transposed(side, WINDOW));
            for output in 0..forward.n_outputs() {
                for input in 0..side {
                    for tap in 0..WINDOW.size {
                        assert_eq!(
                            forward.sources(output)[tap] == Some(input),
                            transposed.sources(input)[tap] == Some(output),
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn borders_are_classes_of_their_own() {
        let axis = Axis::forward(7, WINDOW);
        let classes: Vec<_> = (0..4).map(|output| axis.class(output)).collect();
        assert_eq!(classes, [0, 1, 1, 2]);
        assert_eq!(axis.sources(0), [None, Some(0), Some(1)]);
        let run = TapRun {
            first_tap: 1,
            first_source: 0,
            length: 2,
        };
        assert_eq!(axis.runs(0), [run]);
    }
}
