//! Two towers and the tower of words against PyTorch, and their catalogues.

use burn::backend::Autodiff;
use burn::tensor::{Tensor, backend::Backend};
use icl_core::bags::{HistoryBatch, HostHistories, TextBatch, means};
use icl_core::testing::{TestAutodiff, TestBackend, assert_close, to_vec};
use icl_core::{Encoder, Error, Mode, PairEmbeddings, Seed};
use icl_models::{TwoTower, TwoTowerConfig, WordTower, WordTowerConfig};
use serde::Deserialize;

use crate::parameters::{matrix, replaced, shapes, vector};

type Rows = Vec<Vec<f64>>;

/// Values computed by scripts/reference/towers.py.
#[derive(Deserialize)]
struct Reference {
    two_tower: Recommender,
    word_tower: Texts,
}

#[derive(Deserialize)]
struct Recommender {
    n_items: usize,
    d: usize,
    histories: Vec<Vec<u32>>,
    items: Vec<u32>,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct Texts {
    n_words: usize,
    d: usize,
    d_hidden: usize,
    texts: Vec<Vec<u32>>,
    #[serde(flatten)]
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    target: Rows,
    parameters: Rows,
    output: Rows,
    loss: f64,
    gradients: Rows,
    meta_gradients: Rows,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/towers.json")).expect("the reference parses")
}

impl Recommender {
    fn config(&self) -> TwoTowerConfig {
        TwoTowerConfig::new(self.n_items).with_d(self.d)
    }

    fn pairs<B: Backend>(&self) -> HistoryBatch<B> {
        let n = self.items.len();
        let host = HostHistories {
            histories: means(self.histories.iter().map(Vec::as_slice), self.n_items),
            items: self.items.clone(),
            is_item: [vec![false; n], vec![true; n]].concat(),
            excluded: self.items.iter().map(|&item| vec![item]).collect(),
        };
        HistoryBatch::new(host, &Default::default())
    }

    fn encoder<B: Backend>(&self, parameters: &[Tensor<B, 1>]) -> TwoTower<B> {
        let encoder = self.config().init(Seed::new(0), &Default::default());
        replaced(encoder, parameters)
    }
}

impl Texts {
    fn config(&self) -> WordTowerConfig {
        WordTowerConfig::new(self.n_words)
            .with_d(self.d)
            .with_d_hidden(self.d_hidden)
    }

    fn pairs<B: Backend>(&self) -> TextBatch<B> {
        let words = means(self.texts.iter().map(Vec::as_slice), self.n_words);
        let excluded = vec![vec![0], vec![1, 2], vec![1, 2]];
        TextBatch::new(words, excluded, &Default::default())
    }

