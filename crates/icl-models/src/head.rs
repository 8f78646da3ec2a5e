//! The projection head between an encoder and the contrastive losses.

use burn::config::Config;
use burn::module::Module;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::{Batches, Encoder, Error, Mode, SampleError, Seed};

use crate::checks::{check_epsilon, check_fields};
use crate::hidden_layer::{HiddenLayer, hidden_layer_tensors};
use crate::linear::{Linear, linear_tensors};
use crate::normalization::{BatchNorm, Normalised, Statistics};

/// Configuration of [`ProjectionHead`].
///
/// The defaults are the head of SimCLR with one hidden layer (Chen et al., 2020). The head of DACL
/// (Verma et al., 2021) on graphs is
///
/// ```
/// use burn::backend::Flex;
/// use icl_core::Seed;
/// use icl_models::{ProjectionHead, ProjectionHeadConfig};
///
/// let config = ProjectionHeadConfig::new(2048, 2048)
///     .with_n_layers(3)
///     .with_norm(true);
/// # let config = ProjectionHeadConfig { d_input: 8, d_output: 8, ..config };
/// let head: ProjectionHead<Flex> = config.init(Seed::new(1), &Default::default());
/// ```
#[derive(Config, Debug, PartialEq)]
pub struct ProjectionHeadConfig {
    /// Width of the input and of the hidden layers.
    pub d_input: usize,
    /// Width of the output.
    pub d_output: usize,
    /// Number of affine layers. With 1 there is no hidden layer.
    #[config(default = 2)]
    pub n_layers: usize,
    /// Batch normalisation of the hidden layers.
    #[config(default = false)]
    pub norm: bool,
    /// Constant ε added to the variance in normalisation.
    #[config(default = 1e-5)]
    pub epsilon: f64,
}

impl ProjectionHeadConfig {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`Error`] if a width or the number of layers is 0, or ε is not above 0.
    pub fn check(&self) -> Result<(), Error> {
        check_fields([
            ("d_input", self.d_input),
            ("d_output", self.d_output),
            ("n_layers", self.n_layers),
        ])?;
        check_epsilon(self.epsilon)
    }

    /// Creates a head with weights drawn from `seed`, the same on every backend.
    ///
    /// Weights and biases are uniform in ±1/√d_input, γ is 1 and β is 0.
    ///
    /// # Errors
    /// [`Error`] if a width or the number of layers is 0, or ε is not above 0.
    pub fn try_init<B: Backend>(
        &self,
        seed: Seed,
        device: &B::Device,
    ) -> Result<ProjectionHead<B>, Error> {
        self.check()?;
        let layer = |seed: Seed| {
            let epsilon = self.norm.then_some(self.epsilon);
            HiddenLayer::new([self.d_input; 2], epsilon, seed, device)
        };
        let deeper = |index: usize| layer(seed.child("deeper").at(index as u64));
        Ok(ProjectionHead {
            hidden: (self.n_layers > 1).then(|| layer(seed.child("hidden"))),
            deeper: (0..self.n_deeper()).map(deeper).collect(),
            output: Linear::new([self.d_input, self.d_output], seed.child("output"), device),
        })
    }

    /// Creates a head with weights drawn from `seed`, as [`try_init`](Self::try_init) does.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with its message.
    pub fn init<B: Backend>(&self, seed: Seed, device: &B::Device) -> ProjectionHead<B> {
        self.try_init(seed, device)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the name and the shape of each tensor of the head, in the order and with the names that
    /// collecting the tensors of the module gives. No tensor is allocated.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> + use<> {
        let widths = [self.d_input; 2];
        let norm = self.norm;
        let hidden = (self.n_layers > 1)
            .then(|| hidden_layer_tensors("hidden", widths, norm))
            .into_iter();
        let deeper = (0..self.n_deeper())
            .map(move |index| hidden_layer_tensors(&format!("deeper.{index}"), widths, norm));
        let output = linear_tensors("output", [self.d_input, self.d_output]);
        hidden.chain(deeper).flatten().chain(output)
    }

    /// Returns the tensors of a head at the path `name` of an encoder, one after the other: a damaged file may name
    /// more layers than memory holds names of.
    pub(crate) fn tensors_at(
        &self,
        name: &'static str,
    ) -> impl Iterator<Item = (String, Vec<usize>)> + use<> {
        self.tensors()
            .map(move |(tensor, shape)| (format!("{name}.{tensor}"), shape))
    }

    /// Returns the number of hidden layers after the first.
    fn n_deeper(&self) -> usize {
        self.n_layers.saturating_sub(2)
    }
}

