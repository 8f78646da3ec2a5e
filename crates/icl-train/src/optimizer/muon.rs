//! Muon for matrices, Adam for all other parameters.

use burn::config::Config;
use burn::module::{AutodiffModule, ModuleVisitor, Param};
use burn::optim::adaptor::OptimizerAdaptor;
use burn::optim::momentum::{Momentum, MomentumConfig, MomentumState};
use burn::optim::{
    GradientsParams, LearningRate, MultiGradientsParams, Muon, MuonConfig, Optimizer,
    SimpleOptimizer,
};
use burn::tensor::Tensor;
use burn::tensor::backend::{AutodiffBackend, Backend};
use icl_kernels::OnePassAdam;

/// Configuration of [`MuonWithAdam`].
///
/// ```
/// # use burn::backend::{Autodiff, Flex};
/// use burn::nn::Linear;
/// use icl_train::MuonWithAdamConfig;
///
/// # type B = Autodiff<Flex>;
/// let optimizer = MuonWithAdamConfig::new().with_weight_decay(0.01).init::<B, Linear<B>>();
/// ```
#[derive(Config, Debug)]
pub struct MuonWithAdamConfig {
    /// Learning rate of matrices, as a multiple of that of a step, which is Adam's. Default: 20/3, 0.02 at 0.003.
    #[config(default = "20.0 / 3.0")]
    pub rate_factor: f64,
    /// Momentum of matrices. Default: 0.95.
    #[config(default = 0.95)]
    pub momentum: f64,
    /// Decoupled weight decay of matrices, at least 0. Default: 0.
    #[config(default = 0.0)]
    pub weight_decay: f64,
}

impl MuonWithAdamConfig {
    /// Creates the optimizer of a module.
    pub fn init<B: AutodiffBackend, M: AutodiffModule<B>>(&self) -> MuonWithAdam<B, M> {
        MuonWithAdam {
            rate_factor: self.rate_factor,
            muon: OptimizerAdaptor::from(KernelMuon::new(self)),
            adam: OnePassAdam::init(),
        }
    }
}

/// Muon (Jordan et al., 2024) for matrices, Adam ([`OnePassAdam`]) for all other parameters.
///
/// ```text
/// v ← m·v + g      u ← orthogonal(g + m·v)      w ← (1 − lr·wd)·w − lr·√max(1, d_out/d_in)·u
/// ```
///
/// The orthogonal factor is that of five Newton–Schulz iterations, by [Burn's `Muon`](Muon), and lr is the rate of a
/// step times [`rate_factor`](MuonWithAdamConfig::rate_factor).
///
/// | parameter | by |
/// |---|---|
/// | two axes, `[d_in, d_out]` as in Burn's `Linear` | Muon |
/// | more axes, as the matrix `[d_out, rest]` of a convolution kernel | Muon |
/// | embeddings | Adam |
/// | one axis: biases, normalisation | Adam |
///
/// An embedding is a parameter of a struct whose name contains "embedding", as Burn's `Embedding`, or of a field
/// whose name does; upper or lower case does not matter.
///
/// Burn's `Muon` alone takes parameters of two axes only. It reads rows as outputs, as PyTorch's layers
/// `[d_out, d_in]` have them, so that its factor is √max(1, d_in/d_out) for Burn's `Linear`. Here the step is the one
/// that the same layer has in PyTorch. A mean of gradients in the place of the sum v gives the same step, whose length
/// does not depend on theirs.
#[derive(Clone)]
pub struct MuonWithAdam<B: AutodiffBackend, M: AutodiffModule<B>> {
    rate_factor: f64,
    muon: OptimizerAdaptor<KernelMuon<B::InnerBackend>, M, B>,
    adam: OptimizerAdaptor<OnePassAdam, M, B>,
}

impl<B: AutodiffBackend, M: AutodiffModule<B>> std::fmt::Debug for MuonWithAdam<B, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MuonWithAdam").finish_non_exhaustive()
    }
}

/// Record of an optimizer.
type RecordOf<O, M, B> = <O as Optimizer<M, B>>::Record;

impl<B: AutodiffBackend, M: AutodiffModule<B>> Optimizer<M, B> for MuonWithAdam<B, M> {
    type Record = (
        RecordOf<OptimizerAdaptor<KernelMuon<B::InnerBackend>, M, B>, M, B>,
        RecordOf<OptimizerAdaptor<OnePassAdam, M, B>, M, B>,
    );

    fn step(&mut self, lr: LearningRate, module: M, mut grads: GradientsParams) -> M {
        let of_matrices = take_matrices::<B, M>(&module, &mut grads);
        let module = self.muon.step(lr * self.rate_factor, module, of_matrices);
        self.adam.step(lr, module, grads)
    }

