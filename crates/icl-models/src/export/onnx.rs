//! ONNX models, node by node.

use icl_core::Error;
use prost::Message;

use super::format::Export;
use super::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto,
};
use crate::stored_encoder::StoredEncoder;
use crate::stored_tensor::StoredTensor;

/// Version of the operators: 17, of 2022. Every runtime of the last years has it, and nothing here needs a later one.
const OPSET: i64 = 17;
/// Version of the format that came with these operators.
const IR_VERSION: i64 = 8;

/// Type of the elements of a tensor, by its number in ONNX.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    F32 = 1,
    F64 = 11,
}

/// Size of an axis of an input or output.
#[derive(Debug, Clone, Copy)]
pub(super) enum Axis {
    Fixed(usize),
    /// Any size, of this name.
    Free(&'static str),
}

/// Builder of a model. The output of the last node is that of the model. Nodes name their weights, whose values
/// [`export`](Self::export) adds.
#[derive(Debug)]
pub(super) struct Model {
    input: (&'static str, Element, Vec<Axis>),
    /// Width of the embeddings.
    d: usize,
    nodes: Vec<NodeProto>,
}

impl Model {
    /// Begins a model of this input, and of embeddings of width `d`.
    pub(super) fn new(input: (&'static str, Element, Vec<Axis>), d: usize) -> Self {
        Self {
            input,
            d,
            nodes: Vec::new(),
        }
    }

    /// Returns the name of the input.
    pub(super) fn input(&self) -> String {
        self.input.0.to_owned()
    }

    /// Adds an operator and returns the name of its output.
    pub(super) fn add<const N: usize>(
        &mut self,
        operator: &str,
        inputs: [&str; N],
        attributes: Vec<AttributeProto>,
    ) -> String {
        let output = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.nodes.push(NodeProto {
            input: inputs.map(str::to_owned).into(),
            output: vec![output.clone()],
            op_type: operator.to_owned(),
            attribute: attributes,
        });
        output
    }

    /// Adds a batch normalisation with the statistics of the population.
    pub(super) fn batch_norm(&mut self, x: &str, layer: &str, epsilon: f64) -> String {
        let [weight, bias, mean, variance] =
            ["weight", "bias", "running_mean", "running_var"].map(|it| format!("{layer}.{it}"));
        self.add(
            "BatchNormalization",
            [x, &weight, &bias, &mean, &variance],
            vec![float("epsilon", epsilon as f32)],
        )
    }

    /// Returns the file of the model, with those of the `tensors` that its nodes name and the metadata of `file`.
    ///
    /// # Errors
    /// If it is larger than 2 GiB, which no reader of the format takes.
    pub(super) fn export(
        mut self,
        file: &StoredEncoder,
        tensors: Vec<StoredTensor>,
        more: &[(&str, String)],
    ) -> Result<Export, Error> {
        if let Some(last) = self.nodes.last_mut() {
            last.output = vec![OUTPUT.to_owned()];
        }
        let is_used =
            |it: &StoredTensor| self.nodes.iter().any(|node| node.input.contains(&it.name));
        let initializer = tensors
            .into_iter()
            .filter(is_used)
            .map(initializer)
            .collect();
        let (name, element, axes) = &self.input;
        let input = value(name, *element, axes);
        let output = value(
            OUTPUT,
            Element::F32,
            &[Axis::Free("batch"), Axis::Fixed(self.d)],
        );
        let note = format!(
            "input {name} {}, output {OUTPUT} [batch, {}]",
            shown(*element, axes),
            self.d
        );
        let graph = GraphProto {
            node: self.nodes,
            name: file.kind()?.to_owned(),
            initializer,
            input: vec![input],
            output: vec![output],
        };
        let entry = |(key, value): (&str, &str)| StringStringEntryProto {
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let model = ModelProto {
            ir_version: IR_VERSION,
            producer_name: "icl".to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: Some(graph),
            opset_import: vec![OperatorSetIdProto {
                domain: String::new(),
                version: OPSET,
            }],
            metadata_props: file.described(more)?.into_iter().map(entry).collect(),
        };
        let n_bytes = model.encoded_len();
        if n_bytes > i32::MAX as usize {
            return Err(file.wrong(
                format!("a model of {n_bytes} bytes"),
                "at most 2 GiB, which a reader of ONNX takes",
            ));
        }
        let bytes = model.encode_to_vec();
        Ok(Export { bytes, note })
    }
}

/// Returns the shape and the type of an input for people to read.
fn shown(element: Element, axes: &[Axis]) -> String {
    let axis = |axis: &Axis| match axis {
        Axis::Fixed(n) => n.to_string(),
        Axis::Free(name) => (*name).to_owned(),
    };
    let axes: Vec<String> = axes.iter().map(axis).collect();
    let bits = match element {
        Element::F32 => 32,
        Element::F64 => 64,
    };
    format!("[{}] of float{bits}", axes.join(", "))
}

/// Name of the output.
const OUTPUT: &str = "embeddings";

/// Returns an attribute that is a number.
fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        f: Some(value),
        r#type: 1,
        ..AttributeProto::default()
    }
}

/// Returns an attribute that is a whole number.
pub(super) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        i: Some(value),
        r#type: 2,
        ..AttributeProto::default()
    }
}