/// A projection head g of n affine layers.
///
/// ```text
/// x₀ = h                                    [batch, d_input]
/// xₗ = relu(norm(xₗ₋₁·Wₗ))                  hidden layers with normalisation
/// xₗ = relu(xₗ₋₁·Wₗ + bₗ)                   hidden layers without it
/// g(h) = xₙ₋₁·Wₙ + bₙ                       [batch, d_output]
/// ```
///
/// The contrastive loss takes g(h), while other tasks use h: the loss favours features that do not
/// change between views, and the head lets h keep the others, such as colour and orientation (Chen et
/// al., 2020, Eq. 1, with n = 2).
///
/// The head is an [`Encoder`] of vectors `[batch, d_input]`, so that a composition of an encoder and a
/// head, such as hidden mixup, may take another encoder of vectors in its place. Normalisation has
/// affine terms γ and β; training normalises by the statistics of the batch, evaluation by those that
/// [`recalibrated`](Encoder::recalibrated) has set.
///
/// Deviation from a plain stack of Linear, BatchNorm and ReLU: an affine layer before a normalisation
/// has no bias, which the normalisation would subtract.
#[derive(Module, Debug)]
pub struct ProjectionHead<B: Backend> {
    // The first hidden layer has a field of its own, by whose name files of encoders know it.
    hidden: Option<HiddenLayer<B>>,
    deeper: Vec<HiddenLayer<B>>,
    output: Linear<B>,
}

/// Returns φ `[n, d]`: `features` `[n, d_features]` through the head of an encoder, or as they are if it has none.
pub(crate) fn projected<B: Backend>(
    head: Option<&ProjectionHead<B>>,
    features: Tensor<B, 2>,
    statistics: &mut Statistics<'_>,
) -> Tensor<B, 2> {
    match head {
        Some(head) => head.forward(features, statistics),
        None => features,
    }
}

impl<B: Backend> ProjectionHead<B> {
    /// Maps `[n, d_input]` to `[n, d_output]`, normalised by `statistics`.
    pub(crate) fn forward(&self, x: Tensor<B, 2>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        let layers = self.hidden.iter().chain(&self.deeper);
        let x = layers.fold(x, |x, layer| layer.forward(x, statistics));
        self.output.forward(x)
    }
}

impl<B: Backend> Normalised<B> for ProjectionHead<B> {
    type Batch = Tensor<B, 2>;

    fn norms_mut(&mut self) -> Vec<&mut BatchNorm<B>> {
        let layers = self.hidden.iter_mut().chain(&mut self.deeper);
        layers.filter_map(HiddenLayer::norm_mut).collect()
    }

    /// Computes g(h).
    fn pass(&self, batch: Tensor<B, 2>, statistics: &mut Statistics<'_>) -> Tensor<B, 2> {
        self.forward(batch, statistics)
    }
}

impl<B: Backend> Encoder<B> for ProjectionHead<B> {
    type Batch = Tensor<B, 2>;

    fn encode(&self, batch: Tensor<B, 2>, mode: Mode<'_>) -> Tensor<B, 2> {
        self.forward(batch, &mut Statistics::of(&mode))
    }

    /// Re-estimates the statistics of all layers in one pass over the batches, as those of
    /// [`ResNet`](crate::ResNet) are.
    ///
    /// # Panics
    /// If there are no batches and the hidden layers are normalised.
    fn recalibrated(self, batches: &Batches<'_, Tensor<B, 2>>) -> Result<Self, SampleError> {
        self.with_estimates(batches)
    }