    fn encoder<B: Backend>(&self, parameters: &[Tensor<B, 1>]) -> WordTower<B> {
        let encoder = self.config().init(Seed::new(0), &Default::default());
        replaced(encoder, parameters)
    }
}

fn parameters<B: Backend>(expected: &Expected) -> Vec<Tensor<B, 1>> {
    expected
        .parameters
        .iter()
        .map(|values| vector(values))
        .collect()
}

/// Mean squared deviation of all scores from the targets, and mean squared score of the pairs.
fn loss<B: Backend>(pairs: PairEmbeddings<B>, target: &Rows) -> Tensor<B, 1> {
    let catalogue = pairs.catalogue.expect("a catalogue").embeddings;
    let scores = pairs.anchors.clone().matmul(catalogue.transpose());
    let of_pairs = (pairs.anchors * pairs.positives).sum_dim(1);
    (scores - matrix(target)).powi_scalar(2).mean() + of_pairs.powi_scalar(2).mean()
}

/// Compares the loss, its gradients and the gradients through a step of gradient descent.
fn assert_derivatives<A, B>(expected: &Expected, first: A, second: B)
where
    A: Fn(&[Tensor<Autodiff<TestAutodiff>, 1>]) -> Tensor<Autodiff<TestAutodiff>, 1>,
    B: Fn(&[Tensor<TestAutodiff, 1>]) -> Tensor<TestAutodiff, 1>,
{
    let parameters: Vec<Tensor<TestAutodiff, 1>> = parameters(expected);
    let parameters: Vec<_> = parameters.into_iter().map(Tensor::require_grad).collect();
    let loss = second(&parameters);
    assert_close(&to_vec(&loss), &[expected.loss], 1e-5);
    let gradients = loss.backward();
    for (parameter, expected) in parameters.iter().zip(&expected.gradients) {
        let gradient = parameter.grad(&gradients).expect("a gradient");
        assert_close(&to_vec(&gradient), expected, 1e-5);
    }

    let outer: Vec<_> = parameters
        .iter()
        .map(|parameter| Tensor::from_inner(parameter.clone()).require_grad())
        .collect();
    let gradients = first(&outer).backward();
    let step = |(outer, parameter): (&Tensor<_, 1>, &Tensor<TestAutodiff, 1>)| {
        parameter.clone() - outer.grad(&gradients).expect("a gradient") * 0.1
    };
    let moved: Vec<_> = outer.iter().zip(&parameters).map(step).collect();
    let gradients = second(&moved).backward();
    for (parameter, expected) in parameters.iter().zip(&expected.meta_gradients) {
        let gradient = parameter.grad(&gradients).expect("a gradient");
        assert_close(&to_vec(&gradient), expected, 1e-5);
    }
}

#[test]
fn two_towers_and_their_derivatives_are_those_of_pytorch() {
    fn pair_loss<B: Backend>(of: &Recommender, parameters: &[Tensor<B, 1>]) -> Tensor<B, 1> {
        let pairs = of
            .encoder(parameters)
            .encode_pairs(of.pairs(), Mode::Evaluation);
        loss(pairs, &of.expected.target)
    }
    let of = reference().two_tower;
    let encoder = of.encoder::<TestAutodiff>(&parameters(&of.expected));
    let output = encoder.encode(of.pairs(), Mode::Evaluation);
    assert_close(&to_vec(&output), &of.expected.output.concat(), 1e-5);
    assert_derivatives(&of.expected, |p| pair_loss(&of, p), |p| pair_loss(&of, p));
}

#[test]
fn the_tower_of_words_and_its_derivatives_are_those_of_pytorch() {
    fn pair_loss<B: Backend>(of: &Texts, parameters: &[Tensor<B, 1>]) -> Tensor<B, 1> {
        let pairs = of
            .encoder(parameters)
            .encode_pairs(of.pairs(), Mode::Evaluation);
        loss(pairs, &of.expected.target)
    }
    let of = reference().word_tower;
    let encoder = of.encoder::<TestAutodiff>(&parameters(&of.expected));
    let output = encoder.encode(of.pairs(), Mode::Evaluation);
    assert_close(&to_vec(&output), &of.expected.output.concat(), 1e-5);
    assert_derivatives(&of.expected, |p| pair_loss(&of, p), |p| pair_loss(&of, p));
}

#[test]
fn pairs_are_the_rows_of_the_batch_with_their_catalogue() {
    let of = reference().two_tower;
    let encoder = of.encoder::<TestAutodiff>(&parameters(&of.expected));
    let pairs = encoder.encode_pairs(of.pairs(), Mode::Evaluation);
    let rows = Tensor::cat(vec![pairs.anchors, pairs.positives], 0);
    let batch = encoder.encode(of.pairs(), Mode::Evaluation);
    assert_eq!(to_vec(&rows), to_vec(&batch));
    let catalogue = pairs.catalogue.unwrap();
    assert_eq!(to_vec(&catalogue.embeddings), to_vec(&encoder.items()));
    assert_eq!(*catalogue.excluded, [[4], [0], [3]]);
    let in_batch = of.config().with_catalogue(false);
    let encoder: TwoTower<TestBackend> = in_batch.init(Seed::new(0), &Default::default());
    let pairs = encoder.encode_pairs(of.pairs(), Mode::Evaluation);
    assert!(pairs.catalogue.is_none());

    let of = reference().word_tower;
    let encoder = of.encoder::<TestAutodiff>(&parameters(&of.expected));
    let pairs = encoder.encode_pairs(of.pairs(), Mode::Evaluation);
    let catalogue = pairs.catalogue.unwrap();
    assert_eq!(to_vec(&catalogue.embeddings), to_vec(&pairs.positives));
    assert_eq!(catalogue.excluded[1], [1, 2]);
    let in_batch = of.config().with_catalogue(false);
    let encoder: WordTower<TestBackend> = in_batch.init(Seed::new(0), &Default::default());
    let pairs = encoder.encode_pairs(of.pairs(), Mode::Evaluation);
    assert!(pairs.catalogue.is_none() && !encoder.has_catalogue());
}

/// New rows are drawn as in an encoder that had them from the start; old ones keep every bit.
#[test]
fn a_table_of_items_grows() {
    let device = Default::default();
    let of = |n: usize, seed: u64| -> TwoTower<TestAutodiff> {
        let config = TwoTowerConfig::new(n).with_d(3).with_catalogue(false);
        config.init(Seed::new(seed), &device)
    };
    let bits = |encoder: &TwoTower<TestAutodiff>| -> Vec<u32> {
        let values = encoder.items().into_data().convert::<f32>();
        values.iter::<f32>().map(f32::to_bits).collect()
    };
    let (small, large) = (of(5, 1), of(9, 2));
    let grown = small.clone().grown(9, Seed::new(2));
    let expected = [&bits(&small)[..], &bits(&large)[15..]].concat();
    assert_eq!(bits(&grown), expected);
    // At once or one after another.
    let in_two = small.clone().grown(6, Seed::new(2)).grown(9, Seed::new(2));
    assert_eq!(bits(&in_two), expected);
    assert_eq!(bits(&small.clone().grown(9, Seed::new(1))), bits(&of(9, 1)));
    assert_eq!(bits(&small.clone().grown(5, Seed::new(7))), bits(&small));
    // Old and new rows are trained, and the rest is as it was.
    assert!(grown.items().is_require_grad() && !grown.has_catalogue());
    let [a, b] = [&small, &grown].map(|encoder| shapes(encoder).split_off(1));
    assert_eq!(a, b);
}

#[test]
#[should_panic(expected = "a table of 5 embeddings cannot have 4 of them")]
fn a_table_of_items_does_not_shrink() {
    let config = TwoTowerConfig::new(5).with_d(3);
    let encoder: TwoTower<TestBackend> = config.init(Seed::new(1), &Default::default());
    let _ = encoder.grown(4, Seed::new(1));
}

#[test]
fn rows_are_in_the_order_of_the_batch() {
    let of = reference().two_tower;
    let encoder = of.encoder::<TestAutodiff>(&parameters(&of.expected));
    let [a, b] = [&of.histories[0][..], &of.histories[2][..]];
    let encode = |histories: &[&[u32]], items: &[u32], is_item: &[bool]| {
        let host = HostHistories {
            histories: means(histories.iter().copied(), of.n_items),
            items: items.to_vec(),
            is_item: is_item.to_vec(),
            excluded: vec![vec![]; histories.len()],
        };
        let batch = HistoryBatch::new(host, &Default::default());
        to_vec(&encoder.encode(batch, Mode::Evaluation))
    };
    let alone = [
        encode(&[], &[5], &[true]),
        encode(&[a], &[], &[false]),
        encode(&[], &[1], &[true]),
        encode(&[b], &[], &[false]),
    ];
    let mixed = encode(&[a, b], &[5, 1], &[true, false, true, false]);
    assert_eq!(mixed, alone.concat());
}

#[test]
fn an_empty_history_is_the_bias() {
    let of = reference().two_tower;
    let encoder = of.encoder::<TestAutodiff>(&parameters(&of.expected));
    let host = HostHistories {
        histories: means([&[][..]], of.n_items),
        items: vec![],
        is_item: vec![false],
        excluded: vec![vec![]],
    };
    let batch = HistoryBatch::new(host, &Default::default());
    let row = encoder.encode(batch, Mode::Evaluation);
    assert_close(&to_vec(&row), &of.expected.parameters[2], 1e-7);
}

#[test]
#[should_panic(expected = "histories and, after them, as many items, found 3 and 0")]
fn histories_alone_are_no_pairs() {
    let of = reference().two_tower;
    let host = HostHistories {
        histories: means(of.histories.iter().map(Vec::as_slice), of.n_items),
        items: vec![],
        is_item: vec![false; 3],
        excluded: vec![vec![]; 3],
    };
    let encoder: TwoTower<TestBackend> = of.config().init(Seed::new(0), &Default::default());
    encoder.encode_pairs(
        HistoryBatch::new(host, &Default::default()),
        Mode::Evaluation,
    );
}

#[test]
fn the_listed_tensors_are_those_of_the_module() {
    let device = Default::default();
    let config = TwoTowerConfig::new(11).with_d(4);
    let encoder: TwoTower<TestBackend> = config.init(Seed::new(1), &device);
    assert_eq!(shapes(&encoder), config.tensors().collect::<Vec<_>>());
    let config = WordTowerConfig::new(11).with_d(4).with_d_hidden(3);
    let encoder: WordTower<TestBackend> = config.init(Seed::new(1), &device);
    assert_eq!(shapes(&encoder), config.tensors().collect::<Vec<_>>());
}

#[test]
fn embeddings_begin_with_length_1_on_average() {
    let config = TwoTowerConfig::new(4000).with_d(16);
    let draw = |seed| {
        let encoder: TwoTower<TestBackend> = config.init(Seed::new(seed), &Default::default());
        to_vec(&encoder.items())
    };
    let items = draw(1);
    let mean = items.iter().map(|x| x * x).sum::<f64>() / 4000.0;
    // Five standard errors of a mean of χ²: √(2·16)/16/√4000.
    assert!((mean - 1.0).abs() < 5.0 * 0.0056, "{mean}");
    assert_eq!(items, draw(1));
    assert_ne!(items, draw(2));
}

#[test]
fn a_width_of_0_is_rejected() {
    let empty = |field| Err(Error::new(field, 0, "at least 1"));
    assert_eq!(TwoTowerConfig::new(0).check(), empty("n_items"));
    assert_eq!(TwoTowerConfig::new(1).with_d(0).check(), empty("d"));
    assert_eq!(WordTowerConfig::new(0).check(), empty("n_words"));
    let config = WordTowerConfig::new(1).with_d_hidden(0);
    assert_eq!(config.check(), empty("d_hidden"));
    let error = config.check().unwrap_err();
    assert_eq!(error.to_string(), "d_hidden: found 0, expected at least 1");
}
