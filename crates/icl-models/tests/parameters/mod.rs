//! Trained tensors of a module, read and replaced in the order of the module tree.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};

/// Returns the names and the shapes of all float tensors of a module.
pub fn shapes<B: Backend>(module: &impl Module<B>) -> Vec<(String, Vec<usize>)> {
    struct Visitor(Vec<String>, Vec<(String, Vec<usize>)>);

    impl<B: Backend> ModuleVisitor<B> for Visitor {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            self.1.push((self.0.join("."), param.val().dims().to_vec()));
        }

        fn enter_module(&mut self, name: &str, _: &str) {
            self.0.push(name.to_owned());
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.0.pop();
        }
    }

    let mut visitor = Visitor(Vec::new(), Vec::new());
    module.visit(&mut visitor);
    visitor.1
}

/// Returns a vector on the default device.
pub fn vector<B: Backend>(values: &[f64]) -> Tensor<B, 1> {
    let data = TensorData::new(values.to_vec(), [values.len()]);
    Tensor::from_data(data, &Default::default())
}

/// Returns a matrix on the default device.
pub fn matrix<B: Backend>(rows: &[Vec<f64>]) -> Tensor<B, 2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, &Default::default())
}

/// Replaces the trained tensors of a module by these elements; their graph is kept.
pub fn replaced<B: Backend, M: Module<B>>(module: M, elements: &[Tensor<B, 1>]) -> M {
    struct Replace<'a, B: Backend>(std::slice::Iter<'a, Tensor<B, 1>>);

    impl<B: Backend> ModuleMapper<B> for Replace<'_, B> {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
            let old = param.val();
            if !old.is_require_grad() {
                return param;
            }
            let new = self.0.next().expect("as many tensors as the module trains");
            Param::initialized(param.id, new.clone().reshape(old.shape()))
        }
    }

    let mut mapper = Replace(elements.iter());
    let module = module.map(&mut mapper);
    assert_eq!(mapper.0.len(), 0, "tensors are left over");
    module
}