    fn with_frozen_statistics(self, is_frozen: bool) -> Self {
        self.with_frozen_norms(is_frozen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icl_core::testing::{TestBackend, assert_close, to_vec};

    fn head(config: ProjectionHeadConfig) -> ProjectionHead<TestBackend> {
        config.init(Seed::new(3), &Default::default())
    }

    /// A file may name any number of layers; its tensors are compared before the next name is made.
    #[test]
    fn the_tensors_of_endless_layers_come_one_after_the_other() {
        let most = usize::MAX;
        let head = ProjectionHeadConfig::new(2, 3).with_n_layers(most);
        assert_eq!(head.tensors_at("head").nth(4).unwrap().1, [2, 2]);
        let mlp = crate::MlpConfig::new(4)
            .with_n_layers(1)
            .with_projection(Some(3))
            .with_n_projection_layers(most);
        let (name, _) = mlp.tensors().nth(5).unwrap();
        assert!(name.starts_with("projection.hidden."), "{name}");
        let gin = crate::GinConfig::new(4)
            .with_n_layers(most)
            .with_projection(Some(most))
            .with_n_projection_layers(most);
        assert_eq!(gin.tensors().next().unwrap().1, [4, 32]);
    }

    #[test]
    fn the_weights_of_two_layers_are_those_of_earlier_versions() {
        let device = Default::default();
        let head = head(ProjectionHeadConfig::new(4, 3));
        let hidden = Linear::<TestBackend>::new([4, 4], Seed::new(3).child("hidden"), &device);
        let output = Linear::<TestBackend>::new([4, 3], Seed::new(3).child("output"), &device);
        let x = Tensor::from_data([[0.5, -1.0, 2.0, 0.25], [1.5, 0.0, -0.5, 3.0]], &device);
        let expected = output.forward(burn::tensor::activation::relu(hidden.forward(x.clone())));
        assert_eq!(to_vec(&head.encode(x, Mode::Evaluation)), to_vec(&expected));
    }

    #[test]
    fn one_layer_is_an_affine_map() {
        let device = Default::default();
        let head = head(
            ProjectionHeadConfig::new(2, 2)
                .with_n_layers(1)
                .with_norm(true),
        );
        let at = |x: [[f32; 2]; 1]| {
            to_vec(&head.encode(Tensor::from_data(x, &device), Mode::Evaluation))
        };
        let [zero, one, two] = [0.0, -1.0, -2.0].map(|x| at([[x, x]]));
        let line: Vec<f64> = (0..2).map(|i| 2.0 * one[i] - zero[i]).collect();
        assert_close(&two, &line, 1e-5);
        let batches = Batches::new(0, |_| unreachable!());
        assert!(head.recalibrated(&batches).is_ok());
    }

    #[test]
    fn statistics_depend_on_parameters_and_batches_alone() {
        let config = ProjectionHeadConfig::new(3, 2)
            .with_n_layers(3)
            .with_norm(true);
        let x = Tensor::<TestBackend, 2>::from_data(
            [
                [0.5, -1.0, 2.0],
                [1.5, 0.0, -0.5],
                [-2.0, 1.0, 4.0],
                [0.0, 3.0, 1.0],
            ],
            &Default::default(),
        );
        let recalibrated = |head: ProjectionHead<TestBackend>, x: &Tensor<TestBackend, 2>| {
            head.recalibrated(&Batches::new(1, |_| Ok(x.clone())))
                .unwrap()
        };
        let once = recalibrated(head(config.clone()), &x);
        let other = recalibrated(head(config.clone()), &(x.clone() * 7.0 + 3.0));
        let evaluate =
            |head: &ProjectionHead<TestBackend>| to_vec(&head.encode(x.clone(), Mode::Evaluation));
        let expected = evaluate(&once);
        assert_ne!(evaluate(&other), expected);
        assert_eq!(evaluate(&recalibrated(other, &x)), expected);
        // Over one batch, evaluation then is the training pass.
        let mut rng = Seed::new(0).rng();
        let training = head(config).encode(x.clone(), Mode::Training(&mut rng));
        assert_close(&to_vec(&training), &expected, 1e-5);
    }

    #[test]
    fn wrong_configurations_are_rejected() {
        for (config, field) in [
            (ProjectionHeadConfig::new(0, 2), "d_input"),
            (ProjectionHeadConfig::new(2, 0), "d_output"),
            (ProjectionHeadConfig::new(2, 2).with_n_layers(0), "n_layers"),
        ] {
            assert_eq!(config.check(), Err(Error::new(field, 0, "at least 1")));
        }
        for found in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = ProjectionHeadConfig::new(2, 2).with_epsilon(found).check();
            let expected = format!("epsilon: found {found}, expected a number above 0");
            assert_eq!(error.unwrap_err().to_string(), expected);
        }
    }
}