/// Returns an attribute that is a list of equal whole numbers.
pub(super) fn equal_ints<const N: usize>(name: &str, value: usize) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        ints: vec![value as i64; N],
        r#type: 7,
        ..AttributeProto::default()
    }
}

fn initializer(tensor: StoredTensor) -> TensorProto {
    let element = match tensor.dtype {
        "F64" => Element::F64,
        _ => Element::F32,
    };
    TensorProto {
        dims: tensor.shape.iter().map(|&n| n as i64).collect(),
        data_type: element as i32,
        name: tensor.name,
        raw_data: tensor.bytes,
    }
}

fn value(name: &str, element: Element, axes: &[Axis]) -> ValueInfoProto {
    let dimension = |axis: &Axis| match axis {
        Axis::Fixed(n) => DimensionProto {
            dim_value: Some(*n as i64),
            dim_param: None,
        },
        Axis::Free(name) => DimensionProto {
            dim_value: None,
            dim_param: Some((*name).to_owned()),
        },
    };
    let shape = TensorShapeProto {
        dim: axes.iter().map(dimension).collect(),
    };
    let tensor_type = TensorTypeProto {
        elem_type: element as i32,
        shape: Some(shape),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            tensor_type: Some(tensor_type),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::Seed;
    use icl_core::testing::TestBackend;

    use crate::export::format::ExportFormat;
    use crate::{MlpConfig, ResNetConfig, Stem};

    /// The model of the file of an encoder, decoded.
    fn decoded(file: &StoredEncoder) -> (GraphProto, ModelProto) {
        let bytes = file.export(ExportFormat::Onnx).unwrap().bytes;
        let mut model = ModelProto::decode(&bytes[..]).unwrap();
        (model.graph.take().unwrap(), model)
    }

    /// The shape of an input or output; free axes are 0.
    fn shape(of: &[ValueInfoProto]) -> Vec<i64> {
        let tensor = of[0].r#type.clone().unwrap().tensor_type.unwrap();
        let dims = tensor.shape.unwrap().dim.into_iter();
        dims.map(|it| it.dim_value.unwrap_or(0)).collect()
    }

    /// Every input of a node is the graph's, an initializer or the output of an earlier node.
    fn assert_connected(graph: &GraphProto) {
        let of_graph = graph.input.iter().map(|it| &it.name);
        let mut known: Vec<&String> = of_graph
            .chain(graph.initializer.iter().map(|it| &it.name))
            .collect();
        for node in &graph.node {
            assert!(node.input.iter().all(|it| known.contains(&it)), "{node:?}");
            known.extend(&node.output);
        }
        assert_eq!(known.last().unwrap().as_str(), graph.output[0].name);
        for tensor in &graph.initializer {
            let n = tensor.dims.iter().product::<i64>() as usize;
            let size = if tensor.data_type == 11 { 8 } else { 4 };
            assert_eq!(tensor.raw_data.len(), n * size, "{}", tensor.name);
        }
    }

    fn schema(sd: f64) -> String {
        format!(
            r#"{{"columns": [
                {{"name": "a", "categories": [], "has_indicator": true, "features": {{"start": 0, "end": 2}}}},
                {{"name": "b", "categories": ["x"], "has_indicator": false, "features": {{"start": 2, "end": 3}}}}
            ], "statistics": [{{"mean": 1.5, "sd": {sd}, "offset": 7.0}}, {{"mean": 0.5, "sd": 1.0}},
                {{"mean": 0.25, "sd": 1.0}}]}}"#
        )
    }

    fn table_encoder(schema: String) -> StoredEncoder {
        let config = MlpConfig::new(3).with_width(4).with_n_layers(2);
        let config = config.with_projection(Some(2));
        let encoder = config.init::<TestBackend>(Seed::new(1), &Default::default());
        let config = serde_json::to_string(&config).unwrap();
        let metadata = [("config", config), ("schema", schema)];
        StoredEncoder::new(&encoder, "mlp", "T", &metadata).unwrap()
    }

    #[test]
    fn a_perceptron_has_its_layers_and_no_head() {
        let (graph, model) = decoded(&table_encoder(schema(2.0)));
        assert_connected(&graph);
        assert_eq!(
            (shape(&graph.input), shape(&graph.output)),
            (vec![0, 3], vec![0, 4])
        );
        let operators: Vec<&str> = graph.node.iter().map(|it| &it.op_type[..]).collect();
        let standardised = ["Sub", "Cast", "Cast", "Sub", "Div", "Cast"];
        let layer = ["Gemm", "BatchNormalization", "Relu"];
        assert_eq!(operators, [&standardised[..], &layer, &layer].concat());
        let names: Vec<&str> = graph.initializer.iter().map(|it| &it.name[..]).collect();
        assert!(
            names.contains(&"layers.1.norm.running_var") && names.len() == 13,
            "{names:?}"
        );
        let value = |key: &str| {
            let mut entries = model.metadata_props.iter();
            entries.find(|it| it.key == key).unwrap().value.clone()
        };
        assert_eq!(value("features"), r#"["a","a is missing","b=x"]"#);
        assert_eq!(
            (value("kind"), value("data")),
            ("mlp".to_owned(), "T".to_owned())
        );
    }

    #[test]
    fn a_resnet_has_twenty_convolutions() {
        for (stem, n_pools) in [(Stem::Standard, 1), (Stem::Small, 0)] {
            let config = ResNetConfig::new(3).with_stem(stem);
            let encoder = config.init::<TestBackend>(Seed::new(1), &Default::default());
            let metadata = [("config", serde_json::to_string(&config).unwrap())];
            let file = StoredEncoder::new(&encoder, "resnet-18", "I", &metadata).unwrap();
            let (graph, _) = decoded(&file);
            assert_connected(&graph);
            assert_eq!(shape(&graph.input), [0, 3, 0, 0]);
            assert_eq!(shape(&graph.output), [0, 512]);
            let n = |operator: &str| {
                graph
                    .node
                    .iter()
                    .filter(|it| it.op_type == operator)
                    .count()
            };
            assert_eq!((n("Conv"), n("BatchNormalization"), n("Add")), (20, 20, 8));
            assert_eq!((n("MaxPool"), n("GlobalAveragePool")), (n_pools, 1));
            assert_eq!(graph.initializer.len(), 100);
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_an_error() {
        let error = |schema: String| {
            let export = table_encoder(schema).export(ExportFormat::Safetensors);
            export.unwrap_err().to_string()
        };
        let found = error(schema(0.0));
        assert!(
            found.contains("found mean 1.5 and deviation 0 of feature 0"),
            "{found}"
        );
        let found = error(r#"{"columns": [], "statistics": []}"#.to_owned());
        assert!(
            found.contains("found statistics of 0 features, and names of 0"),
            "{found}"
        );
    }
}
