//! The tensors of a configured encoder, told without making them.

use super::{D_FEATURES, ResNetConfig, STAGES};

impl ResNetConfig {
    /// The name and the shape of each tensor of the encoder, in the order and by the names under
    /// which a module's tensors are collected. Nothing of their size is allocated: it is for whoever
    /// checks a file before an encoder is made of it.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        let stem = convolution(
            "stem.convolution",
            [self.in_channels, STAGES[0]],
            self.stem.window().size,
        );
        let blocks = (0..2 * STAGES.len()).flat_map(block);
        let classifier = self.n_classes.map(|n| linear("classifier", D_FEATURES, n));
        let projection = self.projection.map(|d| {
            let hidden = linear("projection.hidden", D_FEATURES, D_FEATURES);
            let output = linear("projection.output", D_FEATURES, d);
            hidden.into_iter().chain(output)
        });
        stem.into_iter()
            .chain(blocks)
            .chain(classifier.into_iter().flatten())
            .chain(projection.into_iter().flatten())
    }
}

/// The tensors of the block of this index.
fn block(index: usize) -> impl Iterator<Item = (String, Vec<usize>)> {
    let (stage, is_first) = (index / 2, index.is_multiple_of(2));
    let width = STAGES[stage];
    let narrows = is_first && stage > 0;
    let c_in = if narrows { STAGES[stage - 1] } else { width };
    let at = |name: &str| format!("blocks.{index}.{name}");
    let shortcut = narrows.then(|| convolution(&at("shortcut"), [c_in, width], 1));
    convolution(&at("first"), [c_in, width], 3)
        .into_iter()
        .chain(convolution(&at("second"), [width, width], 3))
        .chain(shortcut.into_iter().flatten())
}

fn convolution(name: &str, [c_in, c_out]: [usize; 2], size: usize) -> [(String, Vec<usize>); 5] {
    [
        (format!("{name}.weight"), vec![c_out, c_in, size, size]),
        (format!("{name}.norm.weight"), vec![c_out]),
        (format!("{name}.norm.bias"), vec![c_out]),
        (format!("{name}.norm.statistics.mean"), vec![c_out]),
        (format!("{name}.norm.statistics.variance"), vec![c_out]),
    ]
}

fn linear(name: &str, d_input: usize, d_output: usize) -> [(String, Vec<usize>); 2] {
    [
        (format!("{name}.weight"), vec![d_input, d_output]),
        (format!("{name}.bias"), vec![d_output]),
    ]
}
