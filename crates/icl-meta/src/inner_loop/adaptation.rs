//! The move of the parameters in an inner loop.

use std::collections::HashMap;

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{ElementConversion, Tensor, TensorPrimitive};

/// Computes the relative move of an encoder's parameters in an inner loop, over all that are trained.
///
/// ```text
/// ‖θ′ − θ‖ / ‖θ‖
/// ```
///
/// It is 0 if no parameter is trained or θ = 0, and at most the largest number of single precision, so that
/// a record can hold it.
pub fn relative_move<B: AutodiffBackend, M: Module<B>>(from: &M, to: &M) -> f64 {
    let mut start = Trained::<B>(HashMap::new());
    from.visit(&mut start);
    let mut squares = Squares::<B> {
        from: start.0,
        sums: None,
    };
    to.visit(&mut squares);
    let Some([moved, length]) = squares.sums else {
        return 0.0;
    };
    let [moved, length]: [f64; 2] = [moved, length].map(|sum| sum.into_scalar().elem());
    match length > 0.0 {
        true => (moved / length).sqrt().min(f64::from(f32::MAX)),
        false => 0.0,
    }
}

/// Values of the trained parameters by identity, without their graph.
struct Trained<B: AutodiffBackend>(HashMap<ParamId, TensorPrimitive<B::InnerBackend>>);

impl<B: AutodiffBackend> ModuleVisitor<B> for Trained<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let value = param.val();
        if value.is_require_grad() {
            self.0.insert(param.id, value.inner().into_primitive());
        }
    }
}

/// Sums of squares: of the move, and of the parameters before it.
struct Squares<B: AutodiffBackend> {
    from: HashMap<ParamId, TensorPrimitive<B::InnerBackend>>,
    sums: Option<[Tensor<B::InnerBackend, 1>; 2]>,
}

impl<B: AutodiffBackend> ModuleVisitor<B> for Squares<B> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
        let Some(from) = self.from.remove(&param.id) else {
            return;
        };
        let from = Tensor::<B::InnerBackend, D>::from_primitive(from);
        let moved = param.val().inner() - from.clone();
        let terms = [square(moved), square(from)];
        self.sums = Some(match self.sums.take() {
            None => terms,
            Some([a, b]) => {
                let [x, y] = terms;
                [a + x, b + y]
            }
        });
    }
}

fn square<B: Backend, const D: usize>(of: Tensor<B, D>) -> Tensor<B, 1> {
    of.powi_scalar(2).sum()
}
