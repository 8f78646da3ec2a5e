//! Files of the safetensors format.

use std::collections::BTreeMap;

use safetensors::{Dtype, SafeTensors};

use super::elements::Element;
use super::state_dict::{StateDict, Unread};

impl StateDict for SafeTensors<'_> {
    fn shapes(&self) -> BTreeMap<String, Vec<usize>> {
        self.iter()
            .map(|(name, tensor)| (name.to_owned(), tensor.shape().to_vec()))
            .collect()
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>, Unread> {
        let tensor = self.tensor(name)?;
        let element = match tensor.dtype() {
            Dtype::F16 => Element::F16,
            Dtype::BF16 => Element::Bf16,
            Dtype::F32 => Element::F32,
            Dtype::F64 => Element::F64,
            other => return Err(Unread::Elements(format!("{other:?}"))),
        };
        Ok(element.decode(tensor.data()))
    }
}