    fn step_multi(&mut self, lr: LearningRate, module: M, mut grads: MultiGradientsParams) -> M {
        let parts = grads.grads.iter_mut();
        let of_matrices = parts.map(|(part, at)| (take_matrices::<B, M>(&module, part), *at));
        let of_matrices = MultiGradientsParams {
            grads: of_matrices.collect(),
        };
        let rate = lr * self.rate_factor;
        let module = self.muon.step_multi(rate, module, of_matrices);
        self.adam.step_multi(lr, module, grads)
    }

    fn to_record(&self) -> Self::Record {
        (self.muon.to_record(), self.adam.to_record())
    }

    fn load_record(self, (muon, adam): Self::Record) -> Self {
        Self {
            muon: self.muon.load_record(muon),
            adam: self.adam.load_record(adam),
            ..self
        }
    }
}

/// Takes the gradients of matrices and kernels out of those of a module.
fn take_matrices<B: AutodiffBackend, M: AutodiffModule<B>>(
    module: &M,
    from: &mut GradientsParams,
) -> GradientsParams {
    let mut matrices = Matrices {
        are_embeddings: Vec::new(),
        from,
        taken: GradientsParams::new(),
    };
    module.visit(&mut matrices);
    matrices.taken
}

struct Matrices<'a> {
    /// Fields that lead to a parameter: whether the parameters in each are embeddings.
    are_embeddings: Vec<bool>,
    from: &'a mut GradientsParams,
    taken: GradientsParams,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Matrices<'_> {
    fn enter_module(&mut self, name: &str, container_type: &str) {
        let is_embedding = match container_type {
            // Its elements are what the field is that has it.
            "Vec" | "Array" | "Tuple" => self.are_embeddings.last() == Some(&true),
            _ => [name, container_type]
                .iter()
                .any(|it| it.to_lowercase().contains("embedding")),
        };
        self.are_embeddings.push(is_embedding);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.are_embeddings.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        if D < 2 || self.are_embeddings.last() == Some(&true) {
            return;
        }
        if let Some(gradient) = self.from.remove::<B::InnerBackend, D>(param.id) {
            self.taken.register(param.id, gradient);
        }
    }
}

/// Muon for parameters of two axes and more.
#[derive(Clone)]
pub struct KernelMuon<B: Backend> {
    momentum: Momentum<B>,
    /// Orthogonalisation and step.
    muon: Muon<B>,
    weight_decay: f64,
}

impl<B: Backend> KernelMuon<B> {
    fn new(config: &MuonWithAdamConfig) -> Self {
        let momentum = |momentum, nesterov| MomentumConfig {
            momentum,
            dampening: 0.0,
            nesterov,
        };
        Self {
            momentum: Momentum::new(&momentum(config.momentum, true)),
            // Burn's would have the shape of the matrix; a state has that of its parameter.
            muon: MuonConfig::new()
                .with_momentum(momentum(0.0, false))
                .build(),
            weight_decay: config.weight_decay,
        }
    }
}

impl<B: Backend> SimpleOptimizer<B> for KernelMuon<B> {
    type State<const D: usize> = MomentumState<B, D>;

    fn step<const D: usize>(
        &self,
        lr: LearningRate,
        tensor: Tensor<B, D>,
        grad: Tensor<B, D>,
        state: Option<MomentumState<B, D>>,
    ) -> (Tensor<B, D>, Option<MomentumState<B, D>>) {
        let shape = tensor.shape();
        let n_rows = shape[0];
        let n_columns = shape.num_elements() / n_rows;
        let (direction, state) = self.momentum.transform(grad, state);
        let tensor = match self.weight_decay {
            0.0 => tensor,
            decay => tensor.mul_scalar(1.0 - lr * decay),
        };
        // Burn's factor is √max(1, rows/columns). √(columns/rows) turns it into that of the transposed matrix.
        let factor = match D {
            2 => (n_columns as f64 / n_rows as f64).sqrt(),
            _ => 1.0,
        };
        let matrix = |x: Tensor<B, D>| x.reshape([n_rows, n_columns]);
        let (tensor, direction) = (matrix(tensor), matrix(direction));
        let (moved, _) = self.muon.step(lr * factor, tensor, direction, None);
        (moved.reshape(shape), Some(state))
    }

    fn to_device<const D: usize>(
        state: MomentumState<B, D>,
        device: &B::Device,
    ) -> MomentumState<B, D> {
        state.to_device(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::Module;
    use burn::nn::{Embedding, EmbeddingConfig, Linear, LinearConfig};
    use burn::tensor::backend::DeviceOps;
    use burn::tensor::{DType, TensorData};
    use icl_core::testing::{TestAutodiff, TestBackend, assert_close, precisions, to_vec};
    use serde::Deserialize;

    type B = TestAutodiff;

    /// A parameter of each kind.
    #[derive(Module, Debug)]
    struct Layers<B: Backend> {
        /// No embedding: what counts is the struct that has the parameter.
        patch_embedding: Linear<B>,
        tall: Param<Tensor<B, 2>>,
        kernel: Param<Tensor<B, 4>>,
        narrow_kernel: Param<Tensor<B, 4>>,
        table: Embedding<B>,
        position_embeddings: Vec<Param<Tensor<B, 2>>>,
    }

    #[derive(Deserialize)]
    struct Reference {
        learning_rate: f64,
        rate_factor: f64,
        weight_decay: f64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        name: String,
        shape: Vec<usize>,
        start: Vec<f64>,
        gradients: Vec<Vec<f64>>,
        values: Vec<Vec<f64>>,
    }

    impl Case {
        fn tensor<const D: usize>(&self, values: &[f64], dtype: DType) -> Tensor<TestBackend, D> {
            let shape: [usize; D] = self.shape.clone().try_into().unwrap();
            let data = TensorData::new(values.to_vec(), shape);
            Tensor::from_data(data, (&Default::default(), dtype))
        }

        fn start<const D: usize>(&self, dtype: DType) -> Param<Tensor<B, D>> {
            let tensor = Tensor::from_inner(self.tensor::<D>(&self.start, dtype));
            Param::from_tensor(tensor.require_grad())
        }
    }

    impl Reference {
        fn case(&self, name: &str) -> &Case {
            self.cases.iter().find(|case| case.name == name).unwrap()
        }

        fn layers(&self, dtype: DType) -> Layers<B> {
            let device = Default::default();
            let mut layers = Layers {
                patch_embedding: LinearConfig::new(1, 1).init(&device),
                tall: self.case("tall").start(dtype),
                kernel: self.case("kernel").start(dtype),
                narrow_kernel: self.case("narrow_kernel").start(dtype),
                table: EmbeddingConfig::new(1, 1).init(&device),
                position_embeddings: vec![self.case("positions").start(dtype)],
            };
            layers.patch_embedding.weight = self.case("wide").start(dtype);
            layers.patch_embedding.bias = Some(self.case("bias").start(dtype));
            layers.table.weight = self.case("embedding").start(dtype);
            layers
        }
    }

    /// Parameters of the layers by the names of their cases, as gradients of a step or as values.
    struct Each<'a> {
        reference: &'a Reference,
        dtype: DType,
        step: usize,
        scale: f64,
        /// Values of the parameters, in the order of [`ORDER`].
        found: Vec<Vec<f64>>,
        gradients: GradientsParams,
    }

    const ORDER: [&str; 7] = [
        "wide",
        "bias",
        "tall",
        "kernel",
        "narrow_kernel",
        "embedding",
        "positions",
    ];

    impl ModuleVisitor<B> for Each<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            let case = self.reference.case(ORDER[self.found.len()]);
            self.found.push(to_vec(&param.val()));
            let gradient: Tensor<_, D> = case.tensor(&case.gradients[self.step], self.dtype);
            self.gradients
                .register(param.id, gradient.mul_scalar(self.scale));
        }
    }

    fn each<'a>(
        reference: &'a Reference,
        layers: &Layers<B>,
        (dtype, step, scale): (DType, usize, f64),
    ) -> Each<'a> {
        let (found, gradients) = (Vec::new(), GradientsParams::new());
        let mut each = Each {
            reference,
            dtype,
            step,
            scale,
            found,
            gradients,
        };
        layers.visit(&mut each);
        each
    }

    /// Steps by one gradient, and by two parts of it that the optimizer adds up.
    #[test]
    fn steps_are_those_of_numpy() {
        let text = include_str!("../../tests/reference/muon.json");
        let reference: Reference = serde_json::from_str(text).unwrap();
        let config = MuonWithAdamConfig::new();
        assert_eq!(config.rate_factor, reference.rate_factor);
        let config = config.with_weight_decay(reference.weight_decay);
        for (dtype, tolerance) in precisions(1e-5, 1e-10) {
            for is_divided in [false, true] {
                let mut layers = reference.layers(dtype);
                let mut optimizer = config.init::<B, Layers<B>>();
                let rate = reference.learning_rate;
                for step in 0..reference.cases[0].gradients.len() {
                    let part = |scale| each(&reference, &layers, (dtype, step, scale)).gradients;
                    layers = match is_divided {
                        false => optimizer.step(rate, layers.clone(), part(1.0)),
                        true => {
                            let place = || layers.tall.val().device().id();
                            let grads = vec![(part(0.25), place()), (part(0.75), place())];
                            let parts = MultiGradientsParams { grads };
                            optimizer.step_multi(rate, layers.clone(), parts)
                        }
                    };
                    let found = each(&reference, &layers, (dtype, step, 1.0)).found;
                    assert_eq!(found.len(), ORDER.len());
                    for (name, found) in ORDER.iter().zip(&found) {
                        // Burn's Adam corrects its moments in single precision: 3e-5 of a step of 3e-3.
                        let tolerance = match *name {
                            "bias" | "embedding" | "positions" => tolerance.max(5e-7),
                            _ => tolerance,
                        };
                        assert_close(found, &reference.case(name).values[step], tolerance);
                    }
                }
            }
        }
    }
}
